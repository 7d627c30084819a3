//! When an agent is deleted, those who reported to it report to nobody.

use std::pin::Pin;

use commands::{CommandError, On};
use domain::AgentId;
use domain::agent::{Agent, AgentCommand, AgentEvent, LoseSupervisor};
use projections::{Fact, FactOf, agents};

use crate::{Reaction, Reactor};

/// Keeps agents from reporting to one that is gone.
#[derive(Debug, Clone, Copy)]
pub struct FreeReportsOnAgentDeleted;

impl Reactor for FreeReportsOnAgentDeleted {
    fn name(&self) -> &'static str {
        "free_reports_on_agent_deleted"
    }

    fn cares_about(&self, fact: &Fact) -> bool {
        matches!(fact.of, FactOf::Agent(AgentEvent::AgentDeleted { .. }))
    }

    fn reads(&self) -> &'static [&'static str] {
        &[agents::NAME]
    }

    fn react<'a>(
        &'a self,
        reaction: Reaction<'a>,
    ) -> Pin<Box<dyn Future<Output = Result<(), CommandError>> + Send + 'a>> {
        Box::pin(async move {
            let supervisor_agent_id = AgentId(reaction.fact.subject);
            for report in agents::reports_of(reaction.views, supervisor_agent_id).await? {
                let lose = LoseSupervisor { supervisor_agent_id, now: reaction.now() };
                let command = On::<Agent> {
                    name: "agent.loseSupervisor",
                    id: report.0,
                    command: AgentCommand::LoseSupervisor(lose),
                };
                reaction.run(report.0, &command).await?;
            }
            Ok(())
        })
    }
}
