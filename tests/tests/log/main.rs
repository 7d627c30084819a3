//! The conformance suite of the event log: every rule of its contract, on SQLite and on PostgreSQL.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod apart;
mod appends;
mod batches;
mod claims;
mod conflicts;
mod facade;
mod first_schema;
mod following;
mod full_text;
mod guards;
mod keys;
mod leases;
mod malformed;
mod moments;
mod opening;
mod rows;
mod schedules;
mod tampering;
mod time;
mod two_nodes;
mod waking;
mod writers;
