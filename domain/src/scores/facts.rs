//! Facts: what happened that an agent is measured by, each with the log position it comes from.

use chrono::{DateTime, Utc};

use crate::{PullRequestId, ReviewDecision, TaskId};

/// Everything that one agent is measured by.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// The tasks that the agent has, whatever came of them.
    pub tasks: Vec<TaskFact>,
    /// The pull requests that the agent wrote.
    pub pull_requests: Vec<PullRequestFact>,
    /// The pushes that the agent made.
    pub pushes: Vec<PushFact>,
    /// The deployments of the agent's projects that failed.
    pub failed_deployments: Vec<DeploymentFact>,
}

/// When something happened, and where the log says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Moment {
    /// When.
    pub at: DateTime<Utc>,
    /// At which position of the log.
    pub position: i64,
}

/// A task that the agent has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskFact {
    /// Which task.
    pub task_id: TaskId,
    /// When the agent got it.
    pub assigned: Option<Moment>,
    /// When work on it began.
    pub started: Option<Moment>,
    /// When it was done.
    pub completed: Option<Moment>,
    /// The position at which its issue got the label `bug`, if it has it.
    pub bug: Option<i64>,
}

/// A pull request that the agent wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PullRequestFact {
    /// Which pull request.
    pub pull_request_id: PullRequestId,
    /// The task that it is linked to.
    pub task_id: Option<TaskId>,
    /// When it was opened.
    pub opened: Moment,
    /// What came of it.
    pub outcome: Outcome,
    /// The commit that it became.
    pub merge_commit_sha: Option<String>,
    /// What reviewers said, on GitHub and here.
    pub reviews: Vec<ReviewFact>,
    /// The positions at which a linter found something.
    pub lint_failures: Vec<i64>,
    /// The position at which it got the label `bug`, if it has it.
    pub bug: Option<i64>,
    /// How many lines it adds.
    pub additions: i64,
    /// How many lines it deletes.
    pub deletions: i64,
    /// The position that tells its size.
    pub sized: i64,
}

/// What came of a pull request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Nothing yet.
    Open,
    /// It was closed without a merge.
    Rejected(Moment),
    /// It was merged.
    Merged(Moment),
}

/// What a reviewer said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReviewFact {
    /// What.
    pub decision: ReviewDecision,
    /// When.
    pub given: Moment,
}

/// Commits that the agent pushed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PushFact {
    /// The commits.
    pub commits: Vec<String>,
    /// The position that tells of it.
    pub position: i64,
}

/// A deployment that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeploymentFact {
    /// Which deployment.
    pub deployment_id: i64,
    /// The commit that was deployed.
    pub sha: String,
    /// The position that tells of the failure.
    pub position: i64,
}

impl Facts {
    /// The deployments that failed with a commit that the agent pushed or whose pull request it wrote, each once.
    pub(super) fn own_failures(&self) -> Vec<&DeploymentFact> {
        let pushed = self.pushes.iter().flat_map(|push| &push.commits);
        let merged = self.pull_requests.iter().filter_map(|it| it.merge_commit_sha.as_ref());
        let own: std::collections::HashSet<&String> = pushed.chain(merged).collect();
        let mut seen = std::collections::HashSet::new();
        let failures = self.failed_deployments.iter();
        failures.filter(|it| own.contains(&it.sha) && seen.insert(it.deployment_id)).collect()
    }
}

impl PullRequestFact {
    /// The verdict that came first and settles whether it was approved at once; comments are none.
    pub(super) fn first_verdict(&self) -> Option<&ReviewFact> {
        self.verdicts().min_by_key(|review| review.given)
    }

    /// The reviews that asked for changes.
    pub(super) fn change_requests(&self) -> impl Iterator<Item = &ReviewFact> {
        self.reviews.iter().filter(|review| review.decision == ReviewDecision::RequestChanges)
    }

    fn verdicts(&self) -> impl Iterator<Item = &ReviewFact> {
        self.reviews.iter().filter(|review| review.decision != ReviewDecision::Comment)
    }
}
