//! The stored form of every event is a contract: each has a golden file, and no golden file ever changes.
#![allow(clippy::unwrap_used, reason = "a test that cannot read its files has failed")]

use std::fs;
use std::path::{Path, PathBuf};

use chrono::{DateTime, Utc};
use cqrs_es::{Aggregate, DomainEvent};
use domain::agent::{Agent, AgentEvent, AgentLevel, AgentStatus};
use domain::project::{Project, ProjectEvent};
use domain::user::{User, UserEvent};
use domain::workspace::{Workspace, WorkspaceEvent};
use domain::{AgentCode, DecodeError, RepositoryUrl, Settings, Slug, catalogue, decode};
use serde_json::json;
use uuid::Uuid;

#[test]
fn every_type_of_event_has_a_golden_file() {
    let samples = samples();
    for kind in catalogue() {
        let sample = samples
            .iter()
            .find(|it| it.aggregate == kind.aggregate && it.event == kind.event && it.version == kind.version);
        let Some(sample) = sample else {
            panic!("{kind:?} has no golden file. Add a sample of it to tests/golden.rs and run again.");
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
        let Some(sample) = samples.iter().find(|it| it.event == event) else {
            panic!("{event} is in old logs: it must stay readable, so it must stay in the code");
        };
        let golden = fs::read_to_string(&path).unwrap();
        let stored_again = (sample.store_again)(event, version, &golden).unwrap();
        if version == sample.version {
            assert_eq!(stored_again, golden);
        }
    }
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
    samples_of::<User>(user_events())
        .chain(samples_of::<Workspace>(workspace_events()))
        .chain(samples_of::<Project>(project_events()))
        .chain(samples_of::<Agent>(agent_events()))
        .collect()
}

fn user_events() -> Vec<UserEvent> {
    vec![
        UserEvent::UserSignedUp { user_id: id(1), signed_up_at: noon() },
        UserEvent::UserSuspended { suspended_at: noon() },
        UserEvent::UserReinstated { reinstated_at: noon() },
    ]
}

fn workspace_events() -> Vec<WorkspaceEvent> {
    vec![
        WorkspaceEvent::WorkspaceCreated {
            workspace_id: id(2),
            owner_id: id(1),
            name: "Acme".to_owned(),
            slug: slug("acme"),
            description: Some("Anvils".to_owned()),
            settings: settings(),
            created_at: noon(),
        },
        WorkspaceEvent::WorkspaceDetailsChanged {
            name: Some("Acme Ltd".to_owned()),
            slug: Some(slug("acme-ltd")),
            description: Some("Anvils and more".to_owned()),
            settings: Some(settings()),
            changed_at: noon(),
        },
        WorkspaceEvent::WorkspaceDeleted { deleted_at: noon() },
    ]
}

fn project_events() -> Vec<ProjectEvent> {
    vec![
        ProjectEvent::ProjectCreated {
            project_id: id(3),
            workspace_id: id(2),
            name: "Shop".to_owned(),
            slug: slug("shop"),
            description: Some("Sells anvils".to_owned()),
            repository_url: Some(RepositoryUrl::new("https://github.com/acme/shop")),
            github_installation_id: Some(7),
            mvp_document_url: Some("https://acme.example/mvp".to_owned()),
            is_active: true,
            created_at: noon(),
        },
        ProjectEvent::ProjectDetailsChanged {
            name: Some("Store".to_owned()),
            slug: Some(slug("store")),
            description: Some("Sells more than anvils".to_owned()),
            repository_url: Some(RepositoryUrl::new("https://github.com/acme/store")),
            github_installation_id: Some(8),
            mvp_document_url: Some("https://acme.example/store".to_owned()),
            is_active: Some(false),
            changed_at: noon(),
        },
        ProjectEvent::ProjectDeleted { deleted_at: noon() },
    ]
}

fn agent_events() -> Vec<AgentEvent> {
    vec![
        AgentEvent::AgentCreated {
            agent_id: id(4),
            workspace_id: id(2),
            project_id: Some(id(3)),
            level: AgentLevel::Project,
            code: AgentCode::parse("dev-1").unwrap(),
            name: "Dev One".to_owned(),
            role_title: "Backend developer".to_owned(),
            status: AgentStatus::Active,
            trust_score: 50.0,
            capabilities: vec!["rust".to_owned(), "sql".to_owned()],
            settings: settings(),
            supervisor_agent_id: Some(id(5)),
            credential_id: id(6),
            created_at: noon(),
        },
        AgentEvent::AgentDetailsChanged {
            name: Some("Dev Uno".to_owned()),
            role_title: Some("Reviewer".to_owned()),
            capabilities: Some(vec!["review".to_owned()]),
            settings: Some(settings()),
            supervisor_agent_id: Some(id(7)),
            changed_at: noon(),
        },
        AgentEvent::AgentStatusChanged { from: AgentStatus::Active, to: AgentStatus::Probation, changed_at: noon() },
        AgentEvent::AgentCredentialsRotated { credential_id: id(8), rotated_at: noon() },
        AgentEvent::AgentSupervisorLost { supervisor_agent_id: id(31), lost_at: noon() },
        AgentEvent::AgentDeleted { deleted_at: noon() },
    ]
}

fn id<T: From<Uuid>>(number: u128) -> T {
    Uuid::from_u128(number).into()
}

fn noon() -> DateTime<Utc> {
    "2026-01-02T12:00:00.123456Z".parse().unwrap()
}

fn slug(text: &str) -> Slug {
    Slug::parse(text).unwrap()
}

fn settings() -> Settings {
    json!({ "limits": { "tasks": 3 }, "theme": "dark" }).as_object().cloned().unwrap()
}
