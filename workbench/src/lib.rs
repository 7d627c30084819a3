//! Drivers for what Muster does outside its log: worktrees and merges, pull requests, terminals, alerts.
//!
//! A tour, in reading order:
//!
//! - [`git`] works on one base repository and the worktrees beside it; one file per verb. Start with
//!   `ensure_worktree.rs`, then `merge.rs`.
//! - [`forge`] is where pull requests live: with the caller ([`forge::Local`]) or on GitHub ([`forge::Github`]).
//! - [`tmux`] runs agents in terminals on a socket of its own.
//! - [`alert`] reaches a human: desktop, sound, webhook.
//! - `child.rs` is the only place that starts a program.
//!
//! Invariants:
//!
//! - **A driver knows nothing of events.** It uses no other crate of the workspace.
//! - **Every call may be repeated.** A crash between an effect and its record repeats the call, so each looks at what
//!   is there first, finishes what was cut short, and says what it found.
//! - **No shell sees data.** Arguments travel as argv; the one script there is (the launcher of [`tmux`]) reads its
//!   data from a file and evaluates none of it.
//! - **Every wait is bounded**, and a child that outlives its time dies with its whole process group.
//! - **An error says whether to try again**: `is_transient()`.

mod child;
mod processes;
mod tls;

pub mod alert;
pub mod forge;
pub mod git;
pub mod tmux;

pub use child::ChildError;
