//! Muster as its users meet it: the built binary, its signals, its files and its exit codes.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod audit;
mod checker;
mod client;
mod demo;
mod environment;
mod full_disk;
mod kills;
mod load;
mod log_verify;
mod logs;
mod nodes;
mod raw;
mod rebuilds;
mod serve_past;
mod stopping;
mod syncs;
mod trace;
mod views;
