//! Takes back a merge that is not on record: a task that begins anew after its supervisor's death is in no branch.

use domain::task::{FactoryTask, Task, TaskState};
use uuid::Uuid;
use workbench::git::{CommitId, GitError};

use super::hands::Hands;
use super::trouble::Trouble;
use crate::bench::{EpicPlace, TASK_TRAILER, state_of};

/// Takes back what an epic's branch ends with, as long as that is a merge of a task that begins anew. Says what the
/// branch ends with then; nothing if there is no such branch yet.
///
/// The log is asked after the branch, and what waits to begin cannot be merged before its worker is launched: no merge
/// is taken back that is on record or may yet be.
pub(super) async fn take_back(hands: &Hands, epic: &EpicPlace<'_>) -> Result<Option<CommitId>, Trouble> {
    let repository = &epic.project.repository;
    loop {
        let tip = match repository.head(&epic.branch).await {
            Err(GitError::NoSuchBranch(_)) => return Ok(None),
            tip => tip?,
        };
        let Some(task) = repository.merged_for(&tip, TASK_TRAILER).await? else { return Ok(Some(tip)) };
        if !begins_anew(hands, epic, &task).await? {
            return Ok(Some(tip));
        }
        match repository.undo_merge(&epic.branch, &tip).await {
            Ok(_) => tracing::info!(%task, merge = %tip, "a merge that is not on record was taken back"),
            // Somebody else was faster: what is there now is looked at.
            Err(GitError::NotTheTip { .. } | GitError::Moved(_)) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// The same for whoever builds nothing on it: the next merge insists.
pub(super) async fn take_back_or_tell(hands: &Hands, epic: &EpicPlace<'_>) {
    if let Err(trouble) = take_back(hands, epic).await {
        tracing::warn!(epic = %epic.epic.epic_id, ?trouble, "a merge that is not on record stays");
    }
}

/// Whether a merge is of a task of this epic that waits to begin.
async fn begins_anew(hands: &Hands, epic: &EpicPlace<'_>, task: &str) -> Result<bool, Trouble> {
    let Ok(task_id) = Uuid::parse_str(task) else { return Ok(false) };
    let task: Task = state_of(hands.log(), task_id).await?;
    let waits = |it: &FactoryTask| it.epic_id == epic.epic.epic_id && it.state == TaskState::Pending;
    Ok(task.live().is_ok_and(|it| it.factory.as_ref().is_some_and(waits)))
}
