//! Health: whether the process lives, and whether it can do its work.

use std::sync::Arc;

use aide::OperationOutput;
use aide::axum::ApiRouter;
use aide::axum::routing::get_with;
use aide::generate::GenContext;
use aide::openapi::{Operation, Response as Documented, StatusCode as Status};
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use projections::{ProjectionStatus, State as Work};
use schemars::JsonSchema;
use serde::Serialize;
use store::StoreError;
use store::sql::Database;

use crate::App;
use crate::answer::Shown;
use crate::openapi::{documented_json, plain_route};

#[derive(Serialize, JsonSchema)]
struct Alive {
    status: &'static str,
}

/// Whether requests can be answered.
#[derive(Serialize, JsonSchema)]
struct Readiness {
    /// `ready` or `unavailable`.
    status: &'static str,
    /// `sqlite` or `postgres`.
    store: &'static str,
    /// The newest position of the log, if the store answers; of the past, the last position that is shown.
    head: Option<i64>,
    /// The last position that is shown, where nothing but the past is served.
    #[serde(rename = "asOfPosition", skip_serializing_if = "Option::is_none")]
    as_of_position: Option<i64>,
    projections: Vec<ProjectionHealth>,
}

/// How far a projection is. What went wrong with it is for operators: `muster projections status`.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ProjectionHealth {
    name: String,
    /// `running`, `rebuilding` or `halted`.
    state: &'static str,
    /// The version that queries read.
    version: Option<i64>,
    checkpoint: i64,
    lag_events: i64,
    lag_seconds: f64,
    /// Streams that could not be applied.
    parked: usize,
}

struct Ready(Readiness);

pub(crate) fn routes() -> ApiRouter<Arc<App>> {
    ApiRouter::new()
        .api_route("/health/live", get_with(live, plain_route("operation", "Whether the process lives")))
        .api_route("/health/ready", get_with(ready, plain_route("operation", "Whether requests can be answered")))
}

async fn live() -> Shown<Alive> {
    Shown(Alive { status: "alive" })
}

async fn ready(State(app): State<Arc<App>>) -> Ready {
    let store = match app.views {
        Database::Sqlite(_) => "sqlite",
        Database::Postgres(_) => "postgres",
    };
    let (head, projections) = look(&app).await.unwrap_or_else(|error| {
        tracing::warn!(%error, "the store does not answer");
        (None, vec![])
    });
    let serving = projections.iter().all(|it: &ProjectionHealth| it.version.is_some() && it.state != "halted");
    let status = if head.is_some() && serving { "ready" } else { "unavailable" };
    let as_of_position = app.past.as_ref().map(|it| it.position);
    Ready(Readiness { status, store, head: as_of_position.or(head), as_of_position, projections })
}

async fn look(app: &App) -> Result<(Option<i64>, Vec<ProjectionHealth>), StoreError> {
    let head = app.log.head().await?.position;
    Ok((Some(head), app.read_models().await?.into_iter().map(Into::into).collect()))
}

impl From<ProjectionStatus> for ProjectionHealth {
    fn from(it: ProjectionStatus) -> Self {
        let state = match it.state {
            Work::Running => "running",
            Work::Rebuilding => "rebuilding",
            Work::Halted => "halted",
        };
        Self {
            name: it.name,
            state,
            version: it.serving_version,
            checkpoint: it.checkpoint,
            lag_events: it.lag_events,
            lag_seconds: it.lag_seconds,
            parked: it.parked.len(),
        }
    }
}

impl IntoResponse for Ready {
    fn into_response(self) -> Response {
        let status = if self.0.status == "ready" { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
        (status, Json(self.0)).into_response()
    }
}

impl OperationOutput for Ready {
    type Inner = ();

    fn inferred_responses(_: &mut GenContext, _: &mut Operation) -> Vec<(Option<Status>, Documented)> {
        let ready = documented_json::<Readiness>("Requests can be answered.");
        let unavailable = documented_json::<Readiness>("The store does not answer, or a read model is not there.");
        vec![(Some(Status::Code(200)), ready), (Some(Status::Code(503)), unavailable)]
    }
}
