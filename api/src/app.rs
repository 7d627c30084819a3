//! The application: what every handler may use, and the waits between writing and reading.

use std::sync::Arc;
use std::sync::atomic::AtomicI64;
use std::time::Duration;

use axum::body::Bytes;
use commands::{Actor, Context, Decision, Done, Executor};
use domain::notification_settings::{Allowed, Manner};
use domain::{AgentId, SessionId, UserId, WorkspaceId};
use projections::Engine;
use projections::Fact;
use projections::timeline::Filter;
use quick_cache::sync::Cache;
use reactors::Runner;
use reactors::bench::Bench;
use store::sql::Database;
use store::{Clock, EventLog, StoreError, StreamId};
use tokio::sync::watch;
use uuid::Uuid;
use workbench::alert::Reach;

use crate::agents::AgentPage;
use crate::auth::{Github, LetIn, Principal, Secrets, Throttle, passwords};
use crate::code::Code;
use crate::error::ApiError;
use crate::events::Totals;
use crate::input::Look;
use crate::limits::{Limiter, Limits};
use crate::mcp::{McpSettings, Posting};
use crate::past::{Pasts, Served};
use crate::still_true::StillTrue;
use crate::stream::Feeds;
use crate::view::View;
use crate::wiki::ViewCounts;

/// How many principals' last writes are remembered.
const LAST_WRITES: usize = 10_000;

/// How many workspaces' owners are remembered.
const OWNERS: usize = 10_000;
/// How many places of the factory are remembered.
const POSTINGS: usize = 10_000;
/// How many sessions' first events are remembered.
const BEGINNINGS: usize = 10_000;

/// The parts that the server is made of.
pub struct Parts {
    /// The truth.
    pub log: Arc<EventLog>,
    /// The read models.
    pub views: Database,
    /// Runs commands.
    pub executor: Arc<Executor>,
    /// Keeps the read models current.
    pub engine: Arc<Engine>,
    /// Do what follows from what happened.
    pub reactors: Arc<Runner>,
}

/// How the HTTP side behaves.
#[derive(Clone)]
pub struct HttpSettings {
    /// Requests a minute.
    pub limits: Limits,
    /// What session cookies are hashed with; without, one that is kept beside the log.
    pub session_secret: Option<String>,
    /// Lets people sign in with GitHub.
    pub github: Option<Github>,
    /// What GitHub signs its webhooks with; without, none is taken.
    pub github_webhook_secret: Option<String>,
    /// The largest body of a command.
    pub body_limit_bytes: usize,
    /// The longest that a request may take.
    pub request_timeout: Duration,
    /// The longest wait for a read model.
    pub patience: Duration,
    /// The most events of a workspace that are read to answer one query of the past.
    pub as_of_events: i64,
    /// How the MCP server behaves.
    pub mcp: McpSettings,
    /// How people are told who have not said how.
    pub everybody: Manner,
    /// What may be shown and played on this node, whatever people prefer.
    pub allowed: Allowed,
    /// How far people's webhooks may reach.
    pub webhook_reach: Reach,
    /// The bench of this node, if it has one.
    pub bench: Option<Arc<Bench>>,
}

impl Default for HttpSettings {
    fn default() -> Self {
        Self {
            limits: Limits::default(),
            session_secret: None,
            github: None,
            github_webhook_secret: None,
            body_limit_bytes: 256 * 1024,
            request_timeout: Duration::from_secs(30),
            patience: Duration::from_secs(2),
            as_of_events: 200_000,
            mcp: McpSettings::default(),
            everybody: Manner::default(),
            allowed: Allowed::default(),
            webhook_reach: Reach::default(),
            bench: None,
        }
    }
}

// By hand: the secret must not reach a log.
impl std::fmt::Debug for HttpSettings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HttpSettings").field("limits", &self.limits).finish_non_exhaustive()
    }
}

/// The application.
pub struct App {
    pub(crate) log: Arc<EventLog>,
    pub(crate) views: Database,
    pub(crate) executor: Arc<Executor>,
    pub(crate) engine: Arc<Engine>,
    pub(crate) reactors: Arc<Runner>,
    pub(crate) clock: Clock,
    pub(crate) secrets: Secrets,
    pub(crate) limiter: Limiter,
    pub(crate) throttle: Throttle,
    pub(crate) let_in: LetIn,
    pub(crate) settings: HttpSettings,
    pub(crate) wiki_views: ViewCounts,
    last_writes: Cache<Actor, i64>,
    /// How sessions began: what every entry of theirs is told with, and never changes.
    pub(crate) beginnings: Cache<SessionId, Arc<Fact>>,
    pub(crate) totals: Totals,
    pub(crate) agent_pages: StillTrue<AgentId, AgentPage>,
    pub(crate) event_pages: StillTrue<(Filter, i64, i64), Bytes>,
    /// Whose workspaces are: they are never handed on.
    pub(crate) owners: Cache<WorkspaceId, UserId>,
    /// The places of agents of the factory: they never change.
    pub(crate) postings: Cache<AgentId, Arc<Posting>>,
    pub(crate) feeds: Feeds,
    /// What queries of the past read.
    pub(crate) pasts: Pasts,
    /// Set where nothing but the past is served.
    pub(crate) past: Option<Served>,
    /// How many erasures this node has heard of.
    pub(crate) erasures: AtomicI64,
    shutdown: watch::Sender<bool>,
}

impl App {
    /// Puts the parts together; reads the secrets, or makes them on first start.
    pub async fn new(parts: Parts, settings: HttpSettings) -> Result<Arc<Self>, StoreError> {
        Self::assemble(parts, settings, None).await
    }

    pub(crate) async fn assemble(
        parts: Parts,
        settings: HttpSettings,
        past: Option<Served>,
    ) -> Result<Arc<Self>, StoreError> {
        crate::metrics::install();
        passwords::warm_up();
        let erasures = AtomicI64::new(parts.log.known_keys().erasures);
        let secrets = Secrets::load(&parts.log, settings.session_secret.as_deref()).await?;
        Ok(Arc::new(Self {
            clock: parts.log.clock().clone(),
            log: parts.log,
            views: parts.views,
            executor: parts.executor,
            engine: parts.engine,
            reactors: parts.reactors,
            secrets,
            limiter: Limiter::new(settings.limits),
            throttle: Throttle::default(),
            let_in: LetIn::default(),
            wiki_views: ViewCounts::default(),
            last_writes: Cache::new(LAST_WRITES),
            beginnings: Cache::new(BEGINNINGS),
            totals: Totals::default(),
            agent_pages: StillTrue::default(),
            event_pages: StillTrue::default(),
            owners: Cache::new(OWNERS),
            postings: Cache::new(POSTINGS),
            feeds: Feeds::default(),
            pasts: Pasts::default(),
            past,
            erasures,
            shutdown: watch::Sender::new(false),
            settings,
        }))
    }

    /// The keyed hash of an agent's key, as it is stored.
    pub fn hash_key(&self, key: &str) -> Vec<u8> {
        self.secrets.hash_key(key).to_vec()
    }

    /// Ends what would go on for ever: event streams.
    pub fn shut_down(&self) {
        self.shutdown.send_replace(true);
    }

    /// Turns true when the server is to end.
    pub(crate) fn shutdown(&self) -> watch::Receiver<bool> {
        self.shutdown.subscribe()
    }

    /// Runs a command and remembers where its caller last wrote.
    pub(crate) async fn run<D: Decision>(&self, context: &Context, decision: &D) -> Result<Done<D::Outcome>, ApiError> {
        let done = self.executor.run(context, decision).await?;
        self.will_see(context.actor, done.position);
        Ok(done)
    }

    /// Remembers that whoever reads next is to see the log up to there.
    pub(crate) fn will_see(&self, actor: Actor, position: i64) {
        // Commands that run side by side may end in any order.
        let before = self.last_writes.get(&actor).unwrap_or(0);
        self.last_writes.insert(actor, position.max(before));
    }

    /// The entity as the command left it; `None` if its read model does not show it in time.
    pub(crate) async fn shown<V: View, O>(&self, done: &Done<O>, id: impl Into<Uuid>) -> Result<Option<V>, ApiError> {
        let id = id.into();
        if done.replayed {
            // A repeat gets what the first answer said, whatever happened since.
            return self.as_of(id, done.position).await;
        }
        if !self.engine.wait_for(&[V::READ_MODEL], done.position, self.settings.patience).await {
            return Ok(None);
        }
        Ok(V::find(&self.views, id).await?)
    }

    /// The entity as it was at a position, from its own streams.
    pub(crate) async fn as_of<V: View>(&self, id: Uuid, position: i64) -> Result<Option<V>, ApiError> {
        let mut facts = projections::facts_of(&self.log, &StreamId::new(V::AGGREGATE, id), position).await?;
        for kind in V::ALSO {
            facts.extend(projections::facts_of(&self.log, &StreamId::new(*kind, id), position).await?);
        }
        facts.sort_by_key(|fact| fact.position);
        V::as_of(&facts).map_err(ApiError::fault)
    }

    /// Waits until the read models show what the query must see.
    pub(crate) async fn caught_up<P: Principal, T>(
        &self,
        look: &Look<P, T>,
        read_models: &[&str],
    ) -> Result<(), ApiError> {
        self.wait_for_reader(look.by.actor(), look.min_position, read_models).await
    }

    /// Waits until the read models show the position that a reader asks for, and what it wrote itself.
    pub(crate) async fn wait_for_reader(
        &self,
        actor: Actor,
        min_position: Option<i64>,
        read_models: &[&str],
    ) -> Result<(), ApiError> {
        if let Some(past) = &self.past {
            return match min_position {
                Some(position) if position > past.position => Err(ApiError::new(
                    Code::ServingThePast,
                    format!("this server shows the log up to position {}, and no further", past.position),
                )),
                Some(_) | None => Ok(()),
            };
        }
        let patience = self.settings.patience;
        if let Some(position) = min_position
            && !self.engine.wait_for(read_models, position, patience).await
        {
            return Err(ApiError::unavailable(format!("position {position} is not shown yet; try again")));
        }
        if let Some(position) = self.last_writes.get(&actor)
            && !self.engine.wait_for(read_models, position, patience).await
        {
            // Nobody asked for this wait: rather an old answer than none, and no such wait before every later query.
            self.last_writes.remove(&actor);
        }
        Ok(())
    }
}
