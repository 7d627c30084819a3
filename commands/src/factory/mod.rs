//! The factory: epics, the agents that carry them out, and what is to be done outside.
//!
//! Every command of an agent depends on its post, so that an agent that was relieved meanwhile changes nothing. What
//! needs git, a forge or a terminal is ordered as an errand in the same commit; [`FinishErrand`] records what came of it
//! in one commit with everything that follows.

mod add_task;
mod appoint_orchestrator;
mod appoint_supervisor;
mod appoint_worker;
mod approve_task;
mod cancel_errand;
mod change_epic;
mod check_health;
mod complete_epic;
mod create_epic;
mod declare_dead;
mod errands;
mod fail_epic;
mod fail_errand;
mod finish_errand;
mod finish_merge;
mod finish_pull_request;
mod finish_rebase;
mod launch_agent;
mod letters;
mod missions;
mod rebase_task;
mod recover;
mod recover_supervisor;
mod recover_worker;
mod report_waiting_launch;
mod request_changes;
mod request_epic_changes;
mod rotate_for_launch;
mod staff;
mod submit_epic;
mod submit_task;
mod try_errand_again;
mod update_task_state;

pub use add_task::AddTask;
pub use appoint_orchestrator::AppointOrchestrator;
pub use appoint_supervisor::AppointSupervisor;
pub use appoint_worker::AppointWorker;
pub use approve_task::ApproveTask;
pub use cancel_errand::CancelErrand;
pub use change_epic::ChangeEpic;
pub use check_health::CheckHealth;
pub use complete_epic::CompleteEpic;
pub use create_epic::CreateEpic;
pub use declare_dead::DeclareDead;
pub use fail_epic::FailEpic;
pub use fail_errand::FailErrand;
pub use finish_errand::FinishErrand;
pub use launch_agent::LaunchAgent;
pub use rebase_task::RebaseTask;
pub use recover::Verdict;
pub use report_waiting_launch::ReportWaitingLaunch;
pub use request_changes::RequestChanges;
pub use request_epic_changes::RequestEpicChanges;
pub use rotate_for_launch::RotateForLaunch;
pub use staff::Appointed;
pub use submit_epic::SubmitEpic;
pub use submit_task::SubmitTask;
pub use try_errand_again::TryErrandAgain;
pub use update_task_state::{UpdateTaskState, Updated};

use domain::epic::{Epic, EpicError, LiveEpic};
use domain::post::{AgentKind, LivePost, Post, PostError};
use domain::task::{LiveTask, Task};
use domain::workspace::{Workspace, WorkspaceError};
use domain::{AgentId, EpicId, TaskId, UserId};

use crate::{Desk, Stop};

/// The post of an agent of this kind, on which the commit depends from now on.
async fn acting(desk: &mut Desk<'_>, agent: AgentId, kind: AgentKind) -> Result<LivePost, Stop> {
    let post = desk.load::<Post>(agent.0).await?;
    let live = post.state.held_as(kind)?.clone();
    desk.rely_on(&post);
    Ok(live)
}

/// The epic that an agent's post is in.
async fn epic_at(desk: &mut Desk<'_>, post: &LivePost) -> Result<LiveEpic, Stop> {
    epic(desk, post.epic_id.ok_or(PostError::NotPosted)?).await
}

/// An epic, on which the commit depends from now on.
async fn epic(desk: &mut Desk<'_>, id: EpicId) -> Result<LiveEpic, Stop> {
    let epic = desk.load::<Epic>(id.0).await?;
    let live = epic.state.live()?.clone();
    desk.rely_on(&epic);
    Ok(live)
}

/// A task, on which the commit depends from now on.
async fn task(desk: &mut Desk<'_>, id: TaskId) -> Result<LiveTask, Stop> {
    let task = desk.load::<Task>(id.0).await?;
    let live = task.state.live()?.clone();
    desk.rely_on(&task);
    Ok(live)
}

/// What the tasks of an epic are called that failed, and of many how many more.
pub(crate) async fn failed_tasks(desk: &mut Desk<'_>, epic: &LiveEpic) -> Result<Vec<String>, Stop> {
    const MOST: usize = 10;
    let mut titles = Vec::new();
    for task_id in epic.failed.iter().take(MOST) {
        let task = desk.load::<Task>(task_id.0).await?;
        titles.push(task.state.live().map_or_else(|_| task_id.to_string(), |it| it.title.clone()));
    }
    if epic.failed.len() > MOST {
        titles.push(format!("and {} more", epic.failed.len() - MOST));
    }
    Ok(titles)
}

/// An epic whose workspace is the caller's.
async fn owned_epic(desk: &mut Desk<'_>, by: UserId, id: EpicId) -> Result<LiveEpic, Stop> {
    let epic = desk.load::<Epic>(id.0).await?;
    let live = epic.state.live()?.clone();
    let workspace = desk.load::<Workspace>(live.workspace_id.0).await?;
    workspace.state.admit(by).map_err(|refusal| match refusal {
        WorkspaceError::AccessDenied => EpicError::AccessDenied,
        WorkspaceError::NotFound
        | WorkspaceError::AlreadyExists
        | WorkspaceError::SlugTaken(_)
        | WorkspaceError::NotEmpty
        | WorkspaceError::TextNotSealed => EpicError::NotFound,
    })?;
    Ok(live)
}
