//! A project's repository as GitHub tells of it; its stream has the project's id.
//!
//! **A body that was taken changes nothing when it comes again.** What tells facts apart are GitHub's own ids and
//! times, of which the latest of each kind are remembered: a repository has no end of pushes, and its state stays
//! small.

mod assign_issue;
mod comment;
mod event;
#[cfg(test)]
mod examples;
mod label_issue;
mod push;
mod report_deployment;

use chrono::{DateTime, Utc};
use cqrs_es::{Aggregate, event_sink::EventSink};
use serde::{Deserialize, Serialize};
use thiserror::Error;

pub use assign_issue::AssignIssue;
pub use comment::CommentOnIssue;
pub use event::RepositoryEvent;
pub use label_issue::LabelIssue;
pub use push::PushCommits;
pub use report_deployment::ReportDeployment;

use crate::recent::Recent;
use crate::{Demand, Entity, ProjectId, WorkspaceId};

/// What is remembered of a repository.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Repository {
    workspace_id: Option<WorkspaceId>,
    /// By when and to which commit.
    pushes: Recent<(DateTime<Utc>, String)>,
    deployment_statuses: Recent<i64>,
    comments: Recent<i64>,
    /// By when, which issue and to whom.
    assignments: Recent<(DateTime<Utc>, i64, String)>,
    /// By when and which issue.
    labellings: Recent<(DateTime<Utc>, i64)>,
}

/// Which repository a fact is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RepositoryOf {
    /// The workspace it belongs to.
    pub workspace_id: WorkspaceId,
    /// The project whose repository it is.
    pub project_id: ProjectId,
}

/// How a deployment stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DeploymentState {
    /// Asked for.
    Pending,
    /// Waits for its turn.
    Queued,
    /// Under way.
    InProgress,
    /// Done.
    Success,
    /// Another took its place.
    Inactive,
    /// It did not work.
    Failure,
    /// It could not be tried.
    Error,
}

impl DeploymentState {
    /// Whether the deployment failed.
    pub fn is_failure(self) -> bool {
        match self {
            Self::Failure | Self::Error => true,
            Self::Pending | Self::Queued | Self::InProgress | Self::Success | Self::Inactive => false,
        }
    }
}

/// What GitHub tells of a repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RepositoryCommand {
    /// See [`PushCommits`].
    Push(PushCommits),
    /// See [`ReportDeployment`].
    ReportDeployment(ReportDeployment),
    /// See [`CommentOnIssue`].
    Comment(CommentOnIssue),
    /// See [`AssignIssue`].
    AssignIssue(AssignIssue),
    /// See [`LabelIssue`].
    LabelIssue(LabelIssue),
}

/// Why what GitHub tells of a repository is not taken: there is no reason.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum RepositoryError {}

impl Repository {
    fn decide(&self, command: RepositoryCommand) -> Vec<RepositoryEvent> {
        let event = match command {
            RepositoryCommand::Push(it) => push::decide(self, it),
            RepositoryCommand::ReportDeployment(it) => report_deployment::decide(self, it),
            RepositoryCommand::Comment(it) => comment::decide(self, it),
            RepositoryCommand::AssignIssue(it) => assign_issue::decide(self, it),
            RepositoryCommand::LabelIssue(it) => label_issue::decide(self, it),
        };
        event.into_iter().collect()
    }
}

impl Aggregate for Repository {
    const TYPE: &'static str = "repository";
    type Command = RepositoryCommand;
    type Event = RepositoryEvent;
    type Error = RepositoryError;
    type Services = ();

    async fn handle(
        &mut self,
        command: RepositoryCommand,
        (): &(),
        sink: &EventSink<Self>,
    ) -> Result<(), RepositoryError> {
        for event in self.decide(command) {
            sink.write(event, self).await;
        }
        Ok(())
    }

    fn apply(&mut self, event: RepositoryEvent) {
        let workspace_id = match event {
            RepositoryEvent::CommitsPushed { workspace_id, head_sha, pushed_at, .. } => {
                self.pushes.note((pushed_at, head_sha));
                workspace_id
            }
            RepositoryEvent::DeploymentStatusReported { workspace_id, status_id, .. } => {
                self.deployment_statuses.note(status_id);
                workspace_id
            }
            RepositoryEvent::IssueCommented { workspace_id, comment_id, .. } => {
                self.comments.note(comment_id);
                workspace_id
            }
            RepositoryEvent::IssueAssigned { workspace_id, issue, assignee, assigned_at, .. } => {
                self.assignments.note((assigned_at, issue.number, assignee.key()));
                workspace_id
            }
            RepositoryEvent::IssueLabelled { workspace_id, issue, labelled_at, .. } => {
                self.labellings.note((labelled_at, issue.number));
                workspace_id
            }
        };
        self.workspace_id = Some(workspace_id);
    }
}

impl Entity for Repository {
    fn workspace(&self) -> Option<WorkspaceId> {
        self.workspace_id
    }

    // Nothing here is unique beyond the stream, whose id is the project's.
    fn demands(&self, event: &RepositoryEvent) -> Vec<Demand<RepositoryError>> {
        match event {
            RepositoryEvent::CommitsPushed { .. }
            | RepositoryEvent::DeploymentStatusReported { .. }
            | RepositoryEvent::IssueCommented { .. }
            | RepositoryEvent::IssueAssigned { .. }
            | RepositoryEvent::IssueLabelled { .. } => vec![],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::examples::every_report;
    use super::*;
    use crate::examples::{after, given, id};

    #[test]
    fn what_github_tells_is_taken_once() {
        for (command, event) in every_report() {
            given::<Repository>([]).when(command.clone()).then_expect_events(vec![event.clone()]);
            given::<Repository>([event]).when(command).then_expect_events(vec![]);
        }
    }

    #[test]
    fn one_fact_does_not_hide_another() {
        let (commands, events): (Vec<_>, Vec<_>) = every_report().into_iter().unzip();
        for (i, command) in commands.into_iter().enumerate() {
            let others = [&events[..i], &events[i + 1..]].concat();
            given::<Repository>(others).when(command).then_expect_events(vec![events[i].clone()]);
        }
    }

    #[test]
    fn any_fact_tells_the_workspace() {
        for (_, event) in every_report() {
            assert_eq!(after::<Repository>([event]).workspace(), Some(id(10)));
        }
    }

    #[test]
    fn a_deployment_fails_in_two_ways() {
        assert!(DeploymentState::Failure.is_failure() && DeploymentState::Error.is_failure());
        assert!(!DeploymentState::Success.is_failure() && !DeploymentState::Inactive.is_failure());
    }
}
