//! A pull request as GitHub tells of it. Its id follows from its project and number.
//!
//! GitHub may tell things twice, late and out of order. **A body that was taken changes nothing when it comes
//! again**: a description counts only if it is newer than the last, a closing or reopening only if it is later than
//! the last of either, a merge once, a review by its id and a check by its id and result.

mod check;
mod close;
mod describe;
mod event;
#[cfg(test)]
mod examples;
mod merge;
mod reopen;
mod review;

use chrono::{DateTime, Utc};
use cqrs_es::{Aggregate, event_sink::EventSink};
use serde::{Deserialize, Serialize};
use thiserror::Error;

pub use check::CheckPullRequest;
pub use close::ClosePullRequest;
pub use describe::{DescribePullRequest, GithubPullRequest};
pub use event::PullRequestEvent;
pub use merge::MergePullRequest;
pub use reopen::ReopenPullRequest;
pub use review::ReviewPullRequest;

use crate::difference::assign;
use crate::recent::Recent;
use crate::{AgentId, Demand, Entity, ProjectId, PullRequestId, TaskId, WorkspaceId};

/// The life of a pull request.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum PullRequest {
    /// Not heard of yet.
    #[default]
    Absent,
    /// Heard of.
    Known(Box<KnownPullRequest>),
}

/// A pull request that Muster has heard of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KnownPullRequest {
    /// Which pull request it is.
    pub pull_request_id: PullRequestId,
    /// The workspace it belongs to.
    pub workspace_id: WorkspaceId,
    /// The project whose repository it is in.
    pub project_id: ProjectId,
    /// Its number there.
    pub number: i64,
    /// What it is called.
    pub title: String,
    /// The agent who wrote it.
    pub agent_id: Option<AgentId>,
    /// The task that it names.
    pub linked_task_id: Option<TaskId>,
    /// Its labels.
    pub labels: Vec<String>,
    /// How many lines it adds.
    pub additions: i64,
    /// How many lines it deletes.
    pub deletions: i64,
    /// How many files it changes.
    pub changed_files: i64,
    /// Whether it is open.
    pub standing: Standing,
    /// How new what is known of it is.
    pub updated_at: DateTime<Utc>,
    /// When it was last closed.
    pub closed_at: Option<DateTime<Utc>>,
    /// When it was last opened again.
    pub reopened_at: Option<DateTime<Utc>>,
    reviews: Recent<i64>,
    /// By id and whether it failed.
    checks: Recent<(i64, bool)>,
}

/// Whether a pull request is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Standing {
    /// It may yet be merged.
    Open,
    /// It was closed without a merge.
    Closed,
    /// It was merged, and stays so.
    Merged,
}

/// What GitHub tells of a pull request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PullRequestCommand {
    /// See [`DescribePullRequest`].
    Describe(DescribePullRequest),
    /// See [`ReviewPullRequest`].
    Review(ReviewPullRequest),
    /// See [`CheckPullRequest`].
    Check(CheckPullRequest),
    /// See [`ClosePullRequest`].
    Close(ClosePullRequest),
    /// See [`ReopenPullRequest`].
    Reopen(ReopenPullRequest),
    /// See [`MergePullRequest`].
    Merge(MergePullRequest),
}

/// Why what GitHub tells of a pull request is not taken.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PullRequestError {
    /// Muster has not heard of it, and this does not say enough about it.
    #[error("the pull request is not known")]
    NotFound,
}

impl PullRequest {
    /// The pull request, if Muster has heard of it.
    pub fn known(&self) -> Result<&KnownPullRequest, PullRequestError> {
        match self {
            Self::Known(known) => Ok(known),
            Self::Absent => Err(PullRequestError::NotFound),
        }
    }

    fn decide(&self, command: PullRequestCommand) -> Result<Vec<PullRequestEvent>, PullRequestError> {
        match command {
            PullRequestCommand::Describe(it) => Ok(describe::decide(self, it)),
            PullRequestCommand::Review(it) => review::decide(self, it),
            PullRequestCommand::Check(it) => check::decide(self, it),
            PullRequestCommand::Close(it) => Ok(close::decide(self, it)),
            PullRequestCommand::Reopen(it) => Ok(reopen::decide(self, it)),
            PullRequestCommand::Merge(it) => Ok(merge::decide(self, it)),
        }
    }
}

impl Aggregate for PullRequest {
    const TYPE: &'static str = "pull_request";
    type Command = PullRequestCommand;
    type Event = PullRequestEvent;
    type Error = PullRequestError;
    type Services = ();

    async fn handle(
        &mut self,
        command: PullRequestCommand,
        (): &(),
        sink: &EventSink<Self>,
    ) -> Result<(), PullRequestError> {
        for event in self.decide(command)? {
            sink.write(event, self).await;
        }
        Ok(())
    }

    fn apply(&mut self, event: PullRequestEvent) {
        match (self, event) {
            (
                this,
                PullRequestEvent::PullRequestOpened {
                    pull_request_id,
                    workspace_id,
                    project_id,
                    number,
                    url: _,
                    title,
                    author: _,
                    agent_id,
                    linked_task_id,
                    repository: _,
                    labels,
                    additions,
                    deletions,
                    changed_files,
                    opened_at: _,
                    updated_at,
                },
            ) => {
                *this = Self::Known(Box::new(KnownPullRequest {
                    pull_request_id,
                    workspace_id,
                    project_id,
                    number,
                    title,
                    agent_id,
                    linked_task_id,
                    labels,
                    additions,
                    deletions,
                    changed_files,
                    standing: Standing::Open,
                    updated_at,
                    closed_at: None,
                    reopened_at: None,
                    reviews: Recent::default(),
                    checks: Recent::default(),
                }));
            }
            (Self::Known(known), event) => known.apply(event),
            (Self::Absent, _) => {}
        }
    }
}

impl KnownPullRequest {
    fn apply(&mut self, event: PullRequestEvent) {
        match event {
            PullRequestEvent::PullRequestOpened { .. } => {}
            PullRequestEvent::PullRequestDetailsChanged {
                title,
                linked_task_id,
                labels,
                additions,
                deletions,
                changed_files,
                updated_at,
            } => {
                assign(&mut self.title, title);
                assign(&mut self.linked_task_id, linked_task_id.map(Some));
                assign(&mut self.labels, labels);
                assign(&mut self.additions, additions);
                assign(&mut self.deletions, deletions);
                assign(&mut self.changed_files, changed_files);
                self.updated_at = updated_at;
            }
            PullRequestEvent::PullRequestReviewed { review_id, .. } => self.reviews.note(review_id),
            PullRequestEvent::PullRequestLintFailed { check_id, .. } => self.checks.note((check_id, true)),
            PullRequestEvent::PullRequestLintPassed { check_id, .. } => self.checks.note((check_id, false)),
            PullRequestEvent::PullRequestClosed { closed_at, .. } => {
                self.standing = Standing::Closed;
                self.closed_at = Some(closed_at);
            }
            PullRequestEvent::PullRequestReopened { reopened_at } => {
                self.standing = Standing::Open;
                self.reopened_at = Some(reopened_at);
            }
            PullRequestEvent::PullRequestMerged { .. } => self.standing = Standing::Merged,
        }
    }
}

impl Entity for PullRequest {
    fn workspace(&self) -> Option<WorkspaceId> {
        self.known().ok().map(|known| known.workspace_id)
    }

    // Nothing here is unique beyond the stream, whose id is the natural key.
    fn demands(&self, event: &PullRequestEvent) -> Vec<Demand<PullRequestError>> {
        match event {
            PullRequestEvent::PullRequestOpened { .. }
            | PullRequestEvent::PullRequestDetailsChanged { .. }
            | PullRequestEvent::PullRequestReviewed { .. }
            | PullRequestEvent::PullRequestLintFailed { .. }
            | PullRequestEvent::PullRequestLintPassed { .. }
            | PullRequestEvent::PullRequestClosed { .. }
            | PullRequestEvent::PullRequestReopened { .. }
            | PullRequestEvent::PullRequestMerged { .. } => vec![],
        }
    }
}
