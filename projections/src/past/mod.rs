//! The past: read models as they were at a position, built in scratch space by the same folds and read by the same
//! queries as those of today.
//!
//! [`Pages`] is where the events come from: [`Whole`] is everything up to a position, [`OfWorkspaces`] what some
//! tenants did. [`build`] folds them into an empty database that [`store::scratch_views`] made.
//!
//! **What is served leaves out, the past leaves out**: streams that are parked today, and events that were given up.

mod pages;

use std::sync::Arc;

use futures_util::future::join_all;
use store::sql::{Database, Outcome, Query, Statement};
use store::{StoreError, StreamId};
use tokio::task::spawn_blocking;

pub use pages::{OfWorkspaces, Pages, Whole};

use crate::bulk::Loading;
use crate::fold::{Decoded, LeftOut};
use crate::registry::{self, Build};
use crate::{Poison, Projection};

/// Why a past could not be built.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PastError {
    /// An event cannot be applied, and nobody has given it up.
    #[error("cannot be applied: {0}")]
    Poison(#[from] Poison),
    /// The database does not answer.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Fills an empty database with read models that have seen the pages and nothing else. `served` are those of today,
/// which say what is left out; `progress` hears up to which position the log was folded.
pub async fn build(
    mut pages: impl Pages,
    projections: &[Arc<dyn Projection>],
    views: &Database,
    served: Option<&Database>,
    mut progress: impl FnMut(i64),
) -> Result<(), PastError> {
    let mut loadings = Vec::with_capacity(projections.len());
    for projection in projections {
        loadings.push(begin(projection, views, served).await?);
    }
    let mut page = next(&mut pages).await?;
    while let Some(current) = page {
        let fold = join_all(loadings.iter_mut().map(|it| it.take(current.clone())));
        // The next page is read while this one is folded.
        let (after, folded) = tokio::join!(next(&mut pages), fold);
        for outcome in folded {
            expect_done(outcome?)?;
        }
        if let Some(poison) = loadings.iter_mut().find_map(|it| it.poison.take()) {
            return Err(poison.into());
        }
        progress(current.last());
        page = after?;
    }
    for mut loading in loadings {
        expect_done(loading.settle().await?)?;
        loading.build.finish(&*loading.projection, views).await?;
        expect_done(loading.build.take_over(&*loading.projection, None, views).await?)?;
    }
    Ok(())
}

/// How many bytes a past in scratch space takes.
pub async fn size_of(views: &Database) -> Result<i64, StoreError> {
    let size = Query::new("select page_count * page_size from pragma_page_count(), pragma_page_size()");
    views.first(size).await?.map_or(Ok(0), |row| row.int(0))
}

async fn next(pages: &mut impl Pages) -> Result<Option<Arc<Decoded>>, StoreError> {
    let page = pages.next().await?;
    // Decoding takes a while: not on the threads that answer others.
    let decoded = spawn_blocking(move || Decoded::of(page)).await;
    Ok(decoded.map_err(|e| StoreError::Failed(format!("a page was not decoded: {e}")))?.map(Arc::new))
}

async fn begin(
    projection: &Arc<dyn Projection>,
    views: &Database,
    served: Option<&Database>,
) -> Result<Loading, StoreError> {
    let build = Build::plan(&**projection, &[], 1);
    expect_done(build.create(&**projection, views).await?)?;
    if let Some(served) = served {
        let left_out = left_out_of(&**projection, served).await?;
        views.transact(noted(&build, left_out)).await?;
    }
    Loading::take_up(projection.clone(), build, views).await
}

/// What the build that is served leaves out; nothing where it is of another version.
async fn left_out_of(projection: &dyn Projection, served: &Database) -> Result<LeftOut, StoreError> {
    let builds = registry::builds(served, projection.name()).await?;
    match builds.iter().find(|it| it.serving && it.version == projection.version()) {
        Some(build) => registry::left_out(served, build).await,
        None => Ok(LeftOut::default()),
    }
}

/// Notes in the registry of the scratch space what is left out.
fn noted(build: &Build, left_out: LeftOut) -> Vec<Statement> {
    let parked = |(stream, position): (StreamId, i64)| {
        Query::new(
            "insert into parked_streams
                (name, build, aggregate_type, aggregate_id, position, sequence, held, error, parked_at)
             values ($1, $2, $3, $4, $5, 0, 0, 'parked where it is served', 0)",
        )
        .bind(&build.name)
        .bind(build.build)
        .bind(stream.aggregate_type)
        .bind(stream.aggregate_id)
        .bind(position)
    };
    let skipped = |position: i64| {
        Query::new(
            "insert into parking_decisions
                (name, version, position, decision, aggregate_type, aggregate_id, error, decided_at)
             values ($1, $2, $3, 'skipped', '', '', '', 0)",
        )
        .bind(&build.name)
        .bind(build.version)
        .bind(position)
    };
    let parked = left_out.parked.into_iter().map(parked);
    parked.chain(left_out.skipped.into_iter().map(skipped)).map(Into::into).collect()
}

/// Nobody else knows of the scratch space, so nothing in it changes unexpectedly.
fn expect_done(outcome: Outcome) -> Result<(), StoreError> {
    match outcome {
        Outcome::Done => Ok(()),
        Outcome::Unexpected => Err(StoreError::Failed("scratch space was changed by somebody else".into())),
    }
}
