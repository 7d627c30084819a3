//! Small constructors that keep the tests of this crate short.

use chrono::{DateTime, TimeDelta, Utc};
use cqrs_es::test::{AggregateTestExecutor, TestFramework};
use uuid::Uuid;

use crate::{Entity, Slug};

pub(crate) fn id<T: From<Uuid>>(number: u128) -> T {
    Uuid::from_u128(number).into()
}

/// A moment that is so many minutes after the first.
pub(crate) fn at(minute: i64) -> DateTime<Utc> {
    DateTime::UNIX_EPOCH + TimeDelta::minutes(minute)
}

pub(crate) fn slug(text: &str) -> Slug {
    Slug::parse(text).expect("a slug")
}

pub(crate) fn given<A: Entity>(history: impl Into<Vec<A::Event>>) -> AggregateTestExecutor<A> {
    TestFramework::with(()).given(history.into())
}

/// The state after a history.
pub(crate) fn after<A: Entity>(history: impl Into<Vec<A::Event>>) -> A {
    let mut state = A::default();
    for event in history.into() {
        state.apply(event);
    }
    state
}
