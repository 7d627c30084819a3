//! Filling a build that nobody reads yet, as fast as the log can be read.
//!
//! Three things run at the same time: the next page of the log is read and decoded, this one is folded, and the one
//! before it is written. Nothing that the build has written lately is read back ([`Known`]), new rows go in by bulk
//! load, and keys and indexes that the fold does not need come last ([`Build::finish`]). Rows and checkpoint still
//! move in one transaction: a build that is interrupted goes on from there.
//!
//! What bounds the memory: three pages of the log (by events and by bytes), and two generations of known records.

use std::sync::Arc;

use futures_util::future::join_all;
use store::sql::{Database, Outcome};
use store::{EventLog, StoreError};
use tokio::task::{JoinHandle, spawn_blocking};

use crate::fold::{Batch, Decoded, LeftOut, OnPoison};
use crate::known::Known;
use crate::registry::{self, Build};
use crate::schema::Tables;
use crate::{Poison, Projection};

/// Events that are folded at a time: enough to make a transaction cheap, few enough to stay near the processor.
const PAGE: usize = 5_000;

/// The log, page by page, decoded once for all who fold it.
pub(crate) struct Feed<'a> {
    log: &'a EventLog,
    /// What at least one of them reads; everything without a list.
    kinds: Option<Vec<&'static str>>,
    at: i64,
    up_to: i64,
}

impl<'a> Feed<'a> {
    /// What some projections read after a position.
    pub(crate) fn after<'p>(
        log: &'a EventLog,
        at: i64,
        projections: impl IntoIterator<Item = &'p Arc<dyn Projection>>,
    ) -> Self {
        let kinds: Option<Vec<_>> = projections.into_iter().map(|it| it.reads().kinds()).collect();
        let kinds = kinds.map(|lists| {
            let mut kinds = lists.concat();
            kinds.sort_unstable();
            kinds.dedup();
            kinds
        });
        Self { log, kinds, at, up_to: i64::MAX }
    }

    /// The same, and nothing after another position.
    pub(crate) fn up_to(self, up_to: i64) -> Self {
        Self { up_to, ..self }
    }

    /// The next page; `None` at the end.
    pub(crate) async fn next(&mut self) -> Result<Option<Arc<Decoded>>, StoreError> {
        let limit = usize::try_from(self.up_to - self.at).unwrap_or(0).min(PAGE);
        if limit == 0 {
            return Ok(None);
        }
        let mut page = self.log.read_page(self.at, limit, self.kinds.as_deref()).await?;
        page.events.retain(|event| event.position <= self.up_to);
        page.last = page.last.map(|last| last.min(self.up_to));
        self.at = page.last.unwrap_or(self.at);
        Ok(aside(move || Decoded::of(page)).await?.map(Arc::new))
    }
}

/// A build on its way from the log into tables.
pub(crate) struct Loading {
    pub(crate) projection: Arc<dyn Projection>,
    /// As it stands in the registry.
    pub(crate) build: Build,
    tables: Arc<Tables>,
    left_out: Arc<LeftOut>,
    known: Known,
    /// What is up to here was in the build when it was taken up.
    after: i64,
    writing: Option<JoinHandle<Result<(Build, Outcome), StoreError>>>,
    /// The event that the build stops at, if there is one.
    pub(crate) poison: Option<Poison>,
}

impl Loading {
    /// Takes up a build where it stands.
    pub(crate) async fn take_up(
        projection: Arc<dyn Projection>,
        build: Build,
        views: &Database,
    ) -> Result<Self, StoreError> {
        let tables = Arc::new(build.tables(&*projection, views));
        let left_out = Arc::new(registry::left_out(views, &build).await?);
        let known = Known::at(build.checkpoint);
        let after = build.checkpoint;
        Ok(Self { projection, build, tables, left_out, known, after, writing: None, poison: None })
    }

    /// Folds a page, and begins to write what came of it. `Unexpected` when somebody else has moved the build.
    pub(crate) async fn take(&mut self, page: Arc<Decoded>) -> Result<Outcome, StoreError> {
        let after = self.after;
        if page.last() <= after {
            return Ok(Outcome::Done);
        }
        let (projection, left_out) = (self.projection.clone(), self.left_out.clone());
        let mut known = std::mem::take(&mut self.known);
        let (batch, mut known, (mut rows, missing)) = aside(move || {
            let batch = Batch::of(&*projection, page, &left_out).after(after);
            let found = known.look_up(batch.touches(&*projection));
            (batch, known, found)
        })
        .await?;
        if !missing.is_empty() {
            // What was forgotten may still be on its way to the table.
            if self.settle().await? == Outcome::Unexpected {
                return Ok(Outcome::Unexpected);
            }
            self.tables.load_into(&mut rows, missing).await?;
        }
        let (projection, tables) = (self.projection.clone(), self.tables.clone());
        let (folded, known) = aside(move || {
            let folded =
                batch.fold(&*projection, rows, OnPoison::Stop).map_err(|e| StoreError::Failed(e.to_string()))?;
            known.follow(&folded.changes, &tables)?;
            Ok::<_, StoreError>((folded, known))
        })
        .await??;
        self.known = known;
        if self.settle().await? == Outcome::Unexpected {
            return Ok(Outcome::Unexpected);
        }
        self.poison = folded.poison.first().cloned();
        let (mut build, tables) = (self.build.clone(), self.tables.clone());
        self.writing = Some(tokio::spawn(async move {
            let outcome = build.advance(&tables, folded).await?;
            Ok((build, outcome))
        }));
        Ok(Outcome::Done)
    }

    /// Waits until everything that was taken is written.
    pub(crate) async fn settle(&mut self) -> Result<Outcome, StoreError> {
        let Some(writing) = self.writing.take() else { return Ok(Outcome::Done) };
        let (build, outcome) = writing.await.map_err(|e| StoreError::Failed(e.to_string()))??;
        self.build = build;
        self.after = self.after.max(self.build.checkpoint);
        Ok(outcome)
    }
}

/// How one of several builds ended that were fed together.
pub(crate) type Fed = Result<Outcome, StoreError>;

/// Brings builds to a position, or to the head of the log where that comes first; the one that is furthest behind says
/// where to begin. One that fails or stops does not keep the others; `progress` hears how far they are.
pub(crate) async fn feed(
    log: &EventLog,
    mut loadings: Vec<&mut Loading>,
    up_to: i64,
    mut progress: impl FnMut(i64),
) -> Result<Vec<Fed>, StoreError> {
    let at = loadings.iter().map(|it| it.build.checkpoint).min().unwrap_or(up_to);
    let mut feed = Feed::after(log, at, loadings.iter().map(|it| &it.projection)).up_to(up_to);
    let mut ends: Vec<Option<Fed>> = loadings.iter().map(|_| None).collect();
    let mut page = feed.next().await?;
    while let Some(current) = page {
        let going = loadings.iter_mut().zip(&mut ends).filter(|(_, end)| end.is_none());
        let fold = join_all(going.map(|(loading, end)| {
            let current = current.clone();
            async move {
                match loading.take(current).await {
                    Ok(Outcome::Done) if loading.poison.is_none() => {}
                    other => *end = Some(other),
                }
            }
        }));
        let (next, _) = tokio::join!(feed.next(), fold);
        progress(feed.at);
        page = next?;
        if ends.iter().all(Option::is_some) {
            break;
        }
    }
    let mut fed = Vec::with_capacity(loadings.len());
    for (loading, end) in loadings.iter_mut().zip(ends) {
        let settled = loading.settle().await;
        fed.push(match end {
            Some(failed @ (Err(_) | Ok(Outcome::Unexpected))) => failed,
            Some(Ok(Outcome::Done)) | None => settled,
        });
    }
    Ok(fed)
}

/// Runs work that takes a while off the threads that answer others.
async fn aside<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, StoreError> {
    spawn_blocking(work).await.map_err(|e| StoreError::Failed(format!("a fold did not end well: {e}")))
}
