//! Gives a workspace its orchestrator.

use domain::post::{AgentKind, Post, Profiles, seat_claim};
use domain::workspace::Workspace;
use domain::{AgentId, Slug, WorkspaceId};

use super::create_epic::bench_of;
use super::missions;
use super::staff::{self, Appointed, Wanted};
use crate::{Decision, Desk, Stop};

/// A workspace's one orchestrator; who has the seat already is the answer too.
#[derive(Debug, Clone)]
pub struct AppointOrchestrator {
    /// Which workspace.
    pub workspace_id: WorkspaceId,
    /// Where it runs; on the workspace's bench without.
    pub bench: Option<Slug>,
    /// How the node runs agents.
    pub profiles: Profiles,
}

impl Decision for AppointOrchestrator {
    type Outcome = Appointed;

    fn name(&self) -> &'static str {
        "factory.appointOrchestrator"
    }

    async fn decide(&self, desk: &mut Desk<'_>) -> Result<Appointed, Stop> {
        let seat = self.workspace_id.0;
        if let Some(present) = desk.holder::<Post>(seat_claim(AgentKind::Orchestrator, seat)).await? {
            return staff::present(desk, AgentId(present)).await;
        }
        let workspace = desk.load::<Workspace>(self.workspace_id.0).await?;
        let live = workspace.state.live()?;
        desk.rely_on(&workspace);
        let bench = self.bench.clone().unwrap_or_else(|| bench_of(Some(&live.settings)));
        let wanted = Wanted {
            workspace_id: self.workspace_id,
            project_id: None,
            kind: AgentKind::Orchestrator,
            seat,
            epic_id: None,
            task_id: None,
            bench,
            name: "Orchestrator".to_owned(),
            mission: missions::orchestrator(),
            supervisor: None,
            attempt: 1,
            replaces: None,
            profiles: &self.profiles,
        };
        staff::appoint(desk, wanted).await
    }
}
