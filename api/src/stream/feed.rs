//! Feeds: one reader for each part of the timeline that somebody listens to, however many they are.
//!
//! A feed waits for the log's head to move, waits until the timeline shows that position, and reads what is new once.
//! What it read goes to all listeners as the same bytes, through a ring of fixed length: whoever is too slow for it
//! finds a gap and reads for itself, so a feed waits for nobody and holds no more than the ring.

use std::collections::HashMap;
use std::fmt::Write;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use axum::body::Bytes;
use projections::timeline::{self, Doc, Filter};
use tokio::sync::broadcast;
use tokio::task::JoinHandle;

use super::{PAGE, RECHECK};
use crate::App;
use crate::error::ApiError;

/// Pieces that a listener may be behind before it has to read for itself.
const RING: usize = 64;

/// The feeds that somebody listens to.
#[derive(Default)]
pub(crate) struct Feeds(Mutex<HashMap<Filter, Weak<Feed>>>);

/// One part of the timeline as it grows. It ends when nobody holds it.
pub(super) struct Feed {
    /// Only to make others from; a sender here would keep listeners waiting for a reader that has ended.
    pieces: broadcast::Receiver<Piece>,
    reader: JoinHandle<()>,
}

/// New entries, ready to be sent.
#[derive(Clone)]
pub(super) struct Piece {
    /// Where the piece before it ended: between that and `first` there is nothing.
    pub(super) after: i64,
    /// The position of its first entry.
    pub(super) first: i64,
    /// Everything up to here is in it, or was not asked for.
    pub(super) up_to: i64,
    pub(super) text: Bytes,
}

impl Feeds {
    /// The feed of a part of the timeline, and what comes from now on.
    pub(super) fn join(&self, app: &Arc<App>, filter: &Filter, epoch: i64) -> (Arc<Feed>, broadcast::Receiver<Piece>) {
        let mut feeds = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // One that has failed is not joined: whoever listened to it comes back to a new one.
        let known = feeds.get(filter).and_then(Weak::upgrade).filter(|it| !it.reader.is_finished());
        let feed = known.unwrap_or_else(|| {
            feeds.retain(|_, feed| feed.strong_count() > 0);
            let (sender, pieces) = broadcast::channel(RING);
            let reader = tokio::spawn(read(app.clone(), filter.clone(), epoch, sender));
            let feed = Arc::new(Feed { pieces, reader });
            feeds.insert(filter.clone(), Arc::downgrade(&feed));
            feed
        });
        let pieces = feed.pieces.resubscribe();
        (feed, pieces)
    }
}

impl Drop for Feed {
    fn drop(&mut self) {
        self.reader.abort();
    }
}

async fn read(app: Arc<App>, filter: Filter, epoch: i64, pieces: broadcast::Sender<Piece>) {
    if let Err(error) = follow(&app, &filter, epoch, &pieces).await {
        // Its listeners come back by themselves, with their cursors.
        tracing::warn!(?error, "an event feed ended");
    }
}

async fn follow(app: &App, filter: &Filter, epoch: i64, pieces: &broadcast::Sender<Piece>) -> Result<(), ApiError> {
    let mut head = app.log.subscribe();
    let mut cursor = *head.borrow_and_update();
    let mut after = cursor;
    while head.changed().await.is_ok() {
        let now = *head.borrow_and_update();
        while cursor < now {
            let Some(docs) = page(app, filter, cursor, now).await? else { continue };
            let is_last = (docs.len() as i64) < PAGE;
            let ends = docs.first().zip(docs.last()).map(|(first, last)| (first.position, last.position));
            cursor = ends.filter(|_| !is_last).map_or(now, |(_, last)| last);
            if let Some((first, _)) = ends {
                let text = text_of(epoch, &docs).into();
                // Nobody may be listening just now.
                let _ = pieces.send(Piece { after, first, up_to: cursor, text });
                after = cursor;
            }
        }
    }
    Ok(())
}

/// The next entries between two positions, the second included; `None` if the timeline does not show that far in time.
pub(super) async fn page(app: &App, filter: &Filter, after: i64, to: i64) -> Result<Option<Vec<Doc>>, ApiError> {
    if !app.engine.wait_for(&[timeline::NAME], to, RECHECK).await {
        return Ok(None);
    }
    let within = Filter { before: Some(to + 1), ..filter.clone() };
    let docs = timeline::after(&app.views, &within, after, PAGE).await?;
    app.with_names(docs).await.map(Some)
}

/// Entries as server-sent events.
pub(super) fn text_of(epoch: i64, docs: &[Doc]) -> String {
    let mut text = String::with_capacity(docs.iter().map(|it| it.json.len() + 80).sum());
    for Doc { position, kind, json, .. } in docs {
        let _ = writeln!(text, "id: {epoch}-{position}\nevent: {kind}");
        // JSON is one line; were it ever not, each line of it is announced.
        for line in json.lines() {
            let _ = writeln!(text, "data: {line}");
        }
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_is_told_with_its_id_and_its_type() {
        let doc = |position, json: &str| Doc { position, kind: "note".into(), named_user: None, json: json.into() };
        let told = text_of(3, &[doc(7, "{}"), doc(9, "[\n]")]);
        assert_eq!(told, "id: 3-7\nevent: note\ndata: {}\n\nid: 3-9\nevent: note\ndata: [\ndata: ]\n\n");
    }
}
