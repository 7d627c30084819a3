//! Task tools, for workers.

use chrono::{DateTime, Utc};
use commands::factory::{SubmitTask, UpdateTaskState};
use domain::errand::WorkResult;
use domain::task::TaskEvent;
use projections::tasks::InEpic;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::Nothing;
use crate::epics::{LONGEST_DESCRIPTION, LONGEST_TITLE};
use crate::mcp::bench::PullRequestState;
use crate::mcp::call::Call;
use crate::mcp::failure::{self, Failure, Told};
use crate::mcp::waiting::wrong_result;
use crate::mcp::words::TaskState;

/// The states that a worker may name.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
enum WorkerState {
    InProgress,
    PendingReview,
    NeedsRebase,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::mcp) struct UpdateState {
    state: WorkerState,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::mcp) struct Updated {
    task_id: Uuid,
    new_state: TaskState,
    updated_at: DateTime<Utc>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::mcp) struct CreatePr {
    #[schemars(length(min = 1, max = LONGEST_TITLE))]
    title: String,
    #[schemars(length(max = LONGEST_DESCRIPTION))]
    description: String,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::mcp) struct Created {
    pr_url: String,
    task_id: Uuid,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum PrState {
    Open,
    Merged,
    Closed,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum ReviewStatus {
    Pending,
    Approved,
    ChangesRequested,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::mcp) struct PrStatus {
    pr_url: String,
    state: PrState,
    review_status: ReviewStatus,
}

pub(in crate::mcp) async fn update_state(call: Call, input: UpdateState) -> Result<Updated, Failure> {
    let to = match input.state {
        WorkerState::InProgress => domain::task::TaskState::InProgress,
        WorkerState::PendingReview => domain::task::TaskState::PendingReview,
        WorkerState::NeedsRebase => domain::task::TaskState::NeedsRebase,
    };
    let updated = call.run(&UpdateTaskState { by: call.agent.agent_id, to }).await?.outcome;
    if let Some(errand) = updated.errand
        && let WorkResult::RebaseConflicted { files } = call.outcome(errand).await?
    {
        let error = "the rebase has conflicts, and the task has failed";
        return Err(Failure::Refused(Told::new(failure::REBASE_CONFLICT, error).with(files.join(", "))));
    }
    let (task, factory) = call.task().await?;
    Ok(Updated { task_id: task.id.0, new_state: factory.state.into(), updated_at: task.updated_at })
}

pub(in crate::mcp) async fn create_pr(call: Call, input: CreatePr) -> Result<Created, Failure> {
    let task_id = call.post.task()?;
    let CreatePr { title, description } = input;
    let answer = |result| match result {
        WorkResult::PullRequestOpened { pr_url, .. } => Ok(Created { pr_url, task_id: task_id.0 }),
        other => Err(wrong_result(&other)),
    };
    let already = || async {
        let task = call.task_on_record(task_id).await?;
        let in_review = task.filter(|it| it.state == domain::task::TaskState::PendingReview);
        Ok(in_review.and_then(|it| it.pr_url).map(|pr_url| Created { pr_url, task_id: task_id.0 }))
    };
    call.order(&SubmitTask { by: call.agent.agent_id, title, description }, answer, already).await
}

pub(in crate::mcp) async fn get_pr_status(call: Call, _: Nothing) -> Result<PrStatus, Failure> {
    let (task, factory) = call.task().await?;
    let none = || Failure::Refused(Told::new(failure::NOT_YOURS, "the task has no pull request yet"));
    let pr_url = factory.pr_url.clone().ok_or_else(none)?;
    // What Muster keeps itself is known here; what a forge keeps may have been changed there.
    let state = if pr_url.starts_with("muster:") {
        recorded(&factory)
    } else {
        let place = call.workplace(None).await?;
        call.bench(&place)?.pull_request(&place, &pr_url).await?.into()
    };
    let review_status = reviewed(&factory, &call.task_history(task.id).await?);
    Ok(PrStatus { pr_url, state, review_status })
}

fn recorded(factory: &InEpic) -> PrState {
    use domain::task::TaskState::{Approved, Completed, Failed, InProgress, NeedsRebase, Pending, PendingReview};
    match factory.state {
        Completed => PrState::Merged,
        Failed => PrState::Closed,
        Pending | InProgress | PendingReview | NeedsRebase | Approved => PrState::Open,
    }
}

/// A pull request whose task is worked on again was sent back, or its supervisor was succeeded.
fn reviewed(factory: &InEpic, history: &[TaskEvent]) -> ReviewStatus {
    use domain::task::TaskState::{Approved, Completed, Failed, InProgress, NeedsRebase, Pending, PendingReview};
    match factory.state {
        Approved | Completed => ReviewStatus::Approved,
        InProgress if was_sent_back(history) => ReviewStatus::ChangesRequested,
        Pending | InProgress | PendingReview | NeedsRebase | Failed => ReviewStatus::Pending,
    }
}

/// Whether changes were requested of what was submitted last, and nobody began anew since.
fn was_sent_back(history: &[TaskEvent]) -> bool {
    let said = history.iter().rev().find_map(|event| match event {
        TaskEvent::TaskChangesRequested { .. } => Some(true),
        TaskEvent::TaskSubmitted { .. } | TaskEvent::TaskReset { .. } => Some(false),
        _ => None,
    });
    said == Some(true)
}

impl From<PullRequestState> for PrState {
    fn from(state: PullRequestState) -> Self {
        match state {
            PullRequestState::Open => Self::Open,
            PullRequestState::Merged => Self::Merged,
            PullRequestState::Closed => Self::Closed,
        }
    }
}
