//! How a task's row follows what happens to the task.

use chrono::{DateTime, Utc};
use domain::task::{TaskEvent, TaskState, TaskStatus};

use super::{InEpic, TaskView};
use crate::rows::assign;

pub(super) fn created(event: &TaskEvent) -> Option<TaskView> {
    let TaskEvent::TaskCreated {
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
        created_at,
    } = event.clone()
    else {
        return None;
    };
    Some(TaskView {
        id: task_id,
        workspace_id,
        project_id,
        github_issue_id: github_issue.map(|it| it.id),
        github_issue_number: github_issue.map(|it| it.number),
        assigned_agent_id: None,
        assigned_at: None,
        assigned_by: None,
        status: TaskStatus::Backlog,
        priority,
        title,
        description,
        deadline,
        success_criteria,
        started_at: None,
        completed_at: None,
        metadata,
        factory: None,
        created_at,
        updated_at: created_at,
    })
}

impl TaskView {
    /// Whether its agent has still to do with it.
    pub(super) fn is_open(&self) -> bool {
        // One that failed in its epic is blocked for AgentFlow, and yet nothing more will come of it.
        if self.factory.as_ref().is_some_and(|it| it.state.is_over()) {
            return false;
        }
        match self.status {
            TaskStatus::Assigned | TaskStatus::InProgress | TaskStatus::Blocked => true,
            TaskStatus::Backlog | TaskStatus::Completed | TaskStatus::Cancelled => false,
        }
    }

    pub(super) fn follow(&mut self, event: TaskEvent) {
        self.updated_at = match event {
            TaskEvent::TaskCreated { created_at, .. } => created_at,
            TaskEvent::TaskDetailsChanged {
                title,
                description,
                priority,
                deadline,
                success_criteria,
                metadata,
                changed_at,
            } => {
                assign(&mut self.title, title);
                assign(&mut self.description, description.map(Some));
                assign(&mut self.priority, priority);
                assign(&mut self.deadline, deadline.map(Some));
                assign(&mut self.success_criteria, success_criteria);
                assign(&mut self.metadata, metadata);
                changed_at
            }
            TaskEvent::TaskAssigned { agent_id, assigned_by, assigned_at, .. } => {
                self.assigned_agent_id = Some(agent_id);
                self.assigned_by = Some(assigned_by);
                self.assigned_at = Some(assigned_at);
                if self.status == TaskStatus::Backlog {
                    self.status = TaskStatus::Assigned;
                }
                assigned_at
            }
            TaskEvent::TaskReturned { returned_at, .. } => {
                self.status = TaskStatus::Backlog;
                (self.assigned_agent_id, self.assigned_by, self.assigned_at) = (None, None, None);
                self.started_at = None;
                returned_at
            }
            TaskEvent::TaskStarted { started_at, .. } => {
                self.status = TaskStatus::InProgress;
                self.enter(TaskState::InProgress, None);
                self.started_at = self.started_at.or(Some(started_at));
                started_at
            }
            TaskEvent::TaskPaused { paused_at, .. } => {
                self.status = TaskStatus::Assigned;
                paused_at
            }
            TaskEvent::TaskBlocked { blocked_at, .. } => {
                self.status = TaskStatus::Blocked;
                blocked_at
            }
            TaskEvent::TaskCompleted { completed_at, .. } => {
                self.status = TaskStatus::Completed;
                self.completed_at = Some(completed_at);
                self.enter(TaskState::Completed, None);
                completed_at
            }
            TaskEvent::TaskCancelled { cancelled_at, .. } => {
                self.status = TaskStatus::Cancelled;
                cancelled_at
            }
            TaskEvent::TaskAddedToEpic { epic_id, worktree_name, added_at } => {
                self.factory = Some(InEpic {
                    epic_id,
                    worktree_name,
                    state: TaskState::Pending,
                    attempts: 0,
                    pr_url: None,
                    head: None,
                    submitted_at: None,
                    failure: None,
                    conflict_files: vec![],
                });
                added_at
            }
            TaskEvent::TaskSubmitted { pr_url, head, submitted_at, .. } => {
                self.enter(TaskState::PendingReview, Some(submitted_at));
                self.in_epic(|it| (it.pr_url, it.head) = (Some(pr_url), head));
                submitted_at
            }
            TaskEvent::TaskChangesRequested { requested_at, .. } => {
                self.enter(TaskState::InProgress, None);
                requested_at
            }
            TaskEvent::TaskRebaseRequested { requested_at, .. } => {
                self.enter(TaskState::NeedsRebase, None);
                requested_at
            }
            TaskEvent::TaskRebased { pr_url, head, rebased_at, .. } => {
                self.enter(TaskState::PendingReview, Some(rebased_at));
                self.in_epic(|it| {
                    it.pr_url = pr_url.or(it.pr_url.take());
                    it.head = head;
                });
                rebased_at
            }
            TaskEvent::TaskApproved { approved_at, .. } => {
                let submitted_at = self.factory.as_ref().and_then(|it| it.submitted_at);
                self.enter(TaskState::Approved, submitted_at);
                approved_at
            }
            TaskEvent::TaskMergeFailed { failed_at, .. } => {
                let submitted_at = self.factory.as_ref().and_then(|it| it.submitted_at);
                self.enter(TaskState::PendingReview, submitted_at);
                failed_at
            }
            TaskEvent::TaskHandedOver { to_agent_id, attempts, handed_over_at, .. } => {
                self.assigned_agent_id = Some(to_agent_id);
                self.assigned_at = Some(handed_over_at);
                self.in_epic(|it| it.attempts = attempts);
                let state = self.factory.as_ref().map(|it| it.state);
                if let Some(TaskState::Pending | TaskState::InProgress) = state {
                    self.started_at = self.started_at.or(Some(handed_over_at));
                    self.enter(TaskState::InProgress, None);
                }
                handed_over_at
            }
            TaskEvent::TaskReset { reset_at, .. } => {
                (self.assigned_agent_id, self.assigned_by, self.assigned_at) = (None, None, None);
                self.started_at = None;
                self.enter(TaskState::Pending, None);
                self.in_epic(|it| it.attempts = 0);
                reset_at
            }
            TaskEvent::TaskFailed { reason, conflict_files, attempts, with_epic: _, failed_at } => {
                self.enter(TaskState::Failed, None);
                self.in_epic(|it| {
                    it.attempts = attempts;
                    (it.failure, it.conflict_files) = (Some(reason), conflict_files);
                });
                failed_at
            }
        };
    }

    fn in_epic(&mut self, change: impl FnOnce(&mut InEpic)) {
        if let Some(factory) = &mut self.factory {
            change(factory);
        }
    }

    /// Takes a step in its epic, and AgentFlow's status with it.
    fn enter(&mut self, state: TaskState, submitted_at: Option<DateTime<Utc>>) {
        if let Some(factory) = &mut self.factory {
            (factory.state, factory.submitted_at) = (state, submitted_at);
            self.status = state.status(self.assigned_agent_id.is_some());
        }
    }
}
