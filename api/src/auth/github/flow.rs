//! One sign-in on its way through GitHub: what the browser keeps of it, and what only this server can make of that.
//!
//! The browser keeps a random number, when the flow ends, and where it leads. `state` and the PKCE verifier are keyed
//! hashes of just that, so any node can check the answer, nobody else can make a flow or change one, and the verifier
//! is never seen before GitHub gets it. That a flow is used once is remembered in the log's database.

use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue};
use axum_extra::extract::CookieJar;
use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD as BASE64;
use chrono::{DateTime, Duration, Utc};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use super::super::{Secrets, cookie, keys};

const NAME: &str = "__github";
/// How long a person may take on GitHub's pages.
pub(super) const MINUTES: i64 = 10;

/// A sign-in that has begun, as the browser keeps it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Flow(String);

impl Flow {
    /// A new one that leads to a path of this site.
    pub(super) fn begin(now: DateTime<Utc>, return_to: &str) -> Self {
        let ends = (now + Duration::minutes(MINUTES)).timestamp();
        Self(format!("{}.{ends}.{}", keys::new_token(), BASE64.encode(return_to)))
    }

    /// The one that a browser brings back.
    pub(super) fn of(headers: &HeaderMap) -> Option<Self> {
        CookieJar::from_headers(headers).get(NAME).map(|it| Self(it.value().to_owned()))
    }

    /// What GitHub hands back with its answer.
    pub(super) fn state(&self, secrets: &Secrets) -> String {
        secrets.sign("github-state", &self.0)
    }

    /// What proves to GitHub that whoever began the flow ends it.
    pub(super) fn verifier(&self, secrets: &Secrets) -> String {
        secrets.sign("github-verifier", &self.0)
    }

    /// What GitHub is told of the verifier at first.
    pub(super) fn challenge(&self, secrets: &Secrets) -> String {
        BASE64.encode(Sha256::digest(self.verifier(secrets)))
    }

    /// Where the flow leads, if it is one of ours, the one that was answered, and not over. Takes as long for every
    /// wrong state.
    pub(super) fn leads_to(&self, secrets: &Secrets, state: &str, now: DateTime<Utc>) -> Option<String> {
        let ours = bool::from(self.state(secrets).as_bytes().ct_eq(state.as_bytes()));
        let mut parts = self.0.split('.').skip(1);
        let (ends, return_to) = (parts.next()?.parse::<i64>().ok()?, BASE64.decode(parts.next()?).ok()?);
        (ours && now.timestamp() < ends).then(|| String::from_utf8(return_to).ok())?
    }

    /// Lets the browser keep it. `Lax`, not `Strict`: the browser comes back by following a link of GitHub's.
    pub(super) fn set_cookie(&self, parts: &Parts) -> HeaderValue {
        kept(parts, &self.0, MINUTES * 60)
    }
}

/// Makes the browser forget its flow.
pub(super) fn clear_cookie(parts: &Parts) -> HeaderValue {
    kept(parts, "", 0)
}

fn kept(parts: &Parts, value: &str, seconds: i64) -> HeaderValue {
    let secure = cookie::secure(parts);
    let cookie = format!("{NAME}={value}; Path=/api/auth/github; HttpOnly; SameSite=Lax; Max-Age={seconds}{secure}");
    HeaderValue::from_str(&cookie).expect("digits, letters and dots")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noon() -> DateTime<Utc> {
        "2026-03-01T12:00:00Z".parse().expect("a time")
    }

    #[test]
    fn a_flow_leads_where_it_was_begun_for_while_it_lasts() {
        let (secrets, flow) = (Secrets::fixed(1), Flow::begin(noon(), "/a?b=c"));
        let state = flow.state(&secrets);
        let at = |seconds| flow.leads_to(&secrets, &state, noon() + Duration::seconds(seconds));
        assert_eq!(at(0).as_deref(), Some("/a?b=c"));
        assert_eq!(at(599).as_deref(), Some("/a?b=c"));
        assert_eq!(at(600), None);
    }

    #[test]
    fn no_other_flow_node_or_hand_gives_the_same_state() {
        let (secrets, flow) = (Secrets::fixed(1), Flow::begin(noon(), "/"));
        let state = flow.state(&secrets);
        assert_eq!(Flow::begin(noon(), "/").leads_to(&secrets, &state, noon()), None);
        assert_eq!(flow.leads_to(&Secrets::fixed(2), &state, noon()), None);
        assert_eq!(flow.leads_to(&secrets, &flow.verifier(&secrets), noon()), None);
        assert_eq!(flow.leads_to(&secrets, "", noon()), None);
        let longer = Flow(flow.0.replacen(".17", ".27", 1));
        assert_ne!(longer, flow);
        assert_eq!(longer.leads_to(&secrets, &state, noon()), None);
        for broken in ["", ".", "a.b.c", "a.9999999999.%"] {
            let broken = Flow(broken.to_owned());
            assert_eq!(broken.leads_to(&secrets, &broken.state(&secrets), noon()), None);
        }
    }

    #[test]
    fn the_challenge_is_the_hash_of_a_verifier_that_pkce_allows() {
        let (secrets, flow) = (Secrets::fixed(1), Flow::begin(noon(), "/"));
        let verifier = flow.verifier(&secrets);
        assert!((43..=128).contains(&verifier.len()) && verifier.bytes().all(|it| it.is_ascii_alphanumeric()));
        assert_eq!(flow.challenge(&secrets).len(), 43);
        assert!(!flow.0.contains(&verifier));
    }
}
