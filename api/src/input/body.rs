//! Bodies: JSON by its content type, within the limit.

use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, header};
use serde_json::Value;

use crate::code::Code;
use crate::error::{ApiError, BadField};

/// A JSON body; `None` when there is no body at all.
pub(crate) async fn read_json(headers: &HeaderMap, body: Body, limit_bytes: usize) -> Result<Option<Value>, ApiError> {
    let bytes = read_bytes(headers, body, limit_bytes).await?;
    if bytes.is_empty() && !headers.contains_key(header::CONTENT_TYPE) {
        return Ok(None);
    }
    if !is_json(headers) {
        return Err(ApiError::new(Code::UnsupportedMediaType, "the content type must be application/json"));
    }
    let value = serde_json::from_slice(&bytes)
        .map_err(|e| ApiError::validation(vec![BadField::new("body", format!("is not JSON: {e}"))]))?;
    Ok(Some(value))
}

/// A whole body of at most so many bytes.
pub(crate) async fn read_bytes(headers: &HeaderMap, body: Body, limit_bytes: usize) -> Result<Bytes, ApiError> {
    let too_large = || ApiError::new(Code::PayloadTooLarge, format!("the body has more than {limit_bytes} bytes"));
    let announced = headers.get(header::CONTENT_LENGTH).and_then(|it| it.to_str().ok()?.parse::<u64>().ok());
    if announced.is_some_and(|length| length > limit_bytes as u64) {
        return Err(too_large());
    }
    axum::body::to_bytes(body, limit_bytes).await.map_err(|error| {
        // The only other way to fail is a client that went away, and it reads no answer.
        tracing::debug!(%error, "a body was not read");
        too_large()
    })
}

fn is_json(headers: &HeaderMap) -> bool {
    let content_type = headers.get(header::CONTENT_TYPE).and_then(|it| it.to_str().ok()).unwrap_or_default();
    let essence = content_type.split(';').next().unwrap_or_default().trim();
    if essence.eq_ignore_ascii_case("application/json") {
        return true;
    }
    let essence = essence.to_ascii_lowercase();
    essence.starts_with("application/") && essence.ends_with("+json")
}
