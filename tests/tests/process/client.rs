//! Speaks HTTP to a server, as a person with a browser's cookies does.

use muster_tests::muster::{Muster, bounded};
use reqwest::Method;
use reqwest::header::HeaderMap;
use serde_json::{Value, json};
use uuid::Uuid;

/// The password of everybody in these tests.
pub(crate) const PASSWORD: &str = "correct horse battery";

/// Somebody with a cookie jar, and the server they talk to.
#[derive(Clone)]
pub(crate) struct Client {
    http: reqwest::Client,
    address: String,
    pub(crate) email: String,
}

/// One request.
#[derive(Debug, Clone)]
pub(crate) struct Request {
    pub(crate) method: Method,
    pub(crate) path: String,
    pub(crate) body: Option<Value>,
    pub(crate) headers: Vec<(&'static str, String)>,
}

/// What the server said.
#[derive(Debug, Clone)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Value,
}

impl Client {
    /// Somebody whom the server does not know.
    pub(crate) fn stranger(server: &Muster) -> Self {
        Self { http: new_http(), address: server.address.clone(), email: new_email() }
    }

    /// Another stranger to the same server.
    pub(crate) fn somebody_else(&self) -> Self {
        Self { http: new_http(), address: self.address.clone(), email: new_email() }
    }

    /// Somebody who has just signed up.
    pub(crate) async fn sign_up(server: &Muster) -> Self {
        let client = Self::stranger(server);
        let body = json!({"email": client.email, "password": PASSWORD, "name": "Robin"});
        client.must(Request::post("/api/auth/signup", body)).await;
        client
    }

    /// The same person, talking to another server or to the same one after a restart.
    pub(crate) fn at(&self, server: &Muster) -> Self {
        Self { address: server.address.clone(), ..self.clone() }
    }

    pub(crate) async fn send(&self, request: &Request) -> reqwest::Result<Answer> {
        let response = self.open(request).await?;
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        let text = response.text().await?;
        let body = serde_json::from_str(&text).unwrap_or(Value::String(text));
        Ok(Answer { status, headers, body })
    }

    /// Sends a request whose answer is read bit by bit.
    pub(crate) async fn open(&self, request: &Request) -> reqwest::Result<reqwest::Response> {
        let mut builder = self.http.request(request.method.clone(), format!("http://{}{}", self.address, request.path));
        for (name, value) in &request.headers {
            builder = builder.header(*name, value);
        }
        if let Some(body) = &request.body {
            builder = builder.json(body);
        }
        builder.send().await
    }

    /// Sends a request that must succeed.
    pub(crate) async fn must(&self, request: Request) -> Answer {
        let answer = self.send(&request).await.unwrap_or_else(|e| panic!("{} {}: {e:?}", request.method, request.path));
        assert!(answer.is_good(), "{} {}: {answer:#?}", request.method, request.path);
        answer
    }

    /// The answer to a query that has seen everything up to a position.
    pub(crate) async fn see(&self, path: &str, position: i64) -> Value {
        let request = Request::get(path).header("X-Min-Position", position);
        bounded("the read models catch up", async {
            loop {
                let answer = self.send(&request).await.unwrap();
                // The server's own patience is shorter than that of a busy machine's tests.
                if answer.code() != "UNAVAILABLE" {
                    assert!(answer.is_good(), "{path}: {answer:#?}");
                    return answer.body;
                }
            }
        })
        .await
    }

    pub(crate) async fn new_workspace(&self) -> (String, i64) {
        let slug = format!("w-{}", Uuid::now_v7().simple());
        let answer = self.must(Request::post("/api/workspace.create", json!({"name": "Acme", "slug": slug}))).await;
        (answer.id("workspace"), answer.position())
    }
}

impl Request {
    pub(crate) fn get(path: impl Into<String>) -> Self {
        Self { method: Method::GET, path: path.into(), body: None, headers: Vec::new() }
    }

    pub(crate) fn post(path: impl Into<String>, body: Value) -> Self {
        Self { method: Method::POST, path: path.into(), body: Some(body), headers: Vec::new() }
    }

    pub(crate) fn put(path: impl Into<String>, body: Value) -> Self {
        Self { method: Method::PUT, ..Self::post(path, body) }
    }

    pub(crate) fn header(mut self, name: &'static str, value: impl ToString) -> Self {
        self.headers.push((name, value.to_string()));
        self
    }

    /// Makes a repeat harmless.
    pub(crate) fn keyed(self, key: &str) -> Self {
        self.header("Idempotency-Key", key)
    }

    pub(crate) fn by_agent(self, id: &str, key: &str) -> Self {
        self.header("X-Agent-ID", id).header("X-Agent-Key", key)
    }
}

impl Answer {
    pub(crate) fn is_good(&self) -> bool {
        (200..300).contains(&self.status)
    }

    /// The position that covers what a command did.
    pub(crate) fn position(&self) -> i64 {
        let position = self.header("x-log-position").and_then(|it| it.parse().ok());
        position.unwrap_or_else(|| panic!("no X-Log-Position: {self:#?}"))
    }

    /// The id of the object in the body.
    pub(crate) fn id(&self, object: &str) -> String {
        self.body[object]["id"].as_str().unwrap_or_else(|| panic!("no {object}: {self:#?}")).to_owned()
    }

    /// The code of an error.
    pub(crate) fn code(&self) -> &str {
        self.body["error"]["code"].as_str().unwrap_or_default()
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|it| it.to_str().ok())
    }

    pub(crate) fn is_replayed(&self) -> bool {
        self.header("idempotent-replayed") == Some("true")
    }
}

fn new_http() -> reqwest::Client {
    muster_tests::http_client().cookie_store(true).build().unwrap()
}

fn new_email() -> String {
    format!("{}@muster.example", Uuid::now_v7().simple())
}
