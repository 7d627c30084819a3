//! Records that an errand was done, in one commit with what follows from it.

use domain::ErrandId;
use domain::errand::{self, Errand, ErrandCommand, Work, WorkResult};
use domain::post::{Launch, NoteLaunch, Post, PostCommand};

use super::{complete_epic, finish_merge, finish_pull_request, finish_rebase};
use crate::{Decision, Desk, Stop};

/// What came of an errand. A repeat changes nothing; what was called off meanwhile is refused.
#[derive(Debug, Clone)]
pub struct FinishErrand {
    /// Which errand.
    pub errand_id: ErrandId,
    /// What came of it.
    pub result: WorkResult,
}

impl Decision for FinishErrand {
    type Outcome = ErrandId;

    fn name(&self) -> &'static str {
        "factory.finishErrand"
    }

    async fn decide(&self, desk: &mut Desk<'_>) -> Result<ErrandId, Stop> {
        let work = desk.load::<Errand>(self.errand_id.0).await?.state.live()?.work.clone();
        let finish = errand::FinishErrand { result: self.result.clone(), now: desk.now() };
        if desk.run::<Errand>(self.errand_id.0, ErrandCommand::Finish(finish)).await?.is_empty() {
            return Ok(self.errand_id);
        }
        match (work, self.result.clone()) {
            (Work::OpenPullRequest { task_id, title, description }, WorkResult::PullRequestOpened { pr_url, head }) => {
                let opened = finish_pull_request::Opened { title, description, pr_url, head };
                finish_pull_request::of_task(desk, task_id, opened).await?;
            }
            (Work::Merge { task_id }, WorkResult::Merged { merge_commit }) => {
                finish_merge::merged(desk, task_id, merge_commit).await?;
            }
            (Work::Merge { task_id }, WorkResult::MergeConflicted { .. }) => {
                finish_merge::conflicted(desk, task_id).await?;
            }
            (Work::Rebase { task_id }, WorkResult::Rebased { pr_url, head }) => {
                finish_rebase::rebased(desk, task_id, pr_url, head).await?;
            }
            (Work::Rebase { task_id }, WorkResult::RebaseConflicted { files }) => {
                finish_rebase::conflicted(desk, task_id, files).await?;
            }
            (
                Work::OpenEpicPullRequest { epic_id, title, description },
                WorkResult::EpicPullRequestOpened { pr_url, head },
            ) => {
                let opened = finish_pull_request::Opened { title, description, pr_url, head };
                finish_pull_request::of_epic(desk, epic_id, opened).await?;
            }
            (Work::MergeEpic { epic_id, by }, WorkResult::EpicMerged { merge_commit }) => {
                complete_epic::complete(desk, epic_id, by, Some(merge_commit)).await?;
            }
            (Work::Launch { agent_id }, WorkResult::Launched { started }) => {
                let launch = if started { Launch::Started } else { Launch::LeftToItself };
                let note = NoteLaunch { launch, now: desk.now() };
                desk.run::<Post>(agent_id.0, PostCommand::NoteLaunch(note)).await?;
            }
            // Nothing follows; and a result that does not fit its work was refused above.
            _ => {}
        }
        Ok(self.errand_id)
    }
}
