//! Appending on SQLite: beside another library and beside the limits of the file.

use std::cell::RefCell;

use anyhow::Result;
use muster_tests::stores::Kind;

use super::appending::{self, Batches, IN_FLIGHT, Load, begin_streams, beside_peers, one_command};
use crate::limits::{self, SqliteRows};
use crate::measure::{Plan, Side, Unit, interleave, one_by_one_blocking};
use crate::report::{Comparison, Target};
use crate::rig::Rig;

/// The library, as its README says and tuned.
const PEERS: [(&str, bool); 2] = [("sqlite-es", false), ("sqlite-es", true)];

pub(super) async fn new_streams(plan: &Plan) -> Result<Vec<Comparison>> {
    beside_peers(plan, Kind::Sqlite, Load::New, &PEERS, 30.0).await
}

pub(super) async fn hot_streams(plan: &Plan) -> Result<Vec<Comparison>> {
    beside_peers(plan, Kind::Sqlite, Load::Hot, &PEERS, 60.0).await
}

pub(super) async fn stale(plan: &Plan) -> Result<Vec<Comparison>> {
    appending::stale(plan, Kind::Sqlite).await
}

pub(super) async fn ceiling(plan: &Plan) -> Result<Vec<Comparison>> {
    let rig = Rig::open(Kind::Sqlite).await?;
    let rows = RefCell::new(SqliteRows::open()?);
    let (rows, round) = (&rows, plan.round);
    let many = move || async move { rows.borrow_mut().rows_a_second(500, round) };
    let singles = move || async move { rows.borrow_mut().rows_a_second(1, round) };
    let sides = vec![
        begin_streams(&rig, IN_FLIGHT, round),
        Side::new("500 rows per transaction", Unit::PerSecond, many),
        Side::new("one row per transaction", Unit::PerSecond, singles),
        Side::new("fdatasync of 4 kB", Unit::PerSecond, move || async move { limits::syncs_a_second(round) }),
    ];
    let work = format!("SQLite: commands, {IN_FLIGHT} in flight, new streams");
    let before = Batches::of(&rig).await?;
    let series = interleave(plan, sides).await?;
    let comparison = Comparison::new("sqlite-ceiling-512", work, series, Target::AtLeast(0.5));
    Ok(vec![comparison.with_note(before.since(&rig).await?)])
}

pub(super) async fn one_client(plan: &Plan) -> Result<Vec<Comparison>> {
    let rig = Rig::open(Kind::Sqlite).await?;
    let rows = RefCell::new(SqliteRows::open()?);
    let (rows, round) = (&rows, plan.round);
    let raw = move || async move { one_by_one_blocking(round, || rows.borrow_mut().insert(1)) };
    let sides =
        vec![one_command(&rig, round), Side::new("one row in a transaction of its own", Unit::Milliseconds, raw)];
    let work = "SQLite: one client, one command at a time";
    Ok(vec![Comparison::new("sqlite-alone", work, interleave(plan, sides).await?, Target::AtMost(1.3))])
}
