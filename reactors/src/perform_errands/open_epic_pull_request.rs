//! Opens an epic's pull request into the main branch, for a human to review.

use domain::EpicId;
use domain::errand::WorkResult;
use workbench::forge::Pull;

use super::hands::Hands;
use super::trouble::Trouble;

pub(super) async fn perform(
    hands: &Hands,
    epic_id: EpicId,
    title: &str,
    description: &str,
) -> Result<WorkResult, Trouble> {
    let place = hands.shop.bench.epic_place(hands.log(), &hands.shop.views, epic_id).await?;
    place.ensure().await?;
    let (id, project) = (epic_id.to_string(), place.project);
    let head = project.repository.head(&place.branch).await?;
    let pull = Pull { id: &id, from: &place.branch, into: project.main_branch(), title, description };
    let opened = project.forge().open(&project.repository, &pull).await?;
    Ok(WorkResult::EpicPullRequestOpened { pr_url: opened.url, head: Some(head.to_string()) })
}
