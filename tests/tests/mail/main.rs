//! Mail, tool calls, decisions and notifications on both stores, from commands to read models.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod allowed;
mod desk;
mod floor;
mod leases;
mod letters;
mod notifications;
mod side_by_side;
mod tool_calls;
