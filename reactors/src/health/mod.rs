//! Looks after the agents of a bench: who is silent is asked, who stays silent is judged by evidence.
//!
//! What is due follows from the read model `floor` alone, so that no restart forgets anybody. The verdict is the
//! domain's; here is only what it cannot see: when an agent was last heard of, and what its terminal shows.

mod evidence;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use chrono::{DateTime, Utc};
use commands::factory::{CheckHealth, Verdict};
use commands::{Actor, CommandError, Context, Executor};
use domain::AgentId;
use domain::post::{HealthRules, Launch};
use projections::Engine;
use projections::floor::{self, FloorView};
use store::sql::Database;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use uuid::Uuid;

use crate::bench::Bench;

const NAME: &str = "check_health";
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
    /// Checks whoever is due while this node holds the bench, until it is stopped.
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
    /// Checks everybody who is due by the log's clock, once; says what came of it. Who cannot be checked now keeps nobody
    /// else from it.
    pub async fn check(&self) -> Result<Vec<(AgentId, Verdict)>, CommandError> {
        let mut verdicts = Vec::new();
        for agent in self.on_duty().await?.iter().filter(|it| self.is_due(it)) {
            if let Some(verdict) = self.check_one(agent.agent_id).await? {
                verdicts.push((agent.agent_id, verdict));
            }
        }
        Ok(verdicts)
    }

    /// Checks one agent, if it is due by what the log has of it now; nothing comes of it if it is not, or cannot be
    /// looked at. An error is one that concerns everybody.
    pub async fn check_one(&self, agent: AgentId) -> Result<Option<Verdict>, CommandError> {
        self.caught_up().await?;
        // It may have spoken while others were checked.
        let Some(agent) = floor::find(&self.views, agent).await?.filter(|it| self.is_due(it)) else { return Ok(None) };
        let agent_id = agent.agent_id;
        let seen = match evidence::gather(&self.bench, &agent.tmux_session).await {
            Ok(seen) => seen,
            Err(error) => {
                tracing::warn!(agent = %agent_id, %error, "an agent is not judged: its terminal cannot be looked at");
                return Ok(None);
            }
        };
        match self.judge(&agent, seen).await {
            Ok(verdict) => Ok(Some(verdict)),
            // It left its post meanwhile.
            Err(CommandError::Refused(refusal)) => {
                tracing::info!(agent = %agent_id, %refusal, "a health check was refused");
                Ok(None)
            }
            Err(error) => {
                tracing::warn!(agent = %agent_id, %error, "an agent could not be checked");
                Ok(None)
            }
        }
    }

    /// Who is at work on this bench, as the log has it now.
    async fn on_duty(&self) -> Result<Vec<FloorView>, CommandError> {
        self.caught_up().await?;
        Ok(floor::in_progress_on(&self.views, self.bench.name()).await?)
    }

    async fn caught_up(&self) -> Result<(), CommandError> {
        let position = self.executor.log().head().await?.position;
        match self.engine.wait_for(&[floor::NAME], position, CATCH_UP).await {
            true => Ok(()),
            false => Err(CommandError::Unavailable(format!("read models have not reached {position}"))),
        }
    }

    fn is_due(&self, agent: &FloorView) -> bool {
        let now = self.executor.log().clock().now();
        due(agent, &self.bench.settings().rules).is_some_and(|at| at <= now)
    }

    async fn judge(&self, agent: &FloorView, seen: evidence::Seen) -> Result<Verdict, CommandError> {
        let check = CheckHealth {
            agent_id: agent.agent_id,
            last_heartbeat: agent.last_heartbeat,
            heard_of: agent.heard_of,
            process_alive: seen.process_alive,
            last_output_at: seen.last_output_at,
            rules: self.bench.settings().rules,
            profiles: self.bench.profiles().clone(),
        };
        let mut context = Context::new(Actor::System(NAME), self.executor.log().clock().now());
        // What it makes, successors above all, has the same ids on another node and after a crash. Who rests may miss as
        // many checks again without a word in between.
        let (heard, asked) =
            (agent.last_heartbeat.timestamp_micros(), agent.checked_at.map(|it| it.timestamp_micros()));
        let seed = format!("{NAME}/{heard}/{asked:?}/{}", agent.checks_missed);
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
            tokio::select! {
                () = self.bench.held() => {}
                _ = stop.wait_for(|stop| *stop) => return,
            }
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
        let next = agents.iter().filter_map(|it| due(it, &rules)).filter(|at| *at > now).min();
        let next = next.and_then(|at| (at - now).to_std().ok());
        next.map_or(longest, |it| it.clamp(SHORTEST_NAP, longest))
    }
}

/// When an agent is to be looked at again: after a silence, and when its time to answer is over. Of those that were never
/// heard of not as long as they are not launched, and not again when nobody has started them and people know that.
fn due(agent: &FloorView, rules: &HealthRules) -> Option<DateTime<Utc>> {
    let is_reported = !agent.heard_of && agent.evidence.is_some();
    match agent.launch {
        Launch::Ordered if !agent.heard_of => return None,
        Launch::LeftToItself | Launch::Failed if is_reported => return None,
        Launch::Ordered | Launch::LeftToItself | Launch::Failed | Launch::Started => {}
    }
    let asked = agent.checked_at.filter(|at| *at > agent.last_heartbeat);
    Some(match asked {
        Some(at) => at + rules.patience,
        None => agent.last_heartbeat + rules.silence_of(agent.kind, agent.attempt, agent.heard_of),
    })
}
