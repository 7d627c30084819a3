//! Gives an epic its supervisor.

use domain::epic::{AppointEpicSupervisor, Epic, EpicCommand, EpicError};
use domain::post::{AgentKind, Profiles};
use domain::project::Project;
use domain::{AgentId, EpicId};

use super::staff::{self, Appointed, Wanted};
use super::{acting, letters, missions};
use crate::seat;
use crate::{Decision, Desk, Stop};

/// An epic's one supervisor; who has the seat already is the answer too, unless the epic is over.
#[derive(Debug, Clone)]
pub struct AppointSupervisor {
    /// The orchestrator that asks; none when Muster does it on its own.
    pub by: Option<AgentId>,
    /// Which epic.
    pub epic_id: EpicId,
    /// How the node runs agents.
    pub profiles: Profiles,
}

impl Decision for AppointSupervisor {
    type Outcome = Appointed;

    fn name(&self) -> &'static str {
        "factory.appointSupervisor"
    }

    async fn decide(&self, desk: &mut Desk<'_>) -> Result<Appointed, Stop> {
        let epic = super::epic(desk, self.epic_id).await?;
        if let Some(by) = self.by {
            let orchestrator = acting(desk, by, AgentKind::Orchestrator).await?;
            if orchestrator.workspace_id != epic.workspace_id {
                return Err(EpicError::AccessDenied.into());
            }
        }
        let now = desk.now();
        let appoint =
            |agent_id| EpicCommand::AppointSupervisor(AppointEpicSupervisor { agent_id, replaces: None, now });
        if let Some(supervisor) = epic.supervisor_id {
            // No new fact, but an epic that is over refuses it.
            desk.run::<Epic>(self.epic_id.0, appoint(supervisor)).await?;
            return staff::present(desk, supervisor).await;
        }
        let project = desk.load::<Project>(epic.project_id.0).await?;
        project.state.live()?;
        desk.rely_on(&project);
        let orchestrator = seat::orchestrator(desk, epic.workspace_id).await?;
        let wanted = Wanted {
            workspace_id: epic.workspace_id,
            project_id: Some(epic.project_id),
            kind: AgentKind::Supervisor,
            seat: epic.epic_id.0,
            epic_id: Some(epic.epic_id),
            task_id: None,
            bench: epic.bench.clone(),
            name: format!("Supervisor: {}", epic.title),
            mission: missions::supervisor(&epic),
            supervisor: orchestrator,
            attempt: 1,
            replaces: None,
            profiles: &self.profiles,
        };
        let appointed = staff::appoint(desk, wanted).await?;
        desk.run::<Epic>(self.epic_id.0, appoint(appointed.agent_id)).await?;
        if self.by.is_none() {
            // An orchestrator that asks for it knows of the epic.
            letters::epic_created(desk, &epic, appointed.agent_id).await?;
        }
        Ok(appointed)
    }
}
