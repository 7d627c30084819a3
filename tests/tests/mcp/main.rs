//! What the MCP server promises agents: who gets in, which tools each kind has, what they do, and how they fail.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod door;
mod failures;
mod floor;
mod guide;
mod official_client;
mod permissions;
mod refusals;
mod repeats;
mod routes;
mod tools;
mod worktrees;
