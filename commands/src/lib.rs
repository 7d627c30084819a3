//! The write side of Muster: load, decide, commit.
//!
//! A command is a [`Decision`]: it works at a [`Desk`], where it loads aggregates, lets them decide and lays down
//! what is to be committed. The [`Executor`] runs it: from warm aggregates first, from fresh ones before it refuses
//! anything, again when another command was faster, and never twice under one key.
//!
//! Commands on one stream need no file here: [`On`] and [`New`] run them as they are. The folders hold those that span streams.

pub mod agent;
pub mod decisions;
pub mod factory;
pub mod github;
pub mod mail;
pub mod notification;
pub mod project;
pub mod scores;
pub mod session;
pub mod task;
pub mod tool_call;
pub mod user;
pub mod wiki;
pub mod workspace;

mod cache;
mod context;
mod decision;
mod desk;
mod error;
mod executor;
mod flights;
mod holders;
mod sealing;
mod seat;

pub use context::{Actor, Context, Idempotency};
pub use decision::{Decision, New, On};
pub use desk::{Desk, Loaded};
pub use error::{CommandError, Refusal, Stop};
pub use executor::{Done, Executor};
pub use holders::{Held, holders};
