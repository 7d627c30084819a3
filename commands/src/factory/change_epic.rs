//! Changes an epic of the caller's.

use domain::epic::{self, Epic, EpicCommand};
use domain::{EpicId, UserId};

use super::owned_epic;
use crate::{Decision, Desk, Stop};

/// New details for an epic; what is not given stays.
#[derive(Debug, Clone)]
pub struct ChangeEpic {
    /// Who asks.
    pub by: UserId,
    /// Which epic.
    pub epic_id: EpicId,
    /// The title wanted.
    pub title: Option<String>,
    /// The description wanted.
    pub description: Option<String>,
    /// The design wanted.
    pub design: Option<String>,
}

impl Decision for ChangeEpic {
    type Outcome = EpicId;

    fn name(&self) -> &'static str {
        "epic.update"
    }

    async fn decide(&self, desk: &mut Desk<'_>) -> Result<EpicId, Stop> {
        owned_epic(desk, self.by, self.epic_id).await?;
        let change = epic::ChangeEpic {
            title: self.title.clone(),
            description: self.description.clone(),
            design: self.design.clone(),
            now: desk.now(),
        };
        desk.run::<Epic>(self.epic_id.0, EpicCommand::Change(change)).await?;
        Ok(self.epic_id)
    }
}
