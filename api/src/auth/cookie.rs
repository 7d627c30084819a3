//! The session cookie, and how requests from other sites are told apart.

use std::net::IpAddr;

use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, Method, header};
use axum_extra::extract::CookieJar;

use crate::code::Code;
use crate::error::ApiError;

const NAME: &str = "__session";

/// The value of the session cookie, if there is one.
pub(super) fn token(headers: &HeaderMap) -> Option<String> {
    CookieJar::from_headers(headers).get(NAME).map(|it| it.value().to_owned()).filter(|it| !it.is_empty())
}

/// Sets the session cookie for as long as the session lasts.
pub(super) fn set(parts: &Parts, token: &str, max_age_seconds: i64) -> HeaderValue {
    let secure = secure(parts);
    let cookie = format!("{NAME}={token}; Path=/; HttpOnly; SameSite=Strict; Max-Age={max_age_seconds}{secure}");
    HeaderValue::from_str(&cookie).expect("a token has only hex digits")
}

/// Keeps a cookie to HTTPS, except on loopback: browsers treat that as safe, but some refuse to keep a secure cookie
/// there over plain HTTP.
pub(super) fn secure(parts: &Parts) -> &'static str {
    if is_loopback(host(parts).unwrap_or_default()) { "" } else { "; Secure" }
}

/// Removes the session cookie.
pub(super) fn clear(parts: &Parts) -> HeaderValue {
    set(parts, "", 0)
}

/// Refuses commands that a browser sends with a cookie from another site's page.
///
/// `SameSite=Strict` keeps the cookie from such requests already; this is for browsers and subdomains where it does not.
/// Programs send neither header and pass: they hold the cookie because they signed in.
pub(crate) fn check_same_origin(parts: &Parts) -> Result<(), ApiError> {
    let text = |name: &str| parts.headers.get(name).map(|it| it.to_str().unwrap_or("?"));
    if parts.method == Method::GET || parts.headers.contains_key("X-Agent-Key") {
        return Ok(());
    }
    let same_site = match (text("Sec-Fetch-Site"), text("Origin")) {
        (Some(site), _) => site == "same-origin" || site == "none",
        (None, Some(origin)) => origin.split_once("://").map(|(_, authority)| authority) == host(parts),
        (None, None) => true,
    };
    if same_site {
        Ok(())
    } else {
        Err(ApiError::new(Code::CrossSiteRequest, "commands from another site are refused"))
    }
}

/// The host and port that the client asked for: a header in HTTP/1, part of the URI in HTTP/2.
pub(super) fn host(parts: &Parts) -> Option<&str> {
    let header = parts.headers.get(header::HOST).and_then(|it| it.to_str().ok());
    header.or_else(|| parts.uri.authority().map(|it| it.as_str()))
}

fn is_loopback(host: &str) -> bool {
    let name = match host.strip_prefix('[') {
        Some(bracketed) => bracketed.split(']').next().unwrap_or_default(),
        None => host.split(':').next().unwrap_or_default(),
    };
    name.eq_ignore_ascii_case("localhost") || name.parse::<IpAddr>().is_ok_and(|it| it.is_loopback())
}

#[cfg(test)]
mod tests {
    use axum::http::Request;

    use super::*;

    fn parts(headers: &[(&str, &str)]) -> Parts {
        let mut request = Request::builder().method("POST").uri("/api/workspace.create");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        request.body(()).expect("a request").into_parts().0
    }

    #[test]
    fn the_cookie_is_secure_except_on_loopback() {
        for host in ["localhost:3001", "127.0.0.1", "127.9.9.9:80", "[::1]:3001"] {
            assert!(!set(&parts(&[("host", host)]), "ab", 9).to_str().expect("text").contains("Secure"), "{host}");
        }
        for host in ["muster.example", "10.0.0.1:3001", "localhost.example"] {
            let cookie = set(&parts(&[("host", host)]), "ab", 9);
            assert_eq!(cookie, "__session=ab; Path=/; HttpOnly; SameSite=Strict; Max-Age=9; Secure", "{host}");
        }
    }

    #[test]
    fn commands_come_from_the_same_origin_or_from_no_browser() {
        let host = ("host", "muster.example");
        for fine in [
            parts(&[host]),
            parts(&[host, ("origin", "https://muster.example")]),
            parts(&[host, ("sec-fetch-site", "same-origin"), ("origin", "https://muster.example")]),
            parts(&[host, ("sec-fetch-site", "none")]),
        ] {
            assert!(check_same_origin(&fine).is_ok(), "{:?}", fine.headers);
        }
        for refused in [
            parts(&[host, ("origin", "https://evil.example")]),
            parts(&[host, ("origin", "null")]),
            parts(&[host, ("origin", "https://muster.example:8443")]),
            parts(&[host, ("sec-fetch-site", "cross-site")]),
            parts(&[host, ("sec-fetch-site", "same-site"), ("origin", "https://www.muster.example")]),
        ] {
            assert!(check_same_origin(&refused).is_err(), "{:?}", refused.headers);
        }
    }
}
