//! The whole factory with scripts for agents: a real git repository, real terminals, the built server, both stores.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
#![allow(clippy::print_stderr, reason = "a test that fails shows what its agents said")]

mod crashes;
mod errands;
mod external;
mod github;
mod github_setbacks;
mod ground;
mod guide;
mod health;
mod load;
mod setbacks;
mod settings;
mod story;
mod tripwires;
mod two_nodes;
mod unwanted_merges;
mod workshop;
