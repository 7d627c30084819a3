//! The write side on both stores: how commands are run, what spans streams, and what reactors do.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod across_streams;
mod executing;
mod following;
mod keys;
mod reacting;
mod scores;
mod sealing;
mod sessions;
mod tasks;
mod wiki;
