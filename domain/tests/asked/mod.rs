//! What may be asked of each aggregate, at random: few ids and few words, so that requests meet.

pub(crate) mod factory;
pub(crate) mod github;
pub(crate) mod ground;
pub(crate) mod mail;
pub(crate) mod scorecard;
pub(crate) mod session;
pub(crate) mod task;
pub(crate) mod wiki;

use chrono::{DateTime, TimeDelta, Utc};
use domain::agent::{AgentStatus, LiveAgent};
use domain::{AgentCode, AgentId, Slug};
use proptest::prelude::*;
use uuid::Uuid;

pub(crate) const NOW: DateTime<Utc> = DateTime::UNIX_EPOCH;

/// A moment that is so many minutes after the first.
pub(crate) fn at(minute: i64) -> DateTime<Utc> {
    NOW + TimeDelta::minutes(minute)
}

pub(crate) fn id<T: From<Uuid>>(number: u128) -> T {
    Uuid::from_u128(number).into()
}

pub(crate) fn user() -> impl Strategy<Value = domain::UserId> {
    prop_oneof![4 => Just(id(1)), 1 => Just(id(2))]
}

pub(crate) fn slug() -> impl Strategy<Value = Slug> {
    "[abc]".prop_map(|text| Slug::parse(text).expect("a slug"))
}

pub(crate) fn status() -> impl Strategy<Value = AgentStatus> {
    prop_oneof![
        Just(AgentStatus::Active),
        Just(AgentStatus::Probation),
        Just(AgentStatus::Inactive),
        Just(AgentStatus::Terminated),
    ]
}

/// An agent of project 20, of status active more often than not.
pub(crate) fn agent() -> impl Strategy<Value = LiveAgent> {
    (30..33_u128, prop_oneof![4 => Just(AgentStatus::Active), 1 => status()]).prop_map(|(number, status)| LiveAgent {
        agent_id: AgentId(id(number)),
        workspace_id: id(10),
        project_id: Some(id(20)),
        code: AgentCode::parse("dev-1").expect("an agent code"),
        name: "Dev One".to_owned(),
        role_title: "Developer".to_owned(),
        status,
        capabilities: vec![],
        settings: Default::default(),
        supervisor_agent_id: None,
        credential_id: id(40),
    })
}
