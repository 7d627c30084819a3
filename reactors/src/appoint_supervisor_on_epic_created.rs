//! When an epic is created, its workspace gets an orchestrator if it has none, and the epic its supervisor.

use std::pin::Pin;

use commands::CommandError;
use commands::factory::{AppointOrchestrator, AppointSupervisor};
use domain::epic::EpicEvent;
use domain::post::Profiles;
use projections::{Fact, FactOf};

use crate::{Reaction, Reactor};

/// Gives every epic somebody who sees to it.
#[derive(Debug, Clone)]
pub struct AppointSupervisorOnEpicCreated {
    /// How agents of each kind are run.
    pub profiles: Profiles,
}

impl Reactor for AppointSupervisorOnEpicCreated {
    fn name(&self) -> &'static str {
        "appoint_supervisor_on_epic_created"
    }

    fn cares_about(&self, fact: &Fact) -> bool {
        matches!(fact.of, FactOf::Epic(EpicEvent::EpicCreated { .. }))
    }

    fn reads(&self) -> &'static [&'static str] {
        &[]
    }

    fn react<'a>(
        &'a self,
        reaction: Reaction<'a>,
    ) -> Pin<Box<dyn Future<Output = Result<(), CommandError>> + Send + 'a>> {
        Box::pin(async move {
            if let FactOf::Epic(EpicEvent::EpicCreated { epic_id, workspace_id, bench, .. }) = &reaction.fact.of {
                let orchestrator = AppointOrchestrator {
                    workspace_id: *workspace_id,
                    bench: Some(bench.clone()),
                    profiles: self.profiles.clone(),
                };
                reaction.run(workspace_id.0, &orchestrator).await?;
                let supervisor = AppointSupervisor { by: None, epic_id: *epic_id, profiles: self.profiles.clone() };
                reaction.run(epic_id.0, &supervisor).await?;
            }
            Ok(())
        })
    }
}
