//! Orchestrator tools.

use chrono::{DateTime, Utc};
use commands::factory::AppointSupervisor;
use domain::post::AgentKind;
use domain::{AgentId, EpicId};
use projections::epics;
use projections::floor::{self, Filter, FloorView};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::page::Page;
use crate::code::Code;
use crate::input::without_nulls;
use crate::mcp::call::Call;
use crate::mcp::failure::Failure;
use crate::mcp::words::AgentState;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(transform = without_nulls)]
pub(in crate::mcp) struct ListSupervisors {
    /// The most supervisors to show; 20 if not given.
    #[schemars(range(min = 1, max = 100))]
    limit: Option<u32>,
    /// How many to pass over.
    offset: Option<u32>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Supervisor {
    agent_id: Uuid,
    epic_id: Uuid,
    epic_title: String,
    state: AgentState,
    last_heartbeat: DateTime<Utc>,
}

#[derive(Serialize, JsonSchema)]
pub(in crate::mcp) struct Supervisors {
    /// Newest first.
    supervisors: Vec<Supervisor>,
    /// How many there are in all.
    count: i64,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(in crate::mcp) struct CheckHealth {
    supervisor_id: Uuid,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::mcp) struct Health {
    /// Whether it was heard of lately, or rests while a human reviews its epic.
    healthy: bool,
    last_heartbeat: DateTime<Utc>,
    minutes_since_heartbeat: i64,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(in crate::mcp) struct CreateSupervisor {
    epic_id: Uuid,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::mcp) struct Created {
    agent_id: Uuid,
    tmux_session: String,
}

pub(in crate::mcp) async fn list_supervisors(call: Call, input: ListSupervisors) -> Result<Supervisors, Failure> {
    call.caught_up(&[floor::NAME, epics::NAME]).await?;
    let (workspace, kind) = (call.post.workspace_id, Some(AgentKind::Supervisor));
    let filter = Filter { workspace, project: None, epic: None, kind, state: None };
    let Page { limit, offset } = Page::of(input.limit, input.offset);
    let found = floor::list(&call.app.views, &filter, limit, offset).await?;
    let count = floor::count(&call.app.views, &filter).await?;
    let mut supervisors = Vec::new();
    for it in found {
        let Some(epic_id) = it.epic_id else { continue };
        let epic = epics::find(&call.app.views, epic_id).await?;
        supervisors.push(Supervisor {
            agent_id: it.agent_id.0,
            epic_id: epic_id.0,
            epic_title: epic.map(|it| it.title).unwrap_or_default(),
            state: it.state.into(),
            last_heartbeat: it.last_heartbeat,
        });
    }
    Ok(Supervisors { supervisors, count })
}

pub(in crate::mcp) async fn check_supervisor_health(call: Call, input: CheckHealth) -> Result<Health, Failure> {
    call.caught_up(&[floor::NAME, epics::NAME]).await?;
    let supervisor = floor::find(&call.app.views, AgentId(input.supervisor_id)).await?;
    let is_one = |it: &FloorView| it.workspace_id == call.post.workspace_id && it.kind == AgentKind::Supervisor;
    let none = || Failure::refused(Code::AgentNotFound, "the workspace has no such supervisor");
    let supervisor = supervisor.filter(is_one).ok_or_else(none)?;
    let silent = call.app.clock.now() - supervisor.last_heartbeat;
    Ok(Health {
        healthy: call.app.is_healthy(&supervisor).await?,
        last_heartbeat: supervisor.last_heartbeat,
        minutes_since_heartbeat: silent.num_minutes().max(0),
    })
}

pub(in crate::mcp) async fn create_supervisor(call: Call, input: CreateSupervisor) -> Result<Created, Failure> {
    let (by, profiles) = (Some(call.agent.agent_id), call.app.settings.mcp.profiles.clone());
    let appoint = AppointSupervisor { by, epic_id: EpicId(input.epic_id), profiles };
    let appointed = call.run(&appoint).await?.outcome;
    if let Some(launch) = appointed.launch {
        call.outcome(launch).await?;
    }
    Ok(Created { agent_id: appointed.agent_id.0, tmux_session: appointed.tmux_session })
}
