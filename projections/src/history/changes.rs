//! What is different between two states, field by field.

use serde::Serialize;
use serde_json::{Map, Value};

/// A field that is not what it was. Lists say what came and went; everything else says what it was and is.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum FieldChange {
    /// One value took the place of another.
    Value {
        /// The field, with the fields that it is within: `metadata.team`.
        field: String,
        /// What it was; null for nothing.
        before: Value,
        /// What it is; null for nothing.
        after: Value,
    },
    /// A list has other members.
    List {
        /// The field, with the fields that it is within.
        field: String,
        /// What is new in it.
        added: Vec<Value>,
        /// What is no longer in it.
        removed: Vec<Value>,
    },
}

impl FieldChange {
    /// The field.
    pub fn field(&self) -> &str {
        match self {
            Self::Value { field, .. } | Self::List { field, .. } => field,
        }
    }
}

/// What is different, in the order of the fields. Nothing and null are the same.
pub fn changes_between(before: &Map<String, Value>, after: &Map<String, Value>) -> Vec<FieldChange> {
    let mut changes = Vec::new();
    compare_fields("", before, after, &mut changes);
    changes
}

fn compare_fields(
    within: &str,
    before: &Map<String, Value>,
    after: &Map<String, Value>,
    changes: &mut Vec<FieldChange>,
) {
    let gone = before.keys().filter(|it| !after.contains_key(*it));
    for name in after.keys().chain(gone) {
        let field = if within.is_empty() { name.clone() } else { format!("{within}.{name}") };
        let nothing = &Value::Null;
        compare(field, before.get(name).unwrap_or(nothing), after.get(name).unwrap_or(nothing), changes);
    }
}

fn compare(field: String, before: &Value, after: &Value, changes: &mut Vec<FieldChange>) {
    if before == after {
        return;
    }
    match (before, after) {
        (Value::Object(before), Value::Object(after)) => compare_fields(&field, before, after, changes),
        (Value::Array(was), Value::Array(is)) => {
            let (added, removed) = (without(is, was), without(was, is));
            if added.is_empty() && removed.is_empty() {
                // The same members in another order.
                changes.push(FieldChange::Value { field, before: before.clone(), after: after.clone() });
            } else {
                changes.push(FieldChange::List { field, added, removed });
            }
        }
        (Value::Null, Value::Array(is)) if is.is_empty() => {}
        (Value::Null, Value::Object(is)) if is.is_empty() => {}
        _ => changes.push(FieldChange::Value { field, before: before.clone(), after: after.clone() }),
    }
}

/// The members of one list that are not in the other, as often as they are not.
fn without(list: &[Value], other: &[Value]) -> Vec<Value> {
    let mut other: Vec<&Value> = other.iter().collect();
    let mut left = Vec::new();
    for member in list {
        match other.iter().position(|it| *it == member) {
            Some(found) => drop(other.swap_remove(found)),
            None => left.push(member.clone()),
        }
    }
    left
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn changes(before: Value, after: Value) -> Value {
        let (Value::Object(before), Value::Object(after)) = (before, after) else { panic!("two objects") };
        json!(changes_between(&before, &after))
    }

    #[test]
    fn only_what_is_different_is_told() {
        let told = changes(json!({ "name": "a", "same": 1 }), json!({ "name": "b", "same": 1 }));
        assert_eq!(told, json!([{ "field": "name", "before": "a", "after": "b" }]));
    }

    #[test]
    fn nothing_and_null_are_the_same() {
        assert_eq!(changes(json!({ "a": null }), json!({ "b": null, "list": [], "map": {} })), json!([]));
        assert_eq!(changes(json!({ "a": 1 }), json!({})), json!([{ "field": "a", "before": 1, "after": null }]));
    }

    #[test]
    fn fields_within_fields_are_compared_one_by_one() {
        let told = changes(json!({ "m": { "x": 1, "y": 2 } }), json!({ "m": { "x": 1, "y": 3 } }));
        assert_eq!(told, json!([{ "field": "m.y", "before": 2, "after": 3 }]));
    }

    #[test]
    fn lists_say_what_came_and_went() {
        let told = changes(json!({ "tags": ["a", "b", "b"] }), json!({ "tags": ["b", "c"] }));
        assert_eq!(told, json!([{ "field": "tags", "added": ["c"], "removed": ["a", "b"] }]));
        let turned = changes(json!({ "tags": ["a", "b"] }), json!({ "tags": ["b", "a"] }));
        assert_eq!(turned, json!([{ "field": "tags", "before": ["a", "b"], "after": ["b", "a"] }]));
    }
}
