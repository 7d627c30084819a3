//! What goes in and out of the tasks' routes.

use chrono::{DateTime, Utc};
use domain::Settings;
use domain::task::GithubIssue;
use projections::tasks::TaskView;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::agents::AgentBody;
use crate::answer::Warning;
use crate::entries::Entry;
use crate::input::without_nulls;
use crate::projects::Whole;
use crate::words::same_words;

/// How far a task has come.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub(crate) enum TaskStatus {
    Backlog,
    Assigned,
    InProgress,
    Blocked,
    Completed,
    Cancelled,
}

/// How far a task of an epic has come.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[schemars(inline)]
pub(crate) enum TaskState {
    Pending,
    InProgress,
    PendingReview,
    NeedsRebase,
    Approved,
    Completed,
    Failed,
}

/// What comes first; `P0` does.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub(crate) enum Priority {
    P0,
    P1,
    P2,
    P3,
}

/// How bad something is.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub(crate) enum Severity {
    Low,
    Medium,
    High,
    Critical,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[schemars(transform = without_nulls)]
pub(super) struct ListTasks {
    pub(super) project_id: Uuid,
    /// Only those of one status.
    pub(super) status: Option<TaskStatus>,
    /// Only those of one priority.
    pub(super) priority: Option<Priority>,
    /// Only those that one agent has.
    pub(super) assigned_agent_id: Option<Uuid>,
    /// Only those of one epic.
    pub(super) epic_id: Option<Uuid>,
    #[schemars(range(min = 1, max = 1000))]
    pub(super) limit: Option<i64>,
    #[schemars(range(min = 0))]
    pub(super) offset: Option<i64>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[schemars(transform = without_nulls)]
pub(super) struct GetTask {
    pub(super) id: Uuid,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[schemars(
    transform = without_nulls,
    extend("dependentRequired" = {
        "githubIssueId": ["githubIssueNumber"],
        "githubIssueNumber": ["githubIssueId"],
    })
)]
pub(super) struct CreateTask {
    pub(super) project_id: Uuid,
    /// Unique on all of GitHub; only with the number.
    #[schemars(range(min = 1, max = 9007199254740991_i64))]
    pub(super) github_issue_id: Option<Whole>,
    /// Unique in the repository; only with the id.
    #[schemars(range(min = 1, max = 9007199254740991_i64))]
    pub(super) github_issue_number: Option<Whole>,
    #[schemars(length(min = 1, max = 500))]
    pub(super) title: String,
    pub(super) description: Option<String>,
    /// `P2` without.
    pub(super) priority: Option<Priority>,
    pub(super) deadline: Option<DateTime<Utc>>,
    #[schemars(length(max = 1000))]
    pub(super) success_criteria: Option<Vec<String>>,
    pub(super) metadata: Option<Settings>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[schemars(transform = without_nulls)]
pub(super) struct UpdateTask {
    pub(super) id: Uuid,
    pub(super) status: Option<TaskStatus>,
    pub(super) priority: Option<Priority>,
    pub(super) assigned_agent_id: Option<Uuid>,
    #[schemars(length(min = 1, max = 500))]
    pub(super) title: Option<String>,
    pub(super) description: Option<String>,
    pub(super) deadline: Option<DateTime<Utc>>,
    #[schemars(length(max = 1000))]
    pub(super) success_criteria: Option<Vec<String>>,
    pub(super) metadata: Option<Settings>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[schemars(transform = without_nulls)]
pub(super) struct AssignTask {
    pub(super) task_id: Uuid,
    pub(super) agent_id: Uuid,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[schemars(transform = without_nulls)]
pub(super) struct StartTask {
    pub(super) task_id: Uuid,
    /// The agent's active session, if it does this in one.
    pub(super) session_id: Option<Uuid>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[schemars(transform = without_nulls)]
pub(super) struct BlockTask {
    pub(super) task_id: Uuid,
    /// The agent's active session, if it does this in one.
    pub(super) session_id: Option<Uuid>,
    /// What is in the way.
    #[schemars(length(min = 1))]
    pub(super) blocker: String,
    pub(super) severity: Severity,
    /// Whether a person must look at it.
    pub(super) requires_attention: bool,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[schemars(transform = without_nulls)]
pub(super) struct CompleteTask {
    pub(super) task_id: Uuid,
    /// The agent's active session, if it does this in one.
    pub(super) session_id: Option<Uuid>,
    /// Which of its success criteria are met.
    #[schemars(length(max = 1000))]
    pub(super) success_criteria_met: Option<Vec<String>>,
}

/// A piece of work in a project.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Task")]
pub(crate) struct TaskBody {
    id: Uuid,
    project_id: Uuid,
    /// Null when it is no GitHub issue.
    github_issue_id: Option<i64>,
    github_issue_number: Option<i64>,
    assigned_agent_id: Option<Uuid>,
    status: TaskStatus,
    priority: Priority,
    title: String,
    description: Option<String>,
    deadline: Option<DateTime<Utc>>,
    success_criteria: Vec<String>,
    started_at: Option<DateTime<Utc>>,
    completed_at: Option<DateTime<Utc>>,
    metadata: Settings,
    /// What it is within its epic; left out for tasks of none.
    #[serde(flatten)]
    factory: Option<InEpic>,
    created_at: DateTime<Utc>,
    updated_at: DateTime<Utc>,
}

/// What a task is within its epic.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
struct InEpic {
    epic_id: Uuid,
    /// How far it has come there.
    state: TaskState,
    worktree_name: String,
    pr_url: Option<String>,
    /// How often a worker of it has died.
    attempts: u32,
    /// Since when it waits for review, while it does.
    submitted_at: Option<DateTime<Utc>>,
    /// Why it failed, if it did.
    failure: Option<String>,
    conflict_files: Vec<String>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct OneTask {
    pub(super) task: TaskBody,
}

/// A task, and what to know of the agent that it was given to.
#[derive(Serialize, JsonSchema)]
pub(super) struct GivenTask {
    pub(super) task: TaskBody,
    /// Only when there is something to warn of: `AGENT_ON_PROBATION`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) warnings: Vec<Warning>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct ManyTasks {
    pub(super) tasks: Vec<TaskBody>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct TaskDetails {
    pub(super) task: TaskBody,
    pub(super) assigned_agent: Option<AgentBody>,
    /// The newest 100 that are about it.
    pub(super) events: Vec<Entry>,
}

same_words!(TaskStatus = domain::task::TaskStatus { Backlog, Assigned, InProgress, Blocked, Completed, Cancelled });
same_words!(
    TaskState =
        domain::task::TaskState { Pending, InProgress, PendingReview, NeedsRebase, Approved, Completed, Failed }
);
same_words!(Priority = domain::task::Priority { P0, P1, P2, P3 });
same_words!(Severity = domain::Severity { Low, Medium, High, Critical });

impl CreateTask {
    /// The issue that it is; the schema lets the two numbers in only together.
    pub(super) fn github_issue(&self) -> Option<GithubIssue> {
        let (id, number) = (self.github_issue_id.as_ref()?.0, self.github_issue_number.as_ref()?.0);
        Some(GithubIssue { id, number })
    }
}

impl From<TaskView> for TaskBody {
    fn from(it: TaskView) -> Self {
        Self {
            id: it.id.0,
            project_id: it.project_id.0,
            github_issue_id: it.github_issue_id,
            github_issue_number: it.github_issue_number,
            assigned_agent_id: it.assigned_agent_id.map(|id| id.0),
            status: it.status.into(),
            priority: it.priority.into(),
            title: it.title,
            description: it.description,
            deadline: it.deadline,
            success_criteria: it.success_criteria,
            started_at: it.started_at,
            completed_at: it.completed_at,
            metadata: it.metadata,
            factory: it.factory.map(|it| InEpic {
                epic_id: it.epic_id.0,
                state: it.state.into(),
                worktree_name: it.worktree_name.to_string(),
                pr_url: it.pr_url,
                attempts: it.attempts,
                submitted_at: it.submitted_at,
                failure: it.failure,
                conflict_files: it.conflict_files,
            }),
            created_at: it.created_at,
            updated_at: it.updated_at,
        }
    }
}
