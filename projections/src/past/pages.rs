//! Where the events of a past come from: page by page, in the order of the log.

use std::sync::Arc;

use domain::WorkspaceId;
use store::sql::Database;
use store::{EventLog, Page, StoreError};

use crate::lineage;

/// Events read at a time.
const PAGE: i64 = 5_000;
/// Events of workspaces read at a time: their bytes are not known before.
const SCATTERED: i64 = 1_000;

/// Events page by page, in the order of the log. A page without `last` is the end. Positions may have holes: what is in
/// between is no part of this past.
pub trait Pages: Send {
    /// The next page.
    fn next(&mut self) -> impl Future<Output = Result<Page, StoreError>> + Send;
}

/// Everything up to a position.
pub struct Whole {
    log: Arc<EventLog>,
    at: i64,
    up_to: i64,
}

impl Whole {
    /// Everything from the beginning to a position.
    pub fn up_to(log: Arc<EventLog>, up_to: i64) -> Self {
        Self { log, at: 0, up_to }
    }
}

impl Pages for Whole {
    async fn next(&mut self) -> Result<Page, StoreError> {
        let limit = usize::try_from((self.up_to - self.at).min(PAGE)).unwrap_or(0);
        if limit == 0 {
            return Ok(Page::default());
        }
        let page = self.log.read_page(self.at, limit, None).await?;
        self.at = page.last.unwrap_or(self.at);
        Ok(page)
    }
}

/// What some workspaces did up to a position, found through their lineage.
pub struct OfWorkspaces {
    log: Arc<EventLog>,
    /// Where the lineage is.
    served: Database,
    workspaces: Vec<WorkspaceId>,
    at: i64,
    up_to: i64,
}

impl OfWorkspaces {
    /// What these workspaces did; `served` must have a lineage that has seen the position.
    pub fn up_to(log: Arc<EventLog>, served: Database, workspaces: Vec<WorkspaceId>, up_to: i64) -> Self {
        Self { log, served, workspaces, at: 0, up_to }
    }
}

impl Pages for OfWorkspaces {
    async fn next(&mut self) -> Result<Page, StoreError> {
        let found = lineage::positions_of(&self.served, &self.workspaces, self.at, self.up_to, SCATTERED).await?;
        let Some(last) = found.last().copied() else { return Ok(Page::default()) };
        self.at = last;
        Ok(Page { events: self.log.read_positions(&found).await?, last: Some(last) })
    }
}
