//! The timeline as it grows: server-sent events that a client can leave and come back to.
//!
//! A listener holds a cursor and no entries. While it keeps up it sends on what the feed of its part of the timeline
//! reads for all who listen to it; when it comes back, or was too slow, it reads from its cursor to where the feed is.
//! Every piece says between which positions it holds everything, so nothing is lost between the two and nothing sent
//! twice.

mod feed;

use std::convert::Infallible;
use std::sync::Arc;
use std::time::{Duration, Instant};

use aide::generate::GenContext;
use aide::openapi::{Operation, Response as Documented, StatusCode as Status};
use aide::{OperationInput, OperationOutput};
use axum::body::{Body, Bytes};
use axum::extract::{FromRequestParts, State};
use axum::http::header;
use axum::http::request::Parts;
use axum::response::{IntoResponse, Response};
use futures_util::stream::{self, Stream};
use projections::timeline::Filter;
use projections::workspaces;
use serde_json::json;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{broadcast, watch};

pub(crate) use feed::Feeds;
use feed::{Feed, Piece};

use crate::App;
use crate::auth::Caller;
use crate::code::Code;
use crate::error::{ApiError, BadField};
use crate::events::FollowEvents;
use crate::input::Look;
use crate::openapi::{document_header, documented_stream};

/// Entries read at a time: all that is in memory for a listener that reads for itself.
const PAGE: i64 = 100;
/// How often a quiet line shows that it is still there.
const HEARTBEAT: Duration = Duration::from_secs(15);
/// How often a quiet listener's right to listen is looked at; a busy one's is before everything that it is sent.
const RECHECK: Duration = Duration::from_secs(2);

const LAST_EVENT_ID: &str = "Last-Event-ID";

/// Server-sent events.
pub(crate) struct Follow(Response);

/// The id of the entry that the client saw last.
pub(crate) struct LastEventId(Option<String>);

/// One listener.
struct Listener {
    app: Arc<App>,
    by: Caller,
    source: Source,
    epoch: i64,
    /// Everything up to here was sent, or was not asked for.
    cursor: i64,
    /// How far it reads for itself before it goes on with what the source brings.
    read_to: i64,
    head: watch::Receiver<i64>,
    shutdown: watch::Receiver<bool>,
    last_sent: Instant,
}

/// Where a listener hears of new entries.
enum Source {
    /// From the feed of a part of the timeline that stays the same.
    Feed { filter: Filter, pieces: broadcast::Receiver<Piece>, _held: Arc<Feed> },
    /// From the log's head: an owner who asks for all of their workspaces may have opened another since.
    Own(FollowEvents),
}

pub(crate) async fn follow(
    State(app): State<Arc<App>>,
    LastEventId(last): LastEventId,
    look: Look<Caller, FollowEvents>,
) -> Result<Follow, ApiError> {
    if let Some(past) = &app.past {
        let text = format!("this server shows the past up to position {}, which does not move", past.position);
        return Err(ApiError::new(Code::ServingThePast, format!("{text}; event.list has all of it")));
    }
    app.caught_up(&look, &[workspaces::NAME]).await?;
    // Before anything is read: what is committed from now on wakes this listener.
    let (head, shutdown) = (app.log.subscribe(), app.shutdown());
    let now = app.log.head().await?;
    let cursor = resume(last.as_deref(), now.epoch, now.position)?;
    // A filter out of the caller's reach is refused now, with a status, and not by a stream that stays silent.
    let filter = app.now().filter(&look.by, &look.input).await?;
    let source = if look.input.names_a_workspace() || matches!(look.by, Caller::Agent(_)) {
        let (held, pieces) = app.feeds.join(&app, &filter, now.epoch);
        Source::Feed { filter, pieces, _held: held }
    } else {
        Source::Own(look.input)
    };
    // The feed is at most as far as the head is now: up to there it may have read before this listener came.
    let read_to = now.position.max(*head.borrow());
    let (by, epoch, last_sent) = (look.by, now.epoch, Instant::now());
    let listener = Listener { app, by, source, epoch, cursor, read_to, head, shutdown, last_sent };
    let headers = [(header::CONTENT_TYPE, "text/event-stream"), (header::CACHE_CONTROL, "no-cache")];
    Ok(Follow((headers, Body::from_stream(listener.texts())).into_response()))
}

impl Listener {
    fn texts(self) -> impl Stream<Item = Result<Bytes, Infallible>> {
        stream::unfold(self, async |mut listener| match listener.next().await {
            Ok(text) => {
                listener.last_sent = Instant::now();
                text.map(|text| (Ok(text), listener))
            }
            Err(error) => {
                // The client comes back by itself, with its cursor.
                tracing::warn!(?error, "an event stream ended");
                None
            }
        })
    }

    /// What to send next; `None` ends the stream.
    async fn next(&mut self) -> Result<Option<Bytes>, ApiError> {
        loop {
            if *self.shutdown.borrow() || !self.by.is_still_let_in(&self.app).await? {
                return Ok(None);
            }
            let text = if self.cursor < self.read_to { self.read().await? } else { self.hear().await? };
            if text.is_some() {
                return Ok(text);
            }
            if self.last_sent.elapsed() >= HEARTBEAT {
                return Ok(Some(Bytes::from_static(b": still here\n\n")));
            }
        }
    }

    /// Reads a page for itself.
    async fn read(&mut self) -> Result<Option<Bytes>, ApiError> {
        let filter = match &self.source {
            Source::Feed { filter, .. } => filter.clone(),
            Source::Own(asked) => {
                // Asked anew each time: the caller may have opened a workspace since.
                if !self.app.engine.wait_for(&[workspaces::NAME], self.read_to, RECHECK).await {
                    return Ok(None);
                }
                self.app.now().filter(&self.by, asked).await?
            }
        };
        let Some(docs) = feed::page(&self.app, &filter, self.cursor, self.read_to).await? else { return Ok(None) };
        let is_last = (docs.len() as i64) < PAGE;
        self.cursor = docs.last().filter(|_| !is_last).map_or(self.read_to, |it| it.position);
        Ok((!docs.is_empty()).then(|| feed::text_of(self.epoch, &docs).into()))
    }

    /// Waits for news, not for ever.
    async fn hear(&mut self) -> Result<Option<Bytes>, ApiError> {
        let piece = tokio::select! {
            piece = self.source.news(&mut self.head) => piece,
            _ = self.shutdown.changed() => return Ok(None),
            () = tokio::time::sleep(RECHECK) => return Ok(None),
        };
        let Some(piece) = piece? else {
            // Something is new, or something was missed: it is in the timeline.
            self.read_to = *self.head.borrow_and_update();
            return Ok(None);
        };
        // The right to listen may have ended while it was waited for.
        if piece.up_to <= self.cursor || !self.by.is_still_let_in(&self.app).await? {
            return Ok(None);
        }
        self.read_to = piece.up_to;
        if self.cursor < piece.after || self.cursor >= piece.first {
            // It begins before the piece, or in the middle of it.
            return Ok(None);
        }
        self.cursor = piece.up_to;
        Ok(Some(piece.text))
    }
}

impl Source {
    /// A piece of news, or that there is some to be read.
    async fn news(&mut self, head: &mut watch::Receiver<i64>) -> Result<Option<Piece>, ApiError> {
        let ended = || ApiError::unavailable("the log is not followed any more");
        match self {
            Self::Feed { pieces, .. } => match pieces.recv().await {
                Ok(piece) => Ok(Some(piece)),
                Err(RecvError::Lagged(_)) => Ok(None),
                Err(RecvError::Closed) => Err(ended()),
            },
            Self::Own(_) => head.changed().await.map(|()| None).map_err(|_| ended()),
        }
    }
}

/// Where to go on: after the entry that the client saw last, or at the end of the log.
fn resume(last: Option<&str>, epoch: i64, head: i64) -> Result<i64, ApiError> {
    let Some(last) = last else { return Ok(head) };
    let complaint =
        || ApiError::validation(vec![BadField::new(LAST_EVENT_ID, "must be epoch-position, as it was sent")]);
    let (given_epoch, position) = last.split_once('-').ok_or_else(complaint)?;
    let number = |text: &str| text.parse::<i64>().ok().filter(|it| *it >= 0).ok_or_else(complaint);
    let (given_epoch, position) = (number(given_epoch)?, number(position)?);
    if given_epoch != epoch || position > head {
        return Err(ApiError::new(Code::CursorStale, "the log was restored since; read the timeline anew"));
    }
    Ok(position)
}

impl<S: Sync> FromRequestParts<S> for LastEventId {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        let last = parts.headers.get(LAST_EVENT_ID);
        Ok(Self(last.map(|it| it.to_str().unwrap_or_default().to_owned())))
    }
}

impl OperationInput for LastEventId {
    fn operation_input(_: &mut GenContext, operation: &mut Operation) {
        let cursor = json!({ "type": "string", "pattern": "^[0-9]+-[0-9]+$" });
        document_header(operation, LAST_EVENT_ID, "Goes on after this entry.", cursor);
    }
}

impl IntoResponse for Follow {
    fn into_response(self) -> Response {
        self.0
    }
}

impl OperationOutput for Follow {
    type Inner = ();

    fn inferred_responses(_: &mut GenContext, _: &mut Operation) -> Vec<(Option<Status>, Documented)> {
        vec![(Some(Status::Code(200)), documented_stream())]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resumed(last: Option<&str>) -> Result<i64, ()> {
        resume(last, 3, 100).map_err(drop)
    }

    #[test]
    fn a_listener_goes_on_after_what_it_saw_last() {
        assert_eq!(resumed(None), Ok(100));
        assert_eq!(resumed(Some("3-42")), Ok(42));
        for wrong in ["2-42", "3-101", "42", "3-", "-3-4", "3-x", "3-4-5", ""] {
            assert_eq!(resumed(Some(wrong)), Err(()), "{wrong}");
        }
    }
}
