//! Shows that `session.start` costs about the same for a busy agent as for one with little to pull.

use std::time::Instant;

use anyhow::{Context as _, Result};
use commands::{Actor, Context, session, task};
use domain::session::{Publication, Question, QuestionContext, Urgency};
use domain::{Settings, TaskId};
use futures_util::{StreamExt, TryStreamExt, stream};
use muster_tests::stores::Kind;
use serde_json::json;
use uuid::Uuid;

use super::serving::{Fleet, Serving, Worker};
use crate::http::Connection;
use crate::measure::{Plan, Sample, Series, Unit};
use crate::report::{Comparison, Target};

/// How many messages and tasks wait for each of the two.
const FEW: (usize, usize) = (10, 10);
const MANY: (usize, usize) = (10_000, 1_000);
const QUICK_MANY: (usize, usize) = (2_000, 200);
/// Sessions started by each, in turns.
const STARTS: (usize, usize) = (20, 40);
/// Agents who speak at the same time, each in its own session.
const TALKERS: usize = 32;

pub(crate) async fn sqlite(plan: &Plan) -> Result<Vec<Comparison>> {
    Ok(vec![on(plan, Kind::Sqlite).await?])
}

pub(crate) async fn postgres(plan: &Plan) -> Result<Vec<Comparison>> {
    Ok(vec![on(plan, Kind::Postgres).await?])
}

async fn on(plan: &Plan, kind: Kind) -> Result<Comparison> {
    let serving = Serving::start(kind).await?;
    let fleet = serving.fleet(TALKERS + 2).await?;
    let (few, many) = (&fleet.agents[TALKERS], &fleet.agents[TALKERS + 1]);
    let (waiting, starts) = if plan.quick { (QUICK_MANY, STARTS.0) } else { (MANY, STARTS.1) };
    for (agent, (messages, tasks)) in [(few, FEW), (many, waiting)] {
        let stop = json!({ "sessionId": agent.session });
        let stop = agent.request("POST", "/api/session.stop", Some(&stop));
        Connection::open(serving.address).await?.ask(&stop).await?;
        mention(&serving, &fleet, agent, messages - FEW.0).await?;
        give(&serving, &fleet, agent, tasks).await?;
    }
    let (mut light, mut heavy) = (Vec::new(), Vec::new());
    for _ in 0..starts {
        for (agent, took) in [(few, &mut light), (many, &mut heavy)] {
            // What was pulled does not wait any more.
            mention(&serving, &fleet, agent, FEW.0).await?;
            serving.settle().await?;
            took.push(Sample::of(start(&serving, &fleet, agent).await?));
        }
    }
    let name = |(messages, tasks)| format!("{messages} messages and {tasks} tasks wait");
    let series =
        vec![Series::of(name(waiting), Unit::Milliseconds, &heavy), Series::of(name(FEW), Unit::Milliseconds, &light)];
    let id = format!("{}-session-start", format!("{kind:?}").to_lowercase());
    Ok(Comparison::new(id, format!("{kind:?}: session.start over HTTP"), series, Target::AtMost(2.0)))
}

async fn start(serving: &Serving, fleet: &Fleet, agent: &Worker) -> Result<f64> {
    let mut door = Connection::open(serving.address).await?;
    let ask = agent.request("POST", "/api/session.start", Some(&json!({ "projectId": fleet.project })));
    let started = Instant::now();
    let answer = door.send(&ask).await?;
    let took = started.elapsed().as_secs_f64() * 1_000.0;
    let answer: serde_json::Value = serde_json::from_slice(answer.body)?;
    let session = answer["session"]["id"].as_str().with_context(|| format!("no session in {answer}"))?;
    let stop = agent.request("POST", "/api/session.stop", Some(&json!({ "sessionId": session })));
    door.ask(&stop).await?;
    Ok(took)
}

async fn mention(serving: &Serving, fleet: &Fleet, agent: &Worker, times: usize) -> Result<()> {
    let talkers = &fleet.agents[..TALKERS];
    let work = talkers.iter().enumerate().map(|(n, talker)| async move {
        for _ in (n..times).step_by(TALKERS) {
            let question = Question {
                question: "Does the basket survive a restart?".to_owned(),
                context: QuestionContext::default(),
                urgency: Urgency::Low,
            };
            let publish = session::Publish {
                by: talker.by,
                session_id: talker.session,
                publication: Publication::Question(question),
                mentions: vec![agent.by.agent_id],
            };
            serving.executor().run(&talker.context(), &publish).await?;
        }
        anyhow::Ok(())
    });
    stream::iter(work).buffer_unordered(TALKERS).try_collect().await
}

async fn give(serving: &Serving, fleet: &Fleet, agent: &Worker, times: usize) -> Result<()> {
    let context = || Context::new(Actor::User(fleet.user), chrono::Utc::now());
    let give = |n: usize| async move {
        let create = task::CreateTask {
            by: fleet.user,
            task_id: TaskId(Uuid::now_v7()),
            project_id: fleet.project,
            github_issue: None,
            title: format!("Task {n}"),
            description: None,
            priority: None,
            deadline: None,
            success_criteria: vec![],
            metadata: Settings::new(),
        };
        serving.executor().run(&context(), &create).await?;
        let assign = task::AssignTask { by: fleet.user, task_id: create.task_id, agent_id: agent.by.agent_id };
        serving.executor().run(&context(), &assign).await?;
        anyhow::Ok(())
    };
    stream::iter(0..times).map(give).buffer_unordered(TALKERS).try_collect().await
}
