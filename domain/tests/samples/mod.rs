//! One event of every type, with every field filled in.

pub(crate) mod factory;
pub(crate) mod ground;
pub(crate) mod mail;
pub(crate) mod pull_request;
pub(crate) mod repository;
pub(crate) mod scorecard;
pub(crate) mod session;
pub(crate) mod task;
pub(crate) mod wiki;

use chrono::{DateTime, Utc};
use domain::{Settings, Slug};
use serde_json::json;
use uuid::Uuid;

pub(crate) fn id<T: From<Uuid>>(number: u128) -> T {
    Uuid::from_u128(number).into()
}

pub(crate) fn noon() -> DateTime<Utc> {
    "2026-01-02T12:00:00.123456Z".parse().unwrap()
}

pub(crate) fn slug(text: &str) -> Slug {
    Slug::parse(text).unwrap()
}

pub(crate) fn settings() -> Settings {
    json!({ "limits": { "tasks": 3 }, "theme": "dark" }).as_object().cloned().unwrap()
}

pub(crate) fn text(text: &str) -> String {
    text.to_owned()
}
