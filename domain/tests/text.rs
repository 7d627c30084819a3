//! Every string in every event is text or is not, and the event's entry in `event_kinds!` says which.
#![allow(clippy::unwrap_used, reason = "a test that cannot read its files has failed")]

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use chrono::{DateTime, Utc};
use domain::{EventKind, catalogue};
use serde_json::Value;
use uuid::Uuid;

#[test]
fn every_string_of_every_event_is_classified() {
    for kind in catalogue() {
        for path in strings_of(&kind) {
            let within_text = kind.text.iter().any(|it| path == *it || is_within(&path, it));
            assert!(
                within_text || kind.plain.contains(&path.as_str()),
                "{0} has a string in {path:?}, and nobody said whether it is text. In its `event_kinds!`, behind the \
                 meaning of {0}, name it in `{{ text[..] plain[..] }}`: text if a person or an agent writes it (a \
                 workspace may keep it under a key, and erase it), plain if it is a code, a slug or a word of the \
                 rules. What a rule, a claim or a count compares must be plain.",
                kind.event,
            );
        }
    }
}

#[test]
fn nothing_is_classified_that_is_not_there() {
    for kind in catalogue() {
        let there = paths_of(&kind);
        for path in kind.text.iter().chain(kind.plain) {
            // One of several forms need not be the one in the sample; the field around it is.
            let around = path.rsplit_once('.').map_or(*path, |(around, _)| around);
            assert!(there.contains(around), "{} has no field {path:?}", kind.event);
        }
        let both: Vec<_> = kind.text.iter().filter(|it| kind.plain.contains(it)).collect();
        assert!(both.is_empty(), "{} calls {both:?} both text and plain", kind.event);
    }
}

#[test]
fn an_erasure_says_nothing_that_could_be_erased() {
    for event in ["WorkspaceTextSealed", "WorkspaceTextErased", "UserDeleted"] {
        let kind = *domain::kind_of(event).unwrap();
        assert!(kind.text.is_empty() && strings_of(&kind).is_empty(), "{event}");
    }
}

fn is_within(path: &str, object: &str) -> bool {
    path.strip_prefix(object).is_some_and(|rest| rest.starts_with('.'))
}

/// Where an event has strings that are neither ids nor times.
fn strings_of(kind: &EventKind) -> BTreeSet<String> {
    let is_said =
        |it: &Value| it.as_str().is_some_and(|it| Uuid::try_parse(it).is_err() && it.parse::<DateTime<Utc>>().is_err());
    found(kind, &is_said)
}

fn paths_of(kind: &EventKind) -> BTreeSet<String> {
    found(kind, &|_| true)
}

fn found(kind: &EventKind, wanted: &dyn Fn(&Value) -> bool) -> BTreeSet<String> {
    let mut paths = BTreeSet::new();
    collect(&golden(kind)[kind.event], "", wanted, &mut paths);
    paths
}

/// Collects dotted paths; the items of a list are at the path of the list.
fn collect(value: &Value, path: &str, wanted: &dyn Fn(&Value) -> bool, paths: &mut BTreeSet<String>) {
    if wanted(value) {
        paths.insert(path.to_owned());
    }
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                collect(value, &path, wanted, paths);
            }
        }
        Value::Array(items) => items.iter().for_each(|it| collect(it, path, wanted, paths)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn golden(kind: &EventKind) -> Value {
    let file = format!("tests/golden/{}/{}.v{}.json", kind.aggregate, kind.event, kind.version);
    let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(file)).unwrap();
    serde_json::from_str(&text).unwrap()
}
