//! Commands over HTTP: beside the executor behind a handler that does nothing else.

use std::collections::HashMap;
use std::sync::Arc;

use anyhow::Result;
use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::post;
use axum::{Json, Router};
use commands::{Actor, Context, Executor, On};
use domain::Settings;
use domain::session::{Caller, LogProgress, Session, SessionCommand};
use muster_tests::stores::Kind;
use serde::Deserialize;
use serde_json::{Value, json};
use uuid::Uuid;

use super::appending::CLIENTS;
use super::serving::{Fleet, Serving};
use crate::http::{hammer, request};
use crate::measure::{Plan, Side, Unit, interleave};
use crate::report::{Comparison, Target};

const MESSAGE: &str = "Read the basket service and its tests; the merge happens in two places, and only one of them \
    keeps the quantities. Next: one function for both, with a test for each of the four cases.";

pub(crate) async fn sqlite(plan: &Plan) -> Result<Vec<Comparison>> {
    Ok(vec![on(plan, Kind::Sqlite).await?])
}

pub(crate) async fn postgres(plan: &Plan) -> Result<Vec<Comparison>> {
    Ok(vec![on(plan, Kind::Postgres).await?])
}

async fn on(plan: &Plan, kind: Kind) -> Result<Comparison> {
    let mut serving = Serving::start(kind).await?;
    let fleet = serving.fleet(CLIENTS).await?;
    let bare = serving.beside(bare(serving.executor().clone(), &fleet)).await?;
    let body = |session: Uuid| json!({ "sessionId": session, "message": MESSAGE, "context": { "file": "basket.rs" } });
    let ours = fleet.agents.iter().map(|it| it.request("POST", "/api/session.log", Some(&body(it.session.0))));
    let theirs = fleet.agents.iter().map(|it| request("POST", "/session.log", &[], Some(&body(it.session.0))));
    let (ours, theirs): (Arc<Vec<_>>, Arc<Vec<_>>) = (Arc::new(ours.collect()), Arc::new(theirs.collect()));
    let (serving, round) = (&serving, plan.round);
    let side = |name: &str, address, requests: Arc<Vec<Vec<u8>>>| {
        Side::new(name, Unit::PerSecond, move || {
            let requests = requests.clone();
            async move {
                serving.settle().await?;
                hammer(address, requests, round).await
            }
        })
    };
    let sides = vec![
        side("Muster over HTTP, with an agent's key", serving.address, ours),
        side("the executor behind a bare handler", bare, theirs),
    ];
    let work = format!("{kind:?}: session.log over HTTP, {CLIENTS} connections");
    let id = format!("{}-http-session-log", format!("{kind:?}").to_lowercase());
    Ok(Comparison::new(id, work, interleave(plan, sides).await?, Target::AtLeast(0.7))
        .with_note("read models and reactors run behind both"))
}

struct Bare {
    executor: Arc<Executor>,
    callers: HashMap<Uuid, Caller>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct LogSession {
    session_id: Uuid,
    message: String,
    context: Option<Settings>,
}

/// The same body, the same command, and nothing else: who calls is known by the session.
fn bare(executor: Arc<Executor>, fleet: &Fleet) -> Router {
    let callers = fleet.agents.iter().map(|it| (it.session.0, it.by)).collect();
    Router::new().route("/session.log", post(log)).with_state(Arc::new(Bare { executor, callers }))
}

async fn log(State(bare): State<Arc<Bare>>, Json(body): Json<LogSession>) -> Result<Json<Value>, StatusCode> {
    let by = *bare.callers.get(&body.session_id).ok_or(StatusCode::NOT_FOUND)?;
    let now = chrono::Utc::now();
    let log = LogProgress { by, message: body.message, context: body.context, now };
    let command = On::<Session> { name: "session.log", id: body.session_id, command: SessionCommand::Log(log) };
    let context = Context::new(Actor::Agent(by.agent_id), now);
    let done = bare.executor.run(&context, &command).await.map_err(|_| StatusCode::CONFLICT)?;
    Ok(Json(json!({ "position": done.position })))
}
