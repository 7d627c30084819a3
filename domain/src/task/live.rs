//! A task that exists: how far it has come, and how an event takes it further.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::{Assigner, GithubIssue, Priority, TaskError, TaskEvent, TaskStatus};
use crate::difference::assign;
use crate::{AgentId, ProjectId, Settings, TaskId, WorkspaceId};

/// A task that exists.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LiveTask {
    /// Which task it is.
    pub task_id: TaskId,
    /// The workspace it belongs to.
    pub workspace_id: WorkspaceId,
    /// The project it is part of.
    pub project_id: ProjectId,
    /// The GitHub issue that it is.
    pub github_issue: Option<GithubIssue>,
    /// How far it has come.
    pub status: TaskStatus,
    /// What it is called.
    pub title: String,
    /// What is to be done.
    pub description: Option<String>,
    /// What comes first.
    pub priority: Priority,
    /// When it is due.
    pub deadline: Option<DateTime<Utc>>,
    /// How to tell that it is done.
    pub success_criteria: Vec<String>,
    /// What else its maker noted.
    pub metadata: Settings,
    /// Who has it; nobody while it is in the backlog.
    pub assigned_agent_id: Option<AgentId>,
    /// Who gave it to that agent.
    pub assigned_by: Option<Assigner>,
    /// When that agent got it.
    pub assigned_at: Option<DateTime<Utc>>,
    /// When work on it began; a pause does not change that.
    pub started_at: Option<DateTime<Utc>>,
    /// When it was done.
    pub completed_at: Option<DateTime<Utc>>,
}

impl LiveTask {
    /// Refuses a move that is not legal.
    pub(super) fn may_become(&self, to: TaskStatus) -> Result<(), TaskError> {
        let from = self.status;
        if from.may_become(to) { Ok(()) } else { Err(TaskError::InvalidTransition { from, to }) }
    }

    pub(super) fn apply(&mut self, event: TaskEvent) {
        match event {
            TaskEvent::TaskCreated { .. } => {}
            TaskEvent::TaskDetailsChanged {
                title,
                description,
                priority,
                deadline,
                success_criteria,
                metadata,
                changed_at: _,
            } => {
                assign(&mut self.title, title);
                assign(&mut self.description, description.map(Some));
                assign(&mut self.priority, priority);
                assign(&mut self.deadline, deadline.map(Some));
                assign(&mut self.success_criteria, success_criteria);
                assign(&mut self.metadata, metadata);
            }
            TaskEvent::TaskAssigned { agent_id, assigned_by, assigned_at, .. } => {
                self.assigned_agent_id = Some(agent_id);
                self.assigned_by = Some(assigned_by);
                self.assigned_at = Some(assigned_at);
                if self.status == TaskStatus::Backlog {
                    self.status = TaskStatus::Assigned;
                }
            }
            TaskEvent::TaskReturned { .. } => {
                self.status = TaskStatus::Backlog;
                (self.assigned_agent_id, self.assigned_by, self.assigned_at) = (None, None, None);
                self.started_at = None;
            }
            TaskEvent::TaskStarted { started_at, .. } => {
                self.status = TaskStatus::InProgress;
                self.started_at = self.started_at.or(Some(started_at));
            }
            TaskEvent::TaskPaused { .. } => self.status = TaskStatus::Assigned,
            TaskEvent::TaskBlocked { .. } => self.status = TaskStatus::Blocked,
            TaskEvent::TaskCompleted { completed_at, .. } => {
                self.status = TaskStatus::Completed;
                self.completed_at = Some(completed_at);
            }
            TaskEvent::TaskCancelled { .. } => self.status = TaskStatus::Cancelled,
        }
    }
}
