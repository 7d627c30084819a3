//! Merges an epic's pull request into the main branch, when a human took it: the commit that was submitted.

use domain::EpicId;
use domain::errand::WorkResult;
use workbench::git::{CommitId, Merge, MergeOutcome};

use super::hands::Hands;
use super::trouble::Trouble;

pub(super) async fn perform(hands: &Hands, epic_id: EpicId) -> Result<WorkResult, Trouble> {
    let place = hands.shop.bench.epic_place(hands.log(), &hands.shop.views, epic_id).await?;
    let url = place.epic.pr_url.as_deref().ok_or_else(|| Trouble::lasting("the epic has no pull request"))?;
    let reviewed = place.epic.head.as_deref().map(CommitId::new).transpose()?;
    let message = format!("Merge epic: {}", place.epic.title);
    let project = place.project;
    let merge = Merge {
        from: &place.branch,
        at: reviewed.as_ref(),
        into: project.main_branch(),
        message: &message,
        trailer: &place.trailer,
        onto: None,
    };
    match project.forge().merge(&project.repository, url, &merge).await? {
        MergeOutcome::Merged { commit, .. } => Ok(WorkResult::EpicMerged { merge_commit: commit.to_string() }),
        MergeOutcome::Conflict { files } => Err(Trouble::Lasting {
            error: format!("the epic does not fit {} any more", project.main_branch()),
            details: Some(files.join(", ")),
        }),
    }
}
