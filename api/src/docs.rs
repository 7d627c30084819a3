//! The page that shows the OpenAPI document. Everything it needs comes from this server.

use std::sync::Arc;

use axum::Router;
use axum::http::{HeaderName, header};
use axum::response::IntoResponse;
use axum::routing::get;

use crate::App;

/// Nothing inline, nothing from elsewhere.
const POLICY: (HeaderName, &str) = (
    header::CONTENT_SECURITY_POLICY,
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'",
);

pub(crate) fn routes() -> Router<Arc<App>> {
    Router::new()
        .route("/docs", get(page))
        .route("/docs/page.css", get(async || file("text/css", include_str!("docs/page.css"))))
        .route("/docs/page.js", get(async || file("text/javascript", include_str!("docs/page.js"))))
}

async fn page() -> impl IntoResponse {
    ([POLICY], file("text/html; charset=utf-8", include_str!("docs/page.html")))
}

fn file(content_type: &'static str, text: &'static str) -> impl IntoResponse {
    ([(header::CONTENT_TYPE, content_type)], text)
}
