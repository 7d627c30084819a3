//! News: what a delivery may tell, as far as anything follows from it.

use chrono::{DateTime, Utc};
use domain::ReviewDecision;
use domain::github::Login;
use domain::repository::DeploymentState;
use domain::task::GithubIssue;

/// What happened. Whose project and which agent it concerns is found when it is taken.
#[derive(Debug, Clone, PartialEq)]
pub enum News {
    /// A pull request was opened, changed, closed, merged or opened again.
    PullRequest {
        /// As it is now.
        now: Box<PullRequestNow>,
        /// What became of it.
        turn: PullRequestTurn,
    },
    /// Somebody reviewed a pull request.
    Review(Box<Review>),
    /// A check ended.
    Check(Check),
    /// Commits were pushed.
    Push(Push),
    /// A deployment went a step further.
    Deployment(Deployment),
    /// An issue was opened, assigned, labelled or closed.
    Issue(Box<IssueNews>),
    /// Somebody commented.
    Comment(Comment),
}

/// A pull request as a body shows it.
#[derive(Debug, Clone, PartialEq)]
pub struct PullRequestNow {
    /// The repository's name, with its owner's.
    pub repository: String,
    /// Its number there.
    pub number: i64,
    /// Where it is.
    pub url: String,
    /// What it is called.
    pub title: String,
    /// What its author says of it.
    pub body: String,
    /// Who wrote it.
    pub author: Login,
    /// Its labels.
    pub labels: Vec<String>,
    /// How many lines it adds.
    pub additions: i64,
    /// How many lines it deletes.
    pub deletions: i64,
    /// How many files it changes.
    pub changed_files: i64,
    /// When it was opened.
    pub opened_at: DateTime<Utc>,
    /// When it was last changed.
    pub updated_at: DateTime<Utc>,
}

/// What became of a pull request.
#[derive(Debug, Clone, PartialEq)]
pub enum PullRequestTurn {
    /// It is described anew.
    Described,
    /// It was opened again.
    Reopened,
    /// It was closed without a merge.
    Closed {
        /// Who closed it.
        by: Login,
        /// When.
        at: DateTime<Utc>,
    },
    /// It was merged.
    Merged {
        /// Who merged it.
        by: Login,
        /// The commit that it became.
        commit: Option<String>,
        /// When.
        at: DateTime<Utc>,
    },
}

/// A review of a pull request.
#[derive(Debug, Clone, PartialEq)]
pub struct Review {
    /// The pull request, of which such a body does not show the size.
    pub of: PullRequestNow,
    /// GitHub's id of the review.
    pub review_id: i64,
    /// Who reviewed it.
    pub reviewer: Login,
    /// What the reviewer says.
    pub decision: ReviewDecision,
    /// When.
    pub submitted_at: DateTime<Utc>,
}

/// How a check of some pull requests ended.
#[derive(Debug, Clone, PartialEq)]
pub struct Check {
    /// The pull requests that it is about, by number.
    pub pull_requests: Vec<i64>,
    /// GitHub's id of the check.
    pub check_id: i64,
    /// What the check is called.
    pub name: String,
    /// Whether it failed.
    pub failed: bool,
    /// When it ended.
    pub completed_at: DateTime<Utc>,
}

/// News of an issue.
#[derive(Debug, Clone, PartialEq)]
pub struct IssueNews {
    /// As it is now.
    pub now: IssueNow,
    /// What became of it.
    pub turn: IssueTurn,
}

/// An issue as a body shows it.
#[derive(Debug, Clone, PartialEq)]
pub struct IssueNow {
    /// The repository's name, with its owner's.
    pub repository: String,
    /// Which issue.
    pub issue: GithubIssue,
    /// Where it is.
    pub url: String,
    /// What it is called.
    pub title: String,
    /// What it says.
    pub body: Option<String>,
    /// Its labels.
    pub labels: Vec<String>,
    /// When it was last changed: the time of this turn.
    pub updated_at: DateTime<Utc>,
}

/// What became of an issue.
#[derive(Debug, Clone, PartialEq)]
pub enum IssueTurn {
    /// It was opened.
    Opened,
    /// Its labels are others now.
    Labelled,
    /// It was assigned.
    Assigned {
        /// To whom.
        assignee: Login,
        /// By whom.
        by: Login,
    },
    /// It was closed.
    Closed {
        /// When.
        at: DateTime<Utc>,
    },
}

/// A comment on an issue or a pull request.
#[derive(Debug, Clone, PartialEq)]
pub struct Comment {
    /// GitHub's id of the comment.
    pub comment_id: i64,
    /// What was commented on.
    pub number: i64,
    /// Whether that is a pull request.
    pub on_pull_request: bool,
    /// Where the comment is.
    pub url: String,
    /// Who wrote it.
    pub author: Login,
    /// What it says.
    pub body: String,
    /// When.
    pub commented_at: DateTime<Utc>,
}

/// A push to a branch.
#[derive(Debug, Clone, PartialEq)]
pub struct Push {
    /// Where the commits went, like `refs/heads/main`.
    pub git_ref: String,
    /// The commit that is now the last there.
    pub head_sha: String,
    /// The commits.
    pub commits: Vec<String>,
    /// Who pushed them.
    pub pusher: Login,
    /// When.
    pub pushed_at: DateTime<Utc>,
}

/// How a deployment stands.
#[derive(Debug, Clone, PartialEq)]
pub struct Deployment {
    /// GitHub's id of the deployment.
    pub deployment_id: i64,
    /// GitHub's id of this status of it.
    pub status_id: i64,
    /// How it stands.
    pub state: DeploymentState,
    /// The commit that is deployed.
    pub sha: String,
    /// Where to.
    pub environment: String,
    /// When.
    pub reported_at: DateTime<Utc>,
}
