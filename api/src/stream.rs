//! The timeline as it grows: server-sent events that a client can leave and come back to.
//!
//! A listener holds a cursor and at most one page of entries. It waits for the log's head to move, waits until the
//! timeline shows that position, and reads on from its cursor: the wake-up says only that there is something to read, so
//! none is lost when many come at once.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use aide::generate::GenContext;
use aide::openapi::{Operation, Response as Documented, StatusCode as Status};
use aide::{OperationInput, OperationOutput};
use axum::extract::{FromRequestParts, State};
use axum::http::request::Parts;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::stream::{self, Stream};
use projections::timeline::{self, Doc};
use projections::workspaces;
use serde_json::json;
use tokio::sync::watch;

use crate::App;
use crate::auth::Caller;
use crate::code::Code;
use crate::error::{ApiError, BadField};
use crate::events::FollowEvents;
use crate::input::Look;
use crate::openapi::{document_header, documented_stream};

/// Entries read at a time: all that a listener holds in memory.
const PAGE: i64 = 100;
/// How often a quiet line shows that it is still there.
const HEARTBEAT: Duration = Duration::from_secs(15);
/// How often a quiet listener's right to listen is looked at; a busy one's is at every page.
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
    asked: FollowEvents,
    epoch: i64,
    /// Everything up to here was sent, or was not asked for.
    cursor: i64,
    page: VecDeque<Doc>,
    head: watch::Receiver<i64>,
    shutdown: watch::Receiver<bool>,
}

pub(crate) async fn follow(
    State(app): State<Arc<App>>,
    LastEventId(last): LastEventId,
    look: Look<Caller, FollowEvents>,
) -> Result<Follow, ApiError> {
    app.caught_up(&look, &[workspaces::NAME]).await?;
    // Before anything is read: what is committed from now on wakes this listener.
    let (head, shutdown) = (app.log.subscribe(), app.shutdown());
    let now = app.log.head().await?;
    let cursor = resume(last.as_deref(), now.epoch, now.position)?;
    // A filter out of the caller's reach is refused now, with a status, and not by a stream that stays silent.
    app.filter(&look.by, &look.input).await?;
    let (by, asked, page) = (look.by, look.input, VecDeque::new());
    let listener = Listener { app, by, asked, epoch: now.epoch, cursor, page, head, shutdown };
    let keep_alive = KeepAlive::new().interval(HEARTBEAT).text("still here");
    Ok(Follow(Sse::new(listener.events()).keep_alive(keep_alive).into_response()))
}

impl Listener {
    fn events(self) -> impl Stream<Item = Result<Event, Infallible>> {
        stream::unfold(self, async |mut listener| {
            let next = listener.next().await?;
            let event = Event::default()
                .id(format!("{}-{}", listener.epoch, next.position))
                .event(next.kind)
                .data(next.json.get());
            Some((Ok(event), listener))
        })
    }

    /// The next entry; `None` ends the stream.
    async fn next(&mut self) -> Option<Doc> {
        loop {
            if let Some(entry) = self.page.pop_front() {
                self.cursor = entry.position;
                return Some(entry);
            }
            if *self.shutdown.borrow() {
                return None;
            }
            match self.turn_page().await {
                Ok(true) => {}
                Ok(false) => return None,
                Err(error) => {
                    // The client comes back by itself, with its cursor.
                    tracing::warn!(?error, "an event stream ended");
                    return None;
                }
            }
        }
    }

    /// Reads on, or waits until there may be something to read. False when the listener may listen no longer.
    async fn turn_page(&mut self) -> Result<bool, ApiError> {
        if !self.by.is_still_let_in(&self.app).await? {
            return Ok(false);
        }
        let head = *self.head.borrow_and_update();
        if head <= self.cursor {
            self.wait().await;
            return Ok(true);
        }
        if !self.app.engine.wait_for(&[timeline::NAME, workspaces::NAME], head, RECHECK).await {
            return Ok(true);
        }
        // Asked anew each time: the caller may have opened a workspace since.
        let filter = self.app.filter(&self.by, &self.asked).await?;
        let page = timeline::after(&self.app.views, &filter, self.cursor, PAGE).await?;
        self.page = self.app.with_names(page).await?.into();
        if self.page.is_empty() {
            // The timeline shows everything up to the head, and there was nothing for this listener.
            self.cursor = head;
        }
        Ok(true)
    }

    async fn wait(&mut self) {
        tokio::select! {
            _ = self.head.changed() => {}
            _ = self.shutdown.changed() => {}
            () = tokio::time::sleep(RECHECK) => {}
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
