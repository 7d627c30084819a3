//! Lets a human take an epic.

use domain::epic::{self, Epic, EpicCommand, EpicState};
use domain::errand::Work;
use domain::post::WorkEnd;
use domain::{EpicId, ErrandId, UserId};

use super::{errands, owned_epic, staff};
use crate::{Decision, Desk, Stop};

/// An epic that is taken: merged by the bench first, or as it is because it was merged elsewhere.
#[derive(Debug, Clone, Copy)]
pub struct CompleteEpic {
    /// Who asks.
    pub by: UserId,
    /// Which epic.
    pub epic_id: EpicId,
    /// Whether the bench is to merge it.
    pub merge: bool,
}

impl Decision for CompleteEpic {
    /// The errand that merges it, if one does.
    type Outcome = Option<ErrandId>;

    fn name(&self) -> &'static str {
        "epic.complete"
    }

    async fn decide(&self, desk: &mut Desk<'_>) -> Result<Option<ErrandId>, Stop> {
        let epic = owned_epic(desk, self.by, self.epic_id).await?;
        if epic.state == EpicState::Completed {
            return Ok(None);
        }
        epic.may_become(EpicState::Completed)?;
        if self.merge {
            super::epic(desk, self.epic_id).await?;
            let work = Work::MergeEpic { epic_id: self.epic_id, by: self.by };
            return errands::order(desk, epic.workspace_id, &epic.bench, work).await.map(Some);
        }
        errands::call_off(desk, Work::on_epic(self.epic_id), "it was merged elsewhere", |_| true).await?;
        complete(desk, self.epic_id, self.by, None).await?;
        Ok(None)
    }
}

/// The epic is over, and so is its supervisor's work.
pub(super) async fn complete(
    desk: &mut Desk<'_>,
    epic_id: EpicId,
    by: UserId,
    merge_commit: Option<String>,
) -> Result<(), Stop> {
    let complete = epic::CompleteEpic { by, merge_commit, now: desk.now() };
    desk.run::<Epic>(epic_id.0, EpicCommand::Complete(complete)).await?;
    let supervisor = desk.load::<Epic>(epic_id.0).await?.state.live()?.supervisor_id;
    match supervisor {
        Some(supervisor) => staff::discharge(desk, supervisor, WorkEnd::Success).await,
        None => Ok(()),
    }
}
