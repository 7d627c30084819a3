//! Small constructors that keep the tests of this crate short.

use chrono::{DateTime, TimeDelta, Utc};
use cqrs_es::test::{AggregateTestExecutor, TestFramework};
use uuid::Uuid;

use crate::agent::{AgentStatus, LiveAgent};
use crate::{AgentCode, Entity, Slug};

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

/// Agent 30, which works in project 20 of workspace 10.
pub(crate) fn dev() -> LiveAgent {
    LiveAgent {
        agent_id: id(30),
        workspace_id: id(10),
        project_id: Some(id(20)),
        code: AgentCode::parse("dev-1").expect("an agent code"),
        name: "Dev One".to_owned(),
        role_title: "Backend developer".to_owned(),
        status: AgentStatus::Active,
        capabilities: vec!["rust".to_owned()],
        settings: Default::default(),
        supervisor_agent_id: None,
        credential_id: id(40),
    }
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
