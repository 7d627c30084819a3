//! A dead worker: its successor goes on with its task, until the fifth death fails the task, unless that is being merged.

use domain::errand::Work;
use domain::post::{Evidence, LivePost, Profiles};
use domain::task::{
    FactoryCommand, FailTask, HandOverTask, LiveTask, MOST_ATTEMPTS, Task, TaskCommand, TaskError, TaskState,
};
use serde_json::json;

use super::recover::{DEAD, Verdict, found};
use super::{errands, fail_epic, letters, staff};
use crate::{Desk, Stop};

pub(super) async fn recover(
    desk: &mut Desk<'_>,
    post: &LivePost,
    evidence: &Evidence,
    profiles: &Profiles,
) -> Result<Verdict, Stop> {
    let task_id = post.task_id.ok_or(TaskError::NotInEpic)?;
    let task = super::task(desk, task_id).await?;
    let factory = task.in_epic()?.clone();
    let epic = super::epic(desk, factory.epic_id).await?;
    if task.assigned_agent_id != Some(post.agent_id) || factory.state.is_over() {
        // Nothing is left for a successor to do.
        staff::relieve(desk, post.agent_id, DEAD, None).await?;
        return Ok(Verdict::GivenUp);
    }
    let now = desk.now();
    let attempts = factory.attempts + 1;
    if attempts >= MOST_ATTEMPTS {
        staff::relieve(desk, post.agent_id, DEAD, None).await?;
        let (action, decision) = if factory.state == TaskState::Approved {
            // Its work is done and about to be merged, which takes no worker.
            ("relieve", "Worker relieved; its task is being merged")
        } else {
            give_up(desk, &task).await?;
            ("fail", "Task marked as failed due to repeated crashes")
        };
        note_crash(desk, post, evidence, attempts, action, decision).await?;
        return Ok(Verdict::GivenUp);
    }
    // What the dead one asked for, its successor may ask for again; a merge goes on without either.
    let is_workers = |work: &Work| matches!(work, Work::OpenPullRequest { .. } | Work::Rebase { .. });
    errands::call_off(desk, Work::on_task(task_id), "its worker died", is_workers).await?;
    let successor = staff::succeed(desk, post, epic.supervisor_id, profiles).await?.agent_id;
    let hand_over = HandOverTask { to: successor, after_death: true, now };
    desk.run::<Task>(task_id.0, TaskCommand::Factory(FactoryCommand::HandOver(hand_over))).await?;
    staff::relieve(desk, post.agent_id, DEAD, Some(successor)).await?;
    let decision = format!("Worker crashed and recreated (attempt {attempts}/{MOST_ATTEMPTS})");
    note_crash(desk, post, evidence, attempts, "recreate", &decision).await?;
    Ok(Verdict::Recovered { successor })
}

/// Puts a worker's death on record: what was found, what was done, and the decision in the words of the document.
async fn note_crash(
    desk: &mut Desk<'_>,
    post: &LivePost,
    evidence: &Evidence,
    attempts: u32,
    action: &str,
    decision: &str,
) -> Result<(), Stop> {
    let mut note = found(desk, evidence, action);
    note["taskId"] = json!(post.task_id);
    note["attempts"] = json!(attempts);
    note["decision"] = json!(decision);
    letters::note(desk, post, "worker_crash_detected", note).await
}

/// Fails a task whose workers died too often, and tells people.
pub(super) async fn give_up(desk: &mut Desk<'_>, task: &LiveTask) -> Result<(), Stop> {
    let (task_id, factory) = (task.task_id, task.in_epic()?);
    errands::call_off(desk, Work::on_task(task_id), "the task failed", |_| true).await?;
    let reason = format!("Its worker died {} times", factory.attempts + 1);
    let fail = FailTask { reason, conflict_files: vec![], after_death: true, with_epic: false, now: desk.now() };
    desk.run::<Task>(task_id.0, TaskCommand::Factory(FactoryCommand::Fail(fail))).await?;
    fail_epic::end_failed(desk, factory.epic_id, task_id).await?;
    letters::task_given_up(desk, task).await
}
