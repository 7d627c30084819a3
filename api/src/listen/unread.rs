//! Says with an answer that the connection ends, where a request is answered before its body was read.
//!
//! What is left of such a body stands between this request and the next one, so the connection is not used again. A client
//! that is not told may send its next request there, and never hear of it.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};

use axum::http::{HeaderValue, Request, Response, Version, header};
use hyper::body::{Body, Bytes, Frame, Incoming, SizeHint};

/// What is no larger comes with the head of its request, and is thrown away with it.
const SMALL: u64 = 4 * 1024;

/// A body that knows whether it was read to its end.
pub(super) struct Watched {
    body: Incoming,
    unread: Arc<AtomicBool>,
}

/// Whether a request's body is unread when it is answered.
pub(super) struct Unread(Arc<AtomicBool>);

/// Watches the body of a request.
pub(super) fn watch(request: Request<Incoming>) -> (Request<Watched>, Unread) {
    // HTTP/2 gives every request a stream of its own.
    let one_after_another = request.version() < Version::HTTP_2;
    let body = request.body();
    let is_small = body.is_end_stream() || body.size_hint().upper().is_some_and(|it| it <= SMALL);
    let unread = Arc::new(AtomicBool::new(one_after_another && !is_small));
    let watched = request.map(|body| Watched { body, unread: Arc::clone(&unread) });
    (watched, Unread(unread))
}

impl Unread {
    /// Tells the client, if there is something to tell.
    pub(super) fn tell<T>(&self, answer: &mut Response<T>) {
        if self.0.load(Ordering::Relaxed) {
            answer.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
        }
    }
}

impl Body for Watched {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let frame = ready!(Pin::new(&mut self.body).poll_frame(context));
        if frame.is_none() || self.body.is_end_stream() {
            self.unread.store(false, Ordering::Relaxed);
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
