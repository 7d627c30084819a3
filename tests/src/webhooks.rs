//! GitHub as it sends webhooks: full-size payloads, changed where a test needs it, and signed.

use api::HttpSettings;
use hmac::{Hmac, KeyInit, Mac};
use reqwest::Method;
use serde_json::{Value, json};
use sha2::Sha256;
use uuid::Uuid;

use crate::server::{Answer, Client, Server, settings};
use crate::stores::Bench;

/// What GitHub and the server under test share.
pub const SECRET: &str = "a secret between the two";
/// Where the payloads' repository is.
pub const REPOSITORY: &str = "https://github.com/acme/shop";
/// The route.
pub const ROUTE: &str = "/api/webhooks/github";

/// A payload as GitHub sends it: of repository `acme/shop`, where `ada-owner` rules and `dev-uno` writes pull request 7
/// for issue 12.
#[derive(Debug, Clone)]
pub struct Payload {
    /// The kind of event, for the header.
    pub event: String,
    /// The body.
    pub body: Value,
}

/// The payload of a file in `tests/fixtures/github`, like `pull_request.opened`.
pub fn payload(name: &str) -> Payload {
    let body = serde_json::from_str(&file(name)).expect("a fixture is JSON");
    Payload { event: name.split('.').next().unwrap_or(name).to_owned(), body }
}

/// The text of such a file.
pub fn file(name: &str) -> String {
    let path = format!("{}/fixtures/github/{name}.json", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{path}: {e}"))
}

impl Payload {
    /// With another value somewhere: `/pull_request/title`.
    #[must_use]
    pub fn with(mut self, pointer: &str, value: impl Into<Value>) -> Self {
        let (parent, name) = pointer.rsplit_once('/').expect("a pointer has a slash");
        self.body.pointer_mut(parent).unwrap_or_else(|| panic!("no {parent}"))[name] = value.into();
        self
    }

    /// With one text for another everywhere: logins, repositories.
    #[must_use]
    pub fn saying(mut self, instead: &str, of: &str) -> Self {
        let text = self.body.to_string().replace(of, instead);
        self.body = serde_json::from_str(&text).expect("names need no quotes");
        self
    }

    /// Of another pull request or issue.
    #[must_use]
    pub fn numbered(self, number: i64) -> Self {
        match self.event.as_str() {
            "pull_request" | "pull_request_review" => self.with("/pull_request/number", number),
            "check_run" | "check_suite" => {
                let pointer = format!("/{}/pull_requests/0/number", self.event);
                self.with(&pointer, number)
            }
            _ => self.with("/issue/number", number).with("/issue/id", 440_000 + number),
        }
    }
}

/// What GitHub would sign a body with.
pub fn signature(secret: &str, body: &str) -> String {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).expect("any key will do");
    mac.update(body.as_bytes());
    format!("sha256={}", hex::encode(mac.finalize().into_bytes()))
}

/// A server that GitHub may tell things.
pub async fn listening(bench: Bench) -> Server {
    Server::start_with(bench, webhook_settings()).await
}

/// Settings with the shared secret.
pub fn webhook_settings() -> HttpSettings {
    HttpSettings { github_webhook_secret: Some(SECRET.to_owned()), ..settings() }
}

impl Server {
    /// Delivers a payload under a new id.
    pub async fn deliver(&self, payload: &Payload) -> Answer {
        self.deliver_as(&Uuid::now_v7().to_string(), payload).await
    }

    /// Delivers a payload under an id.
    pub async fn deliver_as(&self, delivery: &str, payload: &Payload) -> Answer {
        let client = self.nobody().with("X-GitHub-Event", &payload.event).with("X-GitHub-Delivery", delivery);
        send_signed(&client, payload.body.to_string()).await
    }

    /// Delivers a payload that must be news.
    pub async fn tell(&self, payload: &Payload) {
        let answer = self.deliver(payload).await.ok();
        assert_eq!(answer.body, json!({ "received": true, "processed": true }), "{}", payload.event);
    }

    /// Delivers a payload that must be none.
    pub async fn tell_in_vain(&self, payload: &Payload) {
        let answer = self.deliver(payload).await.ok();
        assert_eq!(answer.body, json!({ "received": true, "processed": false }), "{}", payload.event);
    }

    /// The types of everything that was written because GitHub told it.
    pub async fn told(&self) -> Vec<String> {
        let events = self.bench.everything().await.into_iter();
        let by_github = events.filter(|it| it.metadata.contains(r#""actor_type":"system","actor_id":"github""#));
        by_github.map(|it| it.event_type).collect()
    }

    /// The payloads of all events of a type.
    pub async fn all_of(&self, event_type: &str) -> Vec<Value> {
        let events = self.bench.everything().await.into_iter().filter(|it| it.event_type == event_type);
        let inner = |text: &str| {
            let value: Value = serde_json::from_str(text).expect("a payload is JSON");
            value[event_type].clone()
        };
        events.map(|it| inner(&it.payload)).collect()
    }
}

/// Sends a body with the right signature.
pub async fn send_signed(client: &Client, body: String) -> Answer {
    let signed = client.with("X-Hub-Signature-256", &signature(SECRET, &body));
    signed.send(Method::POST, ROUTE, Some(body)).await
}

impl Client {
    /// Starts a project with a repository and returns its id.
    pub async fn project_at(&self, workspace_id: &str, slug: &str, repository: &str) -> String {
        let body = json!({ "workspaceId": workspace_id, "name": slug, "slug": slug, "repositoryUrl": repository });
        self.post("/api/project.create", &body).await.ok().id_of("project")
    }
}
