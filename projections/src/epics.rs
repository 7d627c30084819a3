//! Epics as people and agents see them, each with its review queue.

use chrono::{DateTime, Utc};
use domain::epic::{EpicEvent, EpicState, TaskEnd};
use domain::{AgentId, EpicId, Party, ProjectId, Slug, TaskId, UserId, WorkspaceId, WorktreeName};
use serde::{Deserialize, Serialize};
use store::StoreError;
use store::sql::{Database, Holds, Query, Table, Value};

use crate::fact::EPIC;
use crate::query::{Conditions, first, page, records};
use crate::rows::assign;
use crate::{Describe, Fact, FactOf, FoldError, Key, Poison, Projection, Reads, Record, RowKey, Rows, fold};

/// The projection's name.
pub const NAME: &str = "epics";

/// An epic.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EpicView {
    /// Which epic it is.
    pub id: EpicId,
    /// The workspace it belongs to.
    pub workspace_id: WorkspaceId,
    /// The project it is part of.
    pub project_id: ProjectId,
    /// The bench that it is built on.
    pub bench: Slug,
    /// What it is called.
    pub title: String,
    /// What it is about.
    pub description: String,
    /// How it is to be built, in Markdown.
    pub design: String,
    /// Its branch and worktree.
    pub worktree_name: WorktreeName,
    /// Who supervises it.
    pub supervisor_id: Option<AgentId>,
    /// How far it has come.
    pub state: EpicState,
    /// Where its own pull request is.
    pub pr_url: Option<String>,
    /// What a human wants before it is taken, as last said.
    pub feedback: Option<String>,
    /// When that was said.
    pub sent_back_at: Option<DateTime<Utc>>,
    /// Why it failed, if it did.
    pub failure: Option<String>,
    /// Who gave it up.
    pub failed_by: Option<Party>,
    /// The commit that merged it.
    pub merge_commit: Option<String>,
    /// How many of its tasks stand where.
    pub tasks: TaskCounts,
    /// The pull requests that wait for review, in the order in which they are reviewed.
    pub queue: Vec<Queued>,
    /// Who wrote it.
    pub created_by: UserId,
    /// Since when it exists.
    pub created_at: DateTime<Utc>,
    /// When it last changed.
    pub updated_at: DateTime<Utc>,
}

/// How many tasks stand where.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskCounts {
    /// Not over.
    pub open: u32,
    /// Part of the epic's branch.
    pub merged: u32,
    /// In need of a human.
    pub failed: u32,
}

/// A pull request that waits for review.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Queued {
    /// Which task.
    pub task_id: TaskId,
    /// Where its pull request is.
    pub pr_url: String,
    /// Since when it waits.
    pub submitted_at: DateTime<Utc>,
}

/// Which epics to list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Filter {
    /// Of this project.
    pub project: ProjectId,
    /// Only this one.
    pub only: Option<EpicId>,
    /// Only those in one state.
    pub state: Option<EpicState>,
}

/// An epic.
pub async fn find(views: &Database, id: EpicId) -> Result<Option<EpicView>, StoreError> {
    first(views, Query::new("select doc from epics where id = $1").bind(id.0)).await
}

/// The epics of a project, newest first.
pub async fn list(views: &Database, filter: &Filter, limit: i64, offset: i64) -> Result<Vec<EpicView>, StoreError> {
    let conditions = Conditions::default()
        .and("project_id =", Some(filter.project.0))
        .and("id =", filter.only.map(|it| it.0))
        .and("state =", filter.state.map(|it| it.to_string()));
    let query = conditions.query("select doc from epics", "order by created_at desc, id desc");
    records(views, page(query, limit, offset)).await
}

/// The epic that the facts of its stream make.
pub fn as_of(facts: &[Fact]) -> Result<Option<EpicView>, Poison> {
    fold::subject_of(&Epics, facts)
}

/// Folds the facts of epics.
#[derive(Debug, Clone, Copy)]
pub struct Epics;

impl Projection for Epics {
    fn name(&self) -> &str {
        NAME
    }

    fn version(&self) -> i64 {
        2
    }

    fn reads(&self) -> Reads {
        Reads::Only(&[EPIC])
    }

    fn tables(&self) -> Vec<Table> {
        let table = Describe::table(EpicView::TABLE)
            .key("id", Holds::Text)
            .required("project_id", Holds::Text)
            .required("state", Holds::Text)
            .required("created_at", Holds::Int)
            .index(&["project_id", "created_at", "id"]);
        vec![table.finish()]
    }

    fn touches(&self, fact: &Fact) -> Vec<RowKey> {
        vec![RowKey::of::<EpicView>(fact.subject)]
    }

    fn apply(&self, fact: &Fact, rows: &mut Rows) -> Result<(), FoldError> {
        let FactOf::Epic(event) = &fact.of else { return Ok(()) };
        match created(event) {
            Some(epic) => rows.put(epic),
            None => rows.update(fact.subject, |row: &mut EpicView| row.follow(event.clone()))?,
        }
        Ok(())
    }
}

fn created(event: &EpicEvent) -> Option<EpicView> {
    let EpicEvent::EpicCreated {
        epic_id,
        workspace_id,
        project_id,
        bench,
        title,
        description,
        design,
        worktree_name,
        created_by,
        created_at,
    } = event.clone()
    else {
        return None;
    };
    Some(EpicView {
        id: epic_id,
        workspace_id,
        project_id,
        bench,
        title,
        description,
        design,
        worktree_name,
        supervisor_id: None,
        state: EpicState::InProgress,
        pr_url: None,
        feedback: None,
        sent_back_at: None,
        failure: None,
        failed_by: None,
        merge_commit: None,
        tasks: TaskCounts::default(),
        queue: vec![],
        created_by,
        created_at,
        updated_at: created_at,
    })
}

impl EpicView {
    fn follow(&mut self, event: EpicEvent) {
        self.updated_at = match event {
            EpicEvent::EpicCreated { created_at, .. } => created_at,
            EpicEvent::EpicDetailsChanged { title, description, design, changed_at } => {
                assign(&mut self.title, title);
                assign(&mut self.description, description);
                assign(&mut self.design, design);
                changed_at
            }
            EpicEvent::EpicSupervisorAppointed { agent_id, appointed_at, .. } => {
                self.supervisor_id = Some(agent_id);
                appointed_at
            }
            EpicEvent::EpicTaskAdded { added_at, .. } => {
                self.tasks.open += 1;
                added_at
            }
            EpicEvent::EpicReviewQueued { task_id, pr_url, submitted_at } => {
                self.queue.push(Queued { task_id, pr_url, submitted_at });
                submitted_at
            }
            EpicEvent::EpicReviewLeft { task_id, left_at, .. } => {
                self.queue.retain(|it| it.task_id != task_id);
                left_at
            }
            EpicEvent::EpicTaskEnded { end, ended_at, .. } => {
                self.tasks.open = self.tasks.open.saturating_sub(1);
                match end {
                    TaskEnd::Merged => self.tasks.merged += 1,
                    TaskEnd::Failed => self.tasks.failed += 1,
                }
                ended_at
            }
            EpicEvent::EpicSubmitted { pr_url, submitted_at, .. } => {
                self.state = EpicState::AwaitingHumanReview;
                self.pr_url = Some(pr_url);
                submitted_at
            }
            EpicEvent::EpicChangesRequested { feedback, requested_at, .. } => {
                self.state = EpicState::InProgress;
                (self.feedback, self.sent_back_at) = (Some(feedback), Some(requested_at));
                requested_at
            }
            EpicEvent::EpicCompleted { merge_commit, completed_at, .. } => {
                self.state = EpicState::Completed;
                self.merge_commit = merge_commit;
                completed_at
            }
            EpicEvent::EpicFailed { by, reason, failed_at } => {
                self.state = EpicState::Failed;
                (self.failure, self.failed_by) = (Some(reason), Some(by));
                failed_at
            }
        };
    }
}

impl Record for EpicView {
    const TABLE: &'static str = "epics";

    fn key(&self) -> Key {
        self.id.0.into()
    }

    fn columns(&self) -> Vec<Value> {
        vec![self.project_id.0.into(), self.state.to_string().into(), self.created_at.timestamp_micros().into()]
    }
}

#[cfg(test)]
mod tests {
    use domain::epic::LeftBecause;

    use super::*;
    use crate::examples::{at, epic, epic_created, facts, id};

    fn folded(events: impl IntoIterator<Item = EpicEvent>) -> EpicView {
        let all = [epic_created()].into_iter().chain(events.into_iter().map(epic));
        as_of(&facts(all)).expect("no poison").expect("an epic")
    }

    fn queued(task: u128) -> EpicEvent {
        EpicEvent::EpicReviewQueued { task_id: id(task).into(), pr_url: "local://1".into(), submitted_at: at(2) }
    }

    #[test]
    fn the_queue_is_shown_in_the_order_in_which_it_is_reviewed() {
        let left = EpicEvent::EpicReviewLeft { task_id: id(61).into(), because: LeftBecause::Rebase, left_at: at(3) };
        let shown = folded([queued(61), queued(60), left, queued(61)]);
        let order: Vec<_> = shown.queue.iter().map(|it| it.task_id.0).collect();
        assert_eq!(order, [id(60), id(61)]);
    }

    #[test]
    fn tasks_are_counted_by_how_they_stand() {
        let added = |task| EpicEvent::EpicTaskAdded { task_id: id(task).into(), added_at: at(1) };
        let ended = |task, end| EpicEvent::EpicTaskEnded { task_id: id(task).into(), end, ended_at: at(4) };
        let shown = folded([added(60), added(61), added(62), ended(60, TaskEnd::Merged), ended(61, TaskEnd::Failed)]);
        assert_eq!(shown.tasks, TaskCounts { open: 1, merged: 1, failed: 1 });
    }

    #[test]
    fn a_human_sends_an_epic_back_and_takes_it_later() {
        let submitted = || EpicEvent::EpicSubmitted {
            agent_id: id(4).into(),
            pr_url: "local://9".into(),
            title: "A shop".into(),
            description: String::new(),
            head: None,
            submitted_at: at(5),
        };
        let back =
            EpicEvent::EpicChangesRequested { by: id(1).into(), feedback: "Not yet".into(), requested_at: at(6) };
        let shown = folded([submitted(), back]);
        assert_eq!((shown.state, shown.feedback.as_deref()), (EpicState::InProgress, Some("Not yet")));
        assert_eq!(shown.sent_back_at, Some(at(6)));
        let taken = EpicEvent::EpicCompleted { by: id(1).into(), merge_commit: None, completed_at: at(7) };
        assert_eq!(folded([submitted(), taken]).state, EpicState::Completed);
    }
}
