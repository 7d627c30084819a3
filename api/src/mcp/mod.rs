//! The MCP server: the tools that agents of the factory work with, at `/mcp`.
//!
//! The way of a call, file by file:
//!
//! - `door.rs` lets in agents with their key, refuses pages of other sites, and hands messages to the protocol (rmcp).
//! - `server.rs` answers the protocol's two questions: which tools are there, and what comes of calling one.
//! - `catalogue.rs` is the list of tools, with the forms of what goes in and out.
//! - `call.rs` is around every call: on record before and after, allowed by the table in `domain::tools`, its input
//!   checked, tried again when something passing was in the way. A repeat of a call that makes something and has no end
//!   yet is that call. `posting.rs` says who the agent is on the floor.
//! - `tools/` is what the tools do: commands, and queries of read models.
//! - `waiting.rs` waits for what the bench does, `bench.rs` is what can be looked at there, `on_this_node.rs`
//!   looks.
//! - `on_record.rs` reads from the log what a repeated call is answered with.
//! - `failure.rs` is how a tool fails, which is an answer too.
//!
//! **Nothing of a call is kept in memory**: every request stands for itself, so any node may answer it.

mod bench;
mod call;
mod catalogue;
mod door;
mod failure;
mod on_record;
mod on_this_node;
mod posting;
mod server;
mod settings;
mod tools;
mod waiting;
mod words;

use std::sync::Arc;

use aide::axum::ApiRouter;
use axum::extract::{Request, State};
use axum::middleware::from_fn_with_state;
use axum::routing::post;

pub use bench::{Bench, BenchError, Diff, Looking, PullRequestState, Workplace};
pub(crate) use on_this_node::OnThisNode;
pub(crate) use posting::Posting;
pub use settings::McpSettings;
pub(crate) use settings::{LONGEST_CALL, MOST_PATIENCE_SECONDS};

use crate::App;
use crate::auth::identify;

/// The one route. It has no deadline of its own: a tool waits for the bench, but not for ever.
pub(crate) fn routes(app: &Arc<App>) -> ApiRouter<Arc<App>> {
    let protocol = door::protocol(app);
    let enter = move |State(app): State<Arc<App>>, request: Request| door::enter(app, protocol.clone(), request);
    ApiRouter::new()
        .route("/mcp", post(enter))
        .route_layer(from_fn_with_state(app.clone(), identify))
        .route_layer(from_fn_with_state(app.clone(), door::check_origin))
}
