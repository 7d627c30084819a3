//! The past on demand: the log moved, backed up and brought back.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod addresses;
mod backups;
mod bundles;
mod bundles_served;
mod erased_moves;
mod erased_nodes;
mod erasure;
mod erasure_story;
mod guide;
mod kpi;
mod kpi_story;
mod moved_exports;
mod moved_processes;
mod moved_stores;
mod moves;
mod proof;
mod proof_commands;
mod workspaces;
