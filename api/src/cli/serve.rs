//! `muster serve`: opens the stores, starts what runs in the background, and answers until it is told to stop.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use ::projections::auditor::{Auditor, Pace};
use ::projections::{Engine, ProjectionStatus, State};
use clap::Args;
use commands::Executor;
use reactors::Runner;
use reactors::bench::Bench;
use reactors::overdue::Overdue;
use reactors::tell_again::{Retelling, TellAgain};
use store::{Access, Clock, EventLog, Moment, Stores};
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};

use super::bench::{self, BenchArgs, Shift};
use super::github::GithubArgs;
use super::notifying::NotifyingArgs;
use super::{Failure, StoreArgs, output, serve_bundle, serve_past};
use crate::listen::{self, Listening};
use crate::mcp::{LONGEST_CALL, MOST_PATIENCE_SECONDS};
use crate::{App, HttpSettings, Limits, McpSettings, Parts, demo};

/// How long requests in flight may take once the server has been told to stop.
const GRACE: Duration = Duration::from_secs(15);
/// How often expired keys and sessions are swept out.
const SWEEP: Duration = Duration::from_secs(600);
/// How often the log is told of wiki views.
const COUNT_VIEWS: Duration = Duration::from_secs(10);
/// How long an agent may wait for a bench that starts it before people are told.
const LONGEST_LAUNCH: Duration = Duration::from_secs(300);
/// How long the auditor rests between two read models of one look.
const AUDITOR_BREATH: Duration = Duration::from_millis(20);
/// How long to wait for read models before saying how far they are.
const CATCH_UP: Duration = Duration::from_secs(2);

#[derive(Debug, Args)]
pub(super) struct ServeArgs {
    /// The port to listen on; 0 takes a free one
    #[arg(long, env = "API_PORT", value_name = "API_PORT", default_value_t = 3001)]
    port: u16,
    /// The address to listen on; 0.0.0.0 for every network
    #[arg(long, env = "API_HOST", value_name = "API_HOST", default_value = "127.0.0.1")]
    host: IpAddr,
    /// Take the client's address and host from X-Forwarded-For and X-Forwarded-Host; only behind a proxy that sets them
    #[arg(long, env = "MUSTER_BEHIND_PROXY")]
    behind_proxy: bool,
    /// Fill an empty log with four weeks of a small fleet, and print a login and a key to try
    #[arg(long)]
    demo: bool,
    /// Serve everything as it was at this moment, read-only: a position of the log, or a time like 2026-03-01T09:30:00Z
    #[arg(long, value_name = "TIME_OR_POSITION", conflicts_with = "demo")]
    as_of: Option<Moment>,
    /// Serve an audit bundle on this machine, read-only and with no store, and print a token to look at it with
    #[arg(long, value_name = "FILE", conflicts_with_all = ["demo", "as_of"])]
    bundle: Option<PathBuf>,
    /// The most events of a workspace that are read to answer one query with asOf
    #[arg(long, env = "MUSTER_AS_OF_EVENTS", value_name = "MUSTER_AS_OF_EVENTS", default_value_t = 200_000, value_parser = clap::value_parser!(i64).range(1..))]
    as_of_events: i64,
    /// Seconds between two looks of the auditor, which compares a workspace with its log each time; 0 turns it off
    #[arg(long, env = "MUSTER_AUDIT_SECONDS", value_name = "MUSTER_AUDIT_SECONDS", default_value_t = 30)]
    audit_seconds: u32,
    /// The most events of a workspace that the auditor folds at a time; a workspace with more is left to projections verify
    #[arg(long, env = "MUSTER_AUDIT_EVENTS", value_name = "MUSTER_AUDIT_EVENTS", default_value_t = 20_000, value_parser = clap::value_parser!(i64).range(1..))]
    audit_events: i64,
    /// Requests a minute, as owner=100,agent=60,address=300 (and webhook=10, a second, for unsigned webhooks), or off
    #[arg(long, env = "MUSTER_RATE_LIMITS", value_name = "MUSTER_RATE_LIMITS", default_value = "owner=100,agent=60", value_parser = Limits::parse)]
    rate_limits: Limits,
    /// The secret that GitHub signs its webhooks with; without, or empty, no webhook is taken
    #[arg(long, env = "GITHUB_WEBHOOK_SECRET", hide_env_values = true)]
    github_webhook_secret: Option<String>,
    /// Keys the hashes of session cookies, at least 32 characters; made on first start and kept when not given
    #[arg(long, env = "SESSION_SECRET", hide_env_values = true)]
    session_secret: Option<String>,
    /// Origins of pages that may call tools at /mcp, with commas between them; pages of this machine always may
    #[arg(long, env = "MUSTER_MCP_ORIGINS", value_name = "MUSTER_MCP_ORIGINS", value_delimiter = ',')]
    mcp_origins: Vec<String>,
    /// The longest that a tool waits for the bench, in seconds, at most 600; then it says that it goes on
    #[arg(long, env = "MUSTER_MCP_PATIENCE_SECONDS", value_name = "MUSTER_MCP_PATIENCE_SECONDS", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=i64::from(MOST_PATIENCE_SECONDS)))]
    mcp_patience_seconds: u32,
    #[command(flatten)]
    github: GithubArgs,
    #[command(flatten)]
    notifying: NotifyingArgs,
    #[command(flatten)]
    bench: BenchArgs,
}

/// Where clients come in.
pub(super) struct Door {
    address: SocketAddr,
    pub(super) behind_proxy: bool,
}

impl Door {
    pub(super) async fn open(&self) -> Result<TcpListener, Failure> {
        let address = self.address;
        let refused =
            |e| anyhow::anyhow!("cannot listen on {address} (--host and --port, API_HOST and API_PORT): {e}").into();
        TcpListener::bind(address).await.map_err(refused)
    }
}

pub(super) async fn run(store: &StoreArgs, args: ServeArgs) -> Result<(), Failure> {
    let github = args.github.github()?;
    check_session_secret(args.session_secret.as_ref())?;
    let door = Door { address: SocketAddr::new(args.host, args.port), behind_proxy: args.behind_proxy };
    let telling = args.notifying.telling();
    let bench = args.bench.settings(store.data_dir())?;
    let profiles = bench::profiles(bench.as_ref())?;
    let mut settings = HttpSettings {
        limits: args.rate_limits,
        session_secret: args.session_secret,
        github,
        // Anybody can sign with an empty secret.
        github_webhook_secret: args.github_webhook_secret.filter(|it| !it.is_empty()),
        as_of_events: args.as_of_events,
        mcp: McpSettings {
            allowed_origins: args.mcp_origins,
            patience: Duration::from_secs(args.mcp_patience_seconds.into()),
            ..McpSettings::default()
        },
        everybody: telling.everybody.clone(),
        allowed: telling.allowed.clone(),
        webhook_reach: telling.reach,
        ..HttpSettings::default()
    };
    if let Some(bundle) = &args.bundle {
        return serve_bundle::run(bundle, args.host, door, settings).await;
    }
    if let Some(moment) = args.as_of {
        return serve_past::run(store, moment, door, settings).await;
    }
    let clock = Clock::default();
    let stores = store.open(Access::Serve, clock.clone()).await?;
    let listener = door.open().await?;
    let address = listener.local_addr().map_err(anyhow::Error::from)?;
    let bench = match bench {
        Some(it) => Some(bench::open(it, &address.to_string()).await?),
        None => None,
    };
    settings.mcp.profiles = profiles.clone();
    settings.mcp.bench = bench.as_ref().map(|it| bench::to_look_at(it, &stores.views));
    settings.bench = bench.clone();
    let engine = Arc::new(Engine::start(
        Arc::clone(&stores.log),
        stores.views.clone(),
        ::projections::all(),
        Default::default(),
    ));
    let executor = Arc::new(Executor::new(Arc::clone(&stores.log)));
    let again = TellAgain::new(telling.clone(), Arc::clone(&executor), stores.views.clone());
    let reactors = reactors::with_profiles(telling, &profiles);
    let reactors = Runner::start(reactors, Arc::clone(&executor), stores.views.clone(), Arc::clone(&engine));
    let reactors = Arc::new(reactors);
    let parts = Parts {
        log: Arc::clone(&stores.log),
        views: stores.views.clone(),
        executor: Arc::clone(&executor),
        engine: Arc::clone(&engine),
        reactors: Arc::clone(&reactors),
    };
    let app = App::new(parts, settings).await?;
    let tour = if args.demo { demo::fill(&app, &clock).await? } else { None };
    let shift = bench.as_ref().map(|it| Shift::begin(it, &stores.views, &executor, &engine, &app));
    let retelling = Retelling::start(again, Arc::clone(&engine));
    let sweeper = tokio::spawn(sweep(Arc::clone(&stores.log)));
    let every = Duration::from_secs(args.audit_seconds.into());
    let pace = Pace { every, breath: AUDITOR_BREATH, most_events: args.audit_events };
    let auditor = Auditor::new(Arc::clone(&stores.log), stores.views.clone(), ::projections::all(), pace);
    let auditing = (args.audit_seconds > 0).then(|| tokio::spawn(auditor.run()));
    let counting = tokio::spawn(Arc::clone(&app).keep_counting_wiki_views(COUNT_VIEWS));
    let forgetting = tokio::spawn(Arc::clone(&app).keep_forgetting_erased());
    let (views, shared) = (stores.views.clone(), Arc::clone(&engine));
    let overdue =
        Overdue { executor, views, engine: shared, longest_call: LONGEST_CALL, longest_launch: LONGEST_LAUNCH };
    let overdue = tokio::spawn(overdue.keep_looking());
    // Who asks while read models still catch up is answered: a query waits for what it needs and no longer.
    let greeting = greet(&stores, &engine, address, bench.as_deref(), tour);
    let answering = async { answer(listener, &app, door.behind_proxy).await.map_err(Failure::from) };
    tokio::try_join!(greeting, answering)?;
    sweeper.abort();
    forgetting.abort();
    overdue.abort();
    auditing.inspect(|it| it.abort());
    counting.await.map_err(anyhow::Error::from)?;
    // Once more, for what was read since.
    app.count_wiki_views().await;
    if let Some(shift) = shift {
        shift.end().await;
    }
    retelling.shutdown().await;
    reactors.shutdown().await;
    engine.shutdown().await;
    Ok(())
}

/// Answers requests until the process is told to stop, then finishes those in flight.
pub(super) async fn answer(listener: TcpListener, app: &Arc<App>, behind_proxy: bool) -> anyhow::Result<()> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let told_to_stop = async {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
        tracing::info!("stopping: requests in flight are finished first");
        // Streams would go on for ever.
        app.shut_down();
    };
    let listening = Listening { behind_proxy, grace: GRACE };
    if !listen::answer(listener, crate::router(Arc::clone(app)), listening, told_to_stop).await {
        tracing::warn!(grace_seconds = GRACE.as_secs(), "some requests did not end in time");
    }
    Ok(())
}

async fn greet(
    stores: &Stores,
    engine: &Engine,
    address: SocketAddr,
    bench: Option<&Bench>,
    tour: Option<demo::Tour>,
) -> Result<(), Failure> {
    let head = stores.log.head().await?;
    output::line(format!("muster {} on http://{address}/api", env!("CARGO_PKG_VERSION")));
    output::line(format!("  store       {}", stores.place));
    output::line(format!("  head        position {} in epoch {}", head.position, head.epoch));
    let all = ::projections::all();
    let names: Vec<_> = all.iter().map(|it| it.name()).collect();
    engine.wait_for(&names, head.position, CATCH_UP).await;
    for status in engine.status().await? {
        output::line(format!("  projection  {}", describe(&status)));
    }
    if let Some(bench) = bench {
        output::line(format!("  bench       {}, agents come to {}/mcp", bench.name(), bench.url()));
    }
    output::line(format!("  docs        http://{address}/docs"));
    if let Some(tour) = tour {
        output::line(tour.describe(&address.to_string()));
    }
    Ok(())
}

/// One line on one read model.
pub(super) fn describe(it: &ProjectionStatus) -> String {
    let state = match it.state {
        State::Running => "running",
        State::Rebuilding => "rebuilding",
        State::Halted => "halted",
    };
    let mut line = format!("{} v{} {state} at {} of {}", it.name, it.version, it.checkpoint, it.head);
    if it.lag_events > 0 {
        line += &format!(", {} events ({:.1} s) behind", it.lag_events, it.lag_seconds);
    }
    if !it.parked.is_empty() {
        line += &format!(", {} streams parked", it.parked.len());
    }
    if let Some(error) = &it.last_error {
        line += &format!(", last error: {error}");
    }
    line
}

async fn sweep(log: Arc<EventLog>) {
    loop {
        tokio::time::sleep(SWEEP).await;
        if let Err(error) = log.forget_expired().await {
            tracing::warn!(%error, "expired keys and sessions were not swept out");
        }
    }
}

/// Checked here and not by clap, which would print it.
fn check_session_secret(secret: Option<&String>) -> Result<(), Failure> {
    match secret {
        Some(text) if text.chars().count() < 32 => {
            Err(Failure::Setting("SESSION_SECRET (--session-secret) must have at least 32 characters".to_owned()))
        }
        Some(_) | None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::cli::Cli;

    #[test]
    fn no_node_is_more_patient_than_the_others_allow_for() {
        let parsed =
            |seconds: u32| Cli::try_parse_from(["muster", "serve", "--mcp-patience-seconds", &seconds.to_string()]);
        assert!(parsed(MOST_PATIENCE_SECONDS).is_ok());
        assert!(parsed(MOST_PATIENCE_SECONDS + 1).is_err());
        assert!(LONGEST_CALL > 2 * Duration::from_secs(MOST_PATIENCE_SECONDS.into()));
    }
}
