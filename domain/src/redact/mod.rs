//! Secrets are taken out of what agents do before it is recorded: the log keeps everything for ever.
//!
//! What is known to be a secret by its form goes ([`text`]), and so does whatever stands under a name that only
//! secrets have ([`json`]). It is a net, not a proof: a secret that looks like any other word passes.

mod headers;
mod patterns;
mod urls;

use serde_json::Value;

use crate::plain_text::{self, shortened};

/// What stands where a secret was.
pub const REDACTED: &str = "[redacted]";

/// The longest string within a recorded value, in characters.
const LONGEST_STRING: usize = 4_000;
/// The largest recorded value, in bytes of JSON.
const LARGEST_VALUE: usize = 16_384;
/// How deep a recorded value may be nested.
const DEEPEST: usize = 32;

/// A text without the secrets that its forms give away.
pub fn text(text: &str) -> String {
    patterns::replace_all(text)
}

/// A text of several lines with nothing in it but text, without secrets, and not too long.
///
/// In this order: an escape sequence could hide a secret, and a cut could leave half of one.
pub fn lines(written: &str, most: usize) -> String {
    shortened(&text(&plain_text::lines(written, usize::MAX)), most)
}

/// The same on one line.
pub fn line(written: &str, most: usize) -> String {
    shortened(&text(&plain_text::line(written, usize::MAX)), most)
}

/// What people and agents say to each other: as [`lines`], without what is a secret by its own form. Names alone prove
/// nothing there, because talk about code is full of them.
pub fn spoken_lines(written: &str, most: usize) -> String {
    shortened(&spoken(&plain_text::lines(written, usize::MAX)), most)
}

/// The same on one line.
pub fn spoken_line(written: &str, most: usize) -> String {
    shortened(&spoken(&plain_text::line(written, usize::MAX)), most)
}

/// What people and agents say, without what is a secret by its own form.
pub fn spoken(text: &str) -> String {
    patterns::replace_unmistakable(text)
}

/// Whether nothing in a value is hidden: every text stays as it is, and none stands under the name of a secret.
pub fn leaves_all(value: &Value, without_secrets: fn(&str) -> String) -> bool {
    match value {
        Value::String(it) => without_secrets(it) == *it,
        Value::Array(items) => items.iter().all(|it| leaves_all(it, without_secrets)),
        Value::Object(fields) => fields.iter().all(|(name, it)| {
            without_secrets(name) == *name && !is_named_a_secret(name, it) && leaves_all(it, without_secrets)
        }),
        Value::Null | Value::Bool(_) | Value::Number(_) => true,
    }
}

/// A value without secrets: neither in its strings nor under names like `password`, at any depth.
pub fn json(value: Value) -> Value {
    clean(value, 0)
}

/// The same, and no larger than a record should be: one that is says how large it was and how it began.
pub fn record(value: Value) -> Value {
    let clean = json(value);
    let written = clean.to_string();
    if written.len() <= LARGEST_VALUE {
        return clean;
    }
    serde_json::json!({ "shortened": true, "bytes": written.len(), "start": shortened(&written, LONGEST_STRING) })
}

fn clean(value: Value, depth: usize) -> Value {
    match value {
        Value::String(it) => Value::String(shortened(&text(&it), LONGEST_STRING)),
        Value::Array(_) | Value::Object(_) if depth >= DEEPEST => Value::String("[too deep]".to_owned()),
        Value::Array(items) => items.into_iter().map(|it| clean(it, depth + 1)).collect(),
        Value::Object(fields) => {
            let field = |(name, value): (String, Value)| {
                let value = if is_named_a_secret(&name, &value) { hidden(value) } else { clean(value, depth + 1) };
                (text(&name), value)
            };
            Value::Object(fields.into_iter().map(field).collect())
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => value,
    }
}

fn is_named_a_secret(name: &str, value: &Value) -> bool {
    patterns::names_a_secret(name) || (value.is_string() && patterns::may_name_a_secret(name))
}

/// What stands under the name of a secret. That there is none is no secret.
fn hidden(value: Value) -> Value {
    match value {
        Value::Null | Value::Bool(_) => value,
        Value::Number(_) | Value::String(_) | Value::Array(_) | Value::Object(_) => Value::String(REDACTED.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_stands_under_the_name_of_a_secret_is_gone_at_any_depth() {
        let given =
            json!({ "env": [{ "API_KEY": "x", "user": "ada", "tokens": 3 }], "password": { "a": 1 }, "secret": null });
        let left = json!({
            "env": [{ "API_KEY": REDACTED, "user": "ada", "tokens": 3 }], "password": REDACTED, "secret": null,
        });
        assert_eq!(super::json(given), left);
        let given = json!({ "dbPass": "hunter2", "tests": { "pass": 12, "fail": 0 }, "MYSQL_PWD": 1234 });
        let left = json!({ "dbPass": REDACTED, "tests": { "pass": 12, "fail": 0 }, "MYSQL_PWD": REDACTED });
        assert_eq!(super::json(given), left);
    }

    #[test]
    fn secrets_in_strings_and_in_names_are_gone() {
        let key = format!("ghp_{}", "a1".repeat(18));
        let left = super::json(json!({ "body": [format!("use {key} please")], key.clone(): 1 }));
        assert!(!left.to_string().contains("ghp_a1"), "{left}");
        assert_eq!(left["body"][0], "use [redacted] please");
    }

    #[test]
    fn no_escape_sequence_hides_a_secret_and_no_cut_leaves_half_of_one() {
        assert_eq!(line("pass\u{1b}[0mword=hunter2", 100), "password=[redacted]");
        assert!(!lines(&format!("{} ghp_{}", "x".repeat(20), "a1".repeat(18)), 40).contains("ghp_a"));
    }

    #[test]
    fn a_record_is_small_and_says_when_it_was_not() {
        let large = record(json!(vec!["abcdefgh"; 10_000]));
        assert_eq!((large["shortened"].as_bool(), large.to_string().len() < LARGEST_VALUE), (Some(true), true));
        assert_eq!(record(json!({ "diff": "+1" })), json!({ "diff": "+1" }));
        let long = record(json!({ "diff": "x".repeat(5_000) }));
        assert_eq!(long["diff"].as_str().map(|it| it.chars().count()), Some(LONGEST_STRING));
    }

    #[test]
    fn a_value_as_deep_as_a_well_ends() {
        let deep = (0..200).fold(json!(1), |within, _| json!([within]));
        assert!(super::json(deep).to_string().contains("[too deep]"));
    }
}
