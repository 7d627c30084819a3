//! The stored form of every event is a contract: each has a golden file, and no golden file ever changes.
#![allow(clippy::unwrap_used, reason = "a test that cannot read its files has failed")]

mod samples;

use std::fs;
use std::path::{Path, PathBuf};

use cqrs_es::{Aggregate, DomainEvent};
use domain::agent::Agent;
use domain::decision::DecisionEntry;
use domain::epic::{Epic, EpicEvent};
use domain::errand::{Errand, ErrandEvent};
use domain::mail::Mail;
use domain::notification::{Notification, NotificationEvent};
use domain::notification_settings::{NotificationSettings, NotificationSettingsEvent};
use domain::post::Post;
use domain::project::Project;
use domain::pull_request::PullRequest;
use domain::repository::Repository;
use domain::scorecard::Scorecard;
use domain::session::Session;
use domain::task::{Task, TaskEvent};
use domain::tool_call::ToolCall;
use domain::user::User;
use domain::wiki::WikiEntry;
use domain::workspace::Workspace;
use domain::{DecodeError, catalogue, decode};

#[test]
fn every_type_of_event_has_a_golden_file() {
    let samples = samples();
    for kind in catalogue() {
        let sample = samples
            .iter()
            .find(|it| it.aggregate == kind.aggregate && it.event == kind.event && it.version == kind.version);
        let Some(sample) = sample else {
            panic!("{kind:?} has no golden file. Add a sample of it to tests/samples and run again.");
        };
        assert!(
            sample.path().exists(),
            "{} has no golden file. If this is how it is to be stored for ever, save it, \
             without a line end, as {}:\n{}",
            kind.event,
            sample.path().display(),
            sample.stored,
        );
    }
}

#[test]
fn every_event_is_stored_byte_for_byte_as_its_golden_file() {
    for sample in samples() {
        let golden = fs::read_to_string(sample.path()).unwrap_or_default();
        assert_eq!(
            sample.stored, golden,
            "{} is stored in another form. A new form is a new version with an upcaster.",
            sample.event
        );
    }
}

#[test]
fn every_golden_file_of_any_version_still_reads() {
    let samples = samples();
    for path in golden_files() {
        let name = path.file_stem().unwrap().to_str().unwrap();
        let (event, version) = name.split_once(".v").expect("a name like UserSignedUp.v1.json");
        // A field that may be missing needs no new version: `EpicSubmitted.v1.before_head.json` has none.
        let (version, is_older) = version.split_once('.').map_or((version, false), |(version, _)| (version, true));
        let Some(sample) = samples.iter().find(|it| it.event == event) else {
            panic!("{event} is in old logs: it must stay readable, so it must stay in the code");
        };
        let golden = fs::read_to_string(&path).unwrap();
        let stored_again = (sample.store_again)(event, version, &golden).unwrap();
        if version == sample.version && !is_older {
            assert_eq!(stored_again, golden);
        }
    }
}

#[test]
fn a_notification_that_was_taken_for_good_is_for_the_next_to_tell() {
    let NotificationEvent::NotificationTaken { taken_at, until, .. } = golden("notification", "NotificationTaken", "1")
    else {
        panic!("another event");
    };
    assert_eq!(until, taken_at);
}

#[test]
fn of_an_address_that_was_in_an_event_only_that_it_was_there_is_read() {
    let NotificationSettingsEvent::NotificationSettingsChanged { preferences, addresses_changed, .. } =
        golden("notification_settings", "NotificationSettingsChanged", "1");
    assert!(preferences.has_sound_file && preferences.has_webhook_url && addresses_changed.is_empty());
    let none = r#"{"sound_file":null,"webhook_url":null,"push_enabled":true,"sound_enabled":false,"webhook_enabled":false,
        "notify_on_task_complete":true,"notify_on_epic_complete":true,"notify_on_errors":true,"quiet_hours":null,
        "utc_offset_minutes":0}"#;
    let id = "00000000-0000-0000-0000-000000000001";
    let stored = format!(
        r#"{{"NotificationSettingsChanged":{{"user_id":"{id}","preferences":{none},"changed_at":"2026-01-02T12:00:00Z"}}}}"#
    );
    let NotificationSettingsEvent::NotificationSettingsChanged { preferences, .. } =
        decode("NotificationSettingsChanged", "1", &stored).unwrap();
    assert!(!preferences.has_sound_file && !preferences.has_webhook_url);
}

#[test]
fn an_epic_that_was_submitted_without_a_commit_still_reads() {
    let EpicEvent::EpicSubmitted { head, .. } = golden("epic", "EpicSubmitted", "1.before_head") else {
        panic!("another event");
    };
    assert_eq!(head, None);
}

#[test]
fn a_task_that_was_rebased_before_is_where_it_was() {
    let TaskEvent::TaskRebased { pr_url, .. } = golden("task", "TaskRebased", "1") else { panic!("another event") };
    assert_eq!(pr_url, None);
    let result = r#"{"kind":"rebased","head":"0a1b2d"}"#;
    let stored = format!(r#"{{"ErrandDone":{{"result":{result},"done_at":"2026-01-02T12:00:00Z"}}}}"#);
    let ErrandEvent::ErrandDone { result: read, .. } = decode("ErrandDone", "1", &stored).unwrap() else {
        panic!("another event");
    };
    assert_eq!(serde_json::to_string(&read).unwrap(), result, "rows that were made of it stay the same");
}

fn golden<E: DomainEvent>(aggregate: &str, event: &str, version: &str) -> E {
    let path = golden_folder().join(aggregate).join(format!("{event}.v{version}.json"));
    let version = version.split('.').next().unwrap();
    decode(event, version, &fs::read_to_string(path).unwrap()).unwrap()
}

/// An event as it is stored today.
struct Sample {
    aggregate: &'static str,
    event: String,
    version: String,
    stored: String,
    /// Reads an event of the same aggregate from its stored form and stores it again.
    store_again: fn(&str, &str, &str) -> Result<String, DecodeError>,
}

impl Sample {
    fn path(&self) -> PathBuf {
        golden_folder().join(self.aggregate).join(format!("{}.v{}.json", self.event, self.version))
    }
}

fn golden_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden")
}

fn golden_files() -> impl Iterator<Item = PathBuf> {
    let entries = |folder: PathBuf| fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries(golden_folder()).flat_map(entries)
}

fn samples_of<A: Aggregate>(events: Vec<A::Event>) -> impl Iterator<Item = Sample> {
    fn store_again<E: DomainEvent>(event: &str, version: &str, payload: &str) -> Result<String, DecodeError> {
        decode::<E>(event, version, payload).map(|event| serde_json::to_string(&event).unwrap())
    }
    events.into_iter().map(|event| Sample {
        aggregate: A::TYPE,
        event: event.event_type(),
        version: event.event_version(),
        stored: serde_json::to_string(&event).unwrap(),
        store_again: store_again::<A::Event>,
    })
}

/// One event of every type, with every field filled in.
fn samples() -> Vec<Sample> {
    samples_of::<User>(samples::ground::user_events())
        .chain(samples_of::<Workspace>(samples::ground::workspace_events()))
        .chain(samples_of::<Project>(samples::ground::project_events()))
        .chain(samples_of::<Agent>(samples::ground::agent_events()))
        .chain(samples_of::<Session>(samples::session::events()))
        .chain(samples_of::<Task>(samples::task::events()))
        .chain(samples_of::<WikiEntry>(samples::wiki::events()))
        .chain(samples_of::<PullRequest>(samples::pull_request::events()))
        .chain(samples_of::<Repository>(samples::repository::events()))
        .chain(samples_of::<Scorecard>(samples::scorecard::events()))
        .chain(samples_of::<Epic>(samples::factory::epic_events()))
        .chain(samples_of::<Post>(samples::factory::post_events()))
        .chain(samples_of::<Errand>(samples::factory::errand_events()))
        .chain(samples_of::<Mail>(samples::mail::mail_events()))
        .chain(samples_of::<ToolCall>(samples::mail::tool_call_events()))
        .chain(samples_of::<DecisionEntry>(samples::mail::decision_events()))
        .chain(samples_of::<Notification>(samples::mail::notification_events()))
        .chain(samples_of::<NotificationSettings>(samples::mail::notification_settings_events()))
        .collect()
}
