//! A desk at which a person is told, and what happens around it.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::sync::{Arc, Mutex};

use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::post;
use axum::{Json, Router};
use commands::notification::{ChangeSettings, PreferenceChanges};
use commands::tool_call::{CallTool, FailTool};
use domain::notification_settings::{Allowed, Manner, Sounds};
use muster_tests::fleet::new;
use projections::Engine;
use projections::notifications::{self, NotificationView};
use reactors::{Runner, Telling};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::net::TcpListener;
use workbench::alert::{Alerts, Reach};

use crate::floor::{Floor, PATIENCE};

/// Where people are told in these tests.
pub(crate) struct Desk {
    folder: TempDir,
    pub(crate) received: Arc<Mutex<Vec<Value>>>,
    pub(crate) url: String,
}

impl Desk {
    /// A desktop that writes down what it shows and plays, and an address that answers with a status.
    pub(crate) async fn new(status: StatusCode) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for (program, written) in [("notify-send", "shown"), ("paplay", "played")] {
            let (script, written) = (folder.path().join(program), folder.path().join(written));
            fs::write(&script, format!("#!/bin/sh\nprintf '%s|' \"$@\" >> '{}'\n", written.display())).unwrap();
            fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
        }
        let received = Arc::new(Mutex::new(vec![]));
        let take = async move |State(received): State<Arc<Mutex<Vec<Value>>>>, Json(body): Json<Value>| {
            received.lock().unwrap().push(body);
            status
        };
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/hook?token=abc", listener.local_addr().unwrap());
        let router = Router::new().route("/hook", post(take)).with_state(received.clone());
        tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        Self { folder, received, url }
    }

    pub(crate) fn shown(&self) -> String {
        fs::read_to_string(self.folder.path().join("shown")).unwrap_or_default()
    }

    pub(crate) fn played(&self) -> String {
        fs::read_to_string(self.folder.path().join("played")).unwrap_or_default()
    }

    /// A sound to play.
    pub(crate) fn sound(&self, name: &str) -> String {
        let file = self.folder.path().join(name);
        fs::write(&file, "").unwrap();
        file.display().to_string()
    }

    /// A node whose operator allows everything that a test needs.
    pub(crate) fn telling(&self, node: &str) -> Telling {
        let (allowed, reach) = (Allowed { desktop: true, sounds: Sounds::Any }, Reach::PublicAndLoopback);
        Telling { allowed, reach, ..self.strict(node) }
    }

    /// A node whose operator allows nothing in particular.
    pub(crate) fn strict(&self, node: &str) -> Telling {
        Telling { node: node.to_owned(), alerts: Alerts::with_path(self.folder.path()), ..Telling::default() }
    }

    /// Desktop and webhook.
    pub(crate) fn both(&self) -> PreferenceChanges {
        PreferenceChanges {
            push_enabled: Some(true),
            webhook_enabled: Some(true),
            webhook_url: Some(Some(self.url.clone())),
            ..PreferenceChanges::default()
        }
    }
}

pub(crate) async fn prefer(floor: &Floor, changes: PreferenceChanges) {
    let (user_id, everybody) = (floor.fleet.owner, Manner::default());
    floor.must(&ChangeSettings { user_id, everybody, changes }).await;
}

/// Something happens that only people can put right.
pub(crate) async fn trouble(floor: &Floor) {
    let tool = "mcp__epic__approve_pr".to_owned();
    let call_id = floor.must(&CallTool { call_id: new(), by: floor.supervisor, tool, input: json!({}) }).await;
    let error = "The merge failed".to_owned();
    floor.must(&FailTool { call_id, error, details: None, critical: false, escalates: true }).await;
}

/// Nodes that react to what happens.
pub(crate) struct Nodes {
    engine: Arc<Engine>,
    runners: Vec<Runner>,
}

impl Nodes {
    pub(crate) fn start(floor: &Floor, nodes: Vec<Telling>) -> Self {
        let (log, views) = (floor.bench.log(), floor.views().clone());
        let engine = Arc::new(Engine::start(log.clone(), views.clone(), projections::all(), Default::default()));
        let start = |telling: Telling| {
            let executor = floor.fleet.elsewhere(log.clone()).executor;
            Runner::start(reactors::with(telling), executor, views.clone(), engine.clone())
        };
        let runners = nodes.into_iter().map(start).collect();
        Self { engine, runners }
    }

    /// Waits until nothing new comes of anything, and stops.
    pub(crate) async fn finish(self, floor: &Floor) {
        let log = floor.bench.log();
        loop {
            let head = log.head().await.unwrap().position;
            for runner in &self.runners {
                for name in ["raise_notifications_on_news", "tell_on_notification_raised"] {
                    assert!(runner.wait_for(name, head, PATIENCE).await, "{:?}", runner.status());
                }
            }
            if log.head().await.unwrap().position == head {
                break;
            }
        }
        for runner in &self.runners {
            runner.shutdown().await;
        }
        self.engine.shutdown().await;
    }
}

/// Lets nodes react to everything there is, until nothing new comes of it.
pub(crate) async fn react(floor: &Floor, nodes: Vec<Telling>) {
    Nodes::start(floor, nodes).finish(floor).await;
    floor.project().await;
}

pub(crate) async fn news(floor: &Floor) -> Vec<NotificationView> {
    notifications::list(floor.views(), floor.fleet.owner, None, None, 100).await.unwrap()
}
