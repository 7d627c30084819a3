//! A small fleet whose history a test writes straight into the log, and the engine that makes it readable.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use chrono::{DateTime, Utc};
use domain::agent::{AgentEvent, AgentLevel, AgentStatus};
use domain::project::ProjectEvent;
use domain::wiki::{Author, WikiEvent};
use domain::workspace::WorkspaceEvent;
use domain::{AgentCode, AgentId, CredentialId, ProjectId, Settings, Slug, UserId, WikiEntryId, WorkspaceId};
use muster_tests::commits::Build;
use muster_tests::stores::{Bench, Kind, noon};
use projections::{AGENT, Engine, PROJECT, Projection, WIKI, WORKSPACE};
use serde::Serialize;
use serde_json::json;
use store::sql::{Database, Query};
use store::{Commit, EventLog, NewEvent, StreamId};
use uuid::Uuid;

/// Longer than anything here takes; a test that waits so long has failed.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// A log with a short history, on one of the stores.
pub(crate) struct Fleet {
    pub(crate) bench: Bench,
    pub(crate) owner: UserId,
    sequences: Mutex<HashMap<StreamId, i64>>,
}

impl Fleet {
    pub(crate) fn new(bench: Bench) -> Self {
        Self { bench, owner: UserId(Uuid::now_v7()), sequences: Mutex::default() }
    }

    pub(crate) fn log(&self) -> Arc<EventLog> {
        self.bench.log()
    }

    pub(crate) fn views(&self) -> &Database {
        &self.bench.stores().views
    }

    /// An engine for these projections.
    pub(crate) fn engine(&self, projections: Vec<Arc<dyn Projection>>) -> Engine {
        Engine::start(self.log(), self.views().clone(), projections, projections::Settings::default())
    }

    /// Runs the product's projections up to the head, and stops.
    pub(crate) async fn project_everything(&self) {
        let engine = self.engine(projections::all());
        self.caught_up(&engine).await;
        engine.shutdown().await;
    }

    /// Waits until queries see the whole log.
    pub(crate) async fn caught_up(&self, engine: &Engine) {
        let head = self.log().head().await.unwrap().position;
        let status = engine.status().await.unwrap();
        let names: Vec<&str> = status.iter().map(|it| it.name.as_str()).collect();
        assert!(engine.wait_for(&names, head, PATIENCE).await, "not caught up with {head}: {status:#?}");
    }

    /// Appends an event and says where it is.
    pub(crate) async fn happens(&self, stream: &StreamId, workspace: WorkspaceId, event: &impl Serialize) -> i64 {
        self.appends(stream, stored(event, workspace, self.owner)).await
    }

    /// Appends an event as it is and says where it is.
    pub(crate) async fn appends(&self, stream: &StreamId, event: NewEvent) -> i64 {
        let expected = *self.sequences.lock().unwrap().get(stream).unwrap_or(&0);
        let receipt = self.bench.commit(Commit::default().append(stream, expected, vec![event])).await.unwrap();
        self.sequences.lock().unwrap().insert(stream.clone(), expected + 1);
        receipt.last
    }

    pub(crate) async fn workspace(&self, name: &str) -> WorkspaceId {
        let id = WorkspaceId(Uuid::now_v7());
        let event = WorkspaceEvent::WorkspaceCreated {
            workspace_id: id,
            owner_id: self.owner,
            name: name.into(),
            slug: Slug::parse(name).unwrap(),
            description: None,
            settings: Settings::new(),
            created_at: noon(),
        };
        self.happens(&workspace(id), id, &event).await;
        id
    }

    pub(crate) async fn renamed(&self, id: WorkspaceId, name: &str) -> i64 {
        self.happens(&workspace(id), id, &renaming(name)).await
    }

    pub(crate) async fn project(&self, workspace: WorkspaceId, name: &str) -> ProjectId {
        let id = ProjectId(Uuid::now_v7());
        let event = ProjectEvent::ProjectCreated {
            project_id: id,
            workspace_id: workspace,
            name: name.into(),
            slug: Slug::parse(name).unwrap(),
            description: None,
            repository_url: None,
            github_installation_id: None,
            mvp_document_url: None,
            is_active: true,
            created_at: noon(),
        };
        self.happens(&StreamId::new(PROJECT, id), workspace, &event).await;
        id
    }

    pub(crate) async fn agent(&self, workspace: WorkspaceId, project: Option<ProjectId>, code: &str) -> AgentId {
        let id = AgentId(Uuid::now_v7());
        let event = AgentEvent::AgentCreated {
            agent_id: id,
            workspace_id: workspace,
            project_id: project,
            level: if project.is_some() { AgentLevel::Project } else { AgentLevel::Organization },
            code: AgentCode::parse(code).unwrap(),
            name: code.to_uppercase(),
            role_title: "Developer".into(),
            status: AgentStatus::Active,
            trust_score: 50.0,
            capabilities: vec!["rust".into()],
            settings: Settings::new(),
            supervisor_agent_id: None,
            credential_id: CredentialId(Uuid::now_v7()),
            created_at: noon(),
        };
        self.happens(&agent(id), workspace, &event).await;
        id
    }

    pub(crate) async fn status_changed(&self, workspace: WorkspaceId, id: AgentId, to: AgentStatus) -> i64 {
        let event = AgentEvent::AgentStatusChanged { from: AgentStatus::Active, to, changed_at: later(5) };
        self.happens(&agent(id), workspace, &event).await
    }

    /// A wiki entry of the whole workspace, proposed by the owner so many minutes after noon.
    pub(crate) async fn wiki_entry(&self, workspace: WorkspaceId, slug: &str, minutes: i64) -> WikiEntryId {
        self.proposed(workspace, None, slug, &[slug, "Nothing"], &["rust"], minutes).await
    }

    /// A wiki entry with a title and a content, proposed by the owner so many minutes after noon.
    pub(crate) async fn proposed(
        &self,
        workspace: WorkspaceId,
        project: Option<ProjectId>,
        slug: &str,
        text: &[&str; 2],
        tags: &[&str],
        minutes: i64,
    ) -> WikiEntryId {
        let id = WikiEntryId(Uuid::now_v7());
        let event = WikiEvent::WikiEntryProposed {
            entry_id: id,
            workspace_id: workspace,
            project_id: project,
            proposed_by: Author::User(self.owner),
            title: text[0].into(),
            slug: Slug::parse(slug).unwrap(),
            content: text[1].into(),
            tags: tags.iter().map(|it| (*it).to_owned()).collect(),
            version: 1,
            parent_entry_id: None,
            proposed_at: later(minutes),
        };
        self.happens(&wiki(id), workspace, &event).await;
        id
    }

    /// Throws the read models away, as an operator with a shell could while the server is stopped.
    pub(crate) async fn delete_views(&mut self) {
        match self.bench.kind {
            Kind::Sqlite => {
                self.bench.close();
                for file in ["views.db", "views.db-wal", "views.db-shm"] {
                    let _ = std::fs::remove_file(self.bench.folder().join(file));
                }
            }
            Kind::Postgres => self.bench.run_raw("drop schema views cascade").await.unwrap(),
        }
        self.bench.reopen().await;
    }

    /// Every row that queries can see, as text.
    pub(crate) async fn rows(&self) -> Vec<String> {
        let mut rows = Vec::new();
        for table in projections::all().iter().flat_map(|it| it.tables()) {
            let key: Vec<&str> = table.key().iter().map(|it| it.name.as_str()).collect();
            let query = Query::new(format!("select * from {} order by {}", table.name, key.join(", ")));
            let found = self.views().query(query).await.unwrap();
            rows.extend(found.iter().map(|row| format!("{}: {row:?}", table.name)));
        }
        rows
    }

    /// Changes the read models past the engine, as an operator with a shell could.
    pub(crate) async fn tamper(&self, sql: String) {
        self.views().transact(vec![Query::new(sql).into()]).await.unwrap();
    }
}

pub(crate) fn workspace(id: WorkspaceId) -> StreamId {
    StreamId::new(WORKSPACE, id)
}

pub(crate) fn agent(id: AgentId) -> StreamId {
    StreamId::new(AGENT, id)
}

pub(crate) fn wiki(id: WikiEntryId) -> StreamId {
    StreamId::new(WIKI, id)
}

pub(crate) fn renaming(name: &str) -> WorkspaceEvent {
    let name = Some(name.to_owned());
    WorkspaceEvent::WorkspaceDetailsChanged {
        name,
        slug: None,
        description: None,
        settings: None,
        changed_at: later(1),
    }
}

/// An event of a user's, in its stored form.
pub(crate) fn stored(event: &impl Serialize, workspace: WorkspaceId, user: UserId) -> NewEvent {
    let payload = serde_json::to_value(event).unwrap();
    let event_type = payload.as_object().unwrap().keys().next().unwrap().clone();
    NewEvent {
        event_id: Uuid::now_v7(),
        event_type,
        event_version: "1".into(),
        payload: payload.to_string(),
        metadata: json!({ "actor_type": "user", "actor_id": user, "command_id": "c-1", "correlation_id": "r-1" })
            .to_string(),
        workspace_id: Some(workspace.0),
    }
}

/// Minutes after noon.
pub(crate) fn later(minutes: i64) -> DateTime<Utc> {
    noon() + chrono::TimeDelta::minutes(minutes)
}
