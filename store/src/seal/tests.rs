//! What sealing keeps, hides and refuses.

use super::payload::{self, Otherwise};
use super::*;

const TEXT: &[&str] = &["title", "tags", "context", "settings", "said.by"];
const PLAIN: &[&str] = &["priority", "settings.login"];

const PAYLOAD: &str = r#"{"Told":{"id":7.0,"title":"a \u00e4 \"quote\"","tags":["one","two"],"context":{"a/b":[1,"x"]},"settings":{"login":"dev","theme":"dark","limit":3},"priority":"P1","said":[{"by":"ada","at":1}],"none":null}}"#;

fn event() -> NewEvent {
    NewEvent {
        event_id: Uuid::from_u128(1),
        event_type: "Told".to_owned(),
        event_version: "1".to_owned(),
        payload: PAYLOAD.to_owned(),
        metadata: r#"{"actor_type":"user"}"#.to_owned(),
        workspace_id: Some(Uuid::from_u128(2)),
    }
}

fn key() -> TextKey {
    TextKey::from_secret(Uuid::from_u128(3), &[7; 32]).expect("32 bytes")
}

fn sealed() -> NewEvent {
    let mut event = event();
    key().seal(&mut event, TEXT, PLAIN).expect("sealed");
    event
}

fn lock(key: &TextKey, of: &NewEvent) -> Lock {
    Lock::new(key, of.workspace_id.expect("a workspace"), of.event_id).expect("a lock")
}

fn opened(of: &NewEvent, payload: &str) -> String {
    payload::open(payload, Some(&lock(&key(), of)), Otherwise::Sealed).expect("JSON")
}

#[test]
fn what_was_sealed_is_opened_byte_for_byte() {
    let sealed = sealed();
    assert_eq!(opened(&sealed, &sealed.payload), PAYLOAD);
    assert_eq!(sealed_under(&sealed.metadata), Some(key().key_id));
    assert!(sealed.metadata.ends_with(r#","actor_type":"user"}"#), "{}", sealed.metadata);
}

#[test]
fn no_text_is_left_in_a_sealed_payload_and_everything_else_is() {
    let payload = sealed().payload;
    for hidden in ["quote", "\"one\"", "\"two\"", "a/b", "theme\":\"dark", "ada"] {
        assert!(!payload.contains(hidden), "{hidden} in {payload}");
    }
    for kept in [r#""id":7.0"#, r#""login":"dev""#, r#""limit":3"#, r#""priority":"P1""#, r#""at":1"#, r#""none":null"#]
    {
        assert!(payload.contains(kept), "no {kept} in {payload}");
    }
}

#[test]
fn without_the_key_everything_has_the_shape_it_had() {
    let erased = payload::open(&sealed().payload, None, Otherwise::Erased).expect("JSON");
    let wanted = r#"{"Told":{"id":7.0,"title":"[erased]","tags":["[erased]","[erased]"],"context":{"text":"[erased]"},"settings":{"login":"dev","theme":"[erased]","limit":3},"priority":"P1","said":[{"by":"[erased]","at":1}],"none":null}}"#;
    assert_eq!(erased, wanted);
    let missing = payload::open(&sealed().payload, None, Otherwise::Sealed).expect("JSON");
    assert_eq!(missing, wanted.replace("[erased]", "[sealed]"));
}

#[test]
fn a_text_opens_only_where_it_was_said() {
    let sealed = sealed();
    let other_key = TextKey::from_secret(key().key_id, &[8; 32]).expect("32 bytes");
    let other_event = NewEvent { event_id: Uuid::from_u128(9), ..sealed.clone() };
    let other_workspace = NewEvent { workspace_id: Some(Uuid::from_u128(9)), ..sealed.clone() };
    for lock in [lock(&other_key, &sealed), lock(&key(), &other_event), lock(&key(), &other_workspace)] {
        let opened = payload::open(&sealed.payload, Some(&lock), Otherwise::Sealed).expect("JSON");
        assert!(opened.contains(r#""title":"[sealed]""#), "{opened}");
    }
    let moved = sealed.payload.replace(r#""title":"#, r#""headline":"#);
    assert!(opened(&sealed, &moved).contains(r#""headline":"[sealed]""#));
}

#[test]
fn what_merely_looks_sealed_is_not_marked_and_comes_back_as_it_was() {
    let looks = r#"{"sealed":"0.AAAA"}"#;
    let mut event = event();
    event.payload = format!(
        r#"{{"Told":{{"title":"{}","context":{looks},"settings":{{"login":{looks}}}}}}}"#,
        r#"{\"sealed\":\"0.AAAA\"}"#
    );
    assert_eq!(sealed_under(&event.metadata), None);
    let plain = event.payload.clone();
    key().seal(&mut event, TEXT, PLAIN).expect("sealed");
    assert_eq!(opened(&event, &event.payload), plain);
}

#[test]
fn an_event_without_text_or_workspace_stays_as_it_is() {
    for other in [
        NewEvent { payload: r#"{"Told":{"priority":"P1","title":null}}"#.to_owned(), ..event() },
        NewEvent { workspace_id: None, ..event() },
    ] {
        let mut same = other.clone();
        key().seal(&mut same, TEXT, PLAIN).expect("nothing to do");
        assert_eq!(same, other);
    }
}
