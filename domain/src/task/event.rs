//! What happens to a task.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::{Assigner, CompletionCause, GithubIssue, Priority, Task};
use crate::catalogue::event_kinds;
use crate::{AgentId, ProjectId, SessionId, Settings, Severity, TaskId, WorkspaceId};

/// What happened to a task.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum TaskEvent {
    /// The task now exists, and nobody has it.
    TaskCreated {
        /// Which task it is.
        task_id: TaskId,
        /// The workspace it belongs to.
        workspace_id: WorkspaceId,
        /// The project it is part of.
        project_id: ProjectId,
        /// The GitHub issue that it is; none for tasks that did not come from GitHub.
        github_issue: Option<GithubIssue>,
        /// What it is called.
        title: String,
        /// What is to be done.
        description: Option<String>,
        /// What comes first.
        priority: Priority,
        /// When it is due.
        deadline: Option<DateTime<Utc>>,
        /// How to tell that it is done.
        success_criteria: Vec<String>,
        /// What else its maker noted.
        metadata: Settings,
        /// When it happened.
        created_at: DateTime<Utc>,
    },
    /// Some details are new; the others stayed.
    TaskDetailsChanged {
        /// The new title.
        #[serde(skip_serializing_if = "Option::is_none")]
        title: Option<String>,
        /// The new description.
        #[serde(skip_serializing_if = "Option::is_none")]
        description: Option<String>,
        /// The new priority.
        #[serde(skip_serializing_if = "Option::is_none")]
        priority: Option<Priority>,
        /// The new deadline.
        #[serde(skip_serializing_if = "Option::is_none")]
        deadline: Option<DateTime<Utc>>,
        /// The new success criteria, all of them.
        #[serde(skip_serializing_if = "Option::is_none")]
        success_criteria: Option<Vec<String>>,
        /// The new metadata, all of it.
        #[serde(skip_serializing_if = "Option::is_none")]
        metadata: Option<Settings>,
        /// When it happened.
        changed_at: DateTime<Utc>,
    },
    /// An agent has the task from now on. One from the backlog is now assigned; others stay as far as they are.
    TaskAssigned {
        /// Who has it.
        agent_id: AgentId,
        /// Who had it.
        previous_agent_id: Option<AgentId>,
        /// Who gave it.
        assigned_by: Assigner,
        /// What the task is called.
        title: String,
        /// What comes first.
        priority: Priority,
        /// When it is due.
        deadline: Option<DateTime<Utc>>,
        /// When it happened.
        assigned_at: DateTime<Utc>,
    },
    /// The task went back to the backlog, and nobody has it.
    TaskReturned {
        /// Who had it.
        previous_agent_id: Option<AgentId>,
        /// What the task is called.
        title: String,
        /// When it happened.
        returned_at: DateTime<Utc>,
    },
    /// An agent works on the task, for the first time or again.
    TaskStarted {
        /// Who works on it.
        agent_id: Option<AgentId>,
        /// Under which session.
        session_id: Option<SessionId>,
        /// What the task is called.
        title: String,
        /// When it happened.
        started_at: DateTime<Utc>,
    },
    /// The task was put down: its agent keeps it, and does not work on it.
    TaskPaused {
        /// Who has it.
        agent_id: Option<AgentId>,
        /// What the task is called.
        title: String,
        /// When it happened.
        paused_at: DateTime<Utc>,
    },
    /// The task cannot go on.
    TaskBlocked {
        /// Who has it.
        agent_id: Option<AgentId>,
        /// Under which session.
        session_id: Option<SessionId>,
        /// Who gave it to its agent, and is to hear of this.
        assigned_by: Option<Assigner>,
        /// What the task is called.
        title: String,
        /// What is in the way.
        blocker: String,
        /// How bad that is.
        severity: Severity,
        /// Whether a person must look at it.
        requires_attention: bool,
        /// When it happened.
        blocked_at: DateTime<Utc>,
    },
    /// The task is done.
    TaskCompleted {
        /// Who had it.
        agent_id: Option<AgentId>,
        /// Under which session.
        session_id: Option<SessionId>,
        /// Who gave it to its agent, and is to hear of this.
        assigned_by: Option<Assigner>,
        /// What the task is called.
        title: String,
        /// What says so.
        cause: CompletionCause,
        /// Which of its success criteria are met.
        success_criteria_met: Vec<String>,
        /// From the first start to now, in whole minutes; 0 when it was never started.
        duration_minutes: i64,
        /// When it happened.
        completed_at: DateTime<Utc>,
    },
    /// The task will not be done.
    TaskCancelled {
        /// Who had it.
        agent_id: Option<AgentId>,
        /// What the task is called.
        title: String,
        /// When it happened.
        cancelled_at: DateTime<Utc>,
    },
}

event_kinds! { TaskEvent of Task {
    TaskCreated "1" "A task was added to a project's backlog."
    TaskDetailsChanged "1" "The owner changed a task's title, description, priority, deadline, criteria or metadata."
    TaskAssigned "1" "A task was given to an agent, by the owner or on GitHub."
    TaskReturned "1" "A task went back to the backlog, and its agent is rid of it."
    TaskStarted "1" "An agent began to work on its task, or took it up again."
    TaskPaused "1" "A task was put down; its agent keeps it."
    TaskBlocked "1" "A task cannot go on, for a reason that is given."
    TaskCompleted "1" "A task was done, as its agent, the owner or GitHub says."
    TaskCancelled "1" "The owner decided that a task will not be done."
}}
