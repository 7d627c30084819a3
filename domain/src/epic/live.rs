//! An epic that exists: its tasks that are not over, its review queue, and how an event takes it further.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::{EpicError, EpicEvent, EpicState, TaskEnd};
use crate::difference::assign;
use crate::{AgentId, EpicId, ProjectId, Slug, TaskId, UserId, WorkspaceId, WorktreeName};

/// An epic that exists.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LiveEpic {
    /// Which epic it is.
    pub epic_id: EpicId,
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
    /// How it is to be built.
    pub design: String,
    /// Its branch and worktree.
    pub worktree_name: WorktreeName,
    /// Who wrote it.
    pub created_by: UserId,
    /// How far it has come.
    pub state: EpicState,
    /// Who supervises it.
    pub supervisor_id: Option<AgentId>,
    /// Its tasks that are not over, in the order in which they were added.
    pub open_tasks: Vec<TaskId>,
    /// How many of its tasks were merged.
    pub merged: u32,
    /// Its tasks that failed, in the order in which they did.
    pub failed: Vec<TaskId>,
    /// The pull requests that wait for review, in the order of their submission.
    pub queue: Vec<QueuedReview>,
    /// Where its own pull request is, once it has one.
    pub pr_url: Option<String>,
    /// The commit that was submitted last, where it is known: that one is merged.
    pub head: Option<String>,
    /// When a human last sent it back: from then on its supervisor is expected to speak.
    pub sent_back_at: Option<DateTime<Utc>>,
}

/// A pull request that waits for the supervisor.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct QueuedReview {
    /// Which task.
    pub task_id: TaskId,
    /// Where its pull request is.
    pub pr_url: String,
    /// Since when it waits.
    pub submitted_at: DateTime<Utc>,
}

impl LiveEpic {
    /// Refuses a move that is not legal.
    pub fn may_become(&self, to: EpicState) -> Result<(), EpicError> {
        let from = self.state;
        if from.may_become(to) { Ok(()) } else { Err(EpicError::InvalidTransition { from, to }) }
    }

    /// Refuses what only an epic that is being worked on allows.
    pub fn in_progress(&self) -> Result<(), EpicError> {
        match self.state {
            EpicState::InProgress => Ok(()),
            EpicState::AwaitingHumanReview | EpicState::Completed | EpicState::Failed => {
                Err(EpicError::NotInProgress(self.state))
            }
        }
    }

    /// Refuses everybody but its supervisor.
    pub fn supervised_by(&self, agent: AgentId) -> Result<(), EpicError> {
        if self.supervisor_id == Some(agent) { Ok(()) } else { Err(EpicError::NotSupervisor) }
    }

    /// Refuses the review of any pull request but the first in the queue.
    pub fn reviews(&self, task: TaskId) -> Result<&QueuedReview, EpicError> {
        match self.queue.first() {
            Some(first) if first.task_id == task => Ok(first),
            first => Err(EpicError::NotFirstInQueue { first: first.map(|it| it.task_id) }),
        }
    }

    /// Refuses the end of an epic in which something is still to be done, or nothing was.
    pub fn is_ready(&self) -> Result<(), EpicError> {
        if !self.open_tasks.is_empty() {
            return Err(EpicError::TasksOpen(self.open_tasks.len()));
        }
        if self.merged == 0 { Err(EpicError::NothingMerged) } else { Ok(()) }
    }

    pub(super) fn apply(&mut self, event: EpicEvent) {
        match event {
            EpicEvent::EpicCreated { .. } => {}
            EpicEvent::EpicDetailsChanged { title, description, design, changed_at: _ } => {
                assign(&mut self.title, title);
                assign(&mut self.description, description);
                assign(&mut self.design, design);
            }
            EpicEvent::EpicSupervisorAppointed { agent_id, .. } => self.supervisor_id = Some(agent_id),
            EpicEvent::EpicTaskAdded { task_id, .. } => self.open_tasks.push(task_id),
            EpicEvent::EpicReviewQueued { task_id, pr_url, submitted_at } => {
                self.queue.push(QueuedReview { task_id, pr_url, submitted_at });
            }
            EpicEvent::EpicReviewLeft { task_id, .. } => self.queue.retain(|it| it.task_id != task_id),
            EpicEvent::EpicTaskEnded { task_id, end, ended_at: _ } => {
                self.open_tasks.retain(|it| *it != task_id);
                match end {
                    TaskEnd::Merged => self.merged += 1,
                    TaskEnd::Failed => self.failed.push(task_id),
                }
            }
            EpicEvent::EpicSubmitted { pr_url, head, .. } => {
                self.state = EpicState::AwaitingHumanReview;
                (self.pr_url, self.head) = (Some(pr_url), head);
            }
            EpicEvent::EpicChangesRequested { requested_at, .. } => {
                (self.state, self.sent_back_at) = (EpicState::InProgress, Some(requested_at));
            }
            EpicEvent::EpicCompleted { .. } => self.state = EpicState::Completed,
            EpicEvent::EpicFailed { .. } => self.state = EpicState::Failed,
        }
    }
}
