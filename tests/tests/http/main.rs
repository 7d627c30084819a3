//! Everything that HTTP promises: routes, refusals, who may do what, and what bad input gets.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod agents;
mod bad_input;
mod conventions;
mod documents;
mod github_sign_in;
mod limits;
mod projects;
mod repeats;
mod sessions;
mod streams;
mod tenants;
mod timeline;
mod workspaces;
