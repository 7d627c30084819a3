//! Purging: when text is gone from the log, every read model that was made of it is built anew, and nothing of the old
//! ones is kept.

use std::collections::BTreeMap;
use std::sync::Arc;

use store::sql::{Database, Outcome, Query, Statement};
use store::{EventLog, StoreError};
use uuid::Uuid;

use super::{OfflineError, Progress, Terms, rebuild_on};
use crate::Projection;
use crate::registry::{self, Build};

/// How often a build is dropped that engines move on meanwhile.
const ATTEMPTS: usize = 50;

/// What a purge did.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PurgeReport {
    /// The read models that were built anew and are served.
    pub rebuilt: Vec<String>,
    /// Those that could not be built and are gone until a server builds them, each with the reason.
    pub dropped: BTreeMap<String, String>,
}

/// Builds all read models anew from what can still be read, also beside engines, and drops every other build. One that
/// cannot be built is dropped too: rather none for a while than one with text that is erased. What operators noted of
/// parked events of the workspace loses its words.
pub async fn purge(
    log: &EventLog,
    views: &Database,
    projections: &[Arc<dyn Projection>],
    workspace_id: Uuid,
    progress: Progress<'_>,
) -> Result<PurgeReport, StoreError> {
    let terms = Terms { beside: true, accept_differences: true, from_start: true, unseen: true };
    let ends = rebuild_on(terms, log, views, projections, progress).await?;
    let mut report = PurgeReport { rebuilt: Vec::new(), dropped: BTreeMap::new() };
    for (projection, end) in projections.iter().zip(ends) {
        let name = projection.name().to_owned();
        match end {
            Ok(_) => report.rebuilt.push(name),
            Err(OfflineError::Store(error)) => return Err(error),
            Err(reason) => {
                report.dropped.insert(name, reason.to_string());
            }
        }
    }
    drop_all(views, |it| !it.serving || !report.rebuilt.contains(&it.name)).await?;
    take_words_from_decisions(log, views, workspace_id).await?;
    views.compact().await?;
    Ok(report)
}

/// Drops builds with their tables. Engines that fill one begin again, from what can be read now.
async fn drop_all(views: &Database, which: impl Fn(&Build) -> bool) -> Result<(), StoreError> {
    for _ in 0..ATTEMPTS {
        let builds = views.query(registry::all_builds()).await?;
        let builds: Vec<Build> = builds.iter().map(registry::read).collect::<Result<_, _>>()?;
        let mut left = false;
        for build in builds.iter().filter(|it| which(it)) {
            left |= build.discard(views).await? == Outcome::Unexpected;
        }
        if !left {
            return Ok(());
        }
    }
    Err(StoreError::Unavailable("read models move too fast to be dropped; try again".to_owned()))
}

/// Why an event was parked may quote it.
async fn take_words_from_decisions(log: &EventLog, views: &Database, workspace_id: Uuid) -> Result<(), StoreError> {
    let query = Query::new("select distinct position from parking_decisions order by position");
    let positions: Vec<i64> = views.query(query).await?.iter().map(|row| row.int(0)).collect::<Result<_, _>>()?;
    let events = log.read_positions(&positions).await?;
    let of_workspace = events.into_iter().filter(|it| it.workspace_id == Some(workspace_id));
    let erase = |position: i64| -> Statement {
        Query::new("update parking_decisions set error = $1 where position = $2")
            .bind(store::seal::ERASED)
            .bind(position)
            .into()
    };
    views.transact(of_workspace.map(|it| erase(it.position)).collect()).await.map(drop)
}
