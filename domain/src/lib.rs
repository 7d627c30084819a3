//! The rules of Muster, and nothing else: no I/O, no clock, no randomness.
//!
//! A tour, in reading order:
//!
//! - [`workspace`] is the aggregate to read first. Its `mod.rs` has the life of a workspace: state, events,
//!   refusals. Beside it, one file per verb has the command, the decision and the decision's tests.
//!   [`project`], [`agent`] and [`user`] are built the same way, and so is what agents do: [`session`] is the lease
//!   under which they work, [`task`] what they work on, [`wiki`] what they write down.
//! - [`epic`] is what the factory builds, [`post`] an agent's place in it, [`errand`] what is to be done outside.
//! - [`pull_request`] and [`repository`] are what GitHub tells, [`github`] how to read it.
//! - [`scores`] has the formulas for KPIs, trust and probation; [`scorecard`] is the aggregate that records them.
//!   [`pull`] says what is new for an agent that starts.
//! - [`Entity`] is what an aggregate adds to the cqrs-es traits: the tenant whose stream it is, and what an
//!   event demands of other streams. A demand is made with a [`Claim`], and is checked inside the commit.
//! - [`decode()`] turns a stored payload of any age into an event of today.
//! - [`catalogue()`] lists every event there is. `tests/golden.rs` holds the stored form of each.
//!
//! Three invariants hold everywhere:
//!
//! - **A decision is a pure function of a state and a command.** Time and new ids arrive in the command.
//! - **`apply` never refuses.** History has happened.
//! - **No event means "already so".** Only what is not allowed is an error.

mod catalogue;
mod claim;
mod decode;
mod difference;
mod distinct;
mod entity;
#[cfg(test)]
mod examples;
mod ids;
mod minutes;
mod party;
mod plain_text;
mod recent;
mod repository_url;
mod review;
mod settings;
mod severity;
mod slug;
mod worktree_name;

pub mod agent;
pub mod decision;
pub mod epic;
pub mod errand;
pub mod github;
pub mod mail;
pub mod notification;
pub mod notification_settings;
pub mod post;
pub mod project;
pub mod pull;
pub mod pull_request;
pub mod redact;
pub mod repository;
pub mod scorecard;
pub mod scores;
pub mod session;
pub mod task;
pub mod tool_call;
pub mod tools;
pub mod user;
pub mod wiki;
pub mod workspace;

pub use catalogue::{EventKind, catalogue, kind_of};
pub use claim::{Claim, Scope};
pub use decode::{DecodeError, decode};
pub use entity::{Demand, Entity};
pub use ids::{
    AgentId, CredentialId, DecisionId, EpicId, ErrandId, KpiId, MailId, NotificationId, ProjectId, PullRequestId,
    SessionId, TaskId, ToolCallId, UserId, WikiEntryId, WorkspaceId,
};
pub use party::Party;
pub use repository_url::RepositoryUrl;
pub use review::ReviewDecision;
pub use settings::Settings;
pub use severity::Severity;
pub use slug::{AgentCode, Slug, SlugError};
pub use worktree_name::WorktreeName;
