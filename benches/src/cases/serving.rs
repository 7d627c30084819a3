//! The whole server as it is measured: its own sockets, a store as durable as a real one, and a fleet at work.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use api::{App, HttpSettings, Limits, Parts};
use axum::Router;
use commands::{Actor, Context, Executor};
use domain::session::Caller;
use domain::{AgentId, ProjectId, SessionId, UserId, WorkspaceId};
use futures_util::{StreamExt, TryStreamExt, stream};
use muster_tests::stores::Kind;
use projections::Engine;
use reactors::Runner;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use uuid::Uuid;

use crate::http::{Connection, request};
use crate::rig::{Rig, log_progress};

/// How long read models and reactors may take to see everything.
const PATIENCE: Duration = Duration::from_secs(300);

/// Muster behind HTTP. Rate limits are off, as an operator may set them.
pub(super) struct Serving {
    pub(super) rig: Rig,
    pub(super) engine: Arc<Engine>,
    pub(super) address: SocketAddr,
    reactors: Arc<Runner>,
    tasks: Vec<JoinHandle<()>>,
}

/// An owner with one workspace and one project, and agents at work in it.
pub(super) struct Fleet {
    pub(super) user: UserId,
    pub(super) workspace: WorkspaceId,
    pub(super) project: ProjectId,
    pub(super) agents: Vec<Worker>,
}

/// An agent with its key and a session.
pub(super) struct Worker {
    pub(super) key: String,
    pub(super) session: SessionId,
    pub(super) by: Caller,
}

impl Serving {
    pub(super) async fn start(kind: Kind) -> Result<Self> {
        let rig = Rig::open(kind).await?;
        let (log, views) = (rig.log().clone(), rig.stores.views.clone());
        let engine = Arc::new(Engine::start(log.clone(), views.clone(), projections::all(), Default::default()));
        let executor = rig.executor.clone();
        let reactors = Arc::new(Runner::start(reactors::all(), executor.clone(), views.clone(), engine.clone()));
        let parts = Parts { log, views, executor, engine: engine.clone(), reactors: reactors.clone() };
        let settings = HttpSettings { limits: Limits::OFF, ..HttpSettings::default() };
        let app = App::new(parts, settings).await?;
        let (address, serving) = serve(api::router(app)).await?;
        Ok(Self { rig, engine, address, reactors, tasks: vec![serving] })
    }

    /// Serves another router beside it.
    pub(super) async fn beside(&mut self, router: Router) -> Result<SocketAddr> {
        let (address, serving) = serve(router).await?;
        self.tasks.push(serving);
        Ok(address)
    }

    pub(super) fn executor(&self) -> &Arc<Executor> {
        &self.rig.executor
    }

    /// Waits until everything that follows from what was written is done, so that no round pays for the one before.
    pub(super) async fn settle(&self) -> Result<()> {
        let all = projections::all();
        let names: Vec<&str> = all.iter().map(|it| it.name()).collect();
        loop {
            let head = self.rig.log().head().await?.position;
            ensure!(self.engine.wait_for(&names, head, PATIENCE).await, "read models are not there yet");
            for reactor in self.reactors.status() {
                ensure!(self.reactors.wait_for(reactor.name, head, PATIENCE).await, "{} is behind", reactor.name);
            }
            if self.rig.log().head().await?.position == head {
                return Ok(());
            }
        }
    }

    /// Signs somebody up and takes on agents, each with a session.
    pub(super) async fn fleet(&self, agents: usize) -> Result<Fleet> {
        let mut door = Connection::open(self.address).await?;
        let email = format!("{}@example.com", Uuid::now_v7().simple());
        let person = json!({ "email": email, "password": "correct horse battery", "name": "Ada" });
        let (user, cookie) = door.sign_up(&person).await?;
        let owner = [("Cookie", cookie.as_str())];
        let slug = format!("w{}", Uuid::now_v7().simple());
        let body = json!({ "name": "Acme", "slug": slug });
        let workspace =
            id(&door.ask(&request("POST", "/api/workspace.create", &owner, Some(&body))).await?, "workspace")?;
        let body = json!({ "workspaceId": workspace, "name": "Shop", "slug": "shop" });
        let project = id(&door.ask(&request("POST", "/api/project.create", &owner, Some(&body))).await?, "project")?;
        let take_on = |n: usize| self.take_on(&cookie, workspace, project, format!("dev-{n}"));
        let agents = stream::iter(0..agents).map(take_on).buffered(16).try_collect().await?;
        self.settle().await?;
        let (workspace, project) = (WorkspaceId(workspace), ProjectId(project));
        Ok(Fleet { user: UserId(user), workspace, project, agents })
    }

    async fn take_on(&self, cookie: &str, workspace: Uuid, project: Uuid, code: String) -> Result<Worker> {
        let mut door = Connection::open(self.address).await?;
        let body = json!({ "workspaceId": workspace, "agentLevel": "organization", "agentCode": code, "name": code,
            "roleTitle": "Developer" });
        let made = door.ask(&request("POST", "/api/agent.create", &[("Cookie", cookie)], Some(&body))).await?;
        let agent_id = AgentId(id(&made, "agent")?);
        let key = made["credentials"]["apiKey"].as_str().context("an agent without a key")?.to_owned();
        let by = Caller { agent_id, workspace_id: WorkspaceId(workspace) };
        let mut worker = Worker { key, session: SessionId(Uuid::nil()), by };
        let start = worker.request("POST", "/api/session.start", Some(&json!({ "projectId": project })));
        worker.session = SessionId(id(&door.ask(&start).await?, "session")?);
        Ok(worker)
    }

    /// Adds so many entries to the timeline, past HTTP.
    pub(super) async fn log_in_sessions(&self, fleet: &Fleet, entries: usize) -> Result<()> {
        let each = entries / fleet.agents.len();
        let work = fleet.agents.iter().map(|worker| async move {
            for _ in 0..each {
                let log = log_progress(worker.session, worker.by);
                self.executor().run(&worker.context(), &log).await?;
            }
            anyhow::Ok(())
        });
        stream::iter(work).buffer_unordered(fleet.agents.len()).try_collect::<()>().await?;
        self.settle().await
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        self.tasks.iter().for_each(JoinHandle::abort);
    }
}

impl Worker {
    /// The bytes of a request by this agent.
    pub(super) fn request(&self, method: &str, path: &str, body: Option<&Value>) -> Vec<u8> {
        let id = self.by.agent_id.to_string();
        request(method, path, &[("X-Agent-ID", &id), ("X-Agent-Key", &self.key)], body)
    }

    pub(super) fn context(&self) -> Context {
        Context::new(Actor::Agent(self.by.agent_id), chrono::Utc::now())
    }
}

impl Connection {
    async fn sign_up(&mut self, person: &Value) -> Result<(Uuid, String)> {
        let asked = request("POST", "/api/auth/signup", &[], Some(person));
        let user = id(&self.ask(&asked).await?, "user")?;
        Ok((user, self.cookie().context("signing up sets a cookie")?))
    }
}

async fn serve(router: Router) -> Result<(SocketAddr, JoinHandle<()>)> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    let service = router.into_make_service_with_connect_info::<SocketAddr>();
    let serving = tokio::spawn(async move {
        let _ = axum::serve(listener, service).await;
    });
    Ok((address, serving))
}

fn id(answer: &Value, of: &str) -> Result<Uuid> {
    let id = answer[of]["id"].as_str().with_context(|| format!("no {of} in {answer}"))?;
    Ok(id.parse()?)
}
