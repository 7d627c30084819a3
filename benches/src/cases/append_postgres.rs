//! Appending on PostgreSQL: beside other libraries, beside the server's own limits, with stale commands, on two nodes.

use std::sync::Arc;

use anyhow::Result;
use commands::Executor;
use muster_tests::stores::Kind;

use super::appending::{self, Batches, CLIENTS, IN_FLIGHT, Load, begin_streams, beside_peers, one_command};
use crate::limits::PostgresRows;
use crate::measure::{Plan, Side, Unit, closed_loop, interleave, one_by_one};
use crate::report::{Comparison, Target};
use crate::rig::{self, Rig};

/// The libraries, each as its README says, and the faster ones tuned as well.
const PEERS: [(&str, bool); 5] =
    [("postgres-es", false), ("postgres-es", true), ("disintegrate", false), ("esrs", false), ("esrs", true)];

pub(super) async fn new_streams(plan: &Plan) -> Result<Vec<Comparison>> {
    beside_peers(plan, Kind::Postgres, Load::New, &PEERS, 12.0).await
}

pub(super) async fn hot_streams(plan: &Plan) -> Result<Vec<Comparison>> {
    beside_peers(plan, Kind::Postgres, Load::Hot, &PEERS, 25.0).await
}

pub(super) async fn stale(plan: &Plan) -> Result<Vec<Comparison>> {
    appending::stale(plan, Kind::Postgres).await
}

pub(super) async fn ceiling(plan: &Plan) -> Result<Vec<Comparison>> {
    let mut all = vec![];
    let rows = tokio::sync::Mutex::new(PostgresRows::open().await?);
    let (rows, round) = (&rows, plan.round);
    for (in_flight, target) in [(CLIENTS, 0.5), (IN_FLIGHT, 0.75)] {
        let rig = Rig::open(Kind::Postgres).await?;
        let many = move || async move { rows.lock().await.rows_a_second(500, round).await };
        let singles = move || async move { rows.lock().await.pgbench(CLIENTS, round) };
        let sides = vec![
            begin_streams(&rig, in_flight, round),
            Side::new("500 rows per transaction through unnest", Unit::PerSecond, many),
            Side::new("one row per transaction, pgbench with 64 clients", Unit::PerSecond, singles),
        ];
        let work = format!("PostgreSQL: commands, {in_flight} in flight, new streams");
        let id = format!("postgres-ceiling-{in_flight}");
        let before = Batches::of(&rig).await?;
        let comparison = Comparison::new(id, work, interleave(plan, sides).await?, Target::AtLeast(target));
        all.push(comparison.with_note(before.since(&rig).await?));
    }
    Ok(all)
}

pub(super) async fn one_client(plan: &Plan) -> Result<Vec<Comparison>> {
    let rig = Rig::open(Kind::Postgres).await?;
    let rows = Arc::new(tokio::sync::Mutex::new(PostgresRows::open().await?));
    let round = plan.round;
    let raw = || {
        let rows = rows.clone();
        one_by_one(round, move || {
            let rows = rows.clone();
            async move { rows.lock().await.insert(1).await }
        })
    };
    let sides = vec![
        one_command(&rig, round),
        Side::new("one row in a transaction of its own, one connection", Unit::Milliseconds, raw),
    ];
    let work = "PostgreSQL: one client, one command at a time";
    Ok(vec![Comparison::new("postgres-alone", work, interleave(plan, sides).await?, Target::AtMost(1.3))])
}

/// Two nodes share one log; each has its own writer, and both go through the head row.
pub(super) async fn two_nodes(plan: &Plan) -> Result<Vec<Comparison>> {
    let (alone, shared) = (Rig::open(Kind::Postgres).await?, Rig::open(Kind::Postgres).await?);
    let second = rig::open(&shared.location).await?;
    let nodes = [shared.executor.clone(), Arc::new(Executor::new(second.log.clone()))];
    let round = plan.round;
    let both = || {
        let nodes = nodes.clone();
        closed_loop(2 * CLIENTS, round, move |client| {
            let node = nodes[client % 2].clone();
            async move {
                node.run(&rig::context(), &rig::new_stream()).await?;
                Ok(())
            }
        })
    };
    let sides =
        vec![Side::new("two nodes, 64 clients each", Unit::PerSecond, both), begin_streams(&alone, CLIENTS, round)];
    let series = interleave(plan, sides).await?;
    let verified = shared.log().verify(|_| {}).await?;
    let note = format!("the log of the two nodes holds {} events without a hole", verified.events);
    let work = "PostgreSQL: two nodes on one log, in total";
    Ok(vec![Comparison::new("postgres-two-nodes", work, series, Target::AtLeast(0.9)).with_note(note)])
}
