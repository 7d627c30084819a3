//! What is going on in the factory, as far as somebody needs to know who wants to ask for something sensible.

use std::collections::HashMap;

use domain::epic::EpicEvent;
use domain::errand::{ErrandEvent, Work};
use domain::mail::{Addressee, MailEvent};
use domain::notification::NotificationEvent;
use domain::post::{AgentKind, PostEvent};
use domain::task::TaskEvent;
use domain::tool_call::ToolCallEvent;
use domain::{AgentId, EpicId, ErrandId, MailId, NotificationId, TaskId, ToolCallId};
use projections::{Fact, FactOf};

use super::super::dice::Dice;

/// An agent and its place.
#[derive(Clone, Copy)]
pub(super) struct Seated {
    pub(super) agent_id: AgentId,
    pub(super) kind: AgentKind,
    pub(super) epic_id: Option<EpicId>,
    pub(super) task_id: Option<TaskId>,
}

/// What a task waits for from its worker.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Next {
    Begin,
    Submit,
    Rebase,
}

#[derive(Default)]
pub(super) struct Floor {
    /// Epics that are not over.
    pub(super) epics: Vec<EpicId>,
    /// Those of them that wait for a person's review.
    pub(super) in_review: Vec<EpicId>,
    /// Every task, with its epic, in the order of adding.
    pub(super) tasks: Vec<(EpicId, TaskId)>,
    /// Epics without a supervisor so far, and tasks without a worker.
    pub(super) unstaffed: (Vec<EpicId>, Vec<TaskId>),
    /// What tasks wait for from their workers, if they do.
    pub(super) next: HashMap<TaskId, Next>,
    /// Those that wait for review.
    pub(super) queue: Vec<(EpicId, TaskId)>,
    /// Who has a place.
    pub(super) seated: Vec<Seated>,
    /// Who had one and lost it.
    pub(super) gone: Vec<Seated>,
    /// What the bench has to do.
    pub(super) errands: Vec<(ErrandId, Work)>,
    /// What it had to do.
    pub(super) over: Vec<(ErrandId, Work)>,
    pub(super) mails: Vec<(MailId, Option<AgentId>)>,
    pub(super) calls: Vec<ToolCallId>,
    pub(super) notifications: Vec<NotificationId>,
}

impl Floor {
    pub(super) fn learn(&mut self, fact: &Fact) {
        match &fact.of {
            FactOf::Epic(event) => self.epic(EpicId(fact.subject), event),
            FactOf::Task(event) => self.task(TaskId(fact.subject), event),
            FactOf::Post(PostEvent::AgentPosted { agent_id, kind, epic_id, task_id, .. }) => {
                let (epic_id, task_id) = (*epic_id, *task_id);
                self.seated.push(Seated { agent_id: *agent_id, kind: *kind, epic_id, task_id });
                self.unstaffed.0.retain(|it| Some(*it) != epic_id);
                self.unstaffed.1.retain(|it| Some(*it) != task_id);
            }
            FactOf::Post(PostEvent::AgentRelieved { .. } | PostEvent::AgentDischarged { .. }) => {
                let left = self.seated.extract_if(.., |it| it.agent_id.0 == fact.subject);
                self.gone.extend(left);
            }
            FactOf::Errand(ErrandEvent::ErrandOrdered { errand_id, work, .. }) => {
                self.errands.push((*errand_id, work.clone()));
            }
            FactOf::Errand(
                ErrandEvent::ErrandDone { .. } | ErrandEvent::ErrandFailed { .. } | ErrandEvent::ErrandCancelled { .. },
            ) => {
                let over = self.errands.extract_if(.., |it| it.0.0 == fact.subject);
                self.over.extend(over);
            }
            FactOf::Mail(MailEvent::MailSent { mail_id, to, .. }) => {
                let to = match to {
                    Addressee::Agent { agent_id, .. } => Some(*agent_id),
                    Addressee::Human => None,
                };
                self.mails.push((*mail_id, to));
            }
            FactOf::ToolCall(ToolCallEvent::ToolCalled { call_id, .. }) => self.calls.push(*call_id),
            FactOf::Notification(NotificationEvent::NotificationRaised { notification_id, .. }) => {
                self.notifications.push(*notification_id);
            }
            _ => {}
        }
    }

    fn task(&mut self, task_id: TaskId, event: &TaskEvent) {
        let next = match event {
            TaskEvent::TaskAddedToEpic { epic_id, .. } => {
                self.tasks.push((*epic_id, task_id));
                self.unstaffed.1.push(task_id);
                Some(Next::Begin)
            }
            TaskEvent::TaskReset { .. } => {
                self.unstaffed.1.push(task_id);
                Some(Next::Begin)
            }
            TaskEvent::TaskStarted { .. }
            | TaskEvent::TaskChangesRequested { .. }
            | TaskEvent::TaskHandedOver { .. } => Some(Next::Submit),
            TaskEvent::TaskRebaseRequested { .. } => Some(Next::Rebase),
            TaskEvent::TaskSubmitted { .. }
            | TaskEvent::TaskRebased { .. }
            | TaskEvent::TaskCompleted { .. }
            | TaskEvent::TaskFailed { .. } => None,
            _ => return,
        };
        match next {
            Some(next) => drop(self.next.insert(task_id, next)),
            None => drop(self.next.remove(&task_id)),
        }
    }

    fn epic(&mut self, epic_id: EpicId, event: &EpicEvent) {
        match event {
            EpicEvent::EpicCreated { .. } => {
                self.epics.push(epic_id);
                self.unstaffed.0.push(epic_id);
            }
            EpicEvent::EpicSubmitted { .. } => self.in_review.push(epic_id),
            EpicEvent::EpicChangesRequested { .. } => self.in_review.retain(|it| *it != epic_id),
            EpicEvent::EpicReviewQueued { task_id, .. } => self.queue.push((epic_id, *task_id)),
            EpicEvent::EpicReviewLeft { task_id, .. } => self.queue.retain(|it| it.1 != *task_id),
            EpicEvent::EpicCompleted { .. } | EpicEvent::EpicFailed { .. } => {
                self.epics.retain(|it| *it != epic_id);
                self.in_review.retain(|it| *it != epic_id);
                self.queue.retain(|it| it.0 != epic_id);
                self.unstaffed.0.retain(|it| *it != epic_id);
            }
            _ => {}
        }
    }

    /// A worker that has something to do, and what.
    pub(super) fn busy(&self, dice: &mut Dice) -> Option<(Seated, Next)> {
        let next = |it: &Seated| Some((*it, *self.next.get(&it.task_id?)?));
        let found: Vec<_> = self.seated.iter().filter_map(next).collect();
        (!found.is_empty()).then(|| dice.of(&found))
    }

    /// How many tasks an epic has ever had.
    pub(super) fn tasks_of(&self, epic_id: EpicId) -> usize {
        self.tasks.iter().filter(|it| it.0 == epic_id).count()
    }

    /// Somebody of a kind, now and then one who has no place any more; nobody if there was none yet.
    pub(super) fn somebody(&self, kind: AgentKind, dice: &mut Dice) -> Option<Seated> {
        let from = if dice.below(20) == 0 { &self.gone } else { &self.seated };
        let found: Vec<Seated> = from.iter().filter(|it| it.kind == kind).copied().collect();
        (!found.is_empty()).then(|| dice.of(&found))
    }
}
