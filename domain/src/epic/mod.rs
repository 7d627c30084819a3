//! An epic: a feature that a human wrote, which a supervisor and its workers carry to a reviewed pull request.
//!
//! Its stream alone knows which of its tasks are not over and which pull requests wait for review, so that one review
//! at a time, and no end before its time, are decided from one stream.

mod add_task;
mod appoint_supervisor;
mod change;
mod complete;
mod create;
mod end_task;
mod event;
#[cfg(test)]
mod examples;
mod fail;
mod leave_review;
mod live;
mod queue_review;
mod request_changes;
mod state;
mod submit;

use cqrs_es::{Aggregate, event_sink::EventSink};
use serde::{Deserialize, Serialize};
use thiserror::Error;

pub use add_task::AddEpicTask;
pub use appoint_supervisor::AppointEpicSupervisor;
pub use change::ChangeEpic;
pub use complete::CompleteEpic;
pub use create::CreateEpic;
pub use end_task::EndEpicTask;
pub use event::{EpicEvent, LeftBecause, TaskEnd};
pub use fail::FailEpic;
pub use leave_review::LeaveReview;
pub use live::{LiveEpic, QueuedReview};
pub use queue_review::QueueReview;
pub use request_changes::RequestEpicChanges;
pub use state::EpicState;
pub use submit::SubmitEpic;

use crate::{AgentId, Demand, Entity, TaskId, WorkspaceId, WorktreeName};

/// The life of an epic.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Epic {
    /// Not created yet.
    #[default]
    Absent,
    /// Created, however far it has come.
    Live(Box<LiveEpic>),
}

/// What is asked of an epic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EpicCommand {
    /// See [`CreateEpic`].
    Create(CreateEpic),
    /// See [`ChangeEpic`].
    Change(ChangeEpic),
    /// See [`AppointEpicSupervisor`].
    AppointSupervisor(AppointEpicSupervisor),
    /// See [`AddEpicTask`].
    AddTask(AddEpicTask),
    /// See [`QueueReview`].
    QueueReview(QueueReview),
    /// See [`LeaveReview`].
    LeaveReview(LeaveReview),
    /// See [`EndEpicTask`].
    EndTask(EndEpicTask),
    /// See [`SubmitEpic`].
    Submit(SubmitEpic),
    /// See [`RequestEpicChanges`].
    RequestChanges(RequestEpicChanges),
    /// See [`CompleteEpic`].
    Complete(CompleteEpic),
    /// See [`FailEpic`].
    Fail(FailEpic),
}

/// Why a command on an epic is refused.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum EpicError {
    /// It was never created.
    #[error("the epic does not exist")]
    NotFound,
    /// A stream with this id has begun already.
    #[error("the epic exists already")]
    AlreadyExists,
    /// It is in another workspace.
    #[error("the epic belongs to another workspace")]
    AccessDenied,
    /// An epic does not go from there to there.
    #[error("an epic that is {from} cannot become {to}")]
    InvalidTransition {
        /// Where it is.
        from: EpicState,
        /// Where it was to go.
        to: EpicState,
    },
    /// Nobody works on it.
    #[error("the epic is {0}, and this is for one in progress")]
    NotInProgress(EpicState),
    /// Another epic or task has this worktree.
    #[error("the worktree {0} is taken")]
    WorktreeTaken(WorktreeName),
    /// It has a supervisor.
    #[error("agent {0} supervises the epic")]
    HasSupervisor(AgentId),
    /// Only its supervisor does this.
    #[error("only the epic's supervisor does this")]
    NotSupervisor,
    /// The task is not one of its tasks that are not over.
    #[error("task {0} is not one of the epic's open tasks")]
    UnknownTask(TaskId),
    /// One pull request is reviewed at a time.
    #[error("only the first pull request in the review queue is reviewed")]
    NotFirstInQueue {
        /// Whose that is; nobody's when the queue is empty.
        first: Option<TaskId>,
    },
    /// Tasks are still to be done.
    #[error("{0} tasks of the epic are not over")]
    TasksOpen(usize),
    /// None of its tasks was merged, so there is nothing to submit.
    #[error("no task of the epic was merged")]
    NothingMerged,
}

impl Epic {
    /// The epic, if it exists.
    pub fn live(&self) -> Result<&LiveEpic, EpicError> {
        match self {
            Self::Live(live) => Ok(live),
            Self::Absent => Err(EpicError::NotFound),
        }
    }

    fn decide(&self, command: EpicCommand) -> Result<Vec<EpicEvent>, EpicError> {
        match command {
            EpicCommand::Create(it) => create::decide(self, it),
            EpicCommand::Change(it) => change::decide(self, it),
            EpicCommand::AppointSupervisor(it) => appoint_supervisor::decide(self, it),
            EpicCommand::AddTask(it) => add_task::decide(self, it),
            EpicCommand::QueueReview(it) => queue_review::decide(self, it),
            EpicCommand::LeaveReview(it) => leave_review::decide(self, it),
            EpicCommand::EndTask(it) => end_task::decide(self, it),
            EpicCommand::Submit(it) => submit::decide(self, it),
            EpicCommand::RequestChanges(it) => request_changes::decide(self, it),
            EpicCommand::Complete(it) => complete::decide(self, it),
            EpicCommand::Fail(it) => fail::decide(self, it),
        }
    }
}

impl Aggregate for Epic {
    const TYPE: &'static str = "epic";
    type Command = EpicCommand;
    type Event = EpicEvent;
    type Error = EpicError;
    type Services = ();

    async fn handle(&mut self, command: EpicCommand, (): &(), sink: &EventSink<Self>) -> Result<(), EpicError> {
        for event in self.decide(command)? {
            sink.write(event, self).await;
        }
        Ok(())
    }

    fn apply(&mut self, event: EpicEvent) {
        match (self, event) {
            (
                this,
                EpicEvent::EpicCreated {
                    epic_id,
                    workspace_id,
                    project_id,
                    bench,
                    title,
                    description,
                    design,
                    worktree_name,
                    created_by,
                    created_at: _,
                },
            ) => {
                *this = Self::Live(Box::new(LiveEpic {
                    epic_id,
                    workspace_id,
                    project_id,
                    bench,
                    title,
                    description,
                    design,
                    worktree_name,
                    created_by,
                    state: EpicState::InProgress,
                    supervisor_id: None,
                    open_tasks: vec![],
                    merged: 0,
                    failed: Vec::new(),
                    queue: vec![],
                    pr_url: None,
                    head: None,
                    sent_back_at: None,
                }));
            }
            (Self::Live(live), event) => live.apply(event),
            (Self::Absent, _) => {}
        }
    }
}

impl Entity for Epic {
    fn workspace(&self) -> Option<WorkspaceId> {
        self.live().ok().map(|live| live.workspace_id)
    }

    fn demands(&self, event: &EpicEvent) -> Vec<Demand<EpicError>> {
        match event {
            EpicEvent::EpicCreated { worktree_name, .. } => {
                vec![Demand::Take { claim: worktree_name.claim(), or: EpicError::WorktreeTaken(worktree_name.clone()) }]
            }
            EpicEvent::EpicDetailsChanged { .. }
            | EpicEvent::EpicSupervisorAppointed { .. }
            | EpicEvent::EpicTaskAdded { .. }
            | EpicEvent::EpicReviewQueued { .. }
            | EpicEvent::EpicReviewLeft { .. }
            | EpicEvent::EpicTaskEnded { .. }
            | EpicEvent::EpicSubmitted { .. }
            | EpicEvent::EpicChangesRequested { .. }
            | EpicEvent::EpicCompleted { .. }
            | EpicEvent::EpicFailed { .. } => vec![],
        }
    }
}
