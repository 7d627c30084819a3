//! What happens to every request on its way in and out: an id, a line in the log, a deadline, and headers that keep
//! browsers careful.

use std::any::Any;
use std::sync::Arc;
use std::time::Instant;

use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderName, HeaderValue, Method, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use tracing::Instrument;
use uuid::Uuid;

use crate::App;
use crate::code::Code;
use crate::error::ApiError;
use crate::input::visible;
use crate::metrics;

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
/// What the label is for a path that no route has: a label per guessed path would never end.
const NO_ROUTE: &str = "none";

/// Gives the request an id, measures it, and writes one line about it: never a header, a query string or a body.
pub(crate) async fn observe(request: Request, next: Next) -> Response {
    let started = Instant::now();
    let method = method_label(request.method());
    let is_api = request.uri().path().starts_with("/api") || request.uri().path() == "/mcp";
    let path = request.extensions().get::<MatchedPath>().cloned();
    let route = path.as_ref().map_or(NO_ROUTE, MatchedPath::as_str);
    let given = visible(request.headers(), REQUEST_ID.as_str()).ok().flatten().map(str::to_owned);
    let request_id = given.unwrap_or_else(|| Uuid::now_v7().to_string());
    let span = tracing::info_span!("request", method, route, request_id);
    let mut response = next.run(request).instrument(span.clone()).await;
    let (status, took) = (response.status(), started.elapsed());
    metrics::answered(method, route, status.as_u16(), took);
    let latency_ms = took.as_secs_f64() * 1000.0;
    span.in_scope(|| match status.is_server_error() {
        true => tracing::warn!(status = status.as_u16(), latency_ms, "answered"),
        false => tracing::info!(status = status.as_u16(), latency_ms, "answered"),
    });
    if let Ok(value) = HeaderValue::try_from(request_id) {
        response.headers_mut().insert(REQUEST_ID, value);
    }
    harden(&mut response, is_api);
    response
}

/// The method, or one word for all that HTTP does not know: clients may send any.
fn method_label(method: &Method) -> &'static str {
    match method.as_str() {
        "GET" => "GET",
        "HEAD" => "HEAD",
        "POST" => "POST",
        "PUT" => "PUT",
        "PATCH" => "PATCH",
        "DELETE" => "DELETE",
        "OPTIONS" => "OPTIONS",
        _ => "other",
    }
}

/// Keeps browsers from guessing, framing and storing what they get.
fn harden(response: &mut Response, is_api: bool) {
    let headers = response.headers_mut();
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(header::X_FRAME_OPTIONS, HeaderValue::from_static("DENY"));
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    headers.entry(header::CONTENT_SECURITY_POLICY).or_insert(HeaderValue::from_static("default-src 'none'"));
    if is_api {
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    }
}

/// Ends a request that takes too long.
pub(crate) async fn deadline(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    in_time(&app, next.run(request)).await
}

/// The answer, or that it took too long.
pub(crate) async fn in_time(app: &App, answer: impl Future<Output = Response>) -> Response {
    match tokio::time::timeout(app.settings.request_timeout, answer).await {
        Ok(response) => response,
        Err(_) => ApiError::unavailable("the request took too long; it may or may not have been done").into_response(),
    }
}

/// Turns a panic into an answer; the panic's own words go to the log alone.
pub(crate) fn panicked(panic: Box<dyn Any + Send>) -> Response {
    let text = panic.downcast_ref::<&str>().map(|it| (*it).to_owned());
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default();
    ApiError::fault(format!("a handler panicked: {text}")).into_response()
}

pub(crate) async fn no_route() -> ApiError {
    ApiError::new(Code::NotFound, "there is no such route")
}

pub(crate) async fn no_method() -> ApiError {
    ApiError::new(Code::MethodNotAllowed, "the route has another method")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_panic_is_an_answer_that_says_nothing_of_it() {
        let response = panicked(Box::new("the password was hunter2"));
        assert_eq!(response.status(), 500);
        let body = axum::body::to_bytes(response.into_body(), usize::MAX).await.expect("a body");
        let text = String::from_utf8(body.to_vec()).expect("text");
        assert!(text.contains("INTERNAL_ERROR") && !text.contains("hunter2"), "{text}");
    }
}
