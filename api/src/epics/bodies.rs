//! What goes in and out of the epics' routes.

use chrono::{DateTime, Utc};
use projections::epics::{EpicView, Queued};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::answer::Warning;
use crate::input::without_nulls;
use crate::tasks::TaskBody;
use crate::words::same_words;

/// The most characters of an epic's title, and of a pull request's.
pub(crate) const LONGEST_TITLE: usize = 500;
/// The most characters of an epic's description, and of a pull request's.
pub(crate) const LONGEST_DESCRIPTION: usize = 100_000;

/// How far an epic has come.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[schemars(inline)]
pub(crate) enum EpicState {
    InProgress,
    AwaitingHumanReview,
    Completed,
    Failed,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[schemars(transform = without_nulls)]
pub(super) struct ListEpics {
    pub(super) project_id: Uuid,
    /// Only those in one state.
    pub(super) state: Option<EpicState>,
    #[schemars(range(min = 1, max = 100))]
    pub(super) limit: Option<i64>,
    #[schemars(range(min = 0))]
    pub(super) offset: Option<i64>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[schemars(transform = without_nulls)]
pub(super) struct GetEpic {
    pub(super) id: Uuid,
    /// How many of its tasks to show; 100 without.
    #[schemars(range(min = 1, max = 100))]
    pub(super) limit: Option<i64>,
    #[schemars(range(min = 0))]
    pub(super) offset: Option<i64>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[schemars(transform = without_nulls)]
pub(super) struct GetQueue {
    pub(super) epic_id: Uuid,
    #[schemars(range(min = 1, max = 100))]
    pub(super) limit: Option<i64>,
    #[schemars(range(min = 0))]
    pub(super) offset: Option<i64>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[schemars(transform = without_nulls)]
pub(super) struct CreateEpic {
    pub(super) project_id: Uuid,
    #[schemars(length(min = 1, max = LONGEST_TITLE))]
    pub(super) title: String,
    #[schemars(length(max = LONGEST_DESCRIPTION))]
    pub(super) description: String,
    /// How it is to be built, in Markdown.
    #[schemars(length(max = 500_000))]
    pub(super) design: Option<String>,
    /// The bench that it is built on; without, the workspace's `settings.bench`, or `main`.
    #[schemars(length(max = 255), regex(pattern = r"^[a-z0-9-]+$"))]
    pub(super) bench: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[schemars(transform = without_nulls)]
pub(super) struct UpdateEpic {
    pub(super) id: Uuid,
    #[schemars(length(min = 1, max = LONGEST_TITLE))]
    pub(super) title: Option<String>,
    #[schemars(length(max = LONGEST_DESCRIPTION))]
    pub(super) description: Option<String>,
    #[schemars(length(max = 500_000))]
    pub(super) design: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[schemars(transform = without_nulls)]
pub(super) struct CompleteEpic {
    pub(super) id: Uuid,
    /// False when it was merged elsewhere; without, the bench merges it and then it is completed.
    pub(super) merge: Option<bool>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[schemars(transform = without_nulls)]
pub(super) struct RequestEpicChanges {
    pub(super) id: Uuid,
    /// What is wanted; its supervisor gets it by mail.
    #[schemars(length(min = 1, max = 100_000))]
    pub(super) feedback: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[schemars(transform = without_nulls)]
pub(super) struct FailEpic {
    pub(super) id: Uuid,
    #[schemars(length(min = 1, max = 10_000))]
    pub(super) reason: String,
}

/// A feature that a human wrote and agents carry out.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Epic")]
pub(crate) struct EpicBody {
    id: Uuid,
    workspace_id: Uuid,
    project_id: Uuid,
    /// The bench that it is built on.
    bench: String,
    title: String,
    description: String,
    design: String,
    worktree_name: String,
    supervisor_id: Option<Uuid>,
    state: EpicState,
    pr_url: Option<String>,
    /// What a human wants before it is taken, as last said.
    feedback: Option<String>,
    /// Why it failed, if it did.
    failure: Option<String>,
    merge_commit: Option<String>,
    task_counts: TaskCounts,
    created_by: Uuid,
    created_at: DateTime<Utc>,
    updated_at: DateTime<Utc>,
}

/// How many of an epic's tasks stand where.
#[derive(Serialize, JsonSchema)]
struct TaskCounts {
    open: u32,
    merged: u32,
    failed: u32,
}

/// A new epic.
#[derive(Serialize, JsonSchema)]
pub(super) struct CreatedEpic {
    pub(super) epic: EpicBody,
    /// Only when there is something to warn of: `BENCH_NOT_HERE`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) warnings: Vec<Warning>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct OneEpic {
    pub(super) epic: EpicBody,
}

/// An epic that is being taken.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct TakenEpic {
    pub(super) epic: EpicBody,
    /// The errand that merges it first; null when it is completed as it is.
    pub(super) errand_id: Option<Uuid>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct ManyEpics {
    pub(super) epics: Vec<EpicBody>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct EpicDetails {
    pub(super) epic: EpicBody,
    /// Its tasks, in the order in which they were added.
    pub(super) tasks: Vec<TaskBody>,
}

/// The pull requests of an epic that wait for its supervisor, in the order in which they are reviewed.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct ReviewQueue {
    pub(super) queue: Vec<QueuedReview>,
    /// The one that is reviewed now; null when none waits.
    pub(super) current_review: Option<CurrentReview>,
    /// How many wait.
    pub(super) count: usize,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct QueuedReview {
    pub(super) task_id: Uuid,
    pub(super) title: String,
    pub(super) pr_url: String,
    pub(super) submitted_at: DateTime<Utc>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct CurrentReview {
    task_id: Uuid,
    pr_url: String,
}

same_words!(EpicState = domain::epic::EpicState { InProgress, AwaitingHumanReview, Completed, Failed });

impl From<EpicView> for EpicBody {
    fn from(it: EpicView) -> Self {
        Self {
            id: it.id.0,
            workspace_id: it.workspace_id.0,
            project_id: it.project_id.0,
            bench: it.bench.to_string(),
            title: it.title,
            description: it.description,
            design: it.design,
            worktree_name: it.worktree_name.to_string(),
            supervisor_id: it.supervisor_id.map(|id| id.0),
            state: it.state.into(),
            pr_url: it.pr_url,
            feedback: it.feedback,
            failure: it.failure,
            merge_commit: it.merge_commit,
            task_counts: TaskCounts { open: it.tasks.open, merged: it.tasks.merged, failed: it.tasks.failed },
            created_by: it.created_by.0,
            created_at: it.created_at,
            updated_at: it.updated_at,
        }
    }
}

impl From<&Queued> for CurrentReview {
    fn from(it: &Queued) -> Self {
        Self { task_id: it.task_id.0, pr_url: it.pr_url.clone() }
    }
}
