//! Pulled updates: what is new for an agent that starts a session, and in which order.

use chrono::{DateTime, Utc};
use serde_json::Value;

use crate::session::AgentSnapshot;
use crate::task::Priority;

/// A change to an agent's role since it was last told.
#[derive(Clone, Debug, PartialEq)]
pub enum RoleChange {
    /// It can do more.
    CapabilitiesAdded(Vec<String>),
    /// It can do less.
    CapabilitiesRemoved(Vec<String>),
    /// A setting is another one.
    SettingChanged {
        /// Which setting.
        key: String,
        /// What it was; none when there was no such setting.
        old: Option<Value>,
        /// What it is; none when there is no such setting any more.
        new: Option<Value>,
    },
}

impl RoleChange {
    /// The field that changed, by its public name.
    pub fn field(&self) -> String {
        match self {
            Self::CapabilitiesAdded(_) | Self::CapabilitiesRemoved(_) => "capabilities".to_owned(),
            Self::SettingChanged { key, .. } => format!("settings.{key}"),
        }
    }

    /// How it changed, by its public name.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::CapabilitiesAdded(_) => "added",
            Self::CapabilitiesRemoved(_) => "removed",
            Self::SettingChanged { .. } => "changed",
        }
    }
}

/// What changed in an agent's role between what it was told last and now; nothing when it was never told.
///
/// It was told when its last session started, so that a change during that session comes with the next one.
pub fn role_changes(told: Option<&AgentSnapshot>, now: &AgentSnapshot) -> Vec<RoleChange> {
    let Some(told) = told else { return vec![] };
    let missing_in = |these: &[String], from: &[String]| -> Vec<String> {
        from.iter().filter(|it| !these.contains(it)).cloned().collect()
    };
    let mut changes = vec![];
    let added = missing_in(&told.capabilities, &now.capabilities);
    if !added.is_empty() {
        changes.push(RoleChange::CapabilitiesAdded(added));
    }
    let removed = missing_in(&now.capabilities, &told.capabilities);
    if !removed.is_empty() {
        changes.push(RoleChange::CapabilitiesRemoved(removed));
    }
    let gone = told.settings.keys().filter(|key| !now.settings.contains_key(*key));
    for key in now.settings.keys().chain(gone) {
        let (old, new) = (told.settings.get(key), now.settings.get(key));
        if old != new {
            changes.push(RoleChange::SettingChanged { key: key.clone(), old: old.cloned(), new: new.cloned() });
        }
    }
    changes
}

/// Sorts tasks as an agent should take them: by priority, then by deadline, those without one last.
pub fn task_order(priority: Priority, deadline: Option<DateTime<Utc>>) -> impl Ord + Copy {
    (priority, deadline.is_none(), deadline)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::examples::at;

    fn role(capabilities: &[&str], settings: Value) -> AgentSnapshot {
        AgentSnapshot {
            capabilities: capabilities.iter().map(|&it| it.to_owned()).collect(),
            settings: settings.as_object().cloned().expect("an object"),
        }
    }

    #[test]
    fn who_was_never_told_has_nothing_to_compare() {
        assert_eq!(role_changes(None, &role(&["rust"], json!({}))), []);
    }

    #[test]
    fn the_same_role_is_no_change_in_whatever_order() {
        let told = role(&["rust", "sql"], json!({ "a": { "b": [1] } }));
        assert_eq!(role_changes(Some(&told), &role(&["sql", "rust"], json!({ "a": { "b": [1] } }))), []);
    }

    #[test]
    fn capabilities_are_added_and_removed() {
        let changes = role_changes(Some(&role(&["rust", "sql"], json!({}))), &role(&["sql", "go", "css"], json!({})));
        let added = RoleChange::CapabilitiesAdded(vec!["go".to_owned(), "css".to_owned()]);
        let removed = RoleChange::CapabilitiesRemoved(vec!["rust".to_owned()]);
        assert_eq!(changes, [added, removed]);
        let named: Vec<_> = changes.iter().map(|it| (it.field(), it.kind())).collect();
        assert_eq!(named, [("capabilities".to_owned(), "added"), ("capabilities".to_owned(), "removed")]);
    }

    #[test]
    fn a_setting_changes_comes_or_goes() {
        let told = role(&[], json!({ "same": 1, "other": 2, "gone": 3 }));
        let changes = role_changes(Some(&told), &role(&[], json!({ "same": 1, "other": "two", "new": true })));
        let change = |key: &str, old: Option<Value>, new: Option<Value>| RoleChange::SettingChanged {
            key: key.to_owned(),
            old,
            new,
        };
        let expected = [
            change("new", None, Some(json!(true))),
            change("other", Some(json!(2)), Some(json!("two"))),
            change("gone", Some(json!(3)), None),
        ];
        assert_eq!(changes, expected);
        assert_eq!((changes[0].field(), changes[0].kind()), ("settings.new".to_owned(), "changed"));
    }

    #[test]
    fn tasks_come_by_priority_then_by_deadline_and_without_one_last() {
        let mut tasks = [
            (Priority::P2, None),
            (Priority::P2, Some(at(9))),
            (Priority::P0, None),
            (Priority::P2, Some(at(1))),
            (Priority::P1, Some(at(5))),
        ];
        tasks.sort_by_key(|(priority, deadline)| task_order(*priority, *deadline));
        let expected = [
            (Priority::P0, None),
            (Priority::P1, Some(at(5))),
            (Priority::P2, Some(at(1))),
            (Priority::P2, Some(at(9))),
            (Priority::P2, None),
        ];
        assert_eq!(tasks, expected);
    }
}
