//! The door of the MCP server: who may knock, with what, and how the message gets to the protocol.

use std::net::IpAddr;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use rmcp::model::ClientJsonRpcMessage;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use serde::Deserialize;

use super::server::FloorServer;
use crate::App;
use crate::auth::{AgentCaller, Principal};
use crate::code::Code;
use crate::error::{ApiError, BadField};
use crate::input::read_json;

/// The protocol: speaks JSON-RPC, and knows nothing of agents.
pub(super) type Protocol = StreamableHttpService<FloorServer, NeverSessionManager>;

/// Every request stands for itself and is answered with one JSON document, so any node may answer any of them.
pub(super) fn protocol(app: &Arc<App>) -> Protocol {
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .with_max_request_body_bytes(app.settings.body_limit_bytes)
        // Whoever rebinds a name keeps the origin of it, and `check_origin` refuses that; a list of our own names would
        // be one more thing to set right behind every proxy.
        .disable_allowed_hosts();
    let server = FloorServer::new(app.clone());
    StreamableHttpService::new(move || Ok(server.clone()), Arc::default(), config)
}

/// Refuses pages of other sites, before anything else is looked at.
///
/// Browsers tell the page's origin and programs send none. A page whose name is suddenly the name of this machine
/// (DNS rebinding) still tells the name that it was loaded under.
pub(super) async fn check_origin(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    match refusal_of_origin(request.headers(), &app.settings.mcp.allowed_origins) {
        Some(refusal) => refusal.into_response(),
        None => next.run(request).await,
    }
}

/// Lets an agent in with a message, and answers what the protocol makes of it.
pub(super) async fn enter(app: Arc<App>, protocol: Protocol, request: Request) -> Response {
    match message_of(&app, request).await {
        Ok(request) => protocol.handle(request).await.map(Body::new),
        Err(refusal) => refusal.into_response(),
    }
}

/// The request, if an agent sends it and its body is a message of the protocol.
async fn message_of(app: &App, request: Request) -> Result<Request<Body>, ApiError> {
    let (mut parts, body) = request.into_parts();
    AgentCaller::of(&parts)?;
    let reading = read_json(&parts.headers, body, app.settings.body_limit_bytes);
    let read = tokio::time::timeout(app.settings.request_timeout, reading).await;
    let value = read.map_err(|_| ApiError::unavailable("the body took too long"))??;
    let complain = |message: String| ApiError::validation(vec![BadField::new("body", message)]);
    let value = value.ok_or_else(|| complain("is required".to_owned()))?;
    if let Err(error) = ClientJsonRpcMessage::deserialize(&value) {
        return Err(complain(format!("is not a message of the protocol: {error}")));
    }
    parts.headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    parts.headers.remove(header::CONTENT_LENGTH);
    Ok(Request::from_parts(parts, Body::from(value.to_string())))
}

fn refusal_of_origin(headers: &HeaderMap, allowed: &[String]) -> Option<ApiError> {
    let mut origins = headers.get_all(header::ORIGIN).iter();
    let is_fine = origins.all(|origin| {
        let origin = origin.to_str().unwrap_or_default();
        allowed.iter().any(|it| it.eq_ignore_ascii_case(origin)) || is_of_this_machine(origin)
    });
    (!is_fine).then(|| ApiError::new(Code::CrossSiteRequest, "pages of another site are refused"))
}

/// Whether a page comes from this machine, by any port.
fn is_of_this_machine(origin: &str) -> bool {
    let Some((scheme, authority)) = origin.split_once("://") else { return false };
    let (host, port) = match authority.strip_prefix('[') {
        Some(bracketed) => bracketed.split_once(']').unwrap_or_default(),
        None => authority.split_at(authority.find(':').unwrap_or(authority.len())),
    };
    let is_port = port.is_empty() || port.strip_prefix(':').is_some_and(|it| it.parse::<u16>().is_ok());
    let is_loopback = host.eq_ignore_ascii_case("localhost") || host.parse().is_ok_and(|it: IpAddr| it.is_loopback());
    matches!(scheme, "http" | "https") && is_port && is_loopback
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_refused(origins: &[&str]) -> bool {
        let mut headers = HeaderMap::new();
        for origin in origins {
            headers.append(header::ORIGIN, HeaderValue::from_str(origin).expect("a header"));
        }
        refusal_of_origin(&headers, &["https://console.example".to_owned()]).is_some()
    }

    #[test]
    fn programs_pages_of_this_machine_and_named_ones_may_knock() {
        assert!(!is_refused(&[]));
        for origin in [
            "http://localhost",
            "http://localhost:6274",
            "https://127.0.0.1:3001",
            "http://[::1]:3001",
            "https://console.example",
            "HTTPS://Console.Example",
        ] {
            assert!(!is_refused(&[origin]), "{origin}");
        }
    }

    #[test]
    fn no_other_page_may_whatever_name_it_has() {
        for origin in [
            "null",
            "",
            "https://evil.example",
            "http://localhost.evil.example",
            "http://evil.example:3001",
            "http://127.0.0.1.evil.example",
            "http://127.0.0.1@evil.example",
            "http://localhost:80@evil.example",
            "http://[::1].evil.example",
            "http://[::1",
            "file://localhost",
            "https://console.example:8443",
            "https://console.example.evil.example",
        ] {
            assert!(is_refused(&[origin]), "{origin}");
        }
        assert!(is_refused(&["http://localhost", "https://evil.example"]), "one bad origin is enough");
    }
}
