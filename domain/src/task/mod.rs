//! A task: a piece of work in a project, which one agent at a time has.

mod assign;
mod assign_on_github;
mod block;
mod change;
mod claims;
mod complete;
mod complete_on_github;
mod create;
mod event;
#[cfg(test)]
mod examples;
mod factory;
mod live;
mod priority;
mod start;
mod status;

use cqrs_es::{Aggregate, event_sink::EventSink};
use serde::{Deserialize, Serialize};
use thiserror::Error;

pub use assign::AssignTask;
pub use assign_on_github::AssignTaskOnGithub;
pub use block::BlockTask;
pub use change::ChangeTask;
pub use complete::CompleteTask;
pub use complete_on_github::CompleteTaskOnGithub;
pub use create::CreateTask;
pub use event::TaskEvent;
pub use factory::{
    AddTaskToEpic, ApproveTask, AssignWorker, FactoryCommand, FactoryTask, FailTask, FailTaskMerge, HandOverTask,
    MOST_ATTEMPTS, MergeTask, RebaseTask, RequestTaskChanges, RequestTaskRebase, ResetTask, StartFactoryTask,
    SubmitTask, TaskState, waits_since_rebase,
};
pub use live::LiveTask;
pub use priority::Priority;
pub use start::StartTask;
pub use status::TaskStatus;

use crate::agent::AgentStatus;
use crate::github::Login;
use crate::{AgentId, Demand, Entity, EpicId, SessionId, UserId, WorkspaceId, WorktreeName};

/// The life of a task.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub enum Task {
    /// Not created yet.
    #[default]
    Absent,
    /// Created, however far it has come.
    Live(Box<LiveTask>),
}

/// An issue on GitHub.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct GithubIssue {
    /// Its id, unique on all of GitHub.
    pub id: i64,
    /// Its number, unique in its repository.
    pub number: i64,
}

/// Who gave a task to an agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Assigner {
    /// The owner of the workspace.
    User(UserId),
    /// Whoever did it on GitHub.
    Github(Login),
    /// The supervisor of the task's epic.
    Agent(AgentId),
}

/// What says that a task is done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CompletionCause {
    /// Its agent.
    Agent,
    /// The owner of the workspace.
    Owner,
    /// Its issue was closed.
    IssueClosed,
    /// A pull request that is linked to it was merged.
    PullRequestMerged {
        /// Which one.
        number: i64,
    },
    /// It was merged into its epic's branch.
    MergedIntoEpic {
        /// The commit that did it.
        merge_commit: String,
    },
}

/// What is asked of a task.
#[derive(Clone, Debug, PartialEq)]
pub enum TaskCommand {
    /// See [`CreateTask`].
    Create(CreateTask),
    /// See [`ChangeTask`].
    Change(Box<ChangeTask>),
    /// See [`AssignTask`].
    Assign(AssignTask),
    /// See [`StartTask`].
    Start(StartTask),
    /// See [`BlockTask`].
    Block(BlockTask),
    /// See [`CompleteTask`].
    Complete(CompleteTask),
    /// See [`AssignTaskOnGithub`].
    AssignOnGithub(AssignTaskOnGithub),
    /// See [`CompleteTaskOnGithub`].
    CompleteOnGithub(CompleteTaskOnGithub),
    /// What only an epic's agents ask of it.
    Factory(FactoryCommand),
}

/// Why a command on a task is refused.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum TaskError {
    /// It was never created.
    #[error("the task does not exist")]
    NotFound,
    /// A stream with this id has begun already.
    #[error("the task exists already")]
    AlreadyExists,
    /// It is in another workspace, or another agent's.
    #[error("the task is not yours to use")]
    AccessDenied,
    /// Another task of the project is this GitHub issue.
    #[error("GitHub issue {} is linked to another task", .0.number)]
    AlreadyLinked(GithubIssue),
    /// A task does not go from there to there.
    #[error("a task that is {from} cannot become {to}")]
    InvalidTransition {
        /// Where it is.
        from: TaskStatus,
        /// Where it was to go.
        to: TaskStatus,
    },
    /// The agent does not work in the task's project.
    #[error("the agent does not work in this task's project")]
    InvalidAgentAssignment,
    /// The agent may not work.
    #[error("the agent is {0}")]
    AgentInactive(AgentStatus),
    /// The session that the command was given under is not the agent's active one.
    #[error("session {0} is over")]
    SessionOver(SessionId),
    /// Only its epic's agents move it.
    #[error("the task is part of epic {0}, whose agents move it")]
    InEpic(EpicId),
    /// Only a task of an epic can be moved like this.
    #[error("the task is part of no epic")]
    NotInEpic,
    /// A task of an epic does not go from there to there.
    #[error("a task that is {from} cannot become {to}")]
    InvalidFactoryTransition {
        /// Where it is.
        from: TaskState,
        /// Where it was to go.
        to: TaskState,
    },
    /// It has a worker.
    #[error("agent {0} works on the task")]
    HasWorker(AgentId),
    /// The pull request that was reviewed is not the one that the task has.
    #[error("the task's pull request is {}", .0.as_deref().unwrap_or("not there yet"))]
    OtherPullRequest(Option<String>),
    /// Another epic or task has this worktree.
    #[error("the worktree {0} is taken")]
    WorktreeTaken(WorktreeName),
}

impl Task {
    /// The task, if it exists.
    pub fn live(&self) -> Result<&LiveTask, TaskError> {
        match self {
            Self::Live(live) => Ok(live),
            Self::Absent => Err(TaskError::NotFound),
        }
    }

    /// The task, if this agent has it.
    fn of(&self, agent: AgentId) -> Result<&LiveTask, TaskError> {
        let live = self.live()?;
        if live.assigned_agent_id == Some(agent) { Ok(live) } else { Err(TaskError::AccessDenied) }
    }

    fn decide(&self, command: TaskCommand) -> Result<Vec<TaskEvent>, TaskError> {
        match command {
            TaskCommand::Create(it) => create::decide(self, it),
            TaskCommand::Change(it) => change::decide(self, *it),
            TaskCommand::Assign(it) => assign::decide(self, it),
            TaskCommand::Start(it) => start::decide(self, it),
            TaskCommand::Block(it) => block::decide(self, it),
            TaskCommand::Complete(it) => complete::decide(self, it),
            TaskCommand::AssignOnGithub(it) => assign_on_github::decide(self, it),
            TaskCommand::CompleteOnGithub(it) => complete_on_github::decide(self, it),
            TaskCommand::Factory(it) => factory::decide(self, it),
        }
    }
}

impl Aggregate for Task {
    const TYPE: &'static str = "task";
    type Command = TaskCommand;
    type Event = TaskEvent;
    type Error = TaskError;
    type Services = ();

    async fn handle(&mut self, command: TaskCommand, (): &(), sink: &EventSink<Self>) -> Result<(), TaskError> {
        for event in self.decide(command)? {
            sink.write(event, self).await;
        }
        Ok(())
    }

    fn apply(&mut self, event: TaskEvent) {
        match (self, event) {
            (
                this,
                TaskEvent::TaskCreated {
                    task_id,
                    workspace_id,
                    project_id,
                    github_issue,
                    title,
                    description,
                    priority,
                    deadline,
                    success_criteria,
                    metadata,
                    created_at: _,
                },
            ) => {
                *this = Self::Live(Box::new(LiveTask {
                    task_id,
                    workspace_id,
                    project_id,
                    github_issue,
                    status: TaskStatus::Backlog,
                    title,
                    description,
                    priority,
                    deadline,
                    success_criteria,
                    metadata,
                    assigned_agent_id: None,
                    assigned_by: None,
                    assigned_at: None,
                    started_at: None,
                    completed_at: None,
                    factory: None,
                }));
            }
            (Self::Live(live), event) => live.apply(event),
            (Self::Absent, _) => {}
        }
    }
}

impl Entity for Task {
    fn workspace(&self) -> Option<WorkspaceId> {
        self.live().ok().map(|live| live.workspace_id)
    }

    fn demands(&self, event: &TaskEvent) -> Vec<Demand<TaskError>> {
        let mut after = self.clone();
        after.apply(event.clone());
        let places = |task: &Self| task.live().map(LiveTask::places).unwrap_or_default();
        let (held, wanted) = (places(self), places(&after));
        let released = held.iter().filter(|claim| !wanted.contains(claim)).cloned().map(Demand::Release);
        // Their keys are the task's own id, so no other stream can hold them.
        let taken = wanted.iter().filter(|claim| !held.contains(claim)).cloned();
        let taken = taken.map(|claim| Demand::Take { claim, or: TaskError::AlreadyExists });
        let begun = claims::linked(event).into_iter().chain(claims::worktree(event));
        begun.chain(claims::leased(event)).chain(released).chain(taken).collect()
    }
}
