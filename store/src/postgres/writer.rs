//! The writer of PostgreSQL: one task that has one batch in flight.

use tokio::sync::mpsc;

use super::append::PostgresAppender;
use crate::batch::Pending;
use crate::writer::{self, Backlog, Heads};

/// Runs until the last sender is gone and everything that was sent has its answer.
pub(crate) async fn write(mut log: PostgresAppender, mut commits: mpsc::UnboundedReceiver<Pending>, heads: Heads) {
    let mut backlog = Backlog::default();
    loop {
        let first = if backlog.is_empty() { commits.recv().await } else { None };
        if first.is_none() && backlog.is_empty() {
            return;
        }
        let mut first = first.into_iter();
        let batch = backlog.next_batch(|| first.next().or_else(|| commits.try_recv().ok()));
        writer::commit(&mut log, batch, &mut backlog, &heads).await;
    }
}
