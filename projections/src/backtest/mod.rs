//! Scores told again from the log alone: whether the stored ones are right, and what others would have been.
//!
//! [`verify()`] decides every stored score again from the facts up to its own position. [`compare()`] lets another policy
//! measure and judge the same agents at the same moments. Both go through the log once, whatever it holds, and keep the
//! facts that count for scores in memory; no read model is asked.

mod compare;
mod verify;

use std::collections::HashMap;

use domain::agent::{AgentEvent, AgentStatus};
use domain::scorecard::{RecordKpi, RecordTrust, Scorecard, ScorecardCommand, ScorecardEvent};
use domain::scores::{ScorePolicy, tally};
use domain::{AgentId, WorkspaceId};
use serde::Serialize;
use store::{EventLog, StoreError};

pub use compare::{AgentCompared, Compared, Measured, Scores, StatusChange, compare};
pub use verify::{Difference, Finding, Verified, verify};

use crate::score_facts::FactsInMemory;
use crate::{AGENT, Fact, FactOf, PULL_REQUEST, REPOSITORY, SCORECARD, SESSION, TASK};

/// How many events are read at a time.
const PAGE: usize = 2_000;
/// What scores are made of and what they are.
const KINDS: [&str; 6] = [AGENT, TASK, SESSION, PULL_REQUEST, REPOSITORY, SCORECARD];

/// Which scores are wanted.
#[derive(Debug, Clone)]
pub struct Wanted {
    /// Only those of agents of this workspace.
    pub workspace: Option<WorkspaceId>,
    /// Only those of the agent with this id or code.
    pub agent: Option<String>,
    /// Only those recorded at this position or later. What happened before counts all the same.
    pub from: i64,
    /// Nothing that was recorded later.
    pub to: i64,
}

/// An event that could not be read, and so counts for nobody.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Unreadable {
    /// Where it is.
    pub position: i64,
    /// What is wrong with it.
    pub reason: String,
}

/// Who is measured.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Who {
    /// Which agent.
    pub agent_id: AgentId,
    /// What names it within its workspace.
    pub agent_code: String,
    /// Where it belongs.
    pub workspace_id: WorkspaceId,
}

/// How one agent stands at the place in the log that was reached.
#[derive(Debug, Clone)]
struct Standing {
    who: Who,
    status: AgentStatus,
    scorecard: Scorecard,
    /// The command whose judgement changes the agent's status in the same commit.
    status_follows: Option<String>,
}

/// Who looks on while the log is gone through.
trait Observer {
    /// Something is about to be put on an agent's scorecard.
    fn scored(&mut self, fact: &Fact, event: &ScorecardEvent, before: &Standing, facts: &mut FactsInMemory);

    /// Somebody gives an agent another status; what follows from its scores is left out.
    fn set_status(&mut self, who: &Who, status: AgentStatus);
}

/// What was gone through.
struct Passed {
    events: i64,
    unreadable: Vec<Unreadable>,
    /// Whether any agent is one that was asked for.
    found: bool,
}

impl Wanted {
    fn includes(&self, who: &Who) -> bool {
        let is_named = |agent: &String| *agent == who.agent_code || *agent == who.agent_id.to_string();
        self.workspace.is_none_or(|it| it == who.workspace_id) && self.agent.as_ref().is_none_or(is_named)
    }
}

/// Goes through the log once, up to a position.
async fn pass(
    log: &EventLog,
    wanted: &Wanted,
    observer: &mut impl Observer,
    mut progress: impl FnMut(i64),
) -> Result<Passed, StoreError> {
    let mut facts = FactsInMemory::default();
    let mut standings: HashMap<AgentId, Standing> = HashMap::new();
    let mut passed = Passed { events: 0, unreadable: vec![], found: false };
    while passed.events < wanted.to {
        let limit = usize::try_from(wanted.to - passed.events).map_or(PAGE, |left| left.min(PAGE));
        let page = log.read_page(passed.events, limit, Some(&KINDS)).await?;
        let Some(last) = page.last else { break };
        for event in page.events {
            let read = Fact::read(event).and_then(|fact| take(&fact, &mut facts, &mut standings, observer));
            if let Err(poison) = read {
                let (position, reason) = (poison.position, poison.to_string());
                passed.unreadable.push(Unreadable { position, reason });
            }
        }
        passed.events = last;
        progress(last);
    }
    passed.found = standings.values().any(|it| wanted.includes(&it.who));
    Ok(passed)
}

fn take(
    fact: &Fact,
    facts: &mut FactsInMemory,
    standings: &mut HashMap<AgentId, Standing>,
    observer: &mut impl Observer,
) -> Result<(), crate::Poison> {
    let agent_id = AgentId(fact.subject);
    match &fact.of {
        FactOf::Agent(AgentEvent::AgentCreated { workspace_id, code, status, .. }) => {
            let who = Who { agent_id, agent_code: code.to_string(), workspace_id: *workspace_id };
            let standing = Standing { who, status: *status, scorecard: Scorecard::Blank, status_follows: None };
            standings.insert(agent_id, standing);
        }
        FactOf::Agent(AgentEvent::AgentStatusChanged { to, .. }) => {
            if let Some(standing) = standings.get_mut(&agent_id) {
                standing.status = *to;
                let follows = standing.status_follows.take();
                if follows.is_none() || follows != fact.metadata.command_id {
                    observer.set_status(&standing.who, *to);
                }
            }
        }
        FactOf::Scorecard(event) => {
            let Some(standing) = standings.get_mut(&agent_id) else {
                return Err(fact.poison("no agent has this scorecard"));
            };
            observer.scored(fact, event, standing, facts);
            standing.scorecard = std::mem::take(&mut standing.scorecard).with(event.clone());
            standing.status_follows = match event {
                ScorecardEvent::TrustScoreChanged { new_status: Some(_), .. } => fact.metadata.command_id.clone(),
                ScorecardEvent::TrustScoreChanged { new_status: None, .. } | ScorecardEvent::KpiRecalculated { .. } => {
                    None
                }
            };
        }
        _ => facts.fold(fact)?,
    }
    Ok(())
}

/// What an event records, asked for again under a policy: from the facts that it says it counted.
fn asked_again(
    fact: &Fact,
    event: &ScorecardEvent,
    before: &Standing,
    facts: &mut FactsInMemory,
    policy: &ScorePolicy,
) -> ScorecardCommand {
    match event {
        ScorecardEvent::KpiRecalculated { kpi_id, reason, position, calculated_at, .. } => {
            let agent_id = before.who.agent_id;
            // Whatever a record says, only what came before it can count.
            let position = (*position).min(fact.position - 1);
            ScorecardCommand::RecordKpi(RecordKpi {
                kpi_id: *kpi_id,
                agent_id,
                workspace_id: before.who.workspace_id,
                inputs: tally(&facts.of(agent_id, position), *calculated_at, policy).inputs,
                position,
                policy: policy.clone(),
                reason: reason.clone(),
                now: *calculated_at,
            })
        }
        ScorecardEvent::TrustScoreChanged { kpi_id, reason, changed_at, .. } => {
            ScorecardCommand::RecordTrust(RecordTrust {
                kpi_id: *kpi_id,
                status: before.status,
                policy: policy.clone(),
                reason: reason.clone(),
                now: *changed_at,
            })
        }
    }
}
