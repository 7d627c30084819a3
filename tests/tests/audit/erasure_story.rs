//! A workspace whose people and agents write one rare word wherever they can, and ways to look for it in every byte.

use std::path::Path;

use muster_tests::muster::{Home, Muster};
use muster_tests::stores::Kind;
use reqwest::header::{COOKIE, SET_COOKIE};
use reqwest::{Client, Method, StatusCode};
use serde_json::{Value, json};
use sqlx::{AssertSqlSafe, Row};

/// What is to be erased. No slug and no code has it.
pub(crate) const WORD: &str = "Heliotrope";
/// What somebody else wrote.
pub(crate) const OTHER: &str = "Vermilion";

/// What was made.
pub(crate) struct Story {
    pub(crate) owner: Person,
    /// Whose text is sealed.
    pub(crate) acme: String,
    /// Whose text is not.
    pub(crate) other: String,
    pub(crate) project: String,
    pub(crate) agent: String,
    pub(crate) task: String,
    pub(crate) session: String,
    /// Where the log stood when all of it was written.
    pub(crate) position: i64,
}

/// Somebody with a cookie, or an agent with its key.
#[derive(Clone)]
pub(crate) struct Person {
    http: Client,
    headers: Vec<(&'static str, String)>,
}

impl Story {
    /// Writes the word into everything that takes text, and another one next door.
    pub(crate) async fn told_to(server: &Muster) -> Self {
        let owner = Person::signs_up(server, "owner@muster.example").await;
        let id = |answer: &Value, of: &str| answer[of]["id"].as_str().unwrap().to_owned();
        let acme = json!({"name": format!("{WORD} Ltd"), "slug": "acme", "description": WORD,
            "settings": {WORD: {"a": WORD}}, "sealText": true});
        let acme = id(&owner.post(server, "/api/workspace.create", acme).await, "workspace");
        let other = owner.post(server, "/api/workspace.create", json!({"name": OTHER, "slug": "other"})).await;
        let other = id(&other, "workspace");
        let project = json!({"workspaceId": acme, "name": WORD, "slug": "shop", "description": WORD});
        let project = id(&owner.post(server, "/api/project.create", project).await, "project");
        let agent = json!({"workspaceId": acme, "agentLevel": "project", "projectId": project, "agentCode": "dev",
            "name": WORD, "roleTitle": WORD, "capabilities": [WORD, "rust"], "settings": {"note": WORD}});
        let agent = owner.post(server, "/api/agent.create", agent).await;
        let worker = owner.agent(&agent);
        let agent = id(&agent, "agent");
        let task = json!({"projectId": project, "title": WORD, "description": WORD, "successCriteria": [WORD, "x"],
            "metadata": {"deep": [{WORD: WORD}]}});
        let task = id(&owner.with("Idempotency-Key", "one").post(server, "/api/task.create", task).await, "task");
        owner.post(server, "/api/task.assign", json!({"taskId": task, "agentId": agent})).await;
        let session = worker.post(server, "/api/session.start", json!({"projectId": project})).await;
        let session = id(&session, "session");
        worker.post(server, "/api/task.start", json!({"taskId": task, "sessionId": session})).await;
        let logged = json!({"sessionId": session, "message": WORD, "context": {"file": WORD}});
        worker.post(server, "/api/session.log", logged).await;
        let blocked = json!({"taskId": task, "blocker": WORD, "severity": "high", "requiresAttention": true});
        worker.post(server, "/api/task.block", blocked).await;
        worker.post(server, "/api/task.start", json!({"taskId": task})).await;
        worker.post(server, "/api/task.complete", json!({"taskId": task, "successCriteriaMet": [WORD]})).await;
        let question = json!({"sessionId": session, "type": "question_asked",
            "content": {"question": WORD, "context": {"whatIVeTried": WORD}, "urgency": "high"}});
        worker.post(server, "/api/event.publish", question).await;
        let page = json!({"workspaceId": acme, "title": WORD, "slug": "page", "content": format!("all of {WORD}"),
            "tags": [WORD, format!("{WORD} two")]});
        let page = id(&owner.post(server, "/api/wiki.create", page).await, "entry");
        owner.post(server, "/api/wiki.approve", json!({"id": page})).await;
        let stopped = json!({"sessionId": session, "summary": WORD});
        let (_, position) = worker.send(server, Method::POST, "/api/session.stop", Some(stopped)).await;
        Self { owner, acme, other, project, agent, task, session, position: position.unwrap() }
    }

    /// What is counted at the end of the story, and must not change.
    pub(crate) async fn counts(&self, server: &Muster) -> Value {
        let Self { acme, project, agent, owner, position, .. } = self;
        let ask = async |path: String| owner.get(server, &format!("{path}&asOf={position}")).await;
        let events = ask(format!("/api/event.list?workspaceId={acme}&limit=100")).await;
        json!({
            "events": {"total": events["total"], "types": types(&events)},
            "tasks": ask(format!("/api/task.list?projectId={project}")).await["total"],
            "kpi": ask(format!("/api/kpi.history?agentId={agent}")).await,
            "trust": ask(format!("/api/trust.explain?agentId={agent}")).await["score"],
            "agents": ask(format!("/api/agent.list?workspaceId={acme}")).await["agents"][0]["trustScore"],
        })
    }
}

fn types(list: &Value) -> Vec<Value> {
    list["events"].as_array().unwrap().iter().map(|it| it["type"].clone()).collect()
}

impl Person {
    pub(crate) async fn signs_up(server: &Muster, email: &str) -> Self {
        let stranger = Self { http: muster_tests::http_client().build().unwrap(), headers: vec![] };
        let body = json!({"email": email, "password": "correct horse battery", "name": "Robin Heath"});
        let answer = stranger.http.post(server.url("/api/auth/signup")).json(&body).send().await.unwrap();
        assert_eq!(answer.status(), StatusCode::OK);
        let cookie = answer.headers()[SET_COOKIE].to_str().unwrap().split(';').next().unwrap().to_owned();
        stranger.with(COOKIE.as_str(), cookie)
    }

    pub(crate) fn with_cookie(cookie: &str) -> Self {
        let http = muster_tests::http_client().build().unwrap();
        Self { http, headers: vec![("cookie", cookie.to_owned())] }
    }

    pub(crate) fn with(&self, name: &str, value: impl Into<String>) -> Self {
        let name = ["cookie", "Idempotency-Key", "X-Agent-ID", "X-Agent-Key", "X-Min-Position"]
            .into_iter()
            .find(|it| *it == name)
            .unwrap();
        let mut person = self.clone();
        person.headers.push((name, value.into()));
        person
    }

    fn agent(&self, created: &Value) -> Self {
        let text = |name: &str| created["credentials"][name].as_str().unwrap().to_owned();
        let somebody = Self { http: self.http.clone(), headers: vec![] };
        somebody.with("X-Agent-ID", text("agentId")).with("X-Agent-Key", text("apiKey"))
    }

    pub(crate) async fn get(&self, server: &Muster, path: &str) -> Value {
        self.send(server, Method::GET, path, None).await.0
    }

    pub(crate) async fn post(&self, server: &Muster, path: &str, body: Value) -> Value {
        self.send(server, Method::POST, path, Some(body)).await.0
    }

    /// The answer, and the position that a command says.
    pub(crate) async fn send(
        &self,
        server: &Muster,
        method: Method,
        path: &str,
        body: Option<Value>,
    ) -> (Value, Option<i64>) {
        let mut request = self.http.request(method, server.url(path));
        for (name, value) in &self.headers {
            request = request.header(*name, value);
        }
        if let Some(body) = &body {
            request = request.json(body);
        }
        let answer = request.send().await.unwrap();
        let status = answer.status();
        let position = answer.headers().get("x-log-position").map(|it| it.to_str().unwrap().parse().unwrap());
        let text = answer.text().await.unwrap();
        assert_eq!(status, StatusCode::OK, "{path}: {text}");
        (serde_json::from_str(&text).unwrap(), position)
    }

    pub(crate) async fn status_of(&self, server: &Muster, path: &str) -> StatusCode {
        let mut request = self.http.get(server.url(path));
        for (name, value) in &self.headers {
            request = request.header(*name, value);
        }
        request.send().await.unwrap().status()
    }
}

/// What a query of the log's database answers, past the store. Whoever closes a file gives up all that its process has
/// locked of it, so on SQLite nothing is left open that `places_of` could disturb.
pub(crate) async fn first<T>(home: &Home, sql: &str) -> Option<T>
where
    T: rusqlite::types::FromSql + Send + Unpin,
    T: for<'r> sqlx::Decode<'r, sqlx::Postgres> + sqlx::Type<sqlx::Postgres>,
{
    match home.kind {
        Kind::Sqlite => {
            let file = rusqlite::Connection::open(home.log_file()).unwrap();
            file.busy_timeout(muster_tests::muster::PATIENCE).unwrap();
            let found = file.query_row(sql, [], |row| row.get(0)).unwrap();
            file.close().unwrap();
            found
        }
        Kind::Postgres => {
            let mut connection = muster_tests::postgres::connect(home.database_url()).await.unwrap();
            let sql = sql.replace(" from ", " from log.");
            sqlx::query_scalar(AssertSqlSafe(sql)).fetch_optional(&mut connection).await.unwrap()
        }
    }
}

/// Where the bytes are: in every file of the folder that begins with the name, or in every table of the schema.
pub(crate) async fn places_of(home: &Home, what: &[u8], of: &str) -> Vec<String> {
    match home.kind {
        Kind::Sqlite => files_with(home.folder(), what, of),
        Kind::Postgres => tables_with(home.database_url(), what, of).await,
    }
}

fn files_with(folder: &Path, what: &[u8], of: &str) -> Vec<String> {
    'again: loop {
        let mut found = Vec::new();
        for file in std::fs::read_dir(folder).unwrap().map(|it| it.unwrap().path()) {
            if !file.file_name().unwrap().to_str().unwrap().starts_with(of) {
                continue;
            }
            // Whoever looked last takes a write-ahead log into the file, and it is gone.
            let Ok(bytes) = std::fs::read(&file) else { continue 'again };
            if bytes.windows(what.len()).any(|it| it == what) {
                found.push(file.display().to_string());
            }
        }
        return found;
    }
}

async fn tables_with(url: &str, what: &[u8], of: &str) -> Vec<String> {
    let mut connection = muster_tests::postgres::connect(url).await.unwrap();
    let tables = sqlx::query("select schemaname::text, tablename::text from pg_tables where schemaname like $1 || '%'");
    let schema = if of == "data" { "" } else { of };
    let tables = tables.bind(schema).fetch_all(&mut connection).await.unwrap();
    let text = String::from_utf8(what.to_vec());
    // Bytes are shown in hex.
    let looks = text.unwrap_or_else(|_| hex::encode(what));
    let mut found = Vec::new();
    for row in tables {
        let (schema, table): (String, String) = (row.get(0), row.get(1));
        if schema.starts_with("pg_") || schema == "information_schema" {
            continue;
        }
        let sql = format!("select count(*) from {schema}.{table} t where strpos(t::text, '{looks}') > 0");
        let count: i64 = sqlx::query_scalar(AssertSqlSafe(sql)).fetch_one(&mut connection).await.unwrap();
        if count > 0 {
            found.push(format!("{schema}.{table}"));
        }
    }
    found
}
