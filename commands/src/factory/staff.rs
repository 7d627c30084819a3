//! Agents come and go: appointed with a key and a launch, relieved and fenced, or discharged when their work is over.

use domain::agent::{self, Agent, AgentCommand, AgentEvent, AgentLevel, AgentStatus};
use domain::errand::Work;
use domain::post::{AgentKind, LivePost, Post, PostAgent, PostCommand, PostEvent, Profiles, WorkEnd};
use domain::post::{DischargeAgent, RelieveAgent};
use domain::session::{RevokeSession, Session, SessionCommand, active_session};
use domain::workspace::Workspace;
use domain::{AgentCode, AgentId, CredentialId, EpicId, ErrandId, ProjectId, Settings, Slug, TaskId, WorkspaceId};
use serde::{Deserialize, Serialize};
use serde_json::json;
use store::{Credential, RowChange};
use uuid::Uuid;

use super::{errands, letters};
use crate::{Desk, Stop};

/// An agent that has a post.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Appointed {
    /// Which agent.
    pub agent_id: AgentId,
    /// The terminal session it runs in.
    pub tmux_session: String,
    /// The errand that starts it, while that is under way.
    pub launch: Option<ErrandId>,
}

/// An agent that is wanted.
pub(super) struct Wanted<'a> {
    pub(super) workspace_id: WorkspaceId,
    /// None for the orchestrator.
    pub(super) project_id: Option<ProjectId>,
    pub(super) kind: AgentKind,
    pub(super) seat: Uuid,
    pub(super) epic_id: Option<EpicId>,
    pub(super) task_id: Option<TaskId>,
    pub(super) bench: Slug,
    /// What people call it.
    pub(super) name: String,
    pub(super) mission: String,
    /// Who hears of its problems.
    pub(super) supervisor: Option<AgentId>,
    pub(super) attempt: u32,
    pub(super) replaces: Option<AgentId>,
    /// How the node runs agents; the workspace may say otherwise.
    pub(super) profiles: &'a Profiles,
}

/// Takes on an agent for a post: the agent, its credential, its post and its launch in one commit.
///
/// It gets a key hash that no key has: its launch gives it the key that it starts with.
pub(super) async fn appoint(desk: &mut Desk<'_>, wanted: Wanted<'_>) -> Result<Appointed, Stop> {
    let (agent_id, credential_id) = (AgentId(desk.new_id()), CredentialId(desk.new_id()));
    let workspace = desk.load::<Workspace>(wanted.workspace_id.0).await?;
    let profiles = wanted.profiles.clone().set_in(&workspace.state.live()?.settings);
    let now = desk.now();
    let role = wanted.kind.in_small_letters();
    let code = format!("{role}-{}", &agent_id.0.simple().to_string()[20..]);
    let create = agent::CreateAgent {
        agent_id,
        workspace_id: wanted.workspace_id,
        project_id: wanted.project_id,
        level: if wanted.project_id.is_some() { AgentLevel::Project } else { AgentLevel::Organization },
        code: AgentCode::parse(code).expect("a role and hexadecimal digits make a code"),
        name: wanted.name,
        role_title: role.to_owned(),
        capabilities: vec![],
        settings: Settings::new(),
        supervisor_agent_id: wanted.supervisor,
        credential_id,
        now,
    };
    desk.begin::<Agent>(agent_id.0, AgentCommand::Create(create)).await?;
    desk.write(RowChange::IssueCredential(Credential {
        credential_id: credential_id.0,
        agent_id: agent_id.0,
        workspace_id: wanted.workspace_id.0,
        project_id: wanted.project_id.map(|id| id.0),
        standing: AgentStatus::Active.to_string(),
        // Half as long as a hash, so no key has it.
        key_hash: credential_id.0.as_bytes().to_vec(),
        created_at: now.timestamp_micros(),
    }));
    let post = PostAgent {
        agent_id,
        workspace_id: wanted.workspace_id,
        project_id: wanted.project_id,
        kind: wanted.kind,
        seat: wanted.seat,
        epic_id: wanted.epic_id,
        task_id: wanted.task_id,
        bench: wanted.bench.clone(),
        profile: profiles.of(wanted.kind).clone(),
        mission: wanted.mission,
        attempt: wanted.attempt,
        replaces: wanted.replaces,
        now,
    };
    let posted = desk.begin::<Post>(agent_id.0, PostCommand::Post(Box::new(post))).await?;
    let tmux_session = posted.into_iter().find_map(|it| match it {
        PostEvent::AgentPosted { tmux_session, .. } => Some(tmux_session),
        _ => None,
    });
    let launch = errands::order(desk, wanted.workspace_id, &wanted.bench, Work::Launch { agent_id }).await?;
    let body = json!({
        "agentId": agent_id, "type": wanted.kind, "epicId": wanted.epic_id, "taskId": wanted.task_id,
        "attempt": wanted.attempt, "replaces": wanted.replaces, "bench": wanted.bench, "tmuxSession": tmux_session,
    });
    let whose = Some(wanted.supervisor.unwrap_or(agent_id));
    letters::note_of(desk, wanted.workspace_id, whose, "agent_created", body).await?;
    Ok(Appointed { agent_id, tmux_session: tmux_session.unwrap_or_default(), launch: Some(launch) })
}

/// Takes on the successor of a dead agent: the same seat, the same mission.
pub(super) async fn succeed(
    desk: &mut Desk<'_>,
    post: &LivePost,
    supervisor: Option<AgentId>,
    profiles: &Profiles,
) -> Result<Appointed, Stop> {
    let agent = desk.load::<Agent>(post.agent_id.0).await?;
    let name = agent.state.live().map_or_else(|_| post.kind.in_small_letters().to_owned(), |it| it.name.clone());
    appoint(
        desk,
        Wanted {
            workspace_id: post.workspace_id,
            project_id: post.project_id,
            kind: post.kind,
            seat: post.seat,
            epic_id: post.epic_id,
            task_id: post.task_id,
            bench: post.bench.clone(),
            name,
            mission: post.mission.clone(),
            supervisor,
            attempt: post.attempt + 1,
            replaces: Some(post.agent_id),
            profiles,
        },
    )
    .await
}

/// Who has a post already, as one who was just appointed to it.
pub(super) async fn present(desk: &mut Desk<'_>, agent_id: AgentId) -> Result<Appointed, Stop> {
    let post = desk.load::<Post>(agent_id.0).await?;
    let tmux_session = post.state.live()?.tmux_session.clone();
    let launch = errands::under_way(desk, Work::on_launch(agent_id)).await?.map(|it| it.errand_id);
    Ok(Appointed { agent_id, tmux_session, launch })
}

/// Takes a post from an agent and fences it: its status, its key and its session go in the same commit, and its process
/// is to be ended.
pub(super) async fn relieve(
    desk: &mut Desk<'_>,
    agent_id: AgentId,
    reason: &str,
    successor: Option<AgentId>,
) -> Result<(), Stop> {
    let relieve = RelieveAgent { reason: reason.to_owned(), successor, now: desk.now() };
    if desk.run::<Post>(agent_id.0, PostCommand::Relieve(relieve)).await?.is_empty() {
        return Ok(());
    }
    let post = desk.load::<Post>(agent_id.0).await?.state.live()?.clone();
    letters::note(desk, &post, "agent_killed", json!({ "reason": reason, "successor": successor })).await?;
    send_home(desk, agent_id, AgentStatus::Terminated, reason).await
}

/// Lets an agent go whose work is over.
pub(super) async fn discharge(desk: &mut Desk<'_>, agent_id: AgentId, result: WorkEnd) -> Result<(), Stop> {
    let discharge = DischargeAgent { result, now: desk.now() };
    if desk.run::<Post>(agent_id.0, PostCommand::Discharge(discharge)).await?.is_empty() {
        return Ok(());
    }
    let post = desk.load::<Post>(agent_id.0).await?.state.live()?.clone();
    letters::note(desk, &post, "agent_discharged", json!({ "result": result })).await?;
    send_home(desk, agent_id, AgentStatus::Inactive, "its work in the factory is over").await
}

async fn send_home(desk: &mut Desk<'_>, agent_id: AgentId, status: AgentStatus, reason: &str) -> Result<(), Stop> {
    let now = desk.now();
    if desk.load::<Agent>(agent_id.0).await?.state.live().is_ok() {
        let change = agent::ChangeAgent {
            name: None,
            role_title: None,
            capabilities: None,
            settings: None,
            supervisor_agent_id: None,
            status: Some(status),
            now,
        };
        for event in desk.run::<Agent>(agent_id.0, AgentCommand::Change(change)).await? {
            if let AgentEvent::AgentStatusChanged { to, .. } = event {
                desk.write(RowChange::SetAgentStanding { agent_id: agent_id.0, standing: to.to_string() });
            }
        }
    }
    if let Some(session) = desk.holder::<Session>(active_session(agent_id)).await? {
        let revoke = RevokeSession { reason: reason.to_owned(), now };
        desk.run::<Session>(session, SessionCommand::Revoke(revoke)).await?;
    }
    errands::call_off(desk, Work::on_launch(agent_id), reason, |_| true).await?;
    let post = desk.load::<Post>(agent_id.0).await?;
    let LivePost { workspace_id, bench, tmux_session, .. } = post.state.live()?.clone();
    errands::order(desk, workspace_id, &bench, Work::Stop { agent_id, tmux_session }).await.map(drop)
}
