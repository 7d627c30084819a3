//! Temporary.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
#[path = "../http/github_news.rs"]
mod github_news;
#[path = "../http/github_repeats.rs"]
mod github_repeats;
#[path = "../http/webhooks.rs"]
mod webhooks;
