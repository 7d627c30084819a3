//! The terminal of an agent in the factory: the last lines that it shows, for its owner's eyes.

use std::sync::Arc;

use aide::axum::ApiRouter;
use aide::axum::routing::get_with;
use axum::extract::State;
use domain::AgentId;
use projections::{agents, floor};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;
use workbench::tmux::TmuxError;

use crate::App;
use crate::answer::Shown;
use crate::auth::{Caller, Owner};
use crate::code::Code;
use crate::error::ApiError;
use crate::input::{Look, without_nulls};
use crate::openapi::route;

/// Lines, unless the client says otherwise.
const LINES: i64 = 100;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[schemars(transform = without_nulls)]
struct GetTerminal {
    id: Uuid,
    /// How many of the last lines.
    #[schemars(range(min = 1, max = 1000), extend("default" = 100))]
    lines: Option<i64>,
}

/// What an agent's terminal shows.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Terminal {
    agent_id: Uuid,
    tmux_session: String,
    /// Oldest first; also after the agent's end.
    lines: Vec<String>,
}

pub(crate) fn routes() -> ApiRouter<Arc<App>> {
    const GET: &[Code] = &[Code::AgentNotFound, Code::AgentAccessDenied, Code::AgentNotPosted];
    ApiRouter::new()
        .api_route("/agent.terminal", get_with(get, route("floor", "The last lines of an agent's terminal", GET)))
}

async fn get(State(app): State<Arc<App>>, look: Look<Owner, GetTerminal>) -> Result<Shown<Terminal>, ApiError> {
    app.caught_up(&look, &[agents::NAME, floor::NAME]).await?;
    let (id, lines) = (AgentId(look.input.id), look.input.lines.unwrap_or(LINES));
    let agent = app.now().agent_in_reach(&Caller::Owner(look.by), id).await?;
    let none = |what: &str| ApiError::new(Code::NotFound, what);
    let post = floor::find(&app.views, agent.id).await?;
    let post = post.ok_or_else(|| ApiError::new(Code::AgentNotPosted, "the agent has no place in the factory"))?;
    let bench = app.settings.bench.as_ref().filter(|it| *it.name() == post.bench && it.is_held());
    let bench = bench.ok_or_else(|| none("the agent's bench is not on this node"))?;
    let shown = match bench.terminal(&post.tmux_session, usize::try_from(lines).unwrap_or(1)).await {
        Ok(shown) => shown,
        Err(TmuxError::NoSuchSession(_) | TmuxError::TmuxMissing) => {
            return Err(none("the agent has no terminal: it was not started by the bench"));
        }
        Err(error) if error.is_transient() => return Err(ApiError::unavailable("the terminal is busy; try again")),
        Err(error) => return Err(ApiError::fault(error)),
    };
    let lines = shown.lines().map(str::to_owned).collect();
    Ok(Shown(Terminal { agent_id: id.0, tmux_session: post.tmux_session, lines }))
}
