//! The mails that the factory sends, in the words of the document.

use chrono::{DateTime, SecondsFormat, Utc};
use domain::epic::LiveEpic;
use domain::errand::LiveErrand;
use domain::mail::Sender;
use domain::post::{AgentKind, Evidence, LivePost};
use domain::task::{LiveTask, MOST_ATTEMPTS};
use domain::{AgentId, Party, UserId, WorkspaceId};
use serde_json::json;

use crate::decisions::{self, Note};
use crate::mail::{self, Letter, To};
use crate::seat;
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

/// Puts what Muster decided about an agent on record, as a decision of whoever looks after it; of an orchestrator, as its
/// own.
pub(super) async fn note(
    desk: &mut Desk<'_>,
    post: &LivePost,
    title: &str,
    mut body: serde_json::Value,
) -> Result<(), Stop> {
    let overseer = seat::overseer(desk, post).await?;
    body[format!("{}Id", post.kind.in_small_letters())] = json!(post.agent_id);
    note_of(desk, post.workspace_id, Some(overseer.unwrap_or(post.agent_id)), title, body).await
}

/// Puts what Muster decided on record, as a decision of an agent's.
pub(super) async fn note_of(
    desk: &mut Desk<'_>,
    workspace_id: WorkspaceId,
    agent_id: Option<AgentId>,
    title: &str,
    body: serde_json::Value,
) -> Result<(), Stop> {
    let note = Note { workspace_id, agent_id, title: title.to_owned(), body: body.to_string() };
    decisions::note(desk, note).await.map(drop)
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

/// To a supervisor: what it approved could not be merged.
pub(super) async fn merge_failed(
    desk: &mut Desk<'_>,
    epic: &LiveEpic,
    task: &LiveTask,
    error: &str,
) -> Result<(), Stop> {
    let Some(supervisor) = epic.supervisor_id else { return Ok(()) };
    let subject = format!("Merge failed: {}", task.title);
    let body = format!(
        "{} could not be merged: {error}\nIt waits for your review again, first in the queue: approve it once more, or request changes.",
        task.title
    );
    send(desk, epic.workspace_id, Sender::System, To::Agent(supervisor), subject, body).await
}

/// The supervisor to people and to the orchestrator: the epic waits for people.
pub(super) async fn epic_complete(desk: &mut Desk<'_>, epic: &LiveEpic, pr_url: &str) -> Result<(), Stop> {
    let subject = format!("Epic complete: {}", epic.title);
    let mut body = format!("Epic complete, PR: {pr_url}");
    let failed = super::failed_tasks(desk, epic).await?;
    if !failed.is_empty() {
        body += &format!("\n\nNot all of it: these tasks failed and are not part of it.\n- {}", failed.join("\n- "));
    }
    send(desk, epic.workspace_id, supervisor_of(epic), To::Human, subject.as_str(), body.as_str()).await?;
    to_orchestrator(desk, epic, supervisor_of(epic), &subject, &body).await
}

/// The person who wrote an epic to the orchestrator: there is a new one.
pub(super) async fn epic_created(desk: &mut Desk<'_>, epic: &LiveEpic, supervisor: AgentId) -> Result<(), Stop> {
    let body = format!("Epic {}\nSupervisor: {supervisor}\n\n{}", epic.epic_id, epic.description);
    let subject = format!("New epic: {}", epic.title);
    to_orchestrator(desk, epic, Sender::User(epic.created_by), &subject, &body).await
}

/// Whoever gave an epic up to the orchestrator.
pub(super) async fn epic_given_up(desk: &mut Desk<'_>, epic: &LiveEpic, by: Party, reason: &str) -> Result<(), Stop> {
    let from = match by {
        Party::User(user) => Sender::User(user),
        Party::Agent(agent) => Sender::Agent(agent),
    };
    let body = format!("Epic {} was given up: {reason}", epic.epic_id);
    to_orchestrator(desk, epic, from, &format!("Epic failed: {}", epic.title), &body).await
}

/// To the orchestrator of an epic's workspace, if there is one.
async fn to_orchestrator(
    desk: &mut Desk<'_>,
    epic: &LiveEpic,
    from: Sender,
    subject: &str,
    body: &str,
) -> Result<(), Stop> {
    match seat::orchestrator(desk, epic.workspace_id).await? {
        Some(orchestrator) => send(desk, epic.workspace_id, from, To::Agent(orchestrator), subject, body).await,
        None => Ok(()),
    }
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

/// Whoever looks after an agent to it: it was silent for too long. Its answer goes to the same; to an orchestrator Muster
/// itself writes, which any call of a tool answers.
pub(super) async fn health_check(desk: &mut Desk<'_>, post: &LivePost) -> Result<(), Stop> {
    let from = seat::overseer(desk, post).await?.map_or(Sender::System, Sender::Agent);
    let body = "Please confirm you are active and provide status update";
    send(desk, post.workspace_id, from, To::Agent(post.agent_id), "Health Check", body).await
}

/// To people: an agent is silent though its process lives, or because nobody has started it.
pub(super) async fn silent(desk: &mut Desk<'_>, post: &LivePost, evidence: &Evidence) -> Result<(), Stop> {
    let subject = format!("Silent agent: {}", post.tmux_session);
    let why = match evidence.process_alive {
        Some(true) => "but its process is alive and produces output. It was left running.",
        Some(false) | None => {
            "and its bench did not start it. Have it launched again (agent.launch), start it yourself with a key from agent.rotateCredentials, or give its work up."
        }
    };
    let body = format!("{} {} has not been heard of, {why}", post.kind, post.agent_id);
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

/// To people: nobody starts their agents.
pub(super) async fn launch_waiting(
    desk: &mut Desk<'_>,
    launch: &LiveErrand,
    since: DateTime<Utc>,
    waiting: usize,
) -> Result<(), Stop> {
    let subject = format!("Agents wait to be started on bench {}", launch.bench);
    let body = format!(
        "Nobody has taken up the launch of {waiting} agent(s) on bench {} since {}. Is a server with this bench running?",
        launch.bench,
        since.to_rfc3339_opts(SecondsFormat::Secs, true)
    );
    send(desk, launch.workspace_id, Sender::System, To::Human, subject, body).await
}

/// To people: an agent could not be started, and waits for them.
pub(super) async fn launch_failed(
    desk: &mut Desk<'_>,
    launch: &LiveErrand,
    agent: AgentId,
    error: &str,
) -> Result<(), Stop> {
    let body = format!(
        "Agent {agent} could not be started on bench {}: {error}\nPut that right and have it launched again (agent.launch), or start it yourself with a key from agent.rotateCredentials.",
        launch.bench
    );
    errand_failed(desk, launch.workspace_id, "An agent could not be started", &body).await
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
