//! An agent's scorecard: every calculation of its KPIs and every change of its trust. Its stream has the agent's id.
//!
//! Facts are counted elsewhere; what they make is decided here, from the records before. So two calculations that
//! race cannot both compare themselves with the same record.

#[cfg(test)]
mod examples;
mod record_kpi;
mod record_trust;

use chrono::{DateTime, Utc};
use cqrs_es::{Aggregate, event_sink::EventSink};
use serde::{Deserialize, Serialize};
use thiserror::Error;

pub use record_kpi::RecordKpi;
pub use record_trust::RecordTrust;

use crate::agent::AgentStatus;
use crate::catalogue::event_kinds;
use crate::scores::{Factor, KpiInputs, KpiRecord, Metrics, Trends, Trigger, TrustBreakdown};
use crate::{AgentId, Demand, Entity, KpiId, WorkspaceId};

/// How many records are kept in memory, whatever a policy looks back on.
pub(crate) const KEPT_RECORDS: usize = 10;

/// An agent's scorecard.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub enum Scorecard {
    /// Nothing was calculated yet.
    #[default]
    Blank,
    /// Something was.
    Kept(Box<KeptScorecard>),
}

/// A scorecard with something on it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KeptScorecard {
    /// The workspace that the agent belongs to.
    pub workspace_id: WorkspaceId,
    /// The last records, newest first.
    pub history: Vec<KpiRecord>,
    /// What the newest was computed from.
    pub inputs: KpiInputs,
    /// The log position that the newest was computed at.
    pub position: i64,
    /// What the last change of trust was made of, and the record that caused it.
    pub trust: Option<(KpiId, TrustBreakdown)>,
}

/// What is asked of a scorecard.
#[derive(Clone, Debug, PartialEq)]
pub enum ScorecardCommand {
    /// See [`RecordKpi`].
    RecordKpi(RecordKpi),
    /// See [`RecordTrust`].
    RecordTrust(RecordTrust),
}

/// What happened on a scorecard.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum ScorecardEvent {
    /// The agent's KPIs were calculated.
    KpiRecalculated {
        /// Which calculation it is.
        kpi_id: KpiId,
        /// Whose KPIs.
        agent_id: AgentId,
        /// The workspace that the agent belongs to.
        workspace_id: WorkspaceId,
        /// What came out.
        metrics: Metrics,
        /// What had come out the time before.
        previous: Option<Metrics>,
        /// How the two compare.
        trends: Trends,
        /// Why it was calculated.
        reason: String,
        /// Which formulas were used.
        formula_version: u32,
        /// The log position up to which facts count.
        position: i64,
        /// The facts, counted.
        inputs: KpiInputs,
        /// The moment up to which facts count.
        calculated_at: DateTime<Utc>,
    },
    /// The agent is trusted more or less than before, or its status follows from how it did.
    TrustScoreChanged {
        /// The calculation that it follows from.
        kpi_id: KpiId,
        /// The score before.
        previous: f64,
        /// The score from now on.
        new: f64,
        /// The difference, with two decimals.
        change: f64,
        /// Why.
        reason: String,
        /// What contributed to the change.
        factors: Vec<Factor>,
        /// What the score is made of.
        breakdown: TrustBreakdown,
        /// The agent's status before, when it changes.
        #[serde(skip_serializing_if = "Option::is_none")]
        previous_status: Option<AgentStatus>,
        /// The agent's status from now on, when it changes.
        #[serde(skip_serializing_if = "Option::is_none")]
        new_status: Option<AgentStatus>,
        /// Why the agent is put on probation, when it is.
        triggers: Vec<Trigger>,
        /// When it happened.
        changed_at: DateTime<Utc>,
    },
}

event_kinds! { ScorecardEvent of Scorecard {
    KpiRecalculated "1" "An agent's KPIs were calculated from the facts up to a log position." {
        text[]
        plain["trends.tasks_completed", "trends.code_quality", "trends.overall", "reason"]
    }
    TrustScoreChanged "1" "An agent's trust score changed, or its status did by the rules of probation." {
        text[]
        plain["reason", "factors.factor", "factors.direction", "previous_status", "new_status", "triggers"]
    }
}}

/// Why a command on a scorecard is refused.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ScorecardError {
    /// There is no such calculation.
    #[error("no KPIs were calculated yet")]
    NotFound,
    /// A calculation from newer facts was recorded first.
    #[error("KPIs were calculated at position {recorded}, after position {position}")]
    Outdated {
        /// Where the facts of this one end.
        position: i64,
        /// Where the facts of the recorded one end.
        recorded: i64,
    },
}

impl Scorecard {
    /// The scorecard, if something is on it.
    pub fn kept(&self) -> Result<&KeptScorecard, ScorecardError> {
        match self {
            Self::Blank => Err(ScorecardError::NotFound),
            Self::Kept(kept) => Ok(kept),
        }
    }

    /// The scorecard with one more event on it.
    pub fn with(mut self, event: ScorecardEvent) -> Self {
        self.apply(event);
        self
    }

    /// What is decided from what is on the scorecard: also for whoever wants to know what would have been.
    pub fn decide(&self, command: ScorecardCommand) -> Result<Vec<ScorecardEvent>, ScorecardError> {
        match command {
            ScorecardCommand::RecordKpi(it) => record_kpi::decide(self, it),
            ScorecardCommand::RecordTrust(it) => record_trust::decide(self, it),
        }
    }
}

impl Aggregate for Scorecard {
    const TYPE: &'static str = "scorecard";
    type Command = ScorecardCommand;
    type Event = ScorecardEvent;
    type Error = ScorecardError;
    type Services = ();

    async fn handle(
        &mut self,
        command: ScorecardCommand,
        (): &(),
        sink: &EventSink<Self>,
    ) -> Result<(), ScorecardError> {
        for event in self.decide(command)? {
            sink.write(event, self).await;
        }
        Ok(())
    }

    fn apply(&mut self, event: ScorecardEvent) {
        match event {
            ScorecardEvent::KpiRecalculated { kpi_id, workspace_id, metrics, trends, position, inputs, .. } => {
                let (mut history, trust) = match std::mem::take(self) {
                    Self::Blank => (vec![], None),
                    Self::Kept(kept) => (kept.history, kept.trust),
                };
                history.insert(0, KpiRecord { kpi_id, metrics, trends });
                history.truncate(KEPT_RECORDS);
                *self = Self::Kept(Box::new(KeptScorecard { workspace_id, history, inputs, position, trust }));
            }
            ScorecardEvent::TrustScoreChanged { kpi_id, breakdown, .. } => {
                if let Self::Kept(kept) = self {
                    kept.trust = Some((kpi_id, breakdown));
                }
            }
        }
    }
}

impl Entity for Scorecard {
    fn workspace(&self) -> Option<WorkspaceId> {
        self.kept().ok().map(|kept| kept.workspace_id)
    }

    fn demands(&self, event: &ScorecardEvent) -> Vec<Demand<ScorecardError>> {
        match event {
            ScorecardEvent::KpiRecalculated { .. } | ScorecardEvent::TrustScoreChanged { .. } => vec![],
        }
    }
}
