//! What happens in a project's repository.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::{DeploymentState, Repository};
use crate::catalogue::event_kinds;
use crate::github::Login;
use crate::task::GithubIssue;
use crate::{AgentId, ProjectId, TaskId, WorkspaceId};

/// What happened in a repository on GitHub. Any of these may be the first of its stream.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum RepositoryEvent {
    /// Commits came in.
    CommitsPushed {
        /// The workspace it belongs to.
        workspace_id: WorkspaceId,
        /// The project whose repository it is.
        project_id: ProjectId,
        /// Where they went, like `refs/heads/main`.
        git_ref: String,
        /// The commit that is now the last there.
        head_sha: String,
        /// The commits.
        commits: Vec<String>,
        /// Who pushed them.
        pusher: Login,
        /// The agent who that is.
        agent_id: Option<AgentId>,
        /// When it happened.
        pushed_at: DateTime<Utc>,
    },
    /// A deployment went a step further, or failed.
    DeploymentStatusReported {
        /// The workspace it belongs to.
        workspace_id: WorkspaceId,
        /// The project whose repository it is.
        project_id: ProjectId,
        /// GitHub's id of the deployment.
        deployment_id: i64,
        /// GitHub's id of this status of it.
        status_id: i64,
        /// How it stands.
        state: DeploymentState,
        /// The commit that is deployed.
        sha: String,
        /// Where to.
        environment: String,
        /// When it happened.
        reported_at: DateTime<Utc>,
    },
    /// Somebody commented on an issue or a pull request.
    IssueCommented {
        /// The workspace it belongs to.
        workspace_id: WorkspaceId,
        /// The project whose repository it is.
        project_id: ProjectId,
        /// GitHub's id of the comment.
        comment_id: i64,
        /// What was commented on.
        issue_number: i64,
        /// Where the comment is.
        url: String,
        /// Who wrote it.
        author: Login,
        /// What it says.
        body: String,
        /// The task that is this issue.
        task_id: Option<TaskId>,
        /// The agent that has the task, and is to hear of this.
        agent_id: Option<AgentId>,
        /// When it happened.
        commented_at: DateTime<Utc>,
    },
    /// An issue was assigned to somebody.
    IssueAssigned {
        /// The workspace it belongs to.
        workspace_id: WorkspaceId,
        /// The project whose repository it is.
        project_id: ProjectId,
        /// Which issue.
        issue: GithubIssue,
        /// Where it is.
        url: String,
        /// What it is called.
        title: String,
        /// Who is to do it.
        assignee: Login,
        /// The agent who that is.
        agent_id: Option<AgentId>,
        /// The repository's name, with its owner's.
        repository: String,
        /// When it happened.
        assigned_at: DateTime<Utc>,
    },
    /// An issue has these labels now.
    IssueLabelled {
        /// The workspace it belongs to.
        workspace_id: WorkspaceId,
        /// The project whose repository it is.
        project_id: ProjectId,
        /// Which issue.
        issue: GithubIssue,
        /// All its labels.
        labels: Vec<String>,
        /// When it happened; of two, the later counts.
        labelled_at: DateTime<Utc>,
    },
}

event_kinds! { RepositoryEvent of Repository {
    CommitsPushed "1" "Commits were pushed to a project's repository." {
        text["pusher"]
        plain["git_ref", "head_sha", "commits"]
    }
    DeploymentStatusReported "1" "A deployment of a project's commit went a step further, succeeded or failed." {
        text[]
        plain["state", "sha", "environment"]
    }
    IssueCommented "1" "Somebody commented on an issue or a pull request; the agent that has the task hears of it." {
        text["author", "body"]
        plain["url"]
    }
    IssueAssigned "1" "An issue was assigned on GitHub." {
        text["title"]
        plain["url", "assignee", "repository"]
    }
    IssueLabelled "1" "The labels of an issue changed on GitHub." {
        text[]
        plain["labels"]
    }
}}
