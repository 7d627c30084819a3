//! Rebases a task's branch onto its epic's; a conflict leaves it as it was.

use domain::TaskId;
use domain::errand::WorkResult;
use workbench::forge::{Forge, Pull};
use workbench::git::RebaseOutcome;

use super::hands::Hands;
use super::trouble::Trouble;

pub(super) async fn perform(hands: &Hands, task_id: TaskId) -> Result<WorkResult, Trouble> {
    let place = hands.shop.bench.task_place(hands.log(), &hands.shop.views, task_id).await?;
    place.ensure().await?;
    let project = place.epic.project;
    let repository = &project.repository;
    // One that a crash cut short left the branch, and nothing can be committed there.
    if repository.abort_cut_short_rebase(&place.folder).await? {
        tracing::warn!(task = %task_id, "a rebase that was cut short begins anew");
    }
    repository.commit_all(&place.folder, &format!("Work on: {}", place.task.title)).await?;
    let head = match repository.rebase(&place.folder, &place.epic.branch).await? {
        RebaseOutcome::Done { head } => head,
        RebaseOutcome::Conflict { files } => return Ok(WorkResult::RebaseConflicted { files }),
    };
    let mut pr_url = None;
    if let Forge::Github(_) = project.forge() {
        // Opening it again pushes the branch; if somebody closed it meanwhile, it is another one from now on.
        let title = place.factory.pr_title.clone().unwrap_or_else(|| place.task.title.clone());
        let description = place.factory.pr_description.as_deref().unwrap_or_default();
        let description = format!("{description}\n\nRebased onto {} at {head}.", place.epic.branch);
        let id = task_id.to_string();
        let pull =
            Pull { id: &id, from: &place.branch, into: &place.epic.branch, title: &title, description: &description };
        pr_url = Some(project.forge().open(repository, &pull).await?.url);
    }
    Ok(WorkResult::Rebased { pr_url, head: Some(head.to_string()) })
}
