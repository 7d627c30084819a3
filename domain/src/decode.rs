//! Decoding: stored payloads of any age become events of today.

use cqrs_es::DomainEvent;
use serde_json::Value;
use thiserror::Error;

/// Why a stored payload is not an event of today.
#[derive(Debug, Error)]
pub enum DecodeError {
    /// The payload is not JSON, or not an event that this code knows.
    #[error("cannot read {event_type} version {event_version}")]
    Unreadable {
        /// The type it was stored under.
        event_type: String,
        /// The version it was stored under.
        event_version: String,
        /// What the parser says.
        source: serde_json::Error,
    },
    /// The payload was read, but as another event than it was stored as.
    #[error("{event_type} version {event_version} reads as {read_type} version {read_version}")]
    Mismatch {
        /// The type it was stored under.
        event_type: String,
        /// The version it was stored under.
        event_version: String,
        /// The type that was read.
        read_type: String,
        /// The version that was read.
        read_version: String,
    },
}

/// Turns the payload of an event of one version into the next.
struct Upcaster {
    event_type: &'static str,
    from: &'static str,
    to: &'static str,
    /// Sees the event's fields, without the name around them.
    upcast: fn(Value) -> Value,
}

/// In order of versions, so that one pass brings an event of any age up to date.
const UPCASTERS: &[Upcaster] = &[
    Upcaster { event_type: "NotificationTaken", from: "1", to: "2", upcast: taken_for_a_time },
    Upcaster { event_type: "NotificationSettingsChanged", from: "1", to: "2", upcast: without_addresses },
    Upcaster { event_type: "TaskRebased", from: "1", to: "2", upcast: where_it_was },
    Upcaster { event_type: "ErrandDone", from: "1", to: "2", upcast: rebased_where_it_was },
];

/// Whoever took a notification had it for good. What it has not told since is for the next.
fn taken_for_a_time(mut fields: Value) -> Value {
    if fields["until"].is_null() {
        fields["until"] = fields["taken_at"].clone();
    }
    fields
}

/// Where a person is told was in the event. It is beside the log now, where a migration put it.
fn without_addresses(mut fields: Value) -> Value {
    if let Some(preferences) = fields["preferences"].as_object_mut() {
        for (address, has) in [("sound_file", "has_sound_file"), ("webhook_url", "has_webhook_url")] {
            let is_there = preferences.remove(address).is_some_and(|it| !it.is_null());
            preferences.entry(has).or_insert(is_there.into());
        }
    }
    if fields["addresses_changed"].is_null() {
        fields["addresses_changed"] = Value::Array(vec![]);
    }
    fields
}

/// Nobody noted where the pull request of a rebased task was: it is taken to be where it was before.
fn where_it_was(mut fields: Value) -> Value {
    fields["pr_url"] = Value::Null;
    fields
}

/// The same of the errand; what else it may come to has not changed.
fn rebased_where_it_was(mut fields: Value) -> Value {
    if fields["result"]["kind"] == "rebased" {
        fields["result"] = where_it_was(fields["result"].take());
    }
    fields
}

/// The event in a payload, which is stored in serde's externally tagged form: `{"UserSuspended":{..}}`.
pub fn decode<E: DomainEvent>(event_type: &str, event_version: &str, payload: &str) -> Result<E, DecodeError> {
    decode_with(UPCASTERS, event_type, event_version, payload)
}

fn decode_with<E: DomainEvent>(
    upcasters: &[Upcaster],
    event_type: &str,
    event_version: &str,
    payload: &str,
) -> Result<E, DecodeError> {
    let is_old = upcasters.iter().any(|it| it.event_type == event_type && it.from == event_version);
    let (read, version) = if is_old {
        upcast(upcasters, event_type, event_version, payload)
            .and_then(|(value, version)| Ok((serde_json::from_value(value)?, version)))
    } else {
        // Nearly every event is one of today: it is parsed from where it lies.
        serde_json::from_str::<E>(payload).map(|event| (event, event_version))
    }
    .map_err(|source| DecodeError::Unreadable {
        event_type: event_type.to_owned(),
        event_version: event_version.to_owned(),
        source,
    })?;

    // serde skips fields it does not know, so an event from a newer Muster would pass with half its facts.
    let (read_type, read_version) = (read.event_type(), read.event_version());
    if read_type != event_type || read_version != version {
        let (event_type, event_version) = (event_type.to_owned(), event_version.to_owned());
        return Err(DecodeError::Mismatch { event_type, event_version, read_type, read_version });
    }
    Ok(read)
}

/// The payload after every upcaster that is due, and the version it then has.
fn upcast<'a>(
    upcasters: &[Upcaster],
    event_type: &str,
    event_version: &'a str,
    payload: &str,
) -> Result<(Value, &'a str), serde_json::Error> {
    let mut tagged: Value = serde_json::from_str(payload)?;
    let mut version = event_version;
    if let Some(fields) = tagged.get_mut(event_type) {
        for upcaster in upcasters.iter().filter(|it| it.event_type == event_type) {
            if upcaster.from == version {
                *fields = (upcaster.upcast)(fields.take());
                version = upcaster.to;
            }
        }
    }
    Ok((tagged, version))
}

#[cfg(test)]
mod tests {
    use serde::{Deserialize, Serialize};
    use serde_json::json;

    use super::*;

    /// An event on its third version: `kg` became `grams`, then `fragile` was added.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    enum ParcelEvent {
        ParcelWeighed { grams: u64, fragile: bool },
    }

    impl DomainEvent for ParcelEvent {
        fn event_type(&self) -> String {
            "ParcelWeighed".to_owned()
        }

        fn event_version(&self) -> String {
            "3".to_owned()
        }
    }

    const TABLE: &[Upcaster] = &[
        Upcaster {
            event_type: "ParcelWeighed",
            from: "1",
            to: "2",
            upcast: |fields| json!({ "grams": fields["kg"].as_u64().unwrap_or_default() * 1000 }),
        },
        Upcaster {
            event_type: "ParcelWeighed",
            from: "2",
            to: "3",
            upcast: |mut fields| {
                fields["fragile"] = false.into();
                fields
            },
        },
    ];

    fn read(event_type: &str, version: &str, payload: &str) -> Result<ParcelEvent, DecodeError> {
        decode_with(TABLE, event_type, version, payload)
    }

    #[test]
    fn an_event_of_any_version_reads_as_one_of_today() {
        let today = ParcelEvent::ParcelWeighed { grams: 2000, fragile: false };
        for (version, payload) in [
            ("1", r#"{"ParcelWeighed":{"kg":2}}"#),
            ("2", r#"{"ParcelWeighed":{"grams":2000}}"#),
            ("3", r#"{"ParcelWeighed":{"grams":2000,"fragile":false}}"#),
        ] {
            assert_eq!(read("ParcelWeighed", version, payload).expect("an event"), today);
        }
    }

    #[test]
    fn an_event_of_a_newer_version_is_an_error() {
        let payload = r#"{"ParcelWeighed":{"grams":1,"fragile":true,"colour":"red"}}"#;
        let error = read("ParcelWeighed", "4", payload).expect_err("too new");
        assert_eq!(error.to_string(), "ParcelWeighed version 4 reads as ParcelWeighed version 3");
    }

    #[test]
    fn an_unknown_event_is_an_error_that_names_it() {
        let error = read("ParcelLost", "1", r#"{"ParcelLost":{}}"#).expect_err("unknown");
        assert_eq!(error.to_string(), "cannot read ParcelLost version 1");
    }

    #[test]
    fn broken_json_is_an_error_at_any_version() {
        for version in ["1", "3"] {
            let error = read("ParcelWeighed", version, r#"{"ParcelWeighed":"#).expect_err("broken");
            assert!(matches!(error, DecodeError::Unreadable { .. }));
        }
    }

    #[test]
    fn a_payload_under_the_wrong_type_is_an_error() {
        let payload = r#"{"ParcelWeighed":{"grams":1,"fragile":true}}"#;
        let error = read("ParcelLost", "3", payload).expect_err("wrong type");
        assert_eq!(error.to_string(), "ParcelLost version 3 reads as ParcelWeighed version 3");
    }
}
