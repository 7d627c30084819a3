//! Lets a supervisor submit its epic.

use domain::epic::EpicState;
use domain::errand::Work;
use domain::post::AgentKind;
use domain::{AgentId, ErrandId};

use super::{acting, epic_at, errands};
use crate::{Decision, Desk, Stop};

/// The pull request of an epic whose tasks are over.
#[derive(Debug, Clone)]
pub struct SubmitEpic {
    /// Who asks: the epic is its post's.
    pub by: AgentId,
    /// What the pull request is to be called.
    pub title: String,
    /// What it does.
    pub description: String,
}

impl Decision for SubmitEpic {
    /// The errand that opens the pull request.
    type Outcome = ErrandId;

    fn name(&self) -> &'static str {
        "factory.submitEpic"
    }

    async fn decide(&self, desk: &mut Desk<'_>) -> Result<ErrandId, Stop> {
        let post = acting(desk, self.by, AgentKind::Supervisor).await?;
        let epic = epic_at(desk, &post).await?;
        epic.supervised_by(self.by)?;
        epic.may_become(EpicState::AwaitingHumanReview)?;
        epic.is_ready()?;
        let work = Work::OpenEpicPullRequest {
            epic_id: epic.epic_id,
            title: self.title.clone(),
            description: self.description.clone(),
        };
        errands::order(desk, epic.workspace_id, &epic.bench, work).await
    }
}
