//! What another policy would have made of the same history.
//!
//! Agents are measured and judged at the moments at which they were, from the facts that counted then; only the numbers
//! are others. A status that the owner gave is given in both worlds; what the rules did with it is each world's own.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use domain::agent::AgentStatus;
use domain::scorecard::{RecordTrust, Scorecard, ScorecardCommand, ScorecardEvent};
use domain::scores::{Metrics, ScorePolicy, Trigger, kpi};
use domain::{AgentId, KpiId};
use serde::Serialize;
use store::{EventLog, StoreError};

use super::{Observer, Standing, Unreadable, Wanted, Who, asked_again, pass};
use crate::Fact;
use crate::score_facts::FactsInMemory;

/// What came of comparing.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Compared {
    /// The events that were gone through.
    pub events: i64,
    /// The agents that were measured, in the order of their codes.
    pub agents: Vec<AgentCompared>,
    /// Events that could not be read, so that they count for nobody.
    pub unreadable: Vec<Unreadable>,
    /// Whether any agent is one that was asked for.
    #[serde(skip)]
    pub found: bool,
}

/// One agent under both policies.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AgentCompared {
    /// Which agent.
    #[serde(flatten)]
    pub who: Who,
    /// Every moment at which it was measured, oldest first.
    pub measured: Vec<Measured>,
    /// What the rules did with its status.
    pub old_changes: Vec<StatusChange>,
    /// What they would have done.
    pub new_changes: Vec<StatusChange>,
}

/// An agent's scores at a moment.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Measured {
    /// Where the log has the calculation.
    pub position: i64,
    /// The moment up to which facts count.
    pub at: DateTime<Utc>,
    /// Which calculation it is.
    pub kpi_id: KpiId,
    /// As they are stored.
    pub old: Scores,
    /// As the other policy makes them.
    pub new: Scores,
}

/// Scores, once everything has followed from them.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Scores {
    /// How good the agent's code is, from 0 to 100.
    pub code_quality_score: f64,
    /// How many of the tasks due are done, from 0 to 1.
    pub feature_completion_rate: f64,
    /// How the agent does on the whole, from 0 to 1.
    pub overall: f64,
    /// How far it is trusted, from 0 to 100.
    pub trust_score: f64,
    /// Its status.
    pub status: AgentStatus,
}

/// A change of status by the rules.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct StatusChange {
    /// Where the log has the calculation that it follows from.
    pub position: i64,
    /// The moment up to which that counts facts.
    pub at: DateTime<Utc>,
    /// The status from then on.
    pub to: AgentStatus,
    /// The trust that it follows from.
    pub trust_score: f64,
    /// Why the agent is put on probation, when it is.
    pub triggers: Vec<Trigger>,
}

/// Lets another policy measure and judge the agents that are wanted.
pub async fn compare(
    log: &EventLog,
    wanted: &Wanted,
    policy: &ScorePolicy,
    progress: impl FnMut(i64),
) -> Result<Compared, StoreError> {
    let mut comparer = Comparer { wanted, policy, today: ScorePolicy::default(), agents: BTreeMap::new() };
    let passed = pass(log, wanted, &mut comparer, progress).await?;
    let mut agents: Vec<AgentCompared> = comparer.agents.into_values().map(|it| it.compared).collect();
    for agent in &mut agents {
        agent.measured.retain(|it| it.position >= wanted.from);
        agent.old_changes.retain(|it| it.position >= wanted.from);
        agent.new_changes.retain(|it| it.position >= wanted.from);
    }
    agents.retain(|it| !it.measured.is_empty());
    agents.sort_by(|one, other| one.who.agent_code.cmp(&other.who.agent_code));
    Ok(Compared { events: passed.events, agents, unreadable: passed.unreadable, found: passed.found })
}

struct Comparer<'a> {
    wanted: &'a Wanted,
    policy: &'a ScorePolicy,
    /// What the stored scores were made with.
    today: ScorePolicy,
    agents: BTreeMap<AgentId, Twin>,
}

/// An agent in the world of the other policy.
struct Twin {
    scorecard: Scorecard,
    status: AgentStatus,
    /// The calculation whose judgement the log has not told yet.
    unjudged: Option<KpiId>,
    compared: AgentCompared,
}

impl Observer for Comparer<'_> {
    fn scored(&mut self, fact: &Fact, event: &ScorecardEvent, before: &Standing, facts: &mut FactsInMemory) {
        if !self.wanted.includes(&before.who) {
            return;
        }
        let twin = self.agents.entry(before.who.agent_id).or_insert_with(|| Twin::of(before));
        match event {
            ScorecardEvent::KpiRecalculated { kpi_id, metrics, calculated_at, .. } => {
                let again = asked_again(fact, event, before, facts, self.policy);
                // What the rules would not record now, such as one of older facts, leaves no mark here either.
                let Ok(Some(anew)) = twin.scorecard.decide(again).map(|mut it| it.pop()) else { return };
                let ScorecardEvent::KpiRecalculated { metrics: anew_metrics, .. } = &anew else { return };
                let last = twin.compared.measured.last();
                let trust = |of: fn(&Measured) -> f64, first: &ScorePolicy| last.map_or(first.initial_trust, of);
                let old = scores(metrics, trust(|it| it.old.trust_score, &self.today), before.status, &self.today);
                let new = scores(anew_metrics, trust(|it| it.new.trust_score, self.policy), twin.status, self.policy);
                let (position, at) = (fact.position, *calculated_at);
                twin.compared.measured.push(Measured { position, at, kpi_id: *kpi_id, old, new });
                twin.scorecard = std::mem::take(&mut twin.scorecard).with(anew);
                twin.unjudged = Some(*kpi_id);
                // A judgement that changes nothing leaves no event to wait for.
                let judge = judgement(*kpi_id, before.status, &self.today, at);
                let stored = before.scorecard.clone().with(event.clone());
                if stored.decide(judge).is_ok_and(|it| it.is_empty()) {
                    twin.judge(self.policy);
                }
            }
            ScorecardEvent::TrustScoreChanged { kpi_id, new, new_status, triggers, .. } => {
                twin.was_judged(*kpi_id, *new, *new_status, triggers);
                // One that a newer calculation outran was judged in neither world.
                if twin.unjudged == Some(*kpi_id) {
                    twin.judge(self.policy);
                }
            }
        }
    }

    fn set_status(&mut self, who: &Who, status: AgentStatus) {
        if let Some(twin) = self.agents.get_mut(&who.agent_id) {
            twin.status = status;
        }
    }
}

impl Twin {
    fn of(before: &Standing) -> Self {
        let (measured, old_changes, new_changes) = (vec![], vec![], vec![]);
        let compared = AgentCompared { who: before.who.clone(), measured, old_changes, new_changes };
        Self { scorecard: Scorecard::Blank, status: before.status, unjudged: None, compared }
    }

    fn was_judged(&mut self, kpi_id: KpiId, trust: f64, status: Option<AgentStatus>, triggers: &[Trigger]) {
        let Some(measured) = self.compared.measured.iter_mut().rfind(|it| it.kpi_id == kpi_id) else { return };
        measured.old.trust_score = trust;
        if let Some(to) = status {
            measured.old.status = to;
            let change = measured.change(to, trust, triggers.to_vec());
            self.compared.old_changes.push(change);
        }
    }

    /// Judges the newest calculation as the other policy does.
    fn judge(&mut self, policy: &ScorePolicy) {
        let (Some(kpi_id), Some(measured)) = (self.unjudged.take(), self.compared.measured.last_mut()) else { return };
        let judged = self.scorecard.decide(judgement(kpi_id, self.status, policy, measured.at));
        for event in judged.unwrap_or_default() {
            if let ScorecardEvent::TrustScoreChanged { new, new_status, triggers, .. } = &event {
                measured.new.trust_score = *new;
                if let Some(to) = new_status {
                    self.status = *to;
                    measured.new.status = *to;
                    let change = measured.change(*to, *new, triggers.clone());
                    self.compared.new_changes.push(change);
                }
            }
            self.scorecard = std::mem::take(&mut self.scorecard).with(event);
        }
    }
}

impl Measured {
    fn change(&self, to: AgentStatus, trust_score: f64, triggers: Vec<Trigger>) -> StatusChange {
        StatusChange { position: self.position, at: self.at, to, trust_score, triggers }
    }
}

fn scores(metrics: &Metrics, trust_score: f64, status: AgentStatus, policy: &ScorePolicy) -> Scores {
    Scores {
        code_quality_score: metrics.code_quality_score,
        feature_completion_rate: metrics.feature_completion_rate,
        overall: kpi::overall(metrics, policy),
        trust_score,
        status,
    }
}

fn judgement(kpi_id: KpiId, status: AgentStatus, policy: &ScorePolicy, now: DateTime<Utc>) -> ScorecardCommand {
    let (policy, reason) = (policy.clone(), String::new());
    ScorecardCommand::RecordTrust(RecordTrust { kpi_id, status, policy, reason, now })
}
