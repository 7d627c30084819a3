//! Looks after the agents of a bench: who is silent is asked, who stays silent is judged by evidence.
//!
//! What is due follows from the read model `floor` alone, so that no restart forgets anybody. The verdict is the
//! domain's; here is only what it cannot see: when an agent was last heard of, and what its terminal shows.

mod evidence;

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use chrono::{DateTime, Utc};
use commands::factory::{CheckHealth, Verdict};
use commands::{Actor, CommandError, Context, Executor};
use domain::AgentId;
use domain::errand::Work;
use domain::post::HealthRules;
use projections::floor::{self, FloorView};
use projections::{Engine, errands};
use store::sql::Database;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use uuid::Uuid;

use crate::bench::Bench;

const NAME: &str = "check_health";
/// Open errands looked at.
const PAGE: i64 = 1_000;
const CATCH_UP: Duration = Duration::from_secs(5);
/// However long the interval, somebody new is seen in time.
const LONGEST_NAP: Duration = Duration::from_secs(30);
const SHORTEST_NAP: Duration = Duration::from_millis(20);

/// Looks after the agents of one bench.
#[derive(Clone)]
pub struct Health {
    /// The bench.
    pub bench: Arc<Bench>,
    /// Runs commands.
    pub executor: Arc<Executor>,
    /// The read models.
    pub views: Database,
    /// Keeps them current.
    pub engine: Arc<Engine>,
}

/// Health checks at work.
pub struct Watch {
    stop: watch::Sender<bool>,
    task: Mutex<Option<JoinHandle<()>>>,
}

impl Watch {
    /// Checks whoever is due, until it is stopped.
    pub fn start(health: Health) -> Self {
        let (stop, stopped) = watch::channel(false);
        Self { stop, task: Mutex::new(Some(tokio::spawn(health.keep_watch(stopped)))) }
    }

    /// Stops after the check in hand.
    pub async fn shutdown(&self) {
        self.stop.send_replace(true);
        let task = self.task.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(task) = task {
            let _ = task.await;
        }
    }
}

impl Health {
    /// Checks everybody who is due by the log's clock, once; says what came of it.
    pub async fn check(&self) -> Result<Vec<(AgentId, Verdict)>, CommandError> {
        let (now, rules) = (self.executor.log().clock().now(), self.bench.settings().rules);
        let mut verdicts = Vec::new();
        for agent in self.on_duty().await?.iter().filter(|it| due(it, &rules) <= now) {
            match self.look_at(agent, now).await {
                Ok(verdict) => verdicts.push((agent.agent_id, verdict)),
                // It left its post meanwhile.
                Err(CommandError::Refused(refusal)) => {
                    tracing::info!(agent = %agent.agent_id, %refusal, "a health check was refused");
                }
                Err(error) => return Err(error),
            }
        }
        Ok(verdicts)
    }

    /// Who is at work on this bench, as the log has it now. Whoever is not launched yet cannot have said anything.
    async fn on_duty(&self) -> Result<Vec<FloorView>, CommandError> {
        let position = self.executor.log().head().await?.position;
        if !self.engine.wait_for(&[floor::NAME, errands::NAME], position, CATCH_UP).await {
            return Err(CommandError::Unavailable(format!("read models have not reached {position}")));
        }
        let open = errands::open_on(&self.views, self.bench.name(), DateTime::<Utc>::MAX_UTC, PAGE).await?;
        let to_launch: HashSet<AgentId> = open
            .into_iter()
            .filter_map(|it| match it.work {
                Work::Launch { agent_id } => Some(agent_id),
                _ => None,
            })
            .collect();
        let mut agents = floor::in_progress_on(&self.views, self.bench.name()).await?;
        agents.retain(|it| !to_launch.contains(&it.agent_id));
        Ok(agents)
    }

    async fn look_at(&self, agent: &FloorView, now: DateTime<Utc>) -> Result<Verdict, CommandError> {
        let seen = evidence::gather(&self.bench, &agent.tmux_session).await;
        let check = CheckHealth {
            agent_id: agent.agent_id,
            last_heartbeat: agent.last_heartbeat,
            process_alive: seen.process_alive,
            last_output_at: seen.last_output_at,
            rules: self.bench.settings().rules,
            profiles: self.bench.profiles().clone(),
        };
        let mut context = Context::new(Actor::System(NAME), now);
        // What it makes, successors above all, has the same ids on another node and after a crash.
        let seed = format!("{NAME}/{}/{}", agent.last_heartbeat.timestamp_micros(), agent.checks_missed);
        context.command_id = Uuid::new_v5(&agent.agent_id.0, seed.as_bytes());
        let done = self.executor.run(&context, &check).await?;
        match &done.outcome {
            Verdict::Healthy => {}
            verdict => tracing::info!(agent = %agent.agent_id, kind = %agent.kind, ?verdict, "an agent was checked"),
        }
        Ok(done.outcome)
    }

    async fn keep_watch(self, mut stop: watch::Receiver<bool>) {
        while !*stop.borrow() {
            if let Err(error) = self.check().await {
                tracing::warn!(bench = %self.bench.name(), %error, "agents could not be checked");
            }
            let nap = self.nap().await;
            let _ = tokio::time::timeout(nap, stop.wait_for(|stop| *stop)).await;
        }
    }

    /// Until somebody is due, and no longer than somebody new may wait.
    async fn nap(&self) -> Duration {
        let (now, rules) = (self.executor.log().clock().now(), self.bench.settings().rules);
        let longest = (rules.silence.to_std().unwrap_or(LONGEST_NAP) / 4).clamp(SHORTEST_NAP, LONGEST_NAP);
        let agents = self.on_duty().await.unwrap_or_default();
        let next = agents.iter().map(|it| due(it, &rules)).filter(|at| *at > now).min();
        let next = next.and_then(|at| (at - now).to_std().ok());
        next.map_or(longest, |it| it.clamp(SHORTEST_NAP, longest))
    }
}

/// When an agent is to be looked at again: after a silence, and when its time to answer is over.
fn due(agent: &FloorView, rules: &HealthRules) -> DateTime<Utc> {
    let asked = agent.checked_at.filter(|at| *at > agent.last_heartbeat);
    match asked {
        Some(at) => at + rules.patience,
        None => agent.last_heartbeat + rules.silence,
    }
}
