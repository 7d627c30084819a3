//! Queries over HTTP: beside a handler that has the same bytes at hand, and beside the same SQL through a pool.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use axum::Router;
use axum::body::Bytes;
use axum::http::header;
use axum::routing::get;
use futures_util::{StreamExt, TryStreamExt, stream};
use muster_tests::stores::Kind;
use serde_json::json;
use sqlx::postgres::{PgPool, PgPoolOptions};

use super::appending::CLIENTS;
use super::serving::{Fleet, Serving, Worker};
use crate::http::{Connection, hammer, request};
use crate::measure::{Plan, Side, Unit, closed_loop, interleave};
use crate::report::{Comparison, Target};
use crate::rig::log_progress;

/// Entries of the workspace: enough that its total is a lower bound.
const ENTRIES: (usize, usize) = (11_000, 100_000);
/// Agents that are looked at, and sessions that each has behind it.
const LOOKED_AT: usize = 8;
const SESSIONS: usize = 10;
/// Commands a second while read models move.
const BUSY: u32 = 500;
/// As many connections as Muster has for its read models.
const POOL: u32 = 12;

/// What is asked, and what it is compared with.
struct Question {
    name: &'static str,
    /// The path of each who asks.
    paths: Vec<String>,
    /// The SQL that Muster answers it with, and the ids that are asked for.
    sql: &'static str,
    ids: Arc<Vec<String>>,
    /// On SQLite, of a handler that returns the same bytes.
    target: f64,
}

pub(crate) async fn sqlite(plan: &Plan) -> Result<Vec<Comparison>> {
    let (mut serving, fleet) = filled(plan, Kind::Sqlite).await?;
    let mut all = vec![];
    for question in questions(&fleet) {
        all.push(beside_the_bytes(plan, &mut serving, &fleet, question).await?);
    }
    Ok(all)
}

pub(crate) async fn postgres(plan: &Plan) -> Result<Vec<Comparison>> {
    let (serving, fleet) = filled(plan, Kind::Postgres).await?;
    let mut all = vec![];
    for question in questions(&fleet) {
        all.push(beside_the_sql(plan, &serving, &fleet, question).await?);
    }
    Ok(all)
}

async fn filled(plan: &Plan, kind: Kind) -> Result<(Serving, Fleet)> {
    let serving = Serving::start(kind).await?;
    let fleet = serving.fleet(CLIENTS).await?;
    let entries = if plan.quick { ENTRIES.0 } else { ENTRIES.1 };
    serving.log_in_sessions(&fleet, entries).await?;
    work(&serving, &fleet).await?;
    Ok((serving, fleet))
}

fn questions(fleet: &Fleet) -> Vec<Question> {
    let agents: Vec<_> = fleet.agents[..LOOKED_AT].iter().map(|it| it.by.agent_id.to_string()).collect();
    vec![
        Question {
            name: "agent.get",
            paths: agents.iter().map(|id| format!("/api/agent.get?id={id}")).collect(),
            sql: "select 0, 0, doc from views.agents where id = $1
                  union all
                  select 1, kpi.position, kpi.doc
                  from (select position, doc from views.kpis where agent_id = $1 order by position desc limit 10) as kpi
                  union all
                  select 2, session.started_position, session.doc
                  from (select started_position, doc from views.sessions where agent_id = $1
                        order by started_position desc limit 10) as session",
            ids: Arc::new(agents),
            target: 0.5,
        },
        Question {
            name: "event.list",
            paths: vec!["/api/event.list?limit=50".to_owned()],
            // That there are more than 10,000 entries is found out once a second.
            sql: "select position, type, named_user_id, doc from views.timeline where workspace_id = $1::uuid
                  order by position desc limit 51",
            ids: Arc::new(vec![fleet.workspace.to_string()]),
            target: 0.3,
        },
    ]
}

/// Some agents start and stop sessions, so that there is something to show of them.
async fn work(serving: &Serving, fleet: &Fleet) -> Result<()> {
    let busy = fleet.agents[..LOOKED_AT].iter().map(|worker| async move {
        let mut door = Connection::open(serving.address).await?;
        let mut session = worker.session.to_string();
        for _ in 0..SESSIONS {
            let stop = json!({ "sessionId": session, "summary": "The basket survives a restart." });
            door.ask(&worker.request("POST", "/api/session.stop", Some(&stop))).await?;
            let start = json!({ "projectId": fleet.project });
            let started = door.ask(&worker.request("POST", "/api/session.start", Some(&start))).await?;
            session = started["session"]["id"].as_str().unwrap_or_default().to_owned();
        }
        anyhow::Ok(())
    });
    stream::iter(busy).buffer_unordered(LOOKED_AT).try_collect::<()>().await?;
    serving.settle().await
}

async fn beside_the_bytes(plan: &Plan, serving: &mut Serving, fleet: &Fleet, it: Question) -> Result<Comparison> {
    let ask = fleet.agents[0].request("GET", &it.paths[0], None);
    let bytes = Bytes::copy_from_slice(Connection::open(serving.address).await?.send(&ask).await?.body);
    let size = bytes.len();
    let answer = move || async move { ([(header::CONTENT_TYPE, "application/json")], bytes) };
    let bare = serving.beside(Router::new().route("/same", get(answer))).await?;
    let (theirs, round) = (Arc::new(vec![request("GET", "/same", &[], None); CLIENTS]), round(plan));
    let theirs =
        Side::new("a bare handler with the same bytes", Unit::PerSecond, move || hammer(bare, theirs.clone(), round));
    compared(plan, serving, fleet, &it, "SQLite", theirs, it.target).await.map(|line| {
        line.with_note(format!("{size} bytes of JSON; an answer is given again while its read models stand still"))
    })
}

async fn beside_the_sql(plan: &Plan, serving: &Serving, fleet: &Fleet, it: Question) -> Result<Comparison> {
    let pool = PgPoolOptions::new().max_connections(POOL).test_before_acquire(false).connect(serving.rig.url()).await?;
    let (sql, ids, round) = (it.sql, it.ids.clone(), round(plan));
    let theirs = Side::new("the same SQL through a pool", Unit::PerSecond, move || {
        let (pool, ids) = (pool.clone(), ids.clone());
        closed_loop(CLIENTS, round, move |client| bare_sql(pool.clone(), sql, ids.clone(), client))
    });
    compared(plan, serving, fleet, &it, "Postgres", theirs, 0.7).await
}

/// Muster with read models that stand still, then the other; for the reader also Muster while they move.
async fn compared<'a>(
    plan: &Plan,
    serving: &'a Serving,
    fleet: &'a Fleet,
    it: &Question,
    store: &str,
    theirs: Side<'a>,
    target: f64,
) -> Result<Comparison> {
    let paths = it.paths.iter().cycle();
    let ours = fleet.agents.iter().zip(paths).map(|(worker, path)| worker.request("GET", path, None));
    let (ours, address, round) = (Arc::new(ours.collect::<Vec<_>>()), serving.address, round(plan));
    let busy = ours.clone();
    let mut sides = vec![
        Side::new("Muster over HTTP, with an agent's key", Unit::PerSecond, move || {
            hammer(address, ours.clone(), round)
        }),
        theirs,
    ];
    if !plan.quick {
        sides.push(Side::new(format!("Muster while {BUSY} commands/s come in"), Unit::PerSecond, move || {
            let busy = busy.clone();
            async move {
                let (asked, written) = tokio::join!(hammer(address, busy, round), write(serving, fleet, round));
                written.and(asked)
            }
        }));
    }
    let work = format!("{store}: {} over HTTP, {CLIENTS} connections", it.name);
    let id = format!("{}-http-{}", store.to_lowercase(), it.name.replace('.', "-"));
    Ok(Comparison::new(id, work, interleave(plan, sides).await?, Target::AtLeast(target)))
}

/// Logs at a steady rate in sessions of agents that are not looked at.
async fn write(serving: &Serving, fleet: &Fleet, lasts: Duration) -> Result<()> {
    let mut beat = tokio::time::interval(Duration::from_secs(1) / BUSY);
    let end = Instant::now() + lasts;
    let log = |worker: &'_ Worker| {
        let (log, context) = (log_progress(worker.session, worker.by), worker.context());
        let executor = serving.executor().clone();
        async move { executor.run(&context, &log).await.map(drop) }
    };
    let mut writing = vec![];
    for worker in fleet.agents[LOOKED_AT..].iter().cycle() {
        beat.tick().await;
        if Instant::now() > end {
            break;
        }
        writing.push(tokio::spawn(log(worker)));
    }
    for written in writing {
        written.await??;
    }
    serving.settle().await
}

async fn bare_sql(pool: PgPool, sql: &'static str, ids: Arc<Vec<String>>, client: usize) -> Result<()> {
    let rows = sqlx::query(sql).bind(&ids[client % ids.len()]).fetch_all(&pool).await?;
    ensure!(!rows.is_empty(), "no answer to {sql}");
    Ok(())
}

/// Halved where all cases together have to be quick.
fn round(plan: &Plan) -> Duration {
    if plan.quick { plan.round / 2 } else { plan.round }
}
