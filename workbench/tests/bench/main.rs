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
mod pushes;
mod rebases;
mod terminals;
mod terminals_killed;
mod worktrees;
