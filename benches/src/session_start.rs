//! Shows that `session.start` costs about the same for a busy agent as for one with little to pull.

use std::time::Instant;

use futures_util::{StreamExt, TryStreamExt, stream};
use muster_tests::server::{Client, Server};
use muster_tests::stores::{Bench, Kind};
use serde_json::{Value, json};

use crate::median;

/// How many messages and tasks wait for each of the two.
const FEW: (usize, usize) = (10, 10);
const MANY: (usize, usize) = (10_000, 1_000);
/// Sessions started by each, in turns.
const ROUNDS: usize = 40;
/// Requests in flight while the log is filled.
const IN_FLIGHT: usize = 32;

pub(crate) async fn measure(kind: Kind) -> anyhow::Result<()> {
    let server = Server::start(Bench::open(kind).await).await;
    let owner = server.owner("ada").await;
    let workspace = owner.workspace("acme").await;
    let project = owner.project(&workspace, "shop").await;
    let talker = server.agent(&owner.new_agent(&workspace, None, "talker").await);
    let session = talker.start_session(&project).await;
    let few = owner.new_agent(&workspace, Some(&project), "few").await;
    let many = owner.new_agent(&workspace, Some(&project), "many").await;
    for (agent, (messages, tasks)) in [(&few, FEW), (&many, MANY)] {
        mention(&talker, &session, agent, messages).await?;
        give(&owner, &project, agent, tasks).await?;
    }
    let (few, many) = (server.agent(&few), server.agent(&many));
    let (mut light, mut heavy) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        light.push(start(&few, &project).await);
        heavy.push(start(&many, &project).await);
    }
    let (light, heavy) = (median(light), median(heavy));
    println!("{kind:?}: session.start over HTTP, median of {ROUNDS} in turns");
    println!("  {:>6} messages and {:>5} tasks waiting  {light:>7.2} ms", FEW.0, FEW.1);
    println!("  {:>6} messages and {:>5} tasks waiting  {heavy:>7.2} ms   {:.1} times", MANY.0, MANY.1, heavy / light);
    Ok(())
}

async fn start(agent: &Client, project: &str) -> f64 {
    let started = Instant::now();
    let session = agent.start_session(project).await;
    let took = started.elapsed().as_secs_f64() * 1_000.0;
    agent.stop_session(&session).await.ok();
    took
}

async fn mention(talker: &Client, session: &str, agent: &Value, times: usize) -> anyhow::Result<()> {
    let question = json!({
        "sessionId": session,
        "type": "question_asked",
        "content": {"question": "Does the basket survive a restart?", "context": {}, "urgency": "low"},
        "mentions": [agent["agent"]["id"]],
    });
    let ask = |_| async {
        talker.post("/api/event.publish", &question).await.ok();
        anyhow::Ok(())
    };
    stream::iter(0..times).map(ask).buffer_unordered(IN_FLIGHT).try_collect().await
}

async fn give(owner: &Client, project: &str, agent: &Value, times: usize) -> anyhow::Result<()> {
    let give = |n| async move {
        let task = owner.task(project, &format!("Task {n}")).await;
        owner.assign(&task, agent).await.ok();
        anyhow::Ok(())
    };
    stream::iter(0..times).map(give).buffer_unordered(IN_FLIGHT).try_collect().await
}
