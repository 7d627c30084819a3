//! A POST to an address that a person chose.
//!
//! The address is somebody's input and we are inside the operator's network, so where it may lead is decided here:
//! `https` to what is public; this machine only by [`Reach::PublicAndLoopback`], if it is written as such; addresses of
//! private networks, link-local ones (where clouds keep credentials) and names that resolve to them only by
//! [`Reach::Anywhere`]. What a name resolves to is judged at the moment of connecting, and only what passed is connected
//! to, so that it cannot change in between. There are no redirects, and no proxy, which would connect in our place.

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
    #[default]
    Public,
    /// Those, and `localhost` or a loopback address written out.
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
        let url = self.reach.judge(url).map_err(AlertError::NotAllowed)?;
        self.post(url, document).await
    }

    async fn post(&self, url: Url, document: &Value) -> Result<(), AlertError> {
        let request = self.http.post(url).header(CONTENT_TYPE, "application/json").body(document.to_string());
        // The answer's body is nothing to us, and is never read.
        let answer = request.send().await.map_err(|error| untold(&error))?;
        if answer.status().is_success() { Ok(()) } else { Err(AlertError::Refused(answer.status().as_u16())) }
    }
}

impl Reach {
    /// The rule by which nothing is ever sent to an address; none if that depends on what its name leads to, or on
    /// nothing more.
    pub fn refusal(self, address: &str) -> Option<&'static str> {
        self.judge(address).err()
    }

    fn judge(self, given: &str) -> Result<Url, &'static str> {
        let url = Url::parse(given).map_err(|_| "not an address")?;
        let host = url.host_str().unwrap_or_default();
        let literal: Option<IpAddr> = host.trim_start_matches('[').trim_end_matches(']').parse().ok();
        let loopback = host == "localhost" || literal.is_some_and(|it| it.is_loopback());
        match (url.scheme(), self) {
            ("http" | "https", Self::Anywhere) => return Ok(url),
            ("http" | "https", Self::PublicAndLoopback) if loopback => return Ok(url),
            ("https", _) => {}
            ("http", _) => return Err("plain http"),
            _ => return Err("neither http nor https"),
        }
        if loopback || literal.is_some_and(|it| !is_public(it)) {
            return Err("an address of a private network, or of this machine");
        }
        Ok(url)
    }
}

/// Why nobody was told, without a word of where they were looked for: other errors name hosts and addresses.
fn untold(error: &reqwest::Error) -> AlertError {
    let causes = || std::iter::successors(std::error::Error::source(error), |it| it.source());
    if causes().any(|it| it.is::<OutOfReach>()) {
        return AlertError::NotAllowed("a name that leads to no public address");
    }
    if error.is_timeout() {
        return AlertError::Unreachable("not in time".to_owned());
    }
    let known = causes().find_map(|it| it.downcast_ref::<std::io::Error>().map(|it| it.kind().to_string()));
    AlertError::Unreachable(known.unwrap_or_else(|| "the connection failed".to_owned()))
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
    let relays = a == 192 && b == 88 && c == 99;
    !(it.is_private()
        || it.is_loopback()
        || it.is_link_local()
        || it.is_multicast()
        || it.is_documentation()
        || shared
        || benchmarks
        || assignments
        || relays
        || a == 0
        || a >= 240)
}

fn is_public_v6(it: Ipv6Addr) -> bool {
    let [first, second, ..] = it.segments();
    // Global unicast, less what is set aside in it: for protocols (tunnels, benchmarks) and for documentation.
    let protocols = first == 0x2001 && second < 0x200;
    let documentation = (first == 0x2001 && second == 0xdb8) || (first == 0x3fff && second < 0x1000);
    (0x2000..0x4000).contains(&first) && !protocols && !documentation
}

/// IPv4 in another dress: mapped, translated (64:ff9b::/96), or tunnelled by 6to4.
fn embedded_v4(it: Ipv6Addr) -> Option<Ipv4Addr> {
    let parts = it.segments();
    let from = |high: u16, low: u16| Ipv4Addr::from((u32::from(high) << 16) | u32::from(low));
    match parts {
        [0, 0, 0, 0, 0, 0xffff, high, low] | [0x64, 0xff9b, 0, 0, 0, 0, high, low] => Some(from(high, low)),
        [0x2002, high, low, ..] => Some(from(high, low)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
    use super::*;

    fn allowed(reach: Reach, url: &str) -> bool {
        reach.refusal(url).is_none()
    }

    #[test]
    fn an_address_leads_to_the_public_unless_more_is_allowed() {
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
            "https://[64:ff9b:1::808:808]/",
            "https://[2001::1]/",
            "https://[::7f00:1]/",
            "https://192.88.99.1/",
            "https://0x0a000001/",
            "https://3232235777/",
            "http://example.com/",
        ];
        for url in private {
            assert!(!allowed(Reach::Public, url) && !allowed(Reach::PublicAndLoopback, url), "{url}");
            assert!(allowed(Reach::Anywhere, url), "{url}");
        }
        for url in ["http://127.0.0.1:9/", "http://localhost/x", "http://[::1]/", "https://2130706433/"] {
            assert!(allowed(Reach::PublicAndLoopback, url), "{url}");
            assert!(!allowed(Reach::default(), url), "{url}");
        }
        for url in ["https://example.com/hook", "https://93.184.216.34/", "https://[2606:2800:220:1::1]/"] {
            assert!(allowed(Reach::Public, url), "{url}");
        }
        for url in ["file:///etc/passwd", "ftp://example.com", "nonsense", "gopher://127.0.0.1"] {
            assert!(!allowed(Reach::Anywhere, url), "{url}");
        }
    }
    #[tokio::test]
    async fn a_name_is_judged_by_what_it_leads_to() {
        let named = Url::parse("https://localhost:1/").unwrap();
        let answered = async |reach: Reach| {
            let webhooks = Webhooks::new(reach, Duration::from_secs(5)).unwrap();
            // As if nothing had been said of the name itself.
            webhooks.post(named.clone(), &Value::Null).await.unwrap_err()
        };
        assert!(matches!(answered(Reach::Public).await, AlertError::NotAllowed(_)));
        assert!(matches!(answered(Reach::PublicAndLoopback).await, AlertError::Unreachable(_)));
    }
}
