//! Muster as it is measured: a fresh store as durable as a real one, an executor, and commands of the real domain.

use std::path::PathBuf;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, OnceLock};

use anyhow::{Context as _, Result};
use commands::{Actor, Context, Executor, New, On};
use domain::agent::{AgentStatus, LiveAgent};
use domain::github::Login;
use domain::repository::{CommentOnIssue, Repository, RepositoryCommand, RepositoryOf};
use domain::session::{Caller, LogProgress, PulledCounts, Session, SessionCommand, StartSession};
use domain::task::{CreateTask, Task, TaskCommand};
use domain::{AgentCode, AgentId, ProjectId, SessionId, Settings, TaskId, UserId, WorkspaceId};
use muster_tests::postgres::Cluster;
use muster_tests::stores::Kind;
use store::{Access, Clock, EventLog, Location, Stores};
use tempfile::TempDir;
use uuid::Uuid;

/// Brings the JSON of an event to about 300 bytes, the payload that every library is measured with.
const TASK_TEXT: &str = "Keep the basket when the customer signs in, and merge it with";
const COMMENT: &str = "Merge both.";
const LOG_TEXT: &str = "Read the basket service and its tests; the merge happens in two places, and only one of them \
    keeps the quantities. Next: one function for both, with a test for each of the four cases, then the migration.";

/// A store of its own with an executor.
pub(crate) struct Rig {
    pub(crate) stores: Stores,
    pub(crate) executor: Arc<Executor>,
    pub(crate) location: Location,
    // Removed when the rig is.
    _folder: TempDir,
}

/// A store that this process does not have open.
pub(crate) struct Closed {
    pub(crate) location: Location,
    // Removed when this is.
    _folder: TempDir,
}

/// Agents' sessions that are written to again and again.
pub(crate) struct HotSessions(Vec<HotSession>);

struct HotSession {
    /// Which session it is now; replaced when its history is long.
    current: tokio::sync::Mutex<(SessionId, Caller)>,
    events: AtomicI64,
}

/// Streams that are written to at the same time, and the history at which one is replaced by a new one.
const HOT: usize = 100;
const LONGEST: i64 = 200;

impl Rig {
    /// A fresh store.
    pub(crate) async fn open(kind: Kind) -> Result<Self> {
        let folder = folder()?;
        let location = match kind {
            Kind::Sqlite => Location::Sqlite(folder.path().to_path_buf()),
            Kind::Postgres => Location::Postgres(cluster().create_database().await?),
        };
        let stores = open(&location).await?;
        let executor = Arc::new(Executor::new(stores.log.clone()));
        Ok(Self { stores, executor, location, _folder: folder })
    }

    /// Lets go of the store and keeps what is in it, for another process.
    pub(crate) fn close(self) -> Closed {
        Closed { location: self.location, _folder: self._folder }
    }

    pub(crate) fn log(&self) -> &Arc<EventLog> {
        &self.stores.log
    }

    /// The address of the database.
    pub(crate) fn url(&self) -> &str {
        match &self.location {
            Location::Postgres(url) => url,
            Location::Sqlite(_) => "",
        }
    }
}

/// The server that all PostgreSQL figures come from: fsync and synchronous_commit are on.
pub(crate) fn cluster() -> &'static Cluster {
    static CLUSTER: OnceLock<Cluster> = OnceLock::new();
    CLUSTER.get_or_init(|| Cluster::start().expect("a private PostgreSQL cluster starts"))
}

/// A folder on the disk that the project is on: a folder in memory would make every sync free.
pub(crate) fn folder() -> Result<TempDir> {
    let target = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../target/tmp");
    std::fs::create_dir_all(&target)?;
    tempfile::Builder::new().prefix("bench-").tempdir_in(target).context("no folder for a benchmark")
}

/// Opens what is at a location as a server does.
pub(crate) async fn open(location: &Location) -> Result<Stores> {
    let settings = store::Settings { location: location.clone(), clock: Clock::default(), access: Access::Serve };
    Ok(Stores::open(settings).await?)
}

/// A command that begins a new stream with an event of about 300 bytes and has no rule beyond it, as those of the other
/// libraries have none.
pub(crate) fn new_stream() -> New<Repository> {
    let id = Uuid::now_v7();
    let comment = CommentOnIssue {
        of: RepositoryOf { workspace_id: WorkspaceId(id), project_id: ProjectId(id) },
        comment_id: 1,
        issue_number: 17,
        url: "https://github.com/acme/shop/pull/17".to_owned(),
        author: Login::new("ada"),
        body: COMMENT.to_owned(),
        task_id: None,
        agent_id: None,
        commented_at: chrono::Utc::now(),
    };
    New { name: "github.comment", id, command: RepositoryCommand::Comment(comment) }
}

/// A command that begins a stream and takes a claim: a task counts among those of its project.
pub(crate) fn new_task() -> New<Task> {
    let id = Uuid::now_v7();
    let create = CreateTask {
        task_id: TaskId(id),
        workspace_id: WorkspaceId(id),
        project_id: ProjectId(id),
        github_issue: None,
        title: TASK_TEXT.to_owned(),
        description: None,
        priority: None,
        deadline: None,
        success_criteria: vec![],
        metadata: Settings::new(),
        now: chrono::Utc::now(),
    };
    New { name: "task.create", id, command: TaskCommand::Create(create) }
}

/// The surroundings of a command by a user.
pub(crate) fn context() -> Context {
    Context::new(Actor::User(UserId(Uuid::now_v7())), chrono::Utc::now())
}

/// Begins a session of an agent of its own.
pub(crate) async fn start_session(executor: &Executor) -> Result<(SessionId, Caller)> {
    let (session_id, agent_id, workspace_id) = (Uuid::now_v7(), Uuid::now_v7(), WorkspaceId(Uuid::now_v7()));
    let agent = LiveAgent {
        agent_id: AgentId(agent_id),
        workspace_id,
        project_id: None,
        code: AgentCode::parse("dev").expect("an agent code"),
        name: "dev".to_owned(),
        role_title: "Developer".to_owned(),
        status: AgentStatus::Active,
        capabilities: vec![],
        settings: Settings::new(),
        supervisor_agent_id: None,
        credential_id: Uuid::now_v7().into(),
    };
    let start = StartSession {
        session_id: SessionId(session_id),
        project_id: ProjectId(Uuid::now_v7()),
        project_workspace_id: workspace_id,
        agent,
        pulled: PulledCounts::default(),
        delivered_up_to: 0,
        now: chrono::Utc::now(),
    };
    let command = SessionCommand::Start(start);
    executor.run(&context(), &New::<Session> { name: "session.start", id: session_id, command }).await?;
    Ok((SessionId(session_id), Caller { agent_id: AgentId(agent_id), workspace_id }))
}

/// A command that adds an event of about 300 bytes to a session.
pub(crate) fn log_progress(session: SessionId, by: Caller) -> On<Session> {
    let log = LogProgress { by, message: LOG_TEXT.to_owned(), context: None, now: chrono::Utc::now() };
    On { name: "session.log", id: session.0, command: SessionCommand::Log(log) }
}

impl HotSessions {
    /// Sessions whose histories are spread evenly between nothing and the longest.
    pub(crate) async fn begin(executor: &Executor) -> Result<Self> {
        let mut sessions = Vec::with_capacity(HOT);
        for n in 0..HOT as i64 {
            let (session, caller) = start_session(executor).await?;
            let events = n * LONGEST / HOT as i64;
            for _ in 0..events {
                executor.run(&context(), &log_progress(session, caller)).await?;
            }
            let current = tokio::sync::Mutex::new((session, caller));
            sessions.push(HotSession { current, events: AtomicI64::new(events) });
        }
        Ok(Self(sessions))
    }

    /// Adds an event to one of them.
    pub(crate) async fn log(&self, executor: &Executor) -> Result<()> {
        let hot = &self.0[Uuid::new_v4().as_u128() as usize % self.0.len()];
        let (session, caller) = *hot.current.lock().await;
        executor.run(&context(), &log_progress(session, caller)).await?;
        if hot.events.fetch_add(1, Ordering::Relaxed) + 1 == LONGEST {
            *hot.current.lock().await = start_session(executor).await?;
            hot.events.store(0, Ordering::Relaxed);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn an_event_is_about_as_large_as_those_of_the_other_libraries() -> Result<()> {
        let rig = Rig::open(Kind::Sqlite).await?;
        let (session, caller) = start_session(&rig.executor).await?;
        rig.executor.run(&context(), &new_stream()).await?;
        rig.executor.run(&context(), &log_progress(session, caller)).await?;
        for event in &rig.log().read_all(1, 2).await? {
            assert!((280..=320).contains(&event.payload.len()), "{}: {}", event.payload.len(), event.payload);
        }
        Ok(())
    }
}
