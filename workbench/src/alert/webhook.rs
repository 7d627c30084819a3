//! A POST to an address that a person chose.
//!
//! The address is somebody's input and we are inside the operator's network, so where it may lead is decided here:
//! `https` anywhere public; plain `http` only to loopback written as such; addresses of private networks, link-local
//! ones (where clouds keep credentials) and names that resolve to them never, unless [`Reach::Anywhere`] is set.
//! A node that serves strangers should set [`Reach::Public`], which takes loopback out as well. What a name resolves
//! to is judged at the moment of connecting, so that it cannot change in between. There are no redirects, and no proxy,
//! which would connect in our place.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use reqwest::Url;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::header::CONTENT_TYPE;
use serde_json::Value;

use super::AlertError;

/// How far webhooks may reach.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Reach {
    /// Public addresses by `https`.
    Public,
    /// Those, and `localhost` or a loopback address written out.
    #[default]
    PublicAndLoopback,
    /// Everything, also by plain `http`.
    Anywhere,
}

/// Sends webhooks.
#[derive(Debug, Clone)]
pub struct Webhooks {
    http: reqwest::Client,
    reach: Reach,
}

impl Webhooks {
    /// Gets ready to send; sends nothing yet.
    pub fn new(reach: Reach, timeout: Duration) -> Result<Self, AlertError> {
        crate::tls::install();
        let http = reqwest::Client::builder()
            .user_agent(concat!("muster/", env!("CARGO_PKG_VERSION")))
            .timeout(timeout)
            .redirect(reqwest::redirect::Policy::none())
            .no_proxy()
            .dns_resolver(Arc::new(Judging(reach)))
            .build()
            .map_err(|error| AlertError::BadSettings(error.to_string()))?;
        Ok(Self { http, reach })
    }

    /// Posts a JSON document. Sent twice if called twice: the receiver knows it by what is in it.
    pub async fn send(&self, url: &str, document: &Value) -> Result<(), AlertError> {
        let url = self.check(url)?;
        let request = self.http.post(url).header(CONTENT_TYPE, "application/json").body(document.to_string());
        // The answer's body is nothing to us, and is never read.
        let answer = request.send().await.map_err(|error| AlertError::Unreachable(why(&error)))?;
        if answer.status().is_success() { Ok(()) } else { Err(AlertError::Refused(answer.status().as_u16())) }
    }

    fn check(&self, given: &str) -> Result<Url, AlertError> {
        let url = Url::parse(given).map_err(|_| AlertError::NotAllowed("not an address"))?;
        let host = url.host_str().unwrap_or_default();
        let literal: Option<IpAddr> = host.trim_start_matches('[').trim_end_matches(']').parse().ok();
        let loopback = host == "localhost" || literal.is_some_and(|it| it.is_loopback());
        match (url.scheme(), self.reach) {
            ("http" | "https", Reach::Anywhere) => return Ok(url),
            ("http" | "https", Reach::PublicAndLoopback) if loopback => return Ok(url),
            ("https", _) => {}
            ("http", _) => return Err(AlertError::NotAllowed("plain http")),
            _ => return Err(AlertError::NotAllowed("neither http nor https")),
        }
        if loopback || literal.is_some_and(|it| !is_public(it)) {
            return Err(AlertError::NotAllowed("an address of a private network"));
        }
        Ok(url)
    }
}

/// Why nobody answered, without a word of where they were looked for: other errors name hosts and addresses.
fn why(error: &reqwest::Error) -> String {
    let mut causes = std::iter::successors(std::error::Error::source(error), |it| it.source());
    if error.is_timeout() {
        return "not in time".to_owned();
    }
    let known = causes.find_map(|cause| {
        let out_of_reach = cause.downcast_ref::<OutOfReach>().map(ToString::to_string);
        out_of_reach.or_else(|| cause.downcast_ref::<std::io::Error>().map(|it| it.kind().to_string()))
    });
    known.unwrap_or_else(|| "the connection failed".to_owned())
}

/// A name that leads nowhere we may go.
#[derive(Debug, thiserror::Error)]
#[error("the name leads to no address that is allowed")]
struct OutOfReach;

/// Resolves names, and forgets what they may not lead to.
#[derive(Debug)]
struct Judging(Reach);

impl Resolve for Judging {
    fn resolve(&self, name: Name) -> Resolving {
        let (reach, host) = (self.0, name.as_str().to_owned());
        Box::pin(async move {
            let found: Vec<SocketAddr> = tokio::net::lookup_host((host.as_str(), 0)).await?.collect();
            let allowed = |it: &SocketAddr| match reach {
                Reach::Anywhere => true,
                Reach::PublicAndLoopback if host == "localhost" => it.ip().is_loopback(),
                Reach::Public | Reach::PublicAndLoopback => is_public(it.ip()),
            };
            let kept: Vec<SocketAddr> = found.into_iter().filter(allowed).collect();
            if kept.is_empty() {
                return Err(OutOfReach.into());
            }
            Ok(Box::new(kept.into_iter()) as Addrs)
        })
    }
}

fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(it) => is_public_v4(it),
        IpAddr::V6(it) => match embedded_v4(it) {
            Some(inner) => is_public_v4(inner),
            None => is_public_v6(it),
        },
    }
}

fn is_public_v4(it: Ipv4Addr) -> bool {
    let [a, b, c, _] = it.octets();
    let shared = a == 100 && (64..128).contains(&b);
    let benchmarks = a == 198 && (b == 18 || b == 19);
    let assignments = a == 192 && b == 0 && c == 0;
    !(it.is_private()
        || it.is_loopback()
        || it.is_link_local()
        || it.is_multicast()
        || it.is_documentation()
        || shared
        || benchmarks
        || assignments
        || a == 0
        || a >= 240)
}

fn is_public_v6(it: Ipv6Addr) -> bool {
    let first = it.segments()[0];
    // Global unicast, less what is set aside in it for documentation.
    (0x2000..0x4000).contains(&first) && !(first == 0x2001 && it.segments()[1] == 0xdb8)
}

/// IPv4 in another dress: mapped, translated (64:ff9b::), or tunnelled by 6to4.
fn embedded_v4(it: Ipv6Addr) -> Option<Ipv4Addr> {
    let parts = it.segments();
    let from = |high: u16, low: u16| Ipv4Addr::from((u32::from(high) << 16) | u32::from(low));
    match parts {
        [0, 0, 0, 0, 0, 0xffff, high, low] | [0x64, 0xff9b, _, _, _, _, high, low] => Some(from(high, low)),
        [0x2002, high, low, ..] => Some(from(high, low)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
    use super::*;

    fn allowed(reach: Reach, url: &str) -> bool {
        Webhooks::new(reach, Duration::from_secs(1)).unwrap().check(url).is_ok()
    }

    #[test]
    fn an_address_leads_to_the_public_or_to_loopback_unless_more_is_allowed() {
        let private = [
            "https://10.0.0.1/",
            "https://192.168.1.1/",
            "https://172.16.0.1",
            "https://169.254.169.254/latest",
            "https://100.64.0.1",
            "https://0.0.0.0",
            "https://[::ffff:10.0.0.1]/",
            "https://[fd00::1]/",
            "https://[fe80::1]/",
            "https://[64:ff9b::a00:1]/",
            "https://[2002:a00:1::]/",
            "https://0x0a000001/",
            "https://3232235777/",
            "http://example.com/",
        ];
        for url in private {
            assert!(!allowed(Reach::PublicAndLoopback, url), "{url}");
            assert!(allowed(Reach::Anywhere, url), "{url}");
        }
        for url in ["http://127.0.0.1:9/", "http://localhost/x", "http://[::1]/", "https://2130706433/"] {
            assert!(allowed(Reach::PublicAndLoopback, url), "{url}");
            assert!(!allowed(Reach::Public, url), "{url}");
        }
        for url in ["https://example.com/hook", "https://93.184.216.34/", "https://[2606:2800:220:1::1]/"] {
            assert!(allowed(Reach::Public, url), "{url}");
        }
        for url in ["file:///etc/passwd", "ftp://example.com", "nonsense", "gopher://127.0.0.1"] {
            assert!(!allowed(Reach::Anywhere, url), "{url}");
        }
    }
}
