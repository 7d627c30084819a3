//! Group commit: one task takes every command that is waiting and commits them in one transaction.

use std::collections::VecDeque;
use std::time::Instant;

use tokio::sync::{mpsc, watch};

use crate::batch::{Batch, Pending, Prepared};
use crate::postgres::PostgresAppender;
use crate::sqlite::SqliteAppender;
use crate::{CommitError, Receipt, StoreError};

/// The outcome of a batch: one per command, and where the log's head is now.
pub(crate) struct Appended {
    pub(crate) outcomes: Vec<Result<Receipt, CommitError>>,
    pub(crate) head: i64,
}

/// What decides and writes a batch.
pub(crate) enum Appender {
    Sqlite(SqliteAppender),
    Postgres(PostgresAppender),
}

impl Appender {
    async fn append(&self, batch: Vec<Prepared>) -> Result<Appended, StoreError> {
        match self {
            Self::Sqlite(it) => it.append(batch).await,
            Self::Postgres(it) => it.append(batch).await,
        }
    }
}

/// Runs until the last sender is gone and everything that was sent has its answer.
pub(crate) async fn write(appender: Appender, mut commits: mpsc::Receiver<Pending>, head: watch::Sender<i64>) {
    let mut put_off = VecDeque::new();
    loop {
        let mut batch = Batch::default();
        if put_off.is_empty() {
            match commits.recv().await {
                Some(pending) => put_off.push_back(pending),
                None => return,
            }
        }
        // Those put off come first and keep their order, or a busy stream could starve one of them.
        let waiting = std::mem::take(&mut put_off).into_iter().chain(std::iter::from_fn(|| commits.try_recv().ok()));
        for pending in waiting {
            if let Some(next_time) = batch.admit(pending) {
                put_off.push_back(next_time);
                if put_off.len() >= MOST_PUT_OFF {
                    break;
                }
            }
        }
        commit(&appender, batch, &head).await;
    }
}

/// Enough to fill the next batch; the rest waits in the channel.
const MOST_PUT_OFF: usize = 1024;

async fn commit(appender: &Appender, batch: Batch, head: &watch::Sender<i64>) {
    let (prepared, answers): (Vec<_>, Vec<_>) = batch.commands.into_iter().map(|it| (it.prepared, it.answer)).unzip();
    metrics::histogram!("muster_append_batch_commands").record(prepared.len() as f64);
    let started = Instant::now();
    let outcomes = match appender.append(prepared).await {
        Ok(appended) => {
            head.send_if_modified(|known| {
                let newer = appended.head > *known;
                *known = appended.head.max(*known);
                newer
            });
            appended.outcomes
        }
        Err(error) => {
            tracing::error!(%error, commands = answers.len(), "a batch did not reach the log");
            vec![Err(CommitError::Unavailable(error.to_string())); answers.len()]
        }
    };
    metrics::histogram!("muster_append_seconds").record(started.elapsed().as_secs_f64());
    for (answer, outcome) in answers.into_iter().zip(outcomes) {
        // A caller that went away still has its events in the log.
        let _ = answer.send(outcome);
    }
}
