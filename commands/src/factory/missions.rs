//! Missions: what an agent is told when it starts.

use domain::epic::LiveEpic;
use domain::task::LiveTask;

/// The orchestrator's.
pub(super) fn orchestrator() -> String {
    "You are the orchestrator of this workspace. Look after the supervisors of its epics: see that each epic has one, \
     that each is healthy, and tell the humans when an epic is complete. By mail you hear of new epics, of those that \
     wait for human review and of those that failed. Talk by mail; read your inbox first."
        .to_owned()
}

/// A supervisor's.
pub(super) fn supervisor(epic: &LiveEpic) -> String {
    let LiveEpic { epic_id, title, description, design, worktree_name, .. } = epic;
    format!(
        "You are the supervisor of epic {epic_id}: {title}\n\n{description}\n\nDesign:\n\n{design}\n\nBreak it down into \
         tasks; each gets a worker of its own. Review pull requests one at a time, in the order of the queue: approve, or \
         request changes. When all tasks are over, submit the epic's pull request. The epic's branch is \
         {worktree_name}. Talk by mail; read your inbox first."
    )
}

/// A worker's: the task as it was given, whoever does it.
pub(super) fn worker(task: &LiveTask) -> String {
    let description = task.description.as_deref().unwrap_or_default();
    let branch = task.factory.as_ref().map(|it| it.worktree_name.to_string()).unwrap_or_default();
    format!(
        "You are the worker on task {}: {}\n\n{description}\n\nWork in your own worktree, on the branch {branch}; what \
         an earlier worker did may be there. When you are done, create the pull request. When you are asked to rebase, \
         rebase; when changes are requested, make them and create the pull request again. Talk by mail; read your inbox \
         first.",
        task.task_id, task.title
    )
}
