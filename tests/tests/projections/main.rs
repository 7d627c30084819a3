//! The read side on both stores: what the engine promises of every projection, and what the read models answer.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod agents;
mod auditor;
mod deleted_views;
mod earlier_versions;
mod engines;
mod every_event;
mod fleet;
mod history;
mod lineage;
mod names;
mod offline;
mod parking;
mod purging;
mod random_history;
mod scores;
mod story;
mod tasks;
mod timeline;
mod versions;
mod waiting_launches;
mod wiki;
mod wiki_search;
mod workspaces;
