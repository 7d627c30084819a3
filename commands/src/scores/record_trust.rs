//! Judges an agent by its KPIs: its trust, and in the same commit the status that follows.

use chrono::{DateTime, Utc};
use domain::agent::{Agent, AgentCommand, AgentEvent, AgentStatus, ChangeAgent};
use domain::scorecard::{self, Scorecard, ScorecardCommand, ScorecardEvent};
use domain::scores::ScorePolicy;
use domain::{AgentId, KpiId};
use store::RowChange;

use crate::{Decision, Desk, Stop};

/// A judgement by a calculation of an agent's KPIs.
#[derive(Debug, Clone)]
pub struct RecordTrust {
    /// Whom to judge.
    pub agent_id: AgentId,
    /// The calculation to judge by.
    pub kpi_id: KpiId,
    /// The formulas' numbers.
    pub policy: ScorePolicy,
    /// Why the agent is judged.
    pub reason: String,
    /// When this is asked.
    pub now: DateTime<Utc>,
}

impl Decision for RecordTrust {
    type Outcome = AgentId;

    fn name(&self) -> &'static str {
        "trust.record"
    }

    async fn decide(&self, desk: &mut Desk<'_>) -> Result<AgentId, Stop> {
        let agent = desk.load::<Agent>(self.agent_id.0).await?;
        let record = scorecard::RecordTrust {
            kpi_id: self.kpi_id,
            status: agent.state.live()?.status,
            policy: self.policy.clone(),
            reason: self.reason.clone(),
            now: self.now,
        };
        // What follows for the agent depends on the status it has.
        desk.rely_on(&agent);
        for event in desk.run::<Scorecard>(self.agent_id.0, ScorecardCommand::RecordTrust(record)).await? {
            if let ScorecardEvent::TrustScoreChanged { new_status: Some(status), .. } = event {
                self.set_status(desk, status).await?;
            }
        }
        Ok(self.agent_id)
    }
}

impl RecordTrust {
    async fn set_status(&self, desk: &mut Desk<'_>, status: AgentStatus) -> Result<(), Stop> {
        let change = ChangeAgent {
            name: None,
            role_title: None,
            capabilities: None,
            settings: None,
            supervisor_agent_id: None,
            status: Some(status),
            now: self.now,
        };
        for event in desk.run::<Agent>(self.agent_id.0, AgentCommand::Change(change)).await? {
            if let AgentEvent::AgentStatusChanged { to, .. } = event {
                desk.write(RowChange::SetAgentStanding { agent_id: self.agent_id.0, standing: to.to_string() });
            }
        }
        Ok(())
    }
}
