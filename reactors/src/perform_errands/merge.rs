//! Merges a task's pull request into its epic's branch: the commit that was reviewed, and no other.

use domain::errand::{Errand, WorkResult};
use domain::{ErrandId, TaskId};
use workbench::git::{CommitId, Merge, MergeOutcome};

use super::hands::Hands;
use super::trouble::Trouble;
use super::unrecorded;
use crate::bench::state_of;

pub(super) async fn perform(hands: &Hands, errand_id: ErrandId, task_id: TaskId) -> Result<WorkResult, Trouble> {
    let place = hands.shop.bench.task_place(hands.log(), &hands.shop.views, task_id).await?;
    let url = place.factory.pr_url.as_deref().ok_or_else(|| Trouble::lasting("the task has no pull request"))?;
    let reviewed = place.factory.head.as_deref().map(CommitId::new).transpose()?;
    let message = format!("Merge task: {}", place.task.title);
    // Should another one land between this look and the merge, this is tried again.
    let onto = unrecorded::take_back(hands, &place.epic).await?;
    is_still_wanted(hands, errand_id).await?;
    let merge = Merge {
        from: &place.branch,
        at: reviewed.as_ref(),
        into: &place.epic.branch,
        message: &message,
        trailer: &place.trailer,
        onto: onto.as_ref(),
    };
    let project = place.epic.project;
    Ok(match project.forge().merge(&project.repository, url, &merge).await? {
        MergeOutcome::Merged { commit, set_aside, .. } => {
            if !set_aside.is_empty() {
                tracing::warn!(task = %task_id, ?set_aside, "a merge put uncommitted files aside");
            }
            WorkResult::Merged { merge_commit: commit.to_string() }
        }
        MergeOutcome::Conflict { files } => WorkResult::MergeConflicted { files },
    })
}

/// Refuses what was called off while git took its time. What is called off later is taken back when it is done.
async fn is_still_wanted(hands: &Hands, errand_id: ErrandId) -> Result<(), Trouble> {
    let errand: Errand = state_of(hands.log(), errand_id.0).await?;
    errand.under_way().map(drop).map_err(|refusal| Trouble::Unwanted(refusal.to_string()))
}

/// Takes back a merge that nobody wants any more, if it is this task's own and nothing was built on it yet. Where there
/// was nothing to merge, or somebody else had done it, the commit on record is another's.
pub(super) async fn undo(hands: &Hands, task_id: TaskId, merge_commit: &str) {
    let undone = async {
        let place = hands.shop.bench.task_place(hands.log(), &hands.shop.views, task_id).await?;
        let repository = &place.epic.project.repository;
        let commit = CommitId::new(merge_commit)?;
        if repository.find_merge(&place.epic.branch, &place.trailer).await?.as_ref() == Some(&commit) {
            repository.undo_merge(&place.epic.branch, &commit).await?;
        }
        Ok::<(), Trouble>(())
    };
    if let Err(trouble) = undone.await {
        tracing::warn!(task = %task_id, merge_commit, ?trouble, "a merge that is no longer wanted stays");
    }
}
