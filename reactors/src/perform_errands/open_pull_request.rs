//! Opens a task's pull request into its epic's branch, with what the worker left uncommitted.

use domain::TaskId;
use domain::errand::WorkResult;
use workbench::forge::Pull;

use super::hands::Hands;
use super::trouble::Trouble;

pub(super) async fn perform(
    hands: &Hands,
    task_id: TaskId,
    title: &str,
    description: &str,
) -> Result<WorkResult, Trouble> {
    let place = hands.shop.bench.task_place(hands.log(), &hands.shop.views, task_id).await?;
    place.ensure().await?;
    let project = place.epic.project;
    project.repository.commit_all(&place.folder, title).await?;
    let head = project.repository.head(&place.branch).await?;
    let id = task_id.to_string();
    let pull = Pull { id: &id, from: &place.branch, into: &place.epic.branch, title, description };
    let opened = project.forge().open(&project.repository, &pull).await?;
    Ok(WorkResult::PullRequestOpened { pr_url: opened.url, head: Some(head.to_string()) })
}
