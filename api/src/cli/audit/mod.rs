//! `muster audit`: what happened to anything, what it was, and why. For operators: it reads the store itself.

mod compared;
mod export;
mod history;
mod kpi;
mod policy;
mod table;
mod tree;
mod verify;

use clap::{Args, Subcommand};
use projections::history::KINDS;
use store::{Access, Clock, EventLog, Moment, MomentError, Stores, StreamId};
use uuid::Uuid;

pub(super) use export::{failure as bundle_failure, find as find_workspace};

use super::{Failure, StoreArgs};

#[derive(Debug, Subcommand)]
pub(super) enum AuditCommand {
    /// Show what happened to an aggregate, oldest first, and what each event changed
    History(history::HistoryArgs),
    /// Show an aggregate as it was at a position or a time
    State(history::StateArgs),
    /// Show what became different in an aggregate from one moment to another
    Diff(history::DiffArgs),
    /// Show what an event came from, step by step up to a request
    Causes(tree::TreeArgs),
    /// Show everything that followed from an event
    Effects(tree::TreeArgs),
    /// Write a workspace's events with everything that proves them to one file
    Export(export::ExportArgs),
    /// Check such a file, with no database
    Verify(verify::VerifyArgs),
    /// Verify stored scores, or try another policy of scores on what happened
    Kpi(kpi::KpiArgs),
}

/// Which aggregate is meant.
#[derive(Debug, Args)]
struct Subject {
    /// What it is
    #[arg(value_parser = KINDS)]
    aggregate: String,
    /// Which one
    id: Uuid,
}

pub(super) async fn run(store: &StoreArgs, command: AuditCommand) -> Result<(), Failure> {
    match command {
        AuditCommand::History(args) => history::history(&look(store).await?, args).await,
        AuditCommand::State(args) => history::state(&look(store).await?, args).await,
        AuditCommand::Diff(args) => history::diff(&look(store).await?, args).await,
        AuditCommand::Causes(args) => tree::causes(&look(store).await?, args).await,
        AuditCommand::Effects(args) => tree::effects(&look(store).await?, args).await,
        AuditCommand::Export(args) => export::export(store, args).await,
        AuditCommand::Verify(args) => verify::verify(&args),
        AuditCommand::Kpi(args) => kpi::kpi(store, args).await,
    }
}

/// Opens the stores to look at them, also beside a server.
async fn look(store: &StoreArgs) -> Result<Stores, Failure> {
    store.open(Access::Look, Clock::default()).await
}

impl Subject {
    fn stream(&self) -> StreamId {
        StreamId::new(&self.aggregate, self.id)
    }
}

/// The position that a moment stands for; the head of the log without one.
async fn position_of(log: &EventLog, option: &str, moment: Option<&str>) -> Result<i64, Failure> {
    let Some(moment) = moment else { return Ok(log.head().await?.position) };
    let refused = |error: MomentError| match error {
        MomentError::Store(error) => Failure::Store(error),
        other => Failure::Setting(format!("{option}: {other}")),
    };
    let moment: Moment = moment.parse().map_err(refused)?;
    log.position_at(&moment).await.map_err(refused)
}
