//! A dead supervisor: all its workers go with it, its tasks begin anew by the table, and its successor inherits the epic.

use domain::epic::{AppointEpicSupervisor, Epic, EpicCommand, EpicError, LeaveReview, LeftBecause, LiveEpic};
use domain::errand::Work;
use domain::post::{Evidence, LivePost, Post, Profiles};
use domain::task::{FactoryCommand, HandOverTask, LiveTask, ResetTask, Task, TaskCommand, TaskState};
use domain::{AgentId, TaskId};
use serde_json::json;

use super::recover::{DEAD, Verdict, found};
use super::{appoint_worker, errands, letters, staff};
use crate::seat;
use crate::{Desk, Stop};

/// Why workers are relieved that did nothing wrong.
const CASCADE: &str = "its supervisor was declared dead";

pub(super) async fn recover(
    desk: &mut Desk<'_>,
    post: &LivePost,
    evidence: &Evidence,
    profiles: &Profiles,
) -> Result<Verdict, Stop> {
    let epic = super::epic(desk, post.epic_id.ok_or(EpicError::NotFound)?).await?;
    let orchestrator = seat::orchestrator(desk, post.workspace_id).await?;
    let successor = staff::succeed(desk, post, orchestrator, profiles).await?.agent_id;
    let appoint = AppointEpicSupervisor { agent_id: successor, replaces: Some(post.agent_id), now: desk.now() };
    desk.run::<Epic>(epic.epic_id.0, EpicCommand::AppointSupervisor(appoint)).await?;
    let epic = LiveEpic { supervisor_id: Some(successor), ..epic };
    for task_id in &epic.open_tasks {
        begin_anew(desk, &epic, *task_id, profiles).await?;
    }
    let is_supervisors = |work: &Work| matches!(work, Work::OpenEpicPullRequest { .. });
    errands::call_off(desk, Work::on_epic(epic.epic_id), "its supervisor died", is_supervisors).await?;
    staff::relieve(desk, post.agent_id, DEAD, Some(successor)).await?;
    letters::recovered(desk, post, Some(&epic)).await?;
    let mut note = found(desk, evidence, "cascading_worker_reset");
    note["epicId"] = json!(epic.epic_id);
    note["decision"] = json!("Supervisor crashed, recreated with cascading worker reset");
    letters::note(desk, post, "supervisor_crash_detected", note).await?;
    Ok(Verdict::Recovered { successor })
}

/// One row of the table: what waits for review keeps waiting, with a new worker; everything else begins anew, and gets
/// its worker when that is on record.
async fn begin_anew(desk: &mut Desk<'_>, epic: &LiveEpic, task_id: TaskId, profiles: &Profiles) -> Result<(), Stop> {
    let task = super::task(desk, task_id).await?;
    let now = desk.now();
    errands::call_off(desk, Work::on_task(task_id), "its supervisor died", |_| true).await?;
    if task.in_epic()?.state == TaskState::PendingReview {
        let attempt = attempt_of(desk, task.assigned_agent_id).await?;
        let mut wanted = appoint_worker::wanted(epic, &task, attempt + 1, profiles);
        wanted.replaces = task.assigned_agent_id;
        let to = staff::appoint(desk, wanted).await?.agent_id;
        let hand_over = HandOverTask { to, after_death: false, now };
        desk.run::<Task>(task_id.0, TaskCommand::Factory(FactoryCommand::HandOver(hand_over))).await?;
        note_row(desk, epic, &task, "task_handed_over", TaskState::PendingReview).await?;
        return send_away(desk, task.assigned_agent_id, Some(to)).await;
    }
    desk.run::<Task>(task_id.0, TaskCommand::Factory(FactoryCommand::Reset(ResetTask { now }))).await?;
    let leave = LeaveReview { task_id, because: LeftBecause::Reset, now };
    desk.run::<Epic>(epic.epic_id.0, EpicCommand::LeaveReview(leave)).await?;
    note_row(desk, epic, &task, "task_reset", TaskState::Pending).await?;
    send_away(desk, task.assigned_agent_id, None).await
}

/// Puts a row of the table on record, as the new supervisor's.
async fn note_row(
    desk: &mut Desk<'_>,
    epic: &LiveEpic,
    task: &LiveTask,
    title: &str,
    to: TaskState,
) -> Result<(), Stop> {
    let from = task.in_epic()?.state;
    let body = json!({ "taskId": task.task_id, "from": from, "to": to, "reason": CASCADE });
    letters::note_of(desk, epic.workspace_id, epic.supervisor_id, title, body).await
}

/// The how-manieth on its seat an agent is.
async fn attempt_of(desk: &mut Desk<'_>, agent: Option<AgentId>) -> Result<u32, Stop> {
    let Some(agent) = agent else { return Ok(0) };
    Ok(desk.load::<Post>(agent.0).await?.state.live().map_or(0, |it| it.attempt))
}

async fn send_away(desk: &mut Desk<'_>, worker: Option<AgentId>, successor: Option<AgentId>) -> Result<(), Stop> {
    match worker {
        Some(worker) => staff::relieve(desk, worker, CASCADE, successor).await,
        None => Ok(()),
    }
}
