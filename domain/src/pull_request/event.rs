//! What happens to a pull request.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::PullRequest;
use crate::catalogue::event_kinds;
use crate::github::Login;
use crate::{AgentId, ProjectId, PullRequestId, ReviewDecision, TaskId, WorkspaceId};

/// What happened to a pull request on GitHub.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum PullRequestEvent {
    /// The pull request exists; Muster may have heard of it only later.
    PullRequestOpened {
        /// Which pull request it is.
        pull_request_id: PullRequestId,
        /// The workspace it belongs to.
        workspace_id: WorkspaceId,
        /// The project whose repository it is in.
        project_id: ProjectId,
        /// Its number there.
        number: i64,
        /// Where it is.
        url: String,
        /// What it is called.
        title: String,
        /// Who wrote it.
        author: Login,
        /// The agent who that is.
        agent_id: Option<AgentId>,
        /// The task that it names.
        linked_task_id: Option<TaskId>,
        /// The repository's name, with its owner's.
        repository: String,
        /// Its labels.
        labels: Vec<String>,
        /// How many lines it adds.
        additions: i64,
        /// How many lines it deletes.
        deletions: i64,
        /// How many files it changes.
        changed_files: i64,
        /// When it was opened.
        opened_at: DateTime<Utc>,
        /// How new this description of it is.
        updated_at: DateTime<Utc>,
    },
    /// Some details are new; the others stayed.
    PullRequestDetailsChanged {
        /// The new title.
        #[serde(skip_serializing_if = "Option::is_none")]
        title: Option<String>,
        /// The task that it names now.
        #[serde(skip_serializing_if = "Option::is_none")]
        linked_task_id: Option<TaskId>,
        /// The new labels, all of them.
        #[serde(skip_serializing_if = "Option::is_none")]
        labels: Option<Vec<String>>,
        /// How many lines it adds now.
        #[serde(skip_serializing_if = "Option::is_none")]
        additions: Option<i64>,
        /// How many lines it deletes now.
        #[serde(skip_serializing_if = "Option::is_none")]
        deletions: Option<i64>,
        /// How many files it changes now.
        #[serde(skip_serializing_if = "Option::is_none")]
        changed_files: Option<i64>,
        /// How new this description of it is.
        updated_at: DateTime<Utc>,
    },
    /// Somebody reviewed it on GitHub.
    PullRequestReviewed {
        /// GitHub's id of the review.
        review_id: i64,
        /// Who reviewed it.
        reviewer: Login,
        /// The agent who that is.
        reviewer_agent_id: Option<AgentId>,
        /// What the reviewer says.
        decision: ReviewDecision,
        /// When it was reviewed.
        submitted_at: DateTime<Utc>,
    },
    /// A linter found something.
    PullRequestLintFailed {
        /// GitHub's id of the check.
        check_id: i64,
        /// What the check is called.
        check_name: String,
        /// When it ended.
        completed_at: DateTime<Utc>,
    },
    /// A linter found nothing.
    PullRequestLintPassed {
        /// GitHub's id of the check.
        check_id: i64,
        /// What the check is called.
        check_name: String,
        /// When it ended.
        completed_at: DateTime<Utc>,
    },
    /// It was closed without a merge, which is a rejection.
    PullRequestClosed {
        /// Its number.
        number: i64,
        /// Where it is.
        url: String,
        /// The repository's name, with its owner's.
        repository: String,
        /// What it is called.
        title: String,
        /// Who closed it.
        closed_by: Login,
        /// The agent who wrote it.
        agent_id: Option<AgentId>,
        /// The task that it names.
        linked_task_id: Option<TaskId>,
        /// When it was closed.
        closed_at: DateTime<Utc>,
    },
    /// It was opened again.
    PullRequestReopened {
        /// When it was.
        reopened_at: DateTime<Utc>,
    },
    /// It was merged.
    PullRequestMerged {
        /// Its number.
        number: i64,
        /// Where it is.
        url: String,
        /// The repository's name, with its owner's.
        repository: String,
        /// What it is called.
        title: String,
        /// Who merged it.
        merged_by: Login,
        /// The commit that it became.
        merge_commit_sha: Option<String>,
        /// The agent who wrote it.
        agent_id: Option<AgentId>,
        /// The task that it names.
        linked_task_id: Option<TaskId>,
        /// When it was merged.
        merged_at: DateTime<Utc>,
    },
}

event_kinds! { PullRequestEvent of PullRequest {
    PullRequestOpened "1" "A pull request was opened on GitHub in a project's repository." {
        text["title", "author"]
        plain["url", "repository", "labels"]
    }
    PullRequestDetailsChanged "1" "A pull request's title, task, labels or size changed on GitHub." {
        text["title"]
        plain["labels"]
    }
    PullRequestReviewed "1" "A pull request was approved, sent back or commented on, on GitHub." {
        text["reviewer"]
        plain["decision"]
    }
    PullRequestLintFailed "1" "A check whose name contains lint failed for a pull request." {
        text[]
        plain["check_name"]
    }
    PullRequestLintPassed "1" "A check whose name contains lint passed for a pull request." {
        text[]
        plain["check_name"]
    }
    PullRequestClosed "1" "A pull request was closed without a merge, which counts as rejected." {
        text["title", "closed_by"]
        plain["url", "repository"]
    }
    PullRequestReopened "1" "A closed pull request was opened again."
    PullRequestMerged "1" "A pull request was merged." {
        text["title", "merged_by"]
        plain["url", "repository", "merge_commit_sha"]
    }
}}
