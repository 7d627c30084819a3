//! When an agent of the factory is replaced, those who reported to it report to its successor.

use std::pin::Pin;

use commands::CommandError;
use commands::agent::FollowSuccessor;
use domain::AgentId;
use domain::post::PostEvent;
use projections::{Fact, FactOf, agents};

use crate::{Reaction, Reactor};

/// Keeps supervisors from reporting to an orchestrator that is gone.
#[derive(Debug, Clone, Copy)]
pub struct HandOnReportsOnAgentRelieved;

impl Reactor for HandOnReportsOnAgentRelieved {
    fn name(&self) -> &'static str {
        "hand_on_reports_on_agent_relieved"
    }

    fn cares_about(&self, fact: &Fact) -> bool {
        matches!(fact.of, FactOf::Post(PostEvent::AgentRelieved { successor: Some(_), .. }))
    }

    fn reads(&self) -> &'static [&'static str] {
        &[agents::NAME]
    }

    fn react<'a>(
        &'a self,
        reaction: Reaction<'a>,
    ) -> Pin<Box<dyn Future<Output = Result<(), CommandError>> + Send + 'a>> {
        Box::pin(async move {
            let FactOf::Post(PostEvent::AgentRelieved { successor: Some(to), .. }) = reaction.fact.of else {
                return Ok(());
            };
            let from = AgentId(reaction.fact.subject);
            for agent_id in agents::reports_of(reaction.views, from).await? {
                match reaction.run(agent_id.0, &FollowSuccessor { agent_id, from, to }).await {
                    Ok(_) => {}
                    // It was deleted meanwhile; the others go on.
                    Err(CommandError::Refused(refusal)) => {
                        tracing::info!(agent = %agent_id, %refusal, "an agent was not handed on");
                    }
                    Err(error) => return Err(error),
                }
            }
            Ok(())
        })
    }
}
