//! Event in, command out: what follows from what happened.
//!
//! A [`Reactor`] looks at one event and issues commands. The [`Runner`] feeds it every event in order, keeps its
//! place beside the log, and gives each command an id that follows from the event, so that a crash, a second
//! delivery or a second node does nothing twice. One file per reactor, named event to intent.

mod free_reports_on_agent_deleted;
mod reaction;
mod runner;

use std::sync::Arc;

pub use free_reports_on_agent_deleted::FreeReportsOnAgentDeleted;
pub use reaction::{Reaction, Reactor};
pub use runner::{ReactorStatus, Runner};

/// Every reactor of Muster.
pub fn all() -> Vec<Arc<dyn Reactor>> {
    vec![Arc::new(FreeReportsOnAgentDeleted)]
}
