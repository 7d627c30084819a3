//! Rate limits: so many requests a minute for each person, each agent, and each address that nobody is signed in at;
//! and so many a second for each address that sends webhooks without a good signature.

use std::net::IpAddr;
use std::num::NonZeroU32;

use axum::http::{HeaderMap, HeaderValue};
use governor::clock::{Clock, DefaultClock};
use governor::middleware::StateInformationMiddleware;
use governor::state::keyed::DefaultKeyedStateStore;
use governor::{DefaultKeyedRateLimiter, RateLimiter};
use uuid::Uuid;

use crate::auth::Caller;
use crate::error::ApiError;

/// When more keys than this are kept, those that have their whole quota back are dropped.
const SWEEP_AT: usize = 10_000;

/// Requests a minute; `None` is no limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// For a person.
    pub owner: Option<NonZeroU32>,
    /// For an agent.
    pub agent: Option<NonZeroU32>,
    /// For an address, without credentials or with wrong ones.
    pub address: Option<NonZeroU32>,
    /// For an address whose webhooks are not signed well; this one counts a second, not a minute.
    pub webhook: Option<NonZeroU32>,
}

/// The document's limits; it has none for addresses, so they get what a person gets.
impl Default for Limits {
    fn default() -> Self {
        let (owner, agent, address) = (NonZeroU32::new(100), NonZeroU32::new(60), NonZeroU32::new(100));
        Self { owner, agent, address, webhook: NonZeroU32::new(10) }
    }
}

impl Limits {
    /// No limits at all.
    pub const OFF: Self = Self { owner: None, agent: None, address: None, webhook: None };

    /// Reads `off`, or numbers such as `owner=100,agent=60,address=off`; what is not named keeps its default.
    pub fn parse(text: &str) -> Result<Self, String> {
        if text.trim().eq_ignore_ascii_case("off") {
            return Ok(Self::OFF);
        }
        let mut limits = Self::default();
        for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            let (name, value) =
                part.split_once('=').ok_or_else(|| format!("{part:?} is not of the form name=number"))?;
            let limit = match value.trim() {
                "off" => None,
                number => Some(number.parse().map_err(|_| format!("{number:?} is neither a number above 0 nor off"))?),
            };
            match name.trim() {
                "owner" => limits.owner = limit,
                "agent" => limits.agent = limit,
                "address" => limits.address = limit,
                "webhook" => limits.webhook = limit,
                other => return Err(format!("{other:?} is none of owner, agent, address, webhook")),
            }
        }
        Ok(limits)
    }
}

/// Counts requests.
pub(crate) struct Limiter {
    owners: Option<Bucket<Uuid>>,
    agents: Option<Bucket<Uuid>>,
    addresses: Option<Bucket<IpAddr>>,
    unsigned_webhooks: Option<Bucket<IpAddr>>,
}

struct Bucket<K: std::hash::Hash + Eq + Clone> {
    limit: NonZeroU32,
    state: RateLimiter<K, DefaultKeyedStateStore<K>, DefaultClock, StateInformationMiddleware>,
}

/// What is left of a quota after this request.
pub(crate) enum Quota {
    /// There is no limit.
    Unlimited,
    /// The request may be answered.
    Left { limit: u32, remaining: u32 },
    /// It may not.
    Spent { limit: u32, retry_after_seconds: u64 },
}

impl Limiter {
    pub(crate) fn new(limits: Limits) -> Self {
        Self {
            owners: limits.owner.map(Bucket::per_minute),
            agents: limits.agent.map(Bucket::per_minute),
            addresses: limits.address.map(Bucket::per_minute),
            unsigned_webhooks: limits.webhook.map(Bucket::per_second),
        }
    }

    pub(crate) fn of_caller(&self, caller: &Caller) -> Quota {
        let (bucket, key) = match caller {
            Caller::Owner(it) => (&self.owners, it.user_id.0),
            Caller::Agent(it) => (&self.agents, it.agent_id.0),
        };
        bucket.as_ref().map_or(Quota::Unlimited, |bucket| bucket.take(&key))
    }

    pub(crate) fn of_address(&self, address: IpAddr) -> Quota {
        self.addresses.as_ref().map_or(Quota::Unlimited, |bucket| bucket.take(&address))
    }

    /// Only for those that fail the signature: what is signed is never refused.
    pub(crate) fn of_unsigned_webhook(&self, address: IpAddr) -> Quota {
        self.unsigned_webhooks.as_ref().map_or(Quota::Unlimited, |bucket| bucket.take(&address))
    }
}

impl<K: std::hash::Hash + Eq + Clone> Bucket<K> {
    fn per_minute(limit: NonZeroU32) -> Self {
        Self::new(limit, governor::Quota::per_minute(limit))
    }

    fn per_second(limit: NonZeroU32) -> Self {
        Self::new(limit, governor::Quota::per_second(limit))
    }

    fn new(limit: NonZeroU32, quota: governor::Quota) -> Self {
        Self { limit, state: DefaultKeyedRateLimiter::keyed(quota).with_middleware() }
    }

    fn take(&self, key: &K) -> Quota {
        if self.state.len() > SWEEP_AT {
            self.state.retain_recent();
        }
        let limit = self.limit.get();
        match self.state.check_key(key) {
            Ok(state) => Quota::Left { limit, remaining: state.remaining_burst_capacity() },
            Err(until) => {
                let wait = until.wait_time_from(DefaultClock::default().now());
                Quota::Spent { limit, retry_after_seconds: wait.as_secs() + 1 }
            }
        }
    }
}

impl Quota {
    /// The answer to a request that may not be answered.
    pub(crate) fn refusal(&self) -> Option<ApiError> {
        match self {
            Self::Spent { retry_after_seconds, .. } => Some(ApiError::rate_limited(*retry_after_seconds)),
            Self::Unlimited | Self::Left { .. } => None,
        }
    }

    /// Says in the answer what is left, and in how many seconds all of it is back.
    pub(crate) fn show(&self, headers: &mut HeaderMap) {
        let (limit, remaining) = match self {
            Self::Unlimited => return,
            Self::Left { limit, remaining } => (*limit, *remaining),
            Self::Spent { limit, .. } => (*limit, 0),
        };
        let reset = (u64::from(limit - remaining.min(limit)) * 60).div_ceil(u64::from(limit));
        headers.insert("RateLimit-Limit", HeaderValue::from(limit));
        headers.insert("RateLimit-Remaining", HeaderValue::from(remaining));
        headers.insert("RateLimit-Reset", HeaderValue::from(reset));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_off_or_named_numbers() {
        assert_eq!(Limits::parse("off"), Ok(Limits::OFF));
        assert_eq!(Limits::parse(""), Ok(Limits::default()));
        let some = Limits { agent: NonZeroU32::new(7), address: None, ..Limits::default() };
        assert_eq!(Limits::parse("agent=7, address=off"), Ok(some));
    }

    #[test]
    fn a_wrong_limit_is_named() {
        for (text, named) in [("agent=0", "0"), ("agent", "agent"), ("boss=1", "boss"), ("owner=-1", "-1")] {
            assert!(Limits::parse(text).is_err_and(|it| it.contains(named)), "{text}");
        }
    }

    #[test]
    fn each_address_has_its_own_quota_and_no_more() {
        let limiter = Limiter::new(Limits { address: NonZeroU32::new(2), ..Limits::OFF });
        let (one, two) = (IpAddr::from([10, 0, 0, 1]), IpAddr::from([10, 0, 0, 2]));
        assert!(matches!(limiter.of_address(one), Quota::Left { limit: 2, remaining: 1 }));
        assert!(matches!(limiter.of_address(one), Quota::Left { limit: 2, remaining: 0 }));
        assert!(matches!(limiter.of_address(one), Quota::Spent { limit: 2, .. }));
        assert!(matches!(limiter.of_address(two), Quota::Left { .. }));
    }
}
