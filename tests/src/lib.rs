//! What the tests of Muster stand on: both databases, a model of the log, and words to write commits with.
//!
//! | module | what it gives |
//! |---|---|
//! | [`postgres`] | a private PostgreSQL cluster that goes away with the process |
//! | [`stores`] | one test, run on SQLite and on PostgreSQL: [`both_stores!`], [`both_served_stores!`] and [`stores::Bench`] |
//! | [`commits`] | short ways to write streams, events, claims and commits |
//! | [`fleet`] | an owner who makes workspaces, projects and agents with real commands |
//! | [`work`] | an agent at work: its tasks, pull requests, deployments and sessions |
//! | [`github`] | a stand-in for GitHub, where people sign in and programs ask who they are |
//! | [`pull_requests`] | a stand-in for GitHub where pull requests live, with a real repository behind it |
//! | [`webhooks`] | GitHub as it sends webhooks: payloads of full size, signed |
//! | [`model`] | the log's contract in its plainest form, for property tests |
//! | [`mcp`] | an agent's MCP client: the official Python one, and plain messages |
//! | [`server`] | the HTTP side in this process on a port of its own, and a client that knows its words |
//! | [`standins`] | a whole factory in this process: agents that call their tools, and a bench that says yes |
//! | [`muster`] | the built binary as a child process: [`at_both_homes!`] and [`muster::Muster`] |
//!
//! The tests themselves are in `tests/`: `log` is the conformance suite of the store, `process` runs the built binary,
//! `architecture` holds the shape of the source.
#![cfg_attr(test, allow(clippy::unwrap_used, reason = "a test that cannot go on has failed"))]

pub mod commits;
pub mod fleet;
pub mod gate;
pub mod github;
pub mod mcp;
pub mod model;
pub mod muster;
pub mod postgres;
pub mod pull_requests;
pub mod server;
pub mod standins;
pub mod stores;
mod templates;
pub mod webhooks;
pub mod work;

/// Makes clients that reach this machine alone: past any proxy, without TLS, and by no redirect that the test does not see.
pub fn http_client() -> reqwest::ClientBuilder {
    api::install_tls();
    // Reading the system's certificates takes longer than most tests.
    reqwest::Client::builder().no_proxy().tls_certs_only([]).redirect(reqwest::redirect::Policy::none())
}
