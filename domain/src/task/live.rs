//! A task that exists: how far it has come, and how an event takes it further.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::{Assigner, FactoryTask, GithubIssue, Priority, TaskError, TaskEvent, TaskState, TaskStatus};
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
    /// What it is within its epic, if it is part of one.
    #[serde(default)]
    pub factory: Option<FactoryTask>,
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
                self.enter(TaskState::InProgress);
                self.started_at = self.started_at.or(Some(started_at));
            }
            TaskEvent::TaskPaused { .. } => self.status = TaskStatus::Assigned,
            TaskEvent::TaskBlocked { .. } => self.status = TaskStatus::Blocked,
            TaskEvent::TaskCompleted { completed_at, .. } => {
                self.status = TaskStatus::Completed;
                self.completed_at = Some(completed_at);
                self.enter(TaskState::Completed);
                self.wait_since(None);
            }
            TaskEvent::TaskCancelled { .. } => self.status = TaskStatus::Cancelled,
            TaskEvent::TaskAddedToEpic { epic_id, worktree_name, added_at: _ } => {
                let (state, attempts) = (TaskState::Pending, 0);
                self.factory = Some(FactoryTask {
                    epic_id,
                    worktree_name,
                    state,
                    attempts,
                    pr_url: None,
                    pr_title: None,
                    pr_description: None,
                    head: None,
                    submitted_at: None,
                });
            }
            TaskEvent::TaskSubmitted { pr_url, pr_title, pr_description, head, submitted_at, agent_id: _ } => {
                self.enter(TaskState::PendingReview);
                self.wait_since(Some(submitted_at));
                if let Some(factory) = &mut self.factory {
                    (factory.pr_url, factory.head) = (Some(pr_url), head);
                    (factory.pr_title, factory.pr_description) = (Some(pr_title), Some(pr_description));
                }
            }
            TaskEvent::TaskChangesRequested { .. } => {
                self.enter(TaskState::InProgress);
                self.wait_since(None);
            }
            TaskEvent::TaskRebaseRequested { .. } => {
                self.enter(TaskState::NeedsRebase);
                self.wait_since(None);
            }
            TaskEvent::TaskRebased { pr_url, head, rebased_at, .. } => {
                self.enter(TaskState::PendingReview);
                self.wait_since(Some(rebased_at));
                if let Some(factory) = &mut self.factory {
                    factory.pr_url = pr_url.or(factory.pr_url.take());
                    factory.head = head;
                }
            }
            TaskEvent::TaskApproved { .. } => self.enter(TaskState::Approved),
            TaskEvent::TaskMergeFailed { .. } => self.enter(TaskState::PendingReview),
            TaskEvent::TaskHandedOver { to_agent_id, attempts, handed_over_at, .. } => {
                self.assigned_agent_id = Some(to_agent_id);
                self.assigned_at = Some(handed_over_at);
                let Some(factory) = &mut self.factory else { return };
                factory.attempts = attempts;
                if let TaskState::Pending | TaskState::InProgress = factory.state {
                    self.started_at = self.started_at.or(Some(handed_over_at));
                    self.enter(TaskState::InProgress);
                }
            }
            TaskEvent::TaskReset { .. } => {
                (self.assigned_agent_id, self.assigned_by, self.assigned_at) = (None, None, None);
                self.started_at = None;
                self.enter(TaskState::Pending);
                self.wait_since(None);
                if let Some(factory) = &mut self.factory {
                    factory.attempts = 0;
                }
            }
            TaskEvent::TaskFailed { attempts, .. } => {
                self.enter(TaskState::Failed);
                self.wait_since(None);
                if let Some(factory) = &mut self.factory {
                    factory.attempts = attempts;
                }
            }
        }
    }

    /// Since when it waits for review.
    fn wait_since(&mut self, submitted_at: Option<DateTime<Utc>>) {
        if let Some(factory) = &mut self.factory {
            factory.submitted_at = submitted_at;
        }
    }
}
