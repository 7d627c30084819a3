//! The mails that the factory sends, in the words of the document.

use domain::epic::LiveEpic;
use domain::mail::Sender;
use domain::post::{AgentKind, LivePost};
use domain::task::{LiveTask, MOST_ATTEMPTS};
use domain::{AgentId, UserId, WorkspaceId};

use crate::decisions::{self, Note};
use crate::mail::{self, Letter, To};
use crate::{Desk, Stop};

async fn send(
    desk: &mut Desk<'_>,
    workspace_id: WorkspaceId,
    from: Sender,
    to: To,
    subject: impl Into<String>,
    body: impl Into<String>,
) -> Result<(), Stop> {
    let letter = Letter { workspace_id, from, to, subject: subject.into(), body: body.into() };
    mail::post(desk, letter).await.map(drop)
}

/// Puts what Muster decided on record.
pub(super) async fn note(
    desk: &mut Desk<'_>,
    post: &LivePost,
    title: &str,
    body: serde_json::Value,
) -> Result<(), Stop> {
    let (workspace_id, agent_id) = (post.workspace_id, Some(post.agent_id));
    decisions::note(desk, Note { workspace_id, agent_id, title: title.to_owned(), body: body.to_string() })
        .await
        .map(drop)
}

/// A worker to its supervisor: its pull request is there.
pub(super) async fn ready_for_review(
    desk: &mut Desk<'_>,
    epic: &LiveEpic,
    task: &LiveTask,
    worker: AgentId,
    pr_url: &str,
) -> Result<(), Stop> {
    let Some(supervisor) = epic.supervisor_id else { return Ok(()) };
    let body = format!("Task complete: {}\nPR: {pr_url}", task.title);
    send(desk, epic.workspace_id, Sender::Agent(worker), To::Agent(supervisor), "PR Ready for Review", body).await
}

/// A worker to its supervisor: its branch follows the epic's again.
pub(super) async fn rebased(
    desk: &mut Desk<'_>,
    epic: &LiveEpic,
    task: &LiveTask,
    worker: AgentId,
) -> Result<(), Stop> {
    let Some(supervisor) = epic.supervisor_id else { return Ok(()) };
    let body = format!("Rebased and ready for review: {}", task.title);
    send(desk, epic.workspace_id, Sender::Agent(worker), To::Agent(supervisor), "Rebased and ready for review", body)
        .await
}

/// The supervisor to a worker: the epic's branch has moved on.
pub(super) async fn rebase_required(
    desk: &mut Desk<'_>,
    epic: &LiveEpic,
    task: &LiveTask,
    merged: Option<&str>,
) -> Result<(), Stop> {
    let Some(worker) = task.assigned_agent_id else { return Ok(()) };
    let why = match merged {
        Some(title) => format!("Task {title} was merged into epic branch."),
        None => "Your branch cannot be merged into epic branch as it is.".to_owned(),
    };
    let body = format!("{why}\nPlease rebase your branch and resubmit for review.");
    send(desk, epic.workspace_id, supervisor_of(epic), To::Agent(worker), "Rebase Required", body).await
}

/// The supervisor to a worker: what is wanted before the merge.
pub(super) async fn changes_requested(
    desk: &mut Desk<'_>,
    epic: &LiveEpic,
    task: &LiveTask,
    feedback: &str,
) -> Result<(), Stop> {
    let Some(worker) = task.assigned_agent_id else { return Ok(()) };
    let subject = format!("Changes Requested: {}", task.title);
    send(desk, epic.workspace_id, supervisor_of(epic), To::Agent(worker), subject, feedback).await
}

/// A worker to its supervisor: its rebase conflicts.
pub(super) async fn rebase_failed(
    desk: &mut Desk<'_>,
    epic: &LiveEpic,
    task: &LiveTask,
    worker: AgentId,
    files: &[String],
) -> Result<(), Stop> {
    let Some(supervisor) = epic.supervisor_id else { return Ok(()) };
    let body = format!("The rebase of {} conflicts, and the task failed.\nFiles:\n{}", task.title, files.join("\n"));
    let subject = format!("Rebase failed: {}", task.title);
    send(desk, epic.workspace_id, Sender::Agent(worker), To::Agent(supervisor), subject, body).await
}

/// The supervisor to people: the epic waits for them.
pub(super) async fn epic_complete(desk: &mut Desk<'_>, epic: &LiveEpic, pr_url: &str) -> Result<(), Stop> {
    let (subject, body) = (format!("Epic complete: {}", epic.title), format!("Epic complete, PR: {pr_url}"));
    send(desk, epic.workspace_id, supervisor_of(epic), To::Human, subject, body).await
}

/// A person to the supervisor: what is wanted before the epic is taken.
pub(super) async fn epic_changes_requested(
    desk: &mut Desk<'_>,
    epic: &LiveEpic,
    by: UserId,
    feedback: &str,
) -> Result<(), Stop> {
    let Some(supervisor) = epic.supervisor_id else { return Ok(()) };
    let subject = format!("Changes Requested: {}", epic.title);
    send(desk, epic.workspace_id, Sender::User(by), To::Agent(supervisor), subject, feedback).await
}

/// To an agent that was silent for too long.
pub(super) async fn health_check(desk: &mut Desk<'_>, post: &LivePost) -> Result<(), Stop> {
    let body = "Please confirm you are active and provide status update";
    send(desk, post.workspace_id, Sender::System, To::Agent(post.agent_id), "Health Check", body).await
}

/// To people: an agent is silent though its process lives.
pub(super) async fn silent(desk: &mut Desk<'_>, post: &LivePost) -> Result<(), Stop> {
    let subject = format!("Silent agent: {}", post.tmux_session);
    let body = format!(
        "{} {} has not been heard of, but its process is alive and produces output. It was left running.",
        post.kind, post.agent_id
    );
    send(desk, post.workspace_id, Sender::System, To::Human, subject, body).await
}

/// To people: a task's workers died too often.
pub(super) async fn task_given_up(desk: &mut Desk<'_>, task: &LiveTask) -> Result<(), Stop> {
    let subject = format!("Task failed after {MOST_ATTEMPTS} attempts: {}", task.title);
    let body = format!("The worker on {} crashed {MOST_ATTEMPTS} times. Human intervention is required.", task.title);
    send(desk, task.workspace_id, Sender::System, To::Human, subject, body).await
}

/// To people: a supervisor or the orchestrator died and has a successor.
pub(super) async fn recovered(desk: &mut Desk<'_>, post: &LivePost, of: Option<&LiveEpic>) -> Result<(), Stop> {
    let subject = match (post.kind, of) {
        (AgentKind::Supervisor, Some(epic)) => format!("Supervisor crashed and recovered for epic: {}", epic.title),
        (AgentKind::Orchestrator | AgentKind::Supervisor | AgentKind::Worker, _) => {
            format!("{} crashed and recovered", post.kind)
        }
    };
    let body = format!("{} {} was declared dead. Its successor goes on.", post.kind, post.agent_id);
    send(desk, post.workspace_id, Sender::System, To::Human, subject, body).await
}

/// To people: something could not be done outside, and nobody else will be told.
pub(super) async fn errand_failed(
    desk: &mut Desk<'_>,
    workspace_id: WorkspaceId,
    subject: &str,
    error: &str,
) -> Result<(), Stop> {
    send(desk, workspace_id, Sender::System, To::Human, subject, error).await
}

fn supervisor_of(epic: &LiveEpic) -> Sender {
    epic.supervisor_id.map_or(Sender::System, Sender::Agent)
}
