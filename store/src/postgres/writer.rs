//! The writer of PostgreSQL: a thread of its own that has one batch in flight.

use futures_util::future::join;
use tokio::sync::mpsc;

use super::append::PostgresAppender;
use crate::StoreError;
use crate::batch::Pending;
use crate::writer::{self, Backlog, Decided, Heads};

/// Starts the thread. It ends when the last sender is gone and everything that was sent has its answer.
///
/// Among the tasks of a busy runtime the answer to a batch would wait for its turn, and the database with it.
pub(crate) fn start(
    log: PostgresAppender,
    commits: mpsc::UnboundedReceiver<Pending>,
    heads: Heads,
) -> Result<(), StoreError> {
    let failed = |e: std::io::Error| StoreError::Setup(format!("cannot start the thread that writes: {e}"));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(failed)?;
    let work = move || runtime.block_on(write(log, commits, heads));
    std::thread::Builder::new().name("postgres-write".into()).spawn(work).map(drop).map_err(failed)
}

async fn write(mut log: PostgresAppender, mut commits: mpsc::UnboundedReceiver<Pending>, heads: Heads) {
    let mut backlog = Backlog::default();
    let mut decided: Option<Decided> = None;
    loop {
        let mut batch = backlog.next_batch(|| commits.try_recv().ok());
        if batch.commands.is_empty() {
            if let Some(decided) = decided.take() {
                decided.answer();
            }
            let Some(first) = commits.recv().await else { return log.close().await };
            let mut first = Some(first);
            batch = backlog.next_batch(|| first.take().or_else(|| commits.try_recv().ok()));
        }
        // The next batch is on its way before those of the last one are told: the database has not to wait for that.
        let commit = writer::commit(&mut log, batch, &mut backlog, &heads);
        let tell = async { decided.into_iter().for_each(Decided::answer) };
        decided = Some(join(commit, tell).await.0);
    }
}
