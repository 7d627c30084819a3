//! The rows of score facts: what happened, one row per fact, and who it happened to.

use chrono::{DateTime, Utc};
use domain::scores::Moment;
use domain::{AgentId, ProjectId, PullRequestId, ReviewDecision, TaskId, WorkspaceId};
use serde::{Deserialize, Serialize};
use store::sql::Value;
use uuid::Uuid;

use crate::{Key, KeyPart, Record};

/// One fact about one agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Noted {
    pub(super) agent_id: AgentId,
    pub(super) position: i64,
    pub(super) at: DateTime<Utc>,
    pub(super) what: What,
}

/// What a fact says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum What {
    /// The agent got a task, which somebody may have begun.
    TaskAssigned {
        task_id: TaskId,
        issue: Option<Issue>,
        started: Option<Since>,
    },
    /// The task is another's, or nobody's.
    TaskLost {
        task_id: TaskId,
    },
    TaskStarted {
        task_id: TaskId,
    },
    TaskCompleted {
        task_id: TaskId,
    },
    /// The agent wrote a pull request.
    Opened {
        pull_request_id: PullRequestId,
        task_id: Option<TaskId>,
        bug: bool,
        additions: i64,
        deletions: i64,
    },
    /// Some of it is new; the rest stayed.
    Changed {
        pull_request_id: PullRequestId,
        task_id: Option<TaskId>,
        bug: Option<bool>,
        additions: Option<i64>,
        deletions: Option<i64>,
    },
    Reviewed {
        pull_request_id: PullRequestId,
        decision: ReviewDecision,
    },
    LintFailed {
        pull_request_id: PullRequestId,
    },
    Rejected {
        pull_request_id: PullRequestId,
    },
    Reopened {
        pull_request_id: PullRequestId,
    },
    Merged {
        pull_request_id: PullRequestId,
        sha: Option<String>,
    },
}

/// Where an issue is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct Issue {
    pub(super) project_id: ProjectId,
    pub(super) number: i64,
}

/// A moment, as it is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Since {
    pub(super) at: DateTime<Utc>,
    pub(super) position: i64,
}

impl From<Since> for Moment {
    fn from(it: Since) -> Self {
        Self { at: it.at, position: it.position }
    }
}

/// Whose a task, a pull request or a session is: later facts about it do not always say.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Subject {
    pub(super) id: Uuid,
    pub(super) workspace_id: WorkspaceId,
    pub(super) project_id: ProjectId,
    pub(super) agent_id: Option<AgentId>,
    /// The number of the issue that a task is.
    pub(super) issue_number: Option<i64>,
    /// When work on a task began.
    pub(super) started: Option<Since>,
}

impl Subject {
    pub(super) fn issue(&self) -> Option<Issue> {
        self.issue_number.map(|number| Issue { project_id: self.project_id, number })
    }
}

/// Whether an issue was a bug, from a moment on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Labelled {
    pub(super) issue: Issue,
    pub(super) position: i64,
    pub(super) labelled_at: DateTime<Utc>,
    pub(super) bug: bool,
}

/// A commit that an agent pushed, or that its pull request became.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct OwnCommit {
    pub(super) agent_id: AgentId,
    pub(super) project_id: ProjectId,
    pub(super) sha: String,
    pub(super) position: i64,
}

/// A deployment that failed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct FailedDeployment {
    pub(super) project_id: ProjectId,
    pub(super) deployment_id: i64,
    pub(super) position: i64,
    pub(super) sha: String,
}

impl Record for Noted {
    const TABLE: &'static str = "score_facts";

    fn key(&self) -> Key {
        (self.agent_id, self.position).into()
    }

    fn columns(&self) -> Vec<Value> {
        let issue = match &self.what {
            What::TaskAssigned { issue, .. } => *issue,
            _ => None,
        };
        vec![issue.map(|it| it.project_id.0).into(), issue.map(|it| it.number).into()]
    }
}

impl Record for Subject {
    const TABLE: &'static str = "score_subjects";

    fn key(&self) -> Key {
        self.id.into()
    }

    fn columns(&self) -> Vec<Value> {
        vec![self.agent_id.map(|it| it.0).into()]
    }
}

impl Record for Labelled {
    const TABLE: &'static str = "score_labels";

    fn key(&self) -> Key {
        ((self.issue.project_id, self.issue.number), self.position).into()
    }

    fn columns(&self) -> Vec<Value> {
        vec![]
    }
}

impl Record for OwnCommit {
    const TABLE: &'static str = "score_commits";

    fn key(&self) -> Key {
        Key(vec![
            KeyPart::Id(self.agent_id.0),
            KeyPart::Id(self.project_id.0),
            KeyPart::text(self.sha.clone()),
            KeyPart::Int(self.position),
        ])
    }

    fn columns(&self) -> Vec<Value> {
        vec![]
    }
}

impl Record for FailedDeployment {
    const TABLE: &'static str = "score_failures";

    fn key(&self) -> Key {
        ((self.project_id, self.deployment_id), self.position).into()
    }

    fn columns(&self) -> Vec<Value> {
        vec![self.sha.clone().into()]
    }
}
