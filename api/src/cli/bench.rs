//! The options of a bench: what this node may do outside, as its operator says.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use commands::Executor;
use domain::post::Profiles;
use projections::Engine;
use reactors::bench::{Bench, BenchSettings};
use reactors::health::{Health, Watch};
use reactors::perform_errands::{FreshKey, KeyMaker, Performer, Shop};
use store::sql::Database;

use super::Failure;
use crate::App;
use crate::auth::keys::AgentKey;
use crate::mcp::OnThisNode;

#[derive(Debug, Args)]
pub(super) struct BenchArgs {
    /// A TOML file with the repositories that agents work on here and the commands they are started with; no agent is
    /// started and no repository touched without
    #[arg(long = "bench", env = "MUSTER_BENCH_CONFIG", value_name = "MUSTER_BENCH_CONFIG")]
    file: Option<PathBuf>,
}

impl BenchArgs {
    /// The bench that is described, if any.
    pub(super) fn settings(&self, data_folder: &Path) -> Result<Option<BenchSettings>, Failure> {
        let variable = |name: &str| std::env::var(name).ok();
        BenchSettings::read(self.file.as_deref(), variable, data_folder).map_err(|it| Failure::Setting(it.to_string()))
    }
}

/// How agents of each kind are run: as the bench says, or without one as the document's variables say.
pub(super) fn profiles(bench: Option<&BenchSettings>) -> Result<Profiles, Failure> {
    if let Some(bench) = bench {
        return Ok(bench.profiles.clone());
    }
    let set = Profiles::default().set_by(|name| std::env::var(name).ok());
    set.map_err(|name| Failure::Setting(format!("{name} must be strict, relaxed or yolo")))
}

/// The bench as tools may look at it.
pub(super) fn to_look_at(bench: &Arc<Bench>, views: &Database) -> Arc<dyn crate::Bench> {
    Arc::new(OnThisNode { bench: Arc::clone(bench), views: views.clone() })
}

/// Opens the bench of this node.
pub(super) async fn open(settings: BenchSettings, address: &str) -> Result<Arc<Bench>, Failure> {
    let bench = Bench::open(settings, address).await.map_err(|it| Failure::Setting(it.to_string()))?;
    bench.look_for_tmux().await;
    Ok(bench)
}

/// A bench at work.
pub(super) struct Shift {
    performer: Performer,
    watch: Watch,
}

impl Shift {
    /// Takes up what is to be done, and looks after the agents.
    pub(super) fn begin(
        bench: &Arc<Bench>,
        views: &Database,
        executor: &Arc<Executor>,
        engine: &Arc<Engine>,
        app: &Arc<App>,
    ) -> Self {
        let maker = Arc::clone(app);
        let keys: KeyMaker = Arc::new(move |workspace_id, code| {
            let key = AgentKey::generate(workspace_id, code);
            FreshKey { hash: maker.hash_key(key.text()), text: key.text().to_owned() }
        });
        let health = Health {
            bench: Arc::clone(bench),
            executor: Arc::clone(executor),
            views: views.clone(),
            engine: Arc::clone(engine),
        };
        let shop = Shop {
            bench: Arc::clone(bench),
            executor: Arc::clone(executor),
            views: views.clone(),
            engine: Arc::clone(engine),
            keys,
        };
        Self { performer: Performer::start(shop), watch: Watch::start(health) }
    }

    /// Finishes what is in hand.
    pub(super) async fn end(self) {
        self.watch.shutdown().await;
        self.performer.shutdown().await;
    }
}
