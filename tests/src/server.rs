//! The HTTP side of Muster in this process: a fresh store, a random port, and a client with short words for its routes.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use api::{App, HttpSettings, Limits, Parts, listen};
use commands::Executor;
use futures_util::{Stream, StreamExt};
use projections::{Engine, Projection};
use reactors::Runner;
use reqwest::header::HeaderMap;
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use crate::muster::bounded;
use crate::stores::Bench;

/// A password that is long enough.
pub const PASSWORD: &str = "correct horse battery";

/// A running server.
pub struct Server {
    /// The store that it works on, and its clock.
    pub bench: Bench,
    /// The application behind it.
    pub app: Arc<App>,
    /// Runs commands past HTTP, as reactors and the command line do.
    pub executor: Arc<Executor>,
    /// Do what follows from what happened.
    pub reactors: Arc<Runner>,
    address: SocketAddr,
    serving: JoinHandle<()>,
}

/// Somebody who sends requests.
#[derive(Clone)]
pub struct Client {
    http: reqwest::Client,
    base: String,
    /// Sent with every request.
    pub headers: Vec<(String, String)>,
}

/// What came back.
#[derive(Debug)]
pub struct Answer {
    /// The status.
    pub status: StatusCode,
    /// The headers.
    pub headers: HeaderMap,
    /// The body as JSON; null when it is none.
    pub body: Value,
    /// The body as it came.
    pub text: String,
}

/// Server-sent events as they come in.
pub struct Listening {
    chunks: Pin<Box<dyn Stream<Item = reqwest::Result<Vec<u8>>> + Send>>,
    buffer: String,
    ready: VecDeque<Heard>,
}

/// One server-sent event.
#[derive(Debug, Clone, PartialEq)]
pub struct Heard {
    /// Where to go on after it.
    pub id: String,
    /// Its type.
    pub event: String,
    /// The timeline entry.
    pub data: Value,
}

impl Server {
    /// A server without limits.
    pub async fn start(bench: Bench) -> Self {
        Self::start_with(bench, settings()).await
    }

    /// A server with settings of the test's own.
    pub async fn start_with(bench: Bench, settings: HttpSettings) -> Self {
        Self::assemble(bench, settings, projections::all()).await
    }

    /// A server whose read models never come.
    pub async fn start_without_read_models(bench: Bench) -> Self {
        Self::assemble(bench, settings(), vec![]).await
    }

    async fn assemble(bench: Bench, settings: HttpSettings, read_models: Vec<Arc<dyn Projection>>) -> Self {
        let (log, views) = (bench.log(), bench.stores().views.clone());
        let engine_is_empty = read_models.is_empty();
        let engine = Arc::new(Engine::start(log.clone(), views.clone(), read_models, Default::default()));
        let executor = Arc::new(Executor::new(log.clone()));
        // Without read models there is nothing that reactors could look at.
        let reactors = if engine_is_empty { vec![] } else { reactors::all() };
        let reactors = Arc::new(Runner::start(reactors, executor.clone(), views.clone(), engine.clone()));
        let parts = Parts { log, views, executor: executor.clone(), engine, reactors: reactors.clone() };
        let app = App::new(parts, settings).await.expect("the application starts");
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("an address");
        let serving = serve(listener, app.clone());
        Self { bench, app, executor, reactors, address, serving }
    }

    /// Where a path of the server is.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Somebody whom the server does not know.
    pub fn nobody(&self) -> Client {
        let http = crate::http_client().build().expect("a client");
        Client { http, base: format!("http://{}", self.address), headers: vec![] }
    }

    /// Somebody who has just signed up.
    pub async fn owner(&self, name: &str) -> Client {
        let answer = self.nobody().post("/api/auth/signup", &sign_up(name)).await;
        self.nobody().with("Cookie", &answer.ok().cookie())
    }

    /// An agent with the key that an answer gave it.
    pub fn agent(&self, created: &Value) -> Client {
        let text = |value: &Value| value.as_str().expect("credentials are shown").to_owned();
        let credentials = &created["credentials"];
        self.nobody()
            .with("X-Agent-ID", &text(&credentials["agentId"]))
            .with("X-Agent-Key", &text(&credentials["apiKey"]))
    }

    /// The newest position of the log.
    pub async fn head(&self) -> i64 {
        self.bench.log().head().await.expect("the log has a head").position
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

/// Answers as the built server does, until the task is aborted.
pub fn serve(listener: TcpListener, app: Arc<App>) -> JoinHandle<()> {
    let listening = listen::Listening { behind_proxy: false, grace: Duration::ZERO };
    tokio::spawn(async move {
        listen::answer(listener, api::router(app), listening, std::future::pending()).await;
    })
}

/// No limits, so that tests need not count.
pub fn settings() -> HttpSettings {
    HttpSettings { limits: Limits::OFF, ..HttpSettings::default() }
}

/// What somebody sends to sign up.
pub fn sign_up(name: &str) -> Value {
    json!({ "email": email(name), "password": PASSWORD, "name": name })
}

/// The address that `sign_up` gives somebody.
pub fn email(name: &str) -> String {
    format!("{name}@example.com")
}

impl Client {
    /// Somebody whom a server elsewhere does not know, such as `http://127.0.0.1:3001`.
    pub fn of(base: &str) -> Self {
        let http = crate::http_client().build().expect("a client");
        Self { http, base: base.to_owned(), headers: vec![] }
    }

    /// The same client with one more header.
    pub fn with(&self, name: &str, value: &str) -> Self {
        let mut client = self.clone();
        client.headers.push((name.to_owned(), value.to_owned()));
        client
    }

    /// The same client, which wants to see what an answer says was written.
    pub fn seeing(&self, answer: &Answer) -> Self {
        self.with("X-Min-Position", &answer.position().to_string())
    }

    /// Asks, with a query string.
    pub async fn get(&self, path: &str) -> Answer {
        self.send(Method::GET, path, None).await
    }

    /// Commands, with a JSON body.
    pub async fn post(&self, path: &str, body: &Value) -> Answer {
        self.send(Method::POST, path, Some(body.to_string())).await
    }

    /// Commands, with a JSON body.
    pub async fn put(&self, path: &str, body: &Value) -> Answer {
        self.send(Method::PUT, path, Some(body.to_string())).await
    }

    /// Commands, with a query string.
    pub async fn delete(&self, path: &str) -> Answer {
        self.send(Method::DELETE, path, None).await
    }

    /// Sends anything; a body is announced as JSON unless the client's headers say otherwise.
    pub async fn send(&self, method: Method, path: &str, body: Option<String>) -> Answer {
        self.try_send(method, path, body).await.expect("the server answers")
    }

    /// The same to a server that may be away.
    pub async fn try_send(&self, method: Method, path: &str, body: Option<String>) -> reqwest::Result<Answer> {
        let mut request = self.http.request(method, format!("{}{path}", self.base));
        if let Some(body) = body {
            if !self.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("content-type")) {
                request = request.header("Content-Type", "application/json");
            }
            request = request.body(body);
        }
        for (name, value) in &self.headers {
            request = request.header(name, value);
        }
        let response = bounded("an answer", request.send()).await?;
        let (status, headers) = (response.status(), response.headers().clone());
        let text = bounded("a body", response.text()).await?;
        let body = serde_json::from_str(&text).unwrap_or_default();
        Ok(Answer { status, headers, body, text })
    }

    /// Opens a workspace and returns its id.
    pub async fn workspace(&self, slug: &str) -> String {
        let answer = self.post("/api/workspace.create", &json!({ "name": slug, "slug": slug })).await;
        answer.ok().id_of("workspace")
    }

    /// Starts a project and returns its id.
    pub async fn project(&self, workspace_id: &str, slug: &str) -> String {
        let body = json!({ "workspaceId": workspace_id, "name": slug, "slug": slug });
        self.post("/api/project.create", &body).await.ok().id_of("project")
    }

    /// Takes on an agent of the whole workspace, or of a project, and returns the answer with its key.
    pub async fn new_agent(&self, workspace_id: &str, project_id: Option<&str>, code: &str) -> Value {
        let mut body = json!({ "workspaceId": workspace_id, "agentLevel": "organization", "agentCode": code,
            "name": code, "roleTitle": "Developer" });
        if let Some(project_id) = project_id {
            body["agentLevel"] = "project".into();
            body["projectId"] = project_id.into();
        }
        self.post("/api/agent.create", &body).await.ok().body
    }

    /// Adds a task to a project's backlog and returns its id.
    pub async fn task(&self, project_id: &str, title: &str) -> String {
        let body = json!({ "projectId": project_id, "title": title });
        self.post("/api/task.create", &body).await.ok().id_of("task")
    }

    /// Gives a task to an agent.
    pub async fn assign(&self, task_id: &str, agent: &Value) -> Answer {
        let body = json!({ "taskId": task_id, "agentId": agent["agent"]["id"] });
        self.post("/api/task.assign", &body).await
    }

    /// Starts a session of the agent that this is, and returns its id.
    pub async fn start_session(&self, project_id: &str) -> String {
        self.post("/api/session.start", &json!({ "projectId": project_id })).await.ok().id_of("session")
    }

    /// Stops a session of the agent that this is.
    pub async fn stop_session(&self, session_id: &str) -> Answer {
        self.post("/api/session.stop", &json!({ "sessionId": session_id })).await
    }

    /// The status of an answer whose body may never end.
    pub async fn status_of(&self, path: &str) -> u16 {
        let mut request = self.http.get(format!("{}{path}", self.base));
        for (name, value) in &self.headers {
            request = request.header(name, value);
        }
        bounded("an answer", request.send()).await.expect("the server answers").status().as_u16()
    }

    /// Follows the timeline.
    pub async fn listen(&self, path: &str) -> Listening {
        let mut request = self.http.get(format!("{}{path}", self.base));
        for (name, value) in &self.headers {
            request = request.header(name, value);
        }
        let response = bounded("a stream", request.send()).await.expect("the server answers");
        assert_eq!(response.status(), StatusCode::OK, "{path}");
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        let chunks = Box::pin(response.bytes_stream().map(|chunk| chunk.map(|it| it.to_vec())));
        Listening { chunks, buffer: String::new(), ready: VecDeque::new() }
    }
}

impl Answer {
    /// The answer, if it is a good one.
    #[track_caller]
    pub fn ok(self) -> Self {
        assert_eq!(self.status, StatusCode::OK, "{}", self.text);
        self
    }

    /// The answer, if it refuses with this status and code and in the form of every error.
    #[track_caller]
    pub fn refused(self, status: u16, code: &str) -> Self {
        assert_eq!((self.status.as_u16(), &self.body["error"]["code"]), (status, &json!(code)), "{}", self.text);
        assert!(
            self.body["error"]["message"].is_string() && self.body["error"]["timestamp"].is_string(),
            "{}",
            self.text
        );
        self
    }

    /// The fields that a refusal names, in order of their names.
    pub fn bad_fields(&self) -> Vec<String> {
        let details = self.body["error"]["details"].as_array().cloned().unwrap_or_default();
        let mut fields: Vec<String> = details.iter().filter_map(|it| it["field"].as_str().map(str::to_owned)).collect();
        fields.sort();
        fields.dedup();
        fields
    }

    /// The id of the entity under a name.
    #[track_caller]
    pub fn id_of(&self, name: &str) -> String {
        self.body[name]["id"].as_str().unwrap_or_else(|| panic!("no {name} in {}", self.text)).to_owned()
    }

    /// A header as text.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|it| it.to_str().expect("a header of text"))
    }

    /// The position that the answer shows.
    #[track_caller]
    pub fn position(&self) -> i64 {
        self.header("x-log-position").expect("a command says where the log is").parse().expect("a number")
    }

    /// The cookie to send from now on.
    #[track_caller]
    pub fn cookie(&self) -> String {
        let cookie = self.header("set-cookie").expect("a cookie is set");
        cookie.split(';').next().expect("a cookie has a value").to_owned()
    }
}

impl Listening {
    /// The next event; `None` when the server ends the stream.
    pub async fn next(&mut self) -> Option<Heard> {
        loop {
            if let Some(heard) = self.ready.pop_front() {
                return Some(heard);
            }
            let chunk = bounded("an event or the end of the stream", self.chunks.next()).await?.expect("a chunk");
            self.buffer.push_str(std::str::from_utf8(&chunk).expect("a stream of text"));
            while let Some((block, rest)) = self.buffer.split_once("\n\n").map(|(a, b)| (a.to_owned(), b.to_owned())) {
                self.buffer = rest;
                self.ready.extend(heard(&block));
            }
        }
    }

    /// The types of the next events.
    pub async fn types(&mut self, count: usize) -> Vec<String> {
        let mut types = Vec::new();
        while types.len() < count {
            types.push(self.next().await.expect("the stream goes on").event);
        }
        types
    }
}

fn heard(block: &str) -> Option<Heard> {
    let field = |name: &str| block.lines().find_map(|line| line.strip_prefix(name)).map(|it| it.trim().to_owned());
    let data = serde_json::from_str(&field("data:")?).expect("an event's data is JSON");
    Some(Heard { id: field("id:").expect("an id"), event: field("event:").expect("a type"), data })
}
