//! A task as part of an epic: its supervisor and its worker move it, and nobody else does.

mod add_to_epic;
mod approve;
mod assign_worker;
mod fail;
mod fail_merge;
mod hand_over;
mod merge;
mod rebase;
mod request_changes;
mod request_rebase;
mod reset;
mod start;
mod state;
mod submit;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

pub use add_to_epic::AddTaskToEpic;
pub use approve::ApproveTask;
pub use assign_worker::AssignWorker;
pub use fail::FailTask;
pub use fail_merge::FailTaskMerge;
pub use hand_over::HandOverTask;
pub use merge::MergeTask;
pub use rebase::{RebaseTask, waits_since_rebase};
pub use request_changes::RequestTaskChanges;
pub use request_rebase::RequestTaskRebase;
pub use reset::ResetTask;
pub use start::StartFactoryTask;
pub use state::TaskState;
pub use submit::SubmitTask;

use super::{LiveTask, Task, TaskError, TaskEvent};
use crate::{AgentId, EpicId, WorktreeName};

/// How often a task's worker may die before the task fails.
pub const MOST_ATTEMPTS: u32 = 5;

/// What a task is within its epic.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FactoryTask {
    /// Which epic.
    pub epic_id: EpicId,
    /// The branch and worktree that it is done in.
    pub worktree_name: WorktreeName,
    /// How far it has come.
    pub state: TaskState,
    /// How often a worker of it has died.
    pub attempts: u32,
    /// Where its pull request is, once it has one.
    pub pr_url: Option<String>,
    /// What its pull request was called when it was submitted last.
    pub pr_title: Option<String>,
    /// What that said it does.
    pub pr_description: Option<String>,
    /// The commit that was submitted last, where it is known.
    pub head: Option<String>,
    /// Since when it waits for review, while it does.
    pub submitted_at: Option<DateTime<Utc>>,
}

/// What is asked of a task as part of an epic.
#[derive(Clone, Debug, PartialEq)]
pub enum FactoryCommand {
    /// See [`AddTaskToEpic`].
    AddToEpic(AddTaskToEpic),
    /// See [`AssignWorker`].
    AssignWorker(Box<AssignWorker>),
    /// See [`StartFactoryTask`].
    Start(StartFactoryTask),
    /// See [`SubmitTask`].
    Submit(SubmitTask),
    /// See [`RequestTaskChanges`].
    RequestChanges(RequestTaskChanges),
    /// See [`RequestTaskRebase`].
    RequestRebase(RequestTaskRebase),
    /// See [`RebaseTask`].
    Rebase(RebaseTask),
    /// See [`ApproveTask`].
    Approve(ApproveTask),
    /// See [`MergeTask`].
    Merge(MergeTask),
    /// See [`FailTaskMerge`].
    FailMerge(FailTaskMerge),
    /// See [`HandOverTask`].
    HandOver(HandOverTask),
    /// See [`ResetTask`].
    Reset(ResetTask),
    /// See [`FailTask`].
    Fail(FailTask),
}

pub(super) fn decide(task: &Task, command: FactoryCommand) -> Result<Vec<TaskEvent>, TaskError> {
    match command {
        FactoryCommand::AddToEpic(it) => add_to_epic::decide(task, it),
        FactoryCommand::AssignWorker(it) => assign_worker::decide(task, *it),
        FactoryCommand::Start(it) => start::decide(task, it),
        FactoryCommand::Submit(it) => submit::decide(task, it),
        FactoryCommand::RequestChanges(it) => request_changes::decide(task, it),
        FactoryCommand::RequestRebase(it) => request_rebase::decide(task, it),
        FactoryCommand::Rebase(it) => rebase::decide(task, it),
        FactoryCommand::Approve(it) => approve::decide(task, it),
        FactoryCommand::Merge(it) => merge::decide(task, it),
        FactoryCommand::FailMerge(it) => fail_merge::decide(task, it),
        FactoryCommand::HandOver(it) => hand_over::decide(task, it),
        FactoryCommand::Reset(it) => reset::decide(task, it),
        FactoryCommand::Fail(it) => fail::decide(task, it),
    }
}

impl FactoryTask {
    /// Refuses a move that is not legal.
    pub fn may_become(&self, to: TaskState) -> Result<(), TaskError> {
        let from = self.state;
        if from.may_become(to) { Ok(()) } else { Err(TaskError::InvalidFactoryTransition { from, to }) }
    }
}

impl LiveTask {
    /// What it is within its epic, if it is part of one.
    pub fn in_epic(&self) -> Result<&FactoryTask, TaskError> {
        self.factory.as_ref().ok_or(TaskError::NotInEpic)
    }

    /// Refuses what only tasks outside epics are moved by.
    pub(super) fn outside_epics(&self) -> Result<(), TaskError> {
        match &self.factory {
            Some(factory) => Err(TaskError::InEpic(factory.epic_id)),
            None => Ok(()),
        }
    }

    /// What it is within its epic, if this worker has it.
    pub fn of_worker(&self, agent: AgentId) -> Result<&FactoryTask, TaskError> {
        let factory = self.in_epic()?;
        if self.assigned_agent_id == Some(agent) { Ok(factory) } else { Err(TaskError::AccessDenied) }
    }

    /// Takes the step in its epic that an event says, and AgentFlow's status with it.
    pub(super) fn enter(&mut self, state: TaskState) {
        if let Some(factory) = &mut self.factory {
            factory.state = state;
            self.status = state.status(self.assigned_agent_id.is_some());
        }
    }
}
