//! Epic tools, for supervisors.

use chrono::{DateTime, Utc};
use commands::factory::{AddTask, ApproveTask, RequestChanges, SubmitEpic};
use domain::errand::WorkResult;
use domain::task::{CompletionCause, TaskEvent};
use domain::{TaskId, WorktreeName};
use projections::tasks::{self, EpicFilter};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::Nothing;
use super::page::{Page, beginning};
use crate::epics::{LONGEST_DESCRIPTION, LONGEST_TITLE};
use crate::input::without_nulls;
use crate::mcp::call::Call;
use crate::mcp::failure::{self, Failure, Told};
use crate::mcp::waiting::wrong_result;
use crate::mcp::words::TaskState;

/// The most pull requests that the queue shows: only the first is ever reviewed.
const LONGEST_QUEUE: usize = 50;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::mcp) struct CreateTask {
    #[schemars(length(min = 1, max = 255))]
    title: String,
    #[schemars(length(max = 20_000))]
    description: String,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::mcp) struct CreatedTask {
    task_id: Uuid,
    worktree_name: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(transform = without_nulls)]
pub(in crate::mcp) struct ListTasks {
    /// Only tasks in this state.
    state: Option<TaskState>,
    /// The most tasks to show; 20 if not given.
    #[schemars(range(min = 1, max = 100))]
    limit: Option<u32>,
    /// How many to pass over.
    offset: Option<u32>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ListedTask {
    task_id: Uuid,
    title: String,
    state: TaskState,
    #[serde(skip_serializing_if = "Option::is_none")]
    agent_id: Option<Uuid>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pr_url: Option<String>,
    attempts: u32,
}

#[derive(Serialize, JsonSchema)]
pub(in crate::mcp) struct Tasks {
    tasks: Vec<ListedTask>,
    /// How many there are in all.
    count: i64,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Queued {
    task_id: Uuid,
    title: String,
    pr_url: String,
    submitted_at: DateTime<Utc>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct UnderReview {
    task_id: Uuid,
    pr_url: String,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::mcp) struct Queue {
    /// In the order of review.
    queue: Vec<Queued>,
    /// The one to review now.
    #[serde(skip_serializing_if = "Option::is_none")]
    current_review: Option<UnderReview>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(in crate::mcp) struct ApprovePr {
    task_id: Uuid,
    #[schemars(length(min = 1, max = 2_000))]
    pr_url: String,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::mcp) struct Approved {
    merged: bool,
    merge_commit_sha: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(in crate::mcp) struct RequestPrChanges {
    task_id: Uuid,
    #[schemars(length(min = 1, max = 20_000))]
    feedback: String,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::mcp) struct ChangesRequested {
    mail_sent: bool,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::mcp) struct CreateEpicPr {
    #[schemars(length(min = 1, max = LONGEST_TITLE))]
    title: String,
    #[schemars(length(max = LONGEST_DESCRIPTION))]
    description: String,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::mcp) struct CreatedEpicPr {
    pr_url: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(in crate::mcp) struct ReadFile {
    task_id: Uuid,
    /// Relative to the worktree.
    #[schemars(length(min = 1, max = 1_000))]
    file_path: String,
}

#[derive(Serialize, JsonSchema)]
pub(in crate::mcp) struct File {
    content: String,
    path: String,
    /// True when the file is longer than what is shown.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    truncated: bool,
}

pub(in crate::mcp) async fn create_task(call: Call, input: CreateTask) -> Result<CreatedTask, Failure> {
    let CreateTask { title, description } = input;
    let worktree_of = |task_id| WorktreeName::of_task(task_id, &title).to_string();
    let task_id = TaskId(Uuid::now_v7());
    let add = AddTask { by: call.agent.agent_id, task_id, title: title.clone(), description };
    let task_id = call.run(&add).await?.outcome;
    Ok(CreatedTask { task_id: task_id.0, worktree_name: worktree_of(task_id) })
}

pub(in crate::mcp) async fn list_tasks(call: Call, input: ListTasks) -> Result<Tasks, Failure> {
    let epic = call.post.epic()?;
    call.caught_up(&[tasks::NAME]).await?;
    let Page { limit, offset } = Page::of(input.limit, input.offset);
    let filter = EpicFilter { epic, state: input.state.map(Into::into) };
    let found = tasks::of_epic(&call.app.views, &filter, limit, offset).await?;
    let count = tasks::count_of_epic(&call.app.views, &filter).await?;
    let listed = found.into_iter().filter_map(|task| {
        let factory = task.factory?;
        Some(ListedTask {
            task_id: task.id.0,
            title: task.title,
            state: factory.state.into(),
            agent_id: task.assigned_agent_id.map(|id| id.0),
            pr_url: factory.pr_url,
            attempts: factory.attempts,
        })
    });
    Ok(Tasks { tasks: listed.collect(), count })
}

pub(in crate::mcp) async fn get_review_queue(call: Call, _: Nothing) -> Result<Queue, Failure> {
    let epic = call.epic().await?;
    let mut queue = Vec::new();
    for waiting in epic.queue.into_iter().take(LONGEST_QUEUE) {
        let task = call.known_task(waiting.task_id).await?;
        let title = task.map(|(task, _)| task.title).unwrap_or_default();
        let (task_id, pr_url, submitted_at) = (waiting.task_id.0, waiting.pr_url, waiting.submitted_at);
        queue.push(Queued { task_id, title, pr_url, submitted_at });
    }
    let first = queue.first();
    let current_review = first.map(|it| UnderReview { task_id: it.task_id, pr_url: it.pr_url.clone() });
    Ok(Queue { queue, current_review })
}

pub(in crate::mcp) async fn approve_pr(call: Call, input: ApprovePr) -> Result<Approved, Failure> {
    let (task_id, pr_url) = (TaskId(input.task_id), input.pr_url);
    let approve = ApproveTask { by: call.agent.agent_id, task_id, pr_url };
    let answer = |result| match result {
        WorkResult::Merged { merge_commit } => Ok(Approved { merged: true, merge_commit_sha: merge_commit }),
        WorkResult::MergeConflicted { files } => {
            let error = "the pull request cannot be merged; its worker has to rebase it";
            Err(Failure::Refused(Told::new(failure::MERGE_CONFLICT, error).with(files.join(", "))))
        }
        other => Err(wrong_result(&other)),
    };
    let already = || async {
        let known = call.task_on_record(task_id).await?;
        let mine = known.filter(|it| call.post.epic().is_ok_and(|epic| epic == it.epic_id));
        let meant = mine.filter(|it| it.pr_url.as_ref() == Some(&approve.pr_url));
        let merged = if meant.is_some() { merge_commit(&call, task_id).await? } else { None };
        Ok(merged.map(|merge_commit_sha| Approved { merged: true, merge_commit_sha }))
    };
    call.order(&approve, answer, already).await
}

/// The commit that merged a task, if it was merged.
async fn merge_commit(call: &Call, task: TaskId) -> Result<Option<String>, Failure> {
    for event in call.task_history(task).await?.into_iter().rev() {
        if let TaskEvent::TaskCompleted { cause: CompletionCause::MergedIntoEpic { merge_commit }, .. } = event {
            return Ok(Some(merge_commit));
        }
    }
    Ok(None)
}

pub(in crate::mcp) async fn request_changes(call: Call, input: RequestPrChanges) -> Result<ChangesRequested, Failure> {
    let (task_id, feedback) = (TaskId(input.task_id), input.feedback);
    call.run(&RequestChanges { by: call.agent.agent_id, task_id, feedback }).await?;
    Ok(ChangesRequested { mail_sent: true })
}

pub(in crate::mcp) async fn create_epic_pr(call: Call, input: CreateEpicPr) -> Result<CreatedEpicPr, Failure> {
    let CreateEpicPr { title, description } = input;
    let submit = SubmitEpic { by: call.agent.agent_id, title, description };
    let answer = |result| match result {
        WorkResult::EpicPullRequestOpened { pr_url, .. } => Ok(CreatedEpicPr { pr_url }),
        other => Err(wrong_result(&other)),
    };
    let already = || async {
        let epic = call.epic_on_record().await?;
        let submitted = epic.filter(|it| it.state == domain::epic::EpicState::AwaitingHumanReview);
        Ok(submitted.and_then(|it| it.pr_url).map(|pr_url| CreatedEpicPr { pr_url }))
    };
    call.order(&submit, answer, already).await
}

pub(in crate::mcp) async fn read_file(call: Call, input: ReadFile) -> Result<File, Failure> {
    let place = call.workplace(Some(TaskId(input.task_id))).await?;
    let content = call.bench(&place)?.read_file(&place, &input.file_path).await?;
    let (content, truncated) = beginning(content);
    Ok(File { content, path: input.file_path, truncated })
}
