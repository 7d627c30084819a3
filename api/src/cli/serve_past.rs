//! `muster serve --as-of`: builds every read model up to a moment in scratch space, and serves that and nothing else.
//!
//! [`serve`] is for any past: a log that is no store of its own, such as one from a file, is served by opening an empty
//! store in a temporary folder, adding rows for whoever may sign in, filling [`store::scratch_views`] by
//! [`past::build`] from pages of its own, and calling [`serve`] with both.

use std::sync::Arc;
use std::time::Duration;

use ::projections::past::{self, PastError, Whole};
use store::sql::Database;
use store::{Access, Clock, EventLog, Moment, MomentError};

use super::progress::Progress;
use super::serve::{self, Door};
use super::{Failure, StoreArgs, output};
use crate::{App, HttpSettings};

/// How often it is looked whether text was erased.
const LOOK: Duration = Duration::from_secs(1);

/// Serves the log of a store as it was at a moment. The store may be in use.
pub(super) async fn run(store: &StoreArgs, moment: Moment, door: Door, settings: HttpSettings) -> Result<(), Failure> {
    let stores = store.open(Access::Look, Clock::default()).await?;
    let position = stores.log.position_at(&moment).await?;
    // Gone when the process ends as it should.
    let folder = tempfile::Builder::new().prefix("muster-past-").tempdir().map_err(anyhow::Error::from)?;
    let views = store::scratch_views(Some(folder.path())).await?;
    let mut progress = Progress::start("building the past", position, false);
    let pages = Whole::up_to(Arc::clone(&stores.log), position);
    let shown = |at| progress.show(at, position);
    let built = past::build(pages, &::projections::all(), &views, Some(&stores.views), shown).await;
    let took = progress.finish();
    built?;
    let seconds = took.as_secs_f64();
    let rate = position as f64 / seconds.max(0.001);
    output::note(format!("built the past from {position} events in {seconds:.1} s, {rate:.0} a second"));
    let log = Arc::clone(&stores.log);
    let known = log.known_keys().erasures;
    tokio::select! {
        ended = serve(Arc::clone(&log), views, position, &stores.place, door, settings) => ended,
        erased = erased_since(&log, known) => erased,
    }
}

/// Ends when text is erased: what was built before shows it, and must not.
async fn erased_since(log: &EventLog, known: i64) -> Result<(), Failure> {
    loop {
        tokio::time::sleep(LOOK).await;
        if log.look_at_keys().await?.erasures > known {
            let what = "text was erased that this server would still show: it ends, and may be started again";
            return Err(Failure::Found(what.to_owned()));
        }
    }
}

/// Serves read models that are as they were at a position and do not move. The log is read for those who sign in.
pub(super) async fn serve(
    log: Arc<EventLog>,
    views: Database,
    position: i64,
    place: &str,
    door: Door,
    settings: HttpSettings,
) -> Result<(), Failure> {
    let recorded = log.read_at(position).await?.map(|it| store::from_micros(it.recorded_at).to_rfc3339());
    let app = App::of_the_past(log, views, position, settings).await?;
    let listener = door.open().await?;
    let address = listener.local_addr().map_err(anyhow::Error::from)?;
    output::line(format!("muster {} on http://{address}/api", env!("CARGO_PKG_VERSION")));
    output::line(format!("  store       {place}, only read"));
    output::line(format!("  the past    as of position {position}, recorded {}", recorded.unwrap_or_default()));
    output::line("  commands    are refused; queries and signing in work");
    serve::answer(listener, &app, door.behind_proxy).await?;
    Ok(())
}

impl From<MomentError> for Failure {
    fn from(error: MomentError) -> Self {
        match error {
            MomentError::Store(error) => Self::Store(error),
            other => Self::Setting(other.to_string()),
        }
    }
}

impl From<PastError> for Failure {
    fn from(error: PastError) -> Self {
        match error {
            PastError::Store(error) => Self::Store(error),
            PastError::Poison(poison) => Self::Found(format!("the past cannot be built: {poison}")),
        }
    }
}
