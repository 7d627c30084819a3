//! A place where one agent works, with read models and reactors to start and stop.

use std::sync::Arc;
use std::time::Duration;

use chrono::TimeDelta;
use domain::agent::AgentStatus;
use domain::scorecard::ScorecardEvent;
use muster_tests::fleet::Fleet;
use muster_tests::stores::Bench;
use muster_tests::work::Work;
use projections::scorecards::{self, KpiView};
use projections::{Engine, SCORECARD, agents};
use reactors::Runner;
use store::StreamId;
use store::sql::Database;

pub(super) const PATIENCE: Duration = Duration::from_secs(20);
pub(super) const JUDGE: &str = "judge_trust_on_kpi_recalculated";

pub(super) struct Place {
    pub(super) bench: Bench,
    pub(super) fleet: Fleet,
    pub(super) work: Work,
}

/// What runs in the background.
pub(super) type Running = (Arc<Engine>, Runner);

impl Place {
    pub(super) async fn new(bench: Bench) -> Self {
        let fleet = Fleet::on(bench.log());
        let workspace_id = fleet.workspace("acme").await.unwrap();
        let project_id = fleet.project(workspace_id, "shop").await.unwrap();
        let agent_id = fleet.agent(workspace_id, Some(project_id), "dev", None).await.unwrap();
        let (executor, clock, owner) = (fleet.executor.clone(), bench.clock.clone(), fleet.owner);
        let work = Work { executor, clock, owner, workspace_id, project_id, agent_id };
        Self { bench, fleet, work }
    }

    pub(super) fn views(&self) -> &Database {
        &self.bench.stores().views
    }

    pub(super) async fn head(&self) -> i64 {
        self.bench.log().head().await.unwrap().position
    }

    pub(super) fn start(&self) -> Running {
        self.start_on(&self.fleet, reactors::all())
    }

    /// The same on another node.
    pub(super) fn start_elsewhere(&self) -> Running {
        self.start_on(&self.fleet.elsewhere(self.bench.log()), reactors::all())
    }

    pub(super) fn start_only(&self, name: &str) -> Running {
        let mut only = reactors::all();
        only.retain(|it| it.name() == name);
        assert_eq!(only.len(), 1, "{name}");
        self.start_on(&self.fleet, only)
    }

    fn start_on(&self, fleet: &Fleet, reactors: Vec<Arc<dyn reactors::Reactor>>) -> Running {
        let (log, views) = (self.bench.log(), self.views().clone());
        let engine = Arc::new(Engine::start(log, views.clone(), projections::all(), Default::default()));
        let runner = Runner::start(reactors, fleet.executor.clone(), views, engine.clone());
        (engine, runner)
    }

    pub(super) async fn stop(&self, (engine, runner): Running) {
        runner.shutdown().await;
        engine.shutdown().await;
    }

    /// Waits until everything that follows has followed.
    pub(super) async fn settled(&self, runner: &Runner) {
        let mut done = 0;
        while done < self.head().await {
            done = self.head().await;
            for reactor in runner.status() {
                assert!(runner.wait_for(reactor.name, done, PATIENCE).await, "{:?}", runner.status());
            }
        }
    }

    /// Runs one reactor twice, as after a crash between the reaction and the note of it, and says why KPIs were recorded.
    pub(super) async fn reasons_after_crashes(&self, reactor: &str) -> Vec<String> {
        let head = self.head().await;
        for _ in 0..2 {
            let running = self.start_only(reactor);
            assert!(running.1.wait_for(reactor, head, PATIENCE).await, "{:?}", running.1.status());
            self.stop(running).await;
            self.bench.run_raw("delete from reactor_checkpoints").await.unwrap();
        }
        let reason = |event| match event {
            ScorecardEvent::KpiRecalculated { reason, .. } => Some(reason),
            ScorecardEvent::TrustScoreChanged { .. } => None,
        };
        self.scorecard().await.into_iter().filter_map(reason).collect()
    }

    /// Everything on the agent's scorecard.
    pub(super) async fn scorecard(&self) -> Vec<ScorecardEvent> {
        let stream = StreamId::new(SCORECARD, self.work.agent_id);
        let decode = |it: &store::StoredEvent| domain::decode(&it.event_type, &it.event_version, &it.payload).unwrap();
        self.bench.stream(&stream).await.iter().map(decode).collect()
    }

    /// The agent's KPI records as queries show them, oldest first.
    pub(super) async fn kpis(&self) -> Vec<KpiView> {
        let engine = Engine::start(self.bench.log(), self.views().clone(), projections::all(), Default::default());
        assert!(engine.wait_for(&[scorecards::NAME], self.head().await, PATIENCE).await);
        let mut kpis = scorecards::recent(self.views(), self.work.agent_id, 100).await.unwrap();
        engine.shutdown().await;
        kpis.reverse();
        kpis
    }

    /// The trust in the agent and its status, as queries show them.
    pub(super) async fn standing(&self, engine: &Engine) -> (f64, AgentStatus) {
        assert!(engine.wait_for(&[agents::NAME, scorecards::NAME], self.head().await, PATIENCE).await);
        let agent = agents::find(self.views(), self.work.agent_id).await.unwrap().unwrap();
        (agent.trust_score, agent.status)
    }
}

pub(super) fn minutes(number: i64) -> TimeDelta {
    TimeDelta::minutes(number)
}

pub(super) fn days(number: i64) -> TimeDelta {
    TimeDelta::days(number)
}
