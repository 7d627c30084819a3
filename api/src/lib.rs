//! The HTTP interface of Muster.
//!
//! A tour, in reading order:
//!
//! - [`router`] below is the list of everything that can be asked.
//! - `workspaces.rs` is the feature to read first: its routes, the bodies that go in and out, and handlers that parse,
//!   call one thing and shape the answer. `projects.rs`, `agents.rs` and `events.rs` are built the same way.
//! - `input/` is how a request comes in: an `Ask` is a command, a `Look` is a query, a `LookBack` also of the past, and a `Shape` names every bad field
//!   at once. `answer.rs` is how an answer goes out.
//! - `auth/` finds out who is calling, `reach.rs` what they may look at, `limits.rs` how often.
//! - `error.rs` is the one place where refusals become statuses; `code.rs` is the list of codes.
//! - `sessions.rs` is what agents do all day; `sessions/pull.rs` is what is new for one that starts.
//! - `mcp/` is the tools that agents of the factory work with.
//! - `past/` is where queries read that are asked of a moment, and a server that shows nothing else.
//! - `entries.rs` is how timeline entries are shown, `stream.rs` is the timeline as it grows.
//! - `openapi.rs` documents what the extractors and the route tables say of themselves.
//!
//! Two invariants hold everywhere:
//!
//! - **What is documented is what is checked**: one schema per request type does both.
//! - **An error shows no SQL, no stack and no secret.** Faults are logged with their cause and shown as nothing.

mod agents;
mod answer;
mod app;
mod audit;
mod auth;
mod bundle;
pub mod cli;
mod code;
mod decisions;
mod demo;
mod docs;
mod entries;
mod epics;
mod erased;
mod error;
mod events;
mod floor;
mod health;
mod input;
mod layers;
mod limits;
pub mod listen;
mod mail;
mod mcp;
mod metrics;
mod notifications;
mod openapi;
mod past;
mod projects;
mod reach;
mod scores;
mod sessions;
mod still_true;
mod stream;
mod tasks;
mod terminal;
mod view;
mod webhooks;
mod wiki;
mod words;
mod workspaces;

use std::sync::Arc;

use aide::axum::ApiRouter;
use aide::axum::routing::get_with;
use axum::Router;
use axum::middleware::{from_fn, from_fn_with_state};
use tower_http::catch_panic::CatchPanicLayer;

pub use app::{App, HttpSettings, Parts};
pub use auth::{Github, GithubSettings, keys, passwords};
pub use code::Code;
pub use error::ApiError;
pub use limits::Limits;
pub use mcp::{Bench, BenchError, Diff, Looking, McpSettings, PullRequestState, Workplace};

/// Everything that the server answers. Serve it with [`listen::answer`], which says who is calling.
pub fn router(app: Arc<App>) -> Router {
    let mut routes = Router::from(routes(Some(&app)).merge(mcp::routes(&app)));
    if app.past.is_some() {
        routes = routes.layer(from_fn(past::refuse_commands));
    }
    routes
        .merge(docs::routes())
        .fallback(layers::no_route)
        .method_not_allowed_fallback(layers::no_method)
        .layer(CatchPanicLayer::custom(layers::panicked))
        .layer(from_fn(layers::observe))
        .with_state(app)
}

/// Gives TLS its cryptography, for the whole process; again does nothing. Clients panic without.
pub fn install_tls() {
    let _ = rustls::crypto::ring::default_provider().install_default();
}

/// The OpenAPI document of everything that the server answers.
pub fn openapi() -> serde_json::Value {
    openapi::prepare();
    openapi::document_of(routes(None))
}

/// All documented routes; without an application they can be described but not called.
fn routes(app: Option<&Arc<App>>) -> ApiRouter<Arc<App>> {
    let with_deadline = ApiRouter::new()
        .merge(auth::routes())
        .merge(workspaces::routes())
        .merge(projects::routes())
        .merge(agents::routes())
        .merge(scores::routes())
        .merge(sessions::routes())
        .merge(tasks::routes())
        .merge(wiki::routes())
        .merge(epics::routes())
        .merge(floor::routes())
        .merge(terminal::routes())
        .merge(mail::routes())
        .merge(decisions::routes())
        .merge(notifications::routes())
        .merge(events::routes())
        .merge(audit::routes())
        .api_route("/openapi.json", get_with(openapi::serve, openapi::plain_route("operation", "This document")));
    let without = events::stream_route();
    let api = match app {
        Some(app) => {
            let with_deadline = with_deadline.route_layer(from_fn_with_state(app.clone(), auth::identify_in_time));
            let known = with_deadline.merge(without.route_layer(from_fn_with_state(app.clone(), auth::identify)));
            // GitHub signs what it sends, and is held to no address's limit.
            known.merge(webhooks::routes().route_layer(from_fn_with_state(app.clone(), layers::deadline)))
        }
        None => with_deadline.merge(without).merge(webhooks::routes()),
    };
    ApiRouter::new().nest("/api", api).merge(health::routes()).merge(metrics::routes())
}
