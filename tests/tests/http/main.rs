//! Everything that HTTP promises: routes, refusals, who may do what, and what bad input gets.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod agent_sessions;
mod agents;
mod as_of;
mod as_of_refusals;
mod audit;
mod bad_input;
mod conventions;
mod documents;
mod epics;
mod github_accounts;
mod github_news;
mod github_repeats;
mod github_sign_in;
mod launches;
mod limits;
mod mail;
mod matrix;
mod notifications;
mod projects;
mod publishing;
mod pulls;
mod repeats;
mod scores;
mod sessions;
mod streams;
mod task_moves;
mod tasks;
mod tenants;
mod timeline;
mod webhooks;
mod wiki;
mod wiki_views;
mod workspaces;
