//! Rebases a task's branch onto its epic's; a conflict leaves it as it was.

use domain::TaskId;
use domain::errand::WorkResult;
use domain::task::{Task, TaskEvent};
use store::StreamId;
use workbench::forge::{Forge, Pull};
use workbench::git::RebaseOutcome;

use super::hands::Hands;
use super::trouble::Trouble;

pub(super) async fn perform(hands: &Hands, task_id: TaskId) -> Result<WorkResult, Trouble> {
    let place = hands.shop.bench.task_place(hands.log(), &hands.shop.views, task_id).await?;
    place.ensure().await?;
    let project = place.epic.project;
    let repository = &project.repository;
    repository.commit_all(&place.folder, &format!("Work on: {}", place.task.title)).await?;
    let head = match repository.rebase(&place.folder, &place.epic.branch).await? {
        RebaseOutcome::Done { head } => head,
        RebaseOutcome::Conflict { files } => return Ok(WorkResult::RebaseConflicted { files }),
    };
    if let Forge::Github(_) = project.forge() {
        // Opening it again pushes the branch.
        let (title, description) = words(hands, task_id).await?.unwrap_or((place.task.title.clone(), String::new()));
        let description = format!("{description}\n\nRebased onto {} at {head}.", place.epic.branch);
        let id = task_id.to_string();
        let pull =
            Pull { id: &id, from: &place.branch, into: &place.epic.branch, title: &title, description: &description };
        project.forge().open(repository, &pull).await?;
    }
    Ok(WorkResult::Rebased { head: Some(head.to_string()) })
}

/// What the pull request said when it was submitted last.
async fn words(hands: &Hands, task_id: TaskId) -> Result<Option<(String, String)>, Trouble> {
    use cqrs_es::Aggregate;
    let stream = StreamId::new(Task::TYPE, task_id.0);
    let mut words = None;
    for event in hands.log().read_stream(&stream, 1, None).await? {
        let decoded = domain::decode::<TaskEvent>(&event.event_type, &event.event_version, &event.payload);
        if let Ok(TaskEvent::TaskSubmitted { pr_title, pr_description, .. }) = decoded {
            words = Some((pr_title, pr_description));
        }
    }
    Ok(words)
}
