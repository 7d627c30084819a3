//! Gives an errand up.

use domain::epic::Epic;
use domain::errand::{self, Errand, ErrandCommand, LiveErrand, Work};
use domain::post::{Launch, NoteLaunch, Post, PostCommand};
use domain::task::Task;
use domain::{AgentId, EpicId, ErrandId};
use serde_json::json;

use super::{errands, finish_merge, letters};
use crate::{Decision, Desk, Stop};

/// What the decision log calls it.
const TITLE: &str = "errand_failed";

/// An errand that cannot be done: who waits for it is told, and may ask again. What was to be merged waits for review
/// again, so that nothing stands still at the head of the queue; nothing else changes.
#[derive(Debug, Clone)]
pub struct FailErrand {
    /// Which errand.
    pub errand_id: ErrandId,
    /// What went wrong.
    pub error: String,
    /// What else is known.
    pub details: Option<String>,
}

impl Decision for FailErrand {
    type Outcome = ErrandId;

    fn name(&self) -> &'static str {
        "factory.failErrand"
    }

    async fn decide(&self, desk: &mut Desk<'_>) -> Result<ErrandId, Stop> {
        let errand = desk.load::<Errand>(self.errand_id.0).await?.state.live()?.clone();
        let error = errands::told(&self.error);
        let details = self.details.as_deref().map(errands::told);
        let fail = errand::FailErrand { error: error.clone(), details, now: desk.now() };
        if desk.run::<Errand>(self.errand_id.0, ErrandCommand::Fail(fail)).await?.is_empty() {
            return Ok(self.errand_id);
        }
        self.note(desk, &errand).await?;
        let subject = match errand.work {
            Work::Launch { agent_id } => {
                let note = NoteLaunch { launch: Launch::Failed, now: desk.now() };
                desk.run::<Post>(agent_id.0, PostCommand::NoteLaunch(note)).await?;
                letters::launch_failed(desk, &errand, agent_id, &error).await?;
                return Ok(self.errand_id);
            }
            Work::Stop { .. } => "An agent could not be stopped",
            Work::MergeEpic { .. } => "An epic could not be merged",
            Work::Merge { task_id } => {
                finish_merge::failed(desk, task_id, &error).await?;
                return Ok(self.errand_id);
            }
            // An agent waits for these, and hears of it from its tool.
            Work::OpenPullRequest { .. } | Work::Rebase { .. } | Work::OpenEpicPullRequest { .. } => {
                return Ok(self.errand_id);
            }
        };
        letters::errand_failed(desk, errand.workspace_id, subject, &error).await?;
        Ok(self.errand_id)
    }
}

impl FailErrand {
    /// Puts it on record, as a decision of whoever asked for it. What it was for may be gone by now.
    async fn note(&self, desk: &mut Desk<'_>, errand: &LiveErrand) -> Result<(), Stop> {
        let body = json!({
            "errandId": errand.errand_id, "work": errand.work, "tries": errand.tries + 1, "error": self.error,
            "details": self.details,
        });
        let whose = match &errand.work {
            Work::Launch { agent_id } | Work::Stop { agent_id, .. } => {
                let post = desk.load::<Post>(agent_id.0).await?;
                return letters::note(desk, post.state.live()?, TITLE, body).await;
            }
            Work::OpenPullRequest { task_id, .. } | Work::Rebase { task_id } => {
                let task = desk.load::<Task>(task_id.0).await?;
                task.state.live().ok().and_then(|it| it.assigned_agent_id)
            }
            Work::Merge { task_id } => {
                let task = desk.load::<Task>(task_id.0).await?;
                let factory = task.state.live().ok().and_then(|it| it.factory.as_ref());
                supervisor_of(desk, factory.map(|it| it.epic_id)).await?
            }
            Work::OpenEpicPullRequest { epic_id, .. } | Work::MergeEpic { epic_id, .. } => {
                supervisor_of(desk, Some(*epic_id)).await?
            }
        };
        letters::note_of(desk, errand.workspace_id, whose, TITLE, body).await
    }
}

async fn supervisor_of(desk: &mut Desk<'_>, epic: Option<EpicId>) -> Result<Option<AgentId>, Stop> {
    let Some(epic_id) = epic else { return Ok(None) };
    let epic = desk.load::<Epic>(epic_id.0).await?;
    Ok(epic.state.live().ok().and_then(|it| it.supervisor_id))
}
