//! Git tools: workers rebase, workers and supervisors look at what a task changes.

use commands::factory::RebaseTask;
use domain::TaskId;
use domain::errand::WorkResult;
use domain::task::{TaskState, waits_since_rebase};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use uuid::Uuid;

use super::Nothing;
use super::page::beginning;
use crate::input::without_nulls;
use crate::mcp::bench::{Bench, Workplace};
use crate::mcp::call::Call;
use crate::mcp::failure::{self, Failure, Told};
use crate::mcp::waiting::wrong_result;

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::mcp) struct Rebased {
    success: bool,
    /// How many files are in conflict.
    conflicts: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    conflict_files: Option<Vec<String>>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[schemars(transform = without_nulls)]
pub(in crate::mcp) struct GetDiff {
    /// For supervisors: which task of the epic.
    task_id: Option<Uuid>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::mcp) struct Diff {
    diff: String,
    files_changed: u64,
    insertions: u64,
    deletions: u64,
    /// True when the diff is longer than what is shown.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    truncated: bool,
}

pub(in crate::mcp) async fn rebase(call: Call, _: Nothing) -> Result<Rebased, Failure> {
    let rebased = || Rebased { success: true, conflicts: 0, conflict_files: None };
    let answer = |result| match result {
        WorkResult::Rebased { .. } => Ok(rebased()),
        WorkResult::RebaseConflicted { files } => Err(conflicted(files)),
        other => Err(wrong_result(&other)),
    };
    let already = || async {
        let history = call.task_history(call.post.task()?).await?;
        Ok(waits_since_rebase(&history).then(rebased))
    };
    call.order(&RebaseTask { by: call.agent.agent_id }, answer, already).await
}

pub(in crate::mcp) async fn get_diff(call: Call, input: GetDiff) -> Result<Diff, Failure> {
    let place = call.workplace(input.task_id.map(TaskId)).await?;
    let diff = call.bench(&place)?.diff(&place).await?;
    let (text, is_cut) = beginning(diff.text);
    Ok(Diff {
        diff: text,
        files_changed: diff.files_changed,
        insertions: diff.insertions,
        deletions: diff.deletions,
        truncated: is_cut || diff.is_cut,
    })
}

/// A rebase that was done and undone again: its output says so.
fn conflicted(files: Vec<String>) -> Failure {
    let told = Told::new(failure::REBASE_CONFLICT, format!("the rebase has conflicts in {} files", files.len()));
    let told = told.with(files.join(", "));
    let output = json!({ "success": false, "conflicts": files.len(), "conflictFiles": files });
    Failure::Unsuccessful { output, told }
}

impl Call {
    /// Where a task of the agent's epic is worked on: the agent's own, or one that it names.
    pub(in crate::mcp) async fn workplace(&self, task: Option<TaskId>) -> Result<Workplace, Failure> {
        let task_id = task.map_or_else(|| self.post.task(), Ok)?;
        let epic = self.epic().await?;
        let not_yours = || Failure::Refused(Told::new(failure::NOT_YOURS, format!("task {task_id} is not yours")));
        let Some((task, factory)) = self.known_task(task_id).await? else { return Err(not_yours()) };
        let is_mine = self.post.task().map_or(true, |mine| mine == task.id);
        if factory.epic_id != epic.id || !is_mine {
            return Err(not_yours());
        }
        let is_reviewed = matches!(factory.state, TaskState::PendingReview | TaskState::Approved);
        Ok(Workplace {
            bench: epic.bench.to_string(),
            project_id: epic.project_id,
            epic_id: epic.id,
            epic_branch: epic.worktree_name.to_string(),
            task_id,
            task_branch: factory.worktree_name.to_string(),
            reviewed: factory.head.filter(|_| is_reviewed),
        })
    }

    /// The bench that has a workplace, if it is on this node.
    pub(in crate::mcp) fn bench(&self, place: &Workplace) -> Result<&dyn Bench, Failure> {
        let here = self.app.settings.mcp.bench.as_deref().filter(|it| it.has(&place.bench));
        here.ok_or_else(|| {
            let error = format!("the bench {} is not on this node", place.bench);
            Failure::Refused(Told::new(failure::BENCH_NOT_HERE, error))
        })
    }
}
