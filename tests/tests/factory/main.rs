//! The factory's commands on both stores, without any bench: the tests themselves say what came of each errand.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod decisions;
mod epics;
mod floor;
mod health;
mod illegal;
mod launches;
mod races;
mod read_models;
mod reviews;
mod staff;
mod supervisor;
mod told;
