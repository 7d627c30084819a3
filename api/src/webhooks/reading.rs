//! Reads a delivery: which event it is, what became of what, and whose accounts are named.

use chrono::{DateTime, Utc};
use commands::github::{
    Check, Comment, Deployment, IssueNews, IssueNow, IssueTurn, News, PullRequestNow, PullRequestTurn, Push, Review,
};
use domain::github::Login;
use domain::task::GithubIssue;
use domain::{RepositoryUrl, ReviewDecision};

use super::payload::{self, login, names, numbers};

/// What a delivery tells.
#[derive(Debug, PartialEq)]
pub(super) struct Told {
    /// Where.
    pub(super) repository: RepositoryUrl,
    /// What.
    pub(super) news: News,
}

impl Told {
    /// The accounts that it matters to know as agents.
    pub(super) fn accounts(&self) -> Vec<&Login> {
        match &self.news {
            News::PullRequest { now, .. } => vec![&now.author],
            News::Review(it) => vec![&it.of.author, &it.reviewer],
            News::Push(it) => vec![&it.pusher],
            News::Issue(it) => match &it.turn {
                IssueTurn::Assigned { assignee, .. } => vec![assignee],
                IssueTurn::Opened | IssueTurn::Labelled | IssueTurn::Closed { .. } => vec![],
            },
            News::Check(_) | News::Deployment(_) | News::Comment(_) => vec![],
        }
    }
}

/// What a delivery tells, if it is one that something follows from. A body of another shape tells nothing.
pub(super) fn read(event: &str, body: &[u8]) -> Option<Told> {
    let told = match event {
        "pull_request" => serde_json::from_slice(body).map(pull_request),
        "pull_request_review" => serde_json::from_slice(body).map(review),
        "check_run" => serde_json::from_slice(body).map(check_run),
        "check_suite" => serde_json::from_slice(body).map(check_suite),
        "deployment_status" => serde_json::from_slice(body).map(deployment),
        "push" => serde_json::from_slice(body).map(push),
        "issues" => serde_json::from_slice(body).map(issue),
        "issue_comment" => serde_json::from_slice(body).map(comment),
        _ => return None,
    };
    told.unwrap_or_else(|error| {
        tracing::warn!(%error, event, "a signed webhook cannot be read; is its content type application/json?");
        None
    })
}

fn told(repository: &payload::Repository, news: News) -> Option<Told> {
    Some(Told { repository: RepositoryUrl::new(repository.html_url.0.clone()), news })
}

fn pull_request(body: payload::PullRequestBody) -> Option<Told> {
    let payload::PullRequestBody { action, repository, sender, mut pull_request } = body;
    let updated_at = pull_request.updated_at;
    let merged_by = pull_request.merged_by.take();
    let turn = match (action.as_str(), pull_request.merged_at) {
        ("opened" | "edited" | "synchronize" | "labeled" | "unlabeled", _) => PullRequestTurn::Described,
        ("reopened", _) => PullRequestTurn::Reopened,
        ("closed", Some(at)) => {
            let commit = pull_request.merge_commit_sha.take().map(|it| it.0);
            PullRequestTurn::Merged { by: login(merged_by.or(sender)), commit, at }
        }
        ("closed", None) => {
            PullRequestTurn::Closed { by: login(sender), at: pull_request.closed_at.unwrap_or(updated_at) }
        }
        _ => return None,
    };
    let now = Box::new(described(pull_request, &repository));
    told(&repository, News::PullRequest { now, turn })
}

fn described(it: payload::PullRequest, repository: &payload::Repository) -> PullRequestNow {
    PullRequestNow {
        repository: repository.full_name.0.clone(),
        number: it.number,
        url: it.html_url.0,
        title: it.title.0,
        body: it.body.map(|it| it.0).unwrap_or_default(),
        author: login(it.user),
        labels: names(it.labels),
        additions: it.additions,
        deletions: it.deletions,
        changed_files: it.changed_files,
        opened_at: it.created_at,
        updated_at: it.updated_at,
    }
}

fn review(body: payload::ReviewBody) -> Option<Told> {
    let payload::ReviewBody { action, repository, pull_request, review } = body;
    let decision = match (action.as_str(), review.state.to_ascii_lowercase().as_str()) {
        ("submitted", "approved") => ReviewDecision::Approve,
        ("submitted", "changes_requested") => ReviewDecision::RequestChanges,
        ("submitted", "commented") => ReviewDecision::Comment,
        _ => return None,
    };
    let news = Review {
        submitted_at: review.submitted_at.unwrap_or(pull_request.updated_at),
        of: described(pull_request, &repository),
        review_id: review.id,
        reviewer: login(review.user),
        decision,
    };
    told(&repository, News::Review(Box::new(news)))
}

fn check_run(body: payload::CheckRunBody) -> Option<Told> {
    let payload::CheckRunBody { action, repository, check_run: it } = body;
    let pull_requests = numbers(&it.pull_requests, &repository);
    let ended = Ended { action, conclusion: it.conclusion, at: it.completed_at? };
    told(&repository, News::Check(ended.check(it.id, it.name.0, pull_requests)?))
}

fn check_suite(body: payload::CheckSuiteBody) -> Option<Told> {
    let payload::CheckSuiteBody { action, repository, check_suite: it } = body;
    let pull_requests = numbers(&it.pull_requests, &repository);
    let ended = Ended { action, conclusion: it.conclusion, at: it.updated_at };
    told(&repository, News::Check(ended.check(it.id, it.app?.name.0, pull_requests)?))
}

struct Ended {
    action: String,
    conclusion: Option<String>,
    at: DateTime<Utc>,
}

impl Ended {
    /// A check that was skipped, cancelled or neutral has found nothing, good or bad.
    fn check(self, check_id: i64, name: String, pull_requests: Vec<i64>) -> Option<Check> {
        let failed = match (self.action.as_str(), self.conclusion.as_deref()) {
            ("completed", Some("failure" | "timed_out")) => true,
            ("completed", Some("success")) => false,
            _ => return None,
        };
        Some(Check { pull_requests, check_id, name, failed, completed_at: self.at })
    }
}

fn deployment(body: payload::DeploymentBody) -> Option<Told> {
    let payload::DeploymentBody { repository, deployment, deployment_status: status } = body;
    let news = Deployment {
        deployment_id: deployment.id,
        status_id: status.id,
        state: status.state()?,
        sha: deployment.sha.0,
        environment: deployment.environment.0,
        reported_at: status.created_at,
    };
    told(&repository, News::Deployment(news))
}

fn push(body: payload::PushBody) -> Option<Told> {
    // A tag brings no commits, and a deleted branch takes none away.
    if body.deleted || !body.git_ref.0.starts_with("refs/heads/") {
        return None;
    }
    let pushed_at = body.repository.pushed_at().or(body.head_commit.as_ref().map(|it| it.timestamp))?;
    let commits = body.commit_ids();
    let payload::PushBody { git_ref, after, repository, sender, .. } = body;
    let news = Push { git_ref: git_ref.0, head_sha: after.0, commits, pusher: login(sender), pushed_at };
    told(&repository, News::Push(news))
}

fn issue(body: payload::IssueBody) -> Option<Told> {
    let payload::IssueBody { action, repository, sender, issue, assignee } = body;
    let turn = match action.as_str() {
        "opened" => IssueTurn::Opened,
        "labeled" | "unlabeled" => IssueTurn::Labelled,
        "assigned" => IssueTurn::Assigned { assignee: login(Some(assignee?)), by: login(sender) },
        "closed" => IssueTurn::Closed { at: issue.closed_at.unwrap_or(issue.updated_at) },
        _ => return None,
    };
    let now = IssueNow {
        repository: repository.full_name.0.clone(),
        issue: GithubIssue { id: issue.id, number: issue.number },
        url: issue.html_url.0,
        title: issue.title.0,
        body: issue.body.map(|it| it.0),
        labels: names(issue.labels),
        updated_at: issue.updated_at,
    };
    told(&repository, News::Issue(Box::new(IssueNews { now, turn })))
}

fn comment(body: payload::CommentBody) -> Option<Told> {
    let payload::CommentBody { action, repository, issue, comment } = body;
    if action != "created" {
        return None;
    }
    let news = Comment {
        comment_id: comment.id,
        number: issue.number,
        on_pull_request: issue.pull_request.is_some(),
        url: comment.html_url.0,
        author: login(comment.user),
        body: comment.body.0,
        commented_at: comment.created_at,
    };
    told(&repository, News::Comment(news))
}
