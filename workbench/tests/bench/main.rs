//! The drivers on real repositories, real terminals and real sockets.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod alerts;
mod cut_everywhere;
mod files;
mod fixture;
mod github;
mod local_forge;
mod locks;
mod merges;
mod merges_cut_short;
// One stand-in is enough for these tests and for those of the whole factory, whose crate this one may not use.
#[path = "../../../tests/src/pull_requests.rs"]
#[allow(dead_code, unreachable_pub, reason = "these tests prepare every answer, and nobody uses this crate")]
mod pull_requests;
mod pushes;
mod rebases;
mod terminals;
mod terminals_killed;
mod worktrees;
