//! Three agents at work, measured and judged by the real reactors, in a log that the test can go on writing to.

use std::sync::Arc;
use std::time::Duration;

use chrono::TimeDelta;
use domain::agent::AgentStatus;
use domain::scorecard::ScorecardEvent;
use domain::{AgentId, ReviewDecision};
use muster_tests::commits::Build;
use muster_tests::fleet::Fleet;
use muster_tests::muster::{Home, wait_until};
use muster_tests::stores::{Kind, noon};
use muster_tests::work::Work;
use projections::{Engine, SCORECARD};
use reactors::Runner;
use store::{Access, Clock, Commit, Location, NewEvent, Settings, StoredEvent, Stores, StreamId};
use uuid::Uuid;

const PATIENCE: Duration = Duration::from_secs(30);

/// What was made. The log stays open, as a server has it.
pub(crate) struct Story {
    pub(crate) stores: Stores,
    /// Writes code that gets worse.
    pub(crate) dev: AgentId,
    /// Has three pull requests rejected, and is put on probation.
    pub(crate) poor: AgentId,
    /// Does nothing wrong; the owner set it aside and took it back.
    pub(crate) good: AgentId,
}

impl Story {
    pub(crate) async fn told(home: &Home) -> Self {
        let clock = Clock::fixed(noon());
        let stores = open(home, &clock).await;
        let fleet = Fleet::on(stores.log.clone());
        let workspace_id = fleet.workspace("acme").await.unwrap();
        let project_id = fleet.project(workspace_id, "shop").await.unwrap();
        let mut agents = vec![];
        for code in ["dev", "poor", "good"] {
            agents.push(fleet.agent(workspace_id, Some(project_id), code, None).await.unwrap());
        }
        let [dev, poor, good] = agents[..] else { panic!("three agents") };
        let (executor, owner) = (fleet.executor.clone(), fleet.owner);
        let work = |agent_id| Work {
            executor: executor.clone(),
            clock: clock.clone(),
            owner,
            workspace_id,
            project_id,
            agent_id,
        };
        let (log, views) = (stores.log.clone(), stores.views.clone());
        let engine = Arc::new(Engine::start(log, views.clone(), projections::all(), Default::default()));
        let runner = Runner::start(reactors::all(), executor.clone(), views, engine.clone());
        let story = Self { stores, dev, poor, good };

        work(good).task(None).await;
        fleet.set_status(good, AgentStatus::Inactive).await.unwrap();
        story.settle(&runner).await;
        fleet.set_status(good, AgentStatus::Active).await.unwrap();
        let task = work(dev).task(Some(7)).await;
        work(dev).start(task).await;
        work(dev).labels(7, &["bug"]).await;
        work(dev).opens(1, Some(task), 30, &[]).await;
        story.settle(&runner).await;
        work(dev).pass(TimeDelta::days(8));
        work(dev).reviews(1, 1, ReviewDecision::RequestChanges).await;
        work(dev).lint_fails(1).await;
        work(dev).pushes("c1").await;
        work(dev).fails_to_deploy(1, 1, "c1").await;
        work(dev).complete(task).await;
        story.settle(&runner).await;
        for number in 2..=4 {
            work(poor).opens(number, None, 5, &[]).await;
            work(poor).rejects(number).await;
        }
        work(poor).task(None).await;
        work(good).opens(5, None, 40, &["bug"]).await;
        work(good).merges(5, 40, "m1").await;
        work(good).fails_to_deploy(2, 2, "m1").await;
        let session = work(good).starts_session().await;
        work(good).pass(TimeDelta::minutes(6));
        work(good).stops_session(session, vec![]).await;
        story.settle(&runner).await;
        runner.shutdown().await;
        engine.shutdown().await;
        story
    }

    /// What is on an agent's scorecard, as it is stored.
    pub(crate) async fn scorecard(&self, agent: AgentId) -> Vec<StoredEvent> {
        self.stores.log.read_stream(&StreamId::new(SCORECARD, agent), 1, None).await.unwrap()
    }

    /// Where the log has the calculation that was made of an agent for a reason.
    pub(crate) async fn measured(&self, agent: AgentId, because: &str) -> i64 {
        let is_meant = |it: &&StoredEvent| match decoded(it) {
            ScorecardEvent::KpiRecalculated { reason, .. } => reason == because,
            ScorecardEvent::TrustScoreChanged { .. } => false,
        };
        self.scorecard(agent).await.iter().find(is_meant).unwrap().position
    }

    /// Writes another event on an agent's scorecard, past every rule; says where.
    pub(crate) async fn forge(&self, agent: AgentId, event: &ScorecardEvent) -> i64 {
        let stored = self.scorecard(agent).await;
        let like =
            stored.iter().find(|it| std::mem::discriminant(&decoded(it)) == std::mem::discriminant(event)).unwrap();
        let forged = NewEvent {
            event_id: Uuid::now_v7(),
            event_type: like.event_type.clone(),
            event_version: like.event_version.clone(),
            payload: payload_like(&like.payload, event),
            metadata: like.metadata.clone(),
            workspace_id: like.workspace_id,
        };
        let stream = StreamId::new(SCORECARD, agent);
        self.stores.log.commit(Commit::default().append(&stream, stored.len() as i64, vec![forged])).await.unwrap();
        self.scorecard(agent).await.last().unwrap().position
    }

    /// Waits until everything that follows has followed.
    async fn settle(&self, runner: &Runner) {
        let mut done = 0;
        while done < self.head().await {
            done = self.head().await;
            for reactor in runner.status() {
                assert!(runner.wait_for(reactor.name, done, PATIENCE).await, "{:?}", runner.status());
            }
        }
    }

    pub(crate) async fn head(&self) -> i64 {
        self.stores.log.head().await.unwrap().position
    }
}

pub(crate) fn decoded(it: &StoredEvent) -> ScorecardEvent {
    domain::decode(&it.event_type, &it.event_version, &it.payload).unwrap()
}

/// The event in the form in which its like is stored, with the event's name around it or without.
fn payload_like(like: &str, event: &ScorecardEvent) -> String {
    let whole = serde_json::to_value(event).unwrap();
    let name = whole.as_object().unwrap().keys().next().unwrap().clone();
    let has_name = serde_json::from_str::<serde_json::Value>(like).unwrap().get(&name).is_some();
    if has_name { whole.to_string() } else { whole[&name].to_string() }
}

async fn open(home: &Home, clock: &Clock) -> Stores {
    let location = match home.kind {
        Kind::Sqlite => Location::Sqlite(home.folder().to_path_buf()),
        Kind::Postgres => Location::Postgres(home.database_url().to_owned()),
    };
    let settings = Settings { location, clock: clock.clone(), access: Access::Serve };
    let mut opened = None;
    // A process that another test starts holds every lock of this one for a moment.
    wait_until("the folder is free", async || {
        opened = Stores::open(settings.clone()).await.ok();
        opened.is_some()
    })
    .await;
    opened.unwrap()
}
