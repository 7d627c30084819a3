//! Headers that surround a request: who asks to be matched with whom, and what must be seen first.

use axum::http::HeaderMap;
use uuid::Uuid;

use crate::error::{ApiError, BadField};

/// The most characters of a header that we keep.
const LONGEST: usize = 255;

/// A header of 1 to 255 visible characters, if it is there.
pub(crate) fn visible<'a>(headers: &'a HeaderMap, name: &str) -> Result<Option<&'a str>, ApiError> {
    let Some(value) = headers.get(name) else { return Ok(None) };
    let text = value.to_str().ok().map(str::trim).filter(|text| {
        !text.is_empty() && text.len() <= LONGEST && text.bytes().all(|byte| byte.is_ascii_graphic() || byte == b' ')
    });
    let complaint = || ApiError::validation(vec![BadField::new(name, "must have 1 to 255 visible characters")]);
    text.map(Some).ok_or_else(complaint)
}

/// The position that a query must have seen.
pub(super) fn min_position(headers: &HeaderMap) -> Result<Option<i64>, ApiError> {
    const NAME: &str = "X-Min-Position";
    let Some(value) = headers.get(NAME) else { return Ok(None) };
    let position = value.to_str().ok().and_then(|text| text.trim().parse().ok()).filter(|it: &i64| *it >= 0);
    let complaint = || ApiError::validation(vec![BadField::new(NAME, "must be a position of the log")]);
    position.map(Some).ok_or_else(complaint)
}

/// What ties this command to others. A foreign form of it is not an error: proxies add such headers unasked.
pub(super) fn correlation_id(headers: &HeaderMap) -> Option<Uuid> {
    headers.get("X-Correlation-ID")?.to_str().ok()?.parse().ok()
}

/// The trace that the request belongs to, by the W3C header.
pub(super) fn trace_id(headers: &HeaderMap) -> Option<String> {
    let mut parts = headers.get("traceparent")?.to_str().ok()?.split('-').skip(1);
    let trace = parts.next()?;
    let known =
        trace.len() == 32 && trace.bytes().all(|it| it.is_ascii_hexdigit()) && trace.bytes().any(|it| it != b'0');
    known.then(|| trace.to_ascii_lowercase())
}
