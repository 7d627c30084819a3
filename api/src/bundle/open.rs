//! A bundle as a server reads it: its events at their own positions in a scratch log, and read models made of them.

use std::path::Path;
use std::sync::Arc;

use projections::past::{self, Pages, PastError};
use store::sql::Database;
use store::{EventLog, Excerpt, Page, StoreError, StoredEvent, Stores};

use super::{BundleError, Checked};

/// Events that are held at once.
const PAGE: usize = 2_000;

/// What a server of a bundle is made of.
pub(crate) struct Opened {
    pub(crate) stores: Stores,
    pub(crate) views: Database,
    /// The last event's position.
    pub(crate) position: i64,
}

/// Why a bundle cannot be opened.
#[derive(Debug, thiserror::Error)]
pub(crate) enum OpenError {
    #[error(transparent)]
    Bundle(#[from] BundleError),
    #[error(transparent)]
    Past(#[from] PastError),
}

/// Fills an empty folder from a bundle; `progress` hears up to which position it was folded.
pub(crate) async fn open(checked: &Checked, folder: &Path, progress: impl FnMut(i64)) -> Result<Opened, OpenError> {
    let mut excerpt = Excerpt::begin(folder).await.map_err(BundleError::from)?;
    let mut pages = Bundled { events: Box::new(checked.events()?), log: None };
    let mut position = 0;
    loop {
        let page = pages.next().await.map_err(BundleError::from)?;
        let Some(last) = page.last else { break };
        position = last;
        excerpt.add(page.events).await.map_err(BundleError::from)?;
    }
    if let Some(key) = checked.text_key()? {
        excerpt.add_key(checked.manifest.workspace_id, &key).await.map_err(BundleError::from)?;
    }
    let stores = excerpt.finish(checked.head.epoch).await.map_err(BundleError::from)?;
    let views = stores.views.clone();
    let pages = Bundled { events: Box::new(checked.events()?), log: Some(Arc::clone(&stores.log)) };
    past::build(pages, &projections::all(), &views, None, progress).await?;
    Ok(Opened { stores, views, position })
}

/// The events of a bundle, page by page.
struct Bundled<'a> {
    events: Box<dyn Iterator<Item = Result<StoredEvent, BundleError>> + Send + 'a>,
    /// Opens their text, as far as it can; as they were written without.
    log: Option<Arc<EventLog>>,
}

impl Pages for Bundled<'_> {
    async fn next(&mut self) -> Result<Page, StoreError> {
        let events: Result<Vec<_>, _> = self.events.by_ref().take(PAGE).collect();
        let events = events.map_err(|e| StoreError::Failed(e.to_string()))?;
        let last = events.last().map(|it| it.position);
        let events = match &self.log {
            Some(log) => log.opened(events).await?,
            None => events,
        };
        Ok(Page { events, last })
    }
}
