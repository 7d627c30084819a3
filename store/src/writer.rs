//! Group commit: one task takes every command that is waiting and commits them in one transaction.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Instant;

use tokio::sync::{mpsc, watch};

use crate::batch::{Batch, Pending, Prepared};
use crate::postgres::PostgresAppender;
use crate::sqlite::SqliteAppender;
use crate::{CommitError, Receipt, StoreError, StreamId};

/// Enough to fill the next batch; the rest waits in the channel.
const MOST_PUT_OFF: usize = 1024;

/// The outcome of a batch: one per command, and where the log's head is now.
pub(crate) struct Appended {
    pub(crate) outcomes: Vec<Result<Receipt, CommitError>>,
    pub(crate) head: i64,
}

/// Who is told of a new head.
pub(crate) struct Heads {
    /// The newest position known here, from whichever node.
    pub(crate) known: watch::Sender<i64>,
    /// The newest position that this node has written.
    pub(crate) written: watch::Sender<i64>,
}

/// What decides and writes a batch.
pub(crate) enum Appender {
    Sqlite(SqliteAppender),
    Postgres(PostgresAppender),
}

impl Appender {
    async fn append(&self, batch: Arc<Vec<Prepared>>) -> Result<Appended, StoreError> {
        match self {
            Self::Sqlite(it) => it.append(batch).await,
            Self::Postgres(it) => it.append(&batch).await,
        }
    }
}

/// Runs until the last sender is gone and everything that was sent has its answer.
pub(crate) async fn write(appender: Appender, mut commits: mpsc::Receiver<Pending>, heads: Heads) {
    let mut put_off = VecDeque::new();
    loop {
        if put_off.is_empty() {
            match commits.recv().await {
                Some(pending) => put_off.push_back(pending),
                None => return,
            }
        }
        let mut batch = Batch::default();
        // Those put off come first and keep their order, or a busy stream could starve one of them.
        let waiting = std::mem::take(&mut put_off).into_iter().chain(std::iter::from_fn(|| commits.try_recv().ok()));
        for pending in waiting {
            // The first is always admitted, and no more are put off than fit: none that was taken is lost at the break.
            put_off.extend(batch.admit(pending));
            if put_off.len() >= MOST_PUT_OFF {
                break;
            }
        }
        let landed = commit(&appender, batch, &heads).await;
        put_off = put_off.into_iter().filter_map(|pending| refuse_if_outrun(pending, &landed)).collect();
    }
}

/// Where the streams of a batch stand, for those of its commands that landed.
type Landed = HashMap<StreamId, i64>;

/// Answers a command whose stream has just moved past it: it cannot land any more, and asking the database would cost
/// every writer of a busy stream a transaction. One with a key is asked about, because it may have landed before.
fn refuse_if_outrun(pending: Pending, landed: &Landed) -> Option<Pending> {
    let commit = &pending.prepared.commit;
    let first = commit.appends.first().filter(|_| commit.remember.is_none());
    let outrun = first.and_then(|append| landed.get(&append.stream).map(|at| (append, *at)));
    match outrun {
        Some((append, actual)) if append.expected < actual => {
            let (stream, expected) = (append.stream.clone(), append.expected);
            let _ = pending.answer.send(Err(CommitError::Conflict { stream, expected, actual }));
            None
        }
        Some(_) | None => Some(pending),
    }
}

async fn commit(appender: &Appender, batch: Batch, heads: &Heads) -> Landed {
    let (prepared, answers): (Vec<_>, Vec<_>) = batch.commands.into_iter().map(|it| (it.prepared, it.answer)).unzip();
    metrics::histogram!("muster_append_batch_commands").record(prepared.len() as f64);
    let started = Instant::now();
    let prepared = Arc::new(prepared);
    let outcomes = match append_or_find_the_culprit(appender, &prepared).await {
        Ok(appended) => {
            for head in [&heads.known, &heads.written] {
                head.send_if_modified(|known| {
                    let newer = appended.head > *known;
                    *known = appended.head.max(*known);
                    newer
                });
            }
            appended.outcomes
        }
        Err(error) => {
            tracing::error!(%error, commands = answers.len(), "a batch did not reach the log");
            vec![Err(CommitError::Unavailable(error.to_string())); answers.len()]
        }
    };
    metrics::histogram!("muster_append_seconds").record(started.elapsed().as_secs_f64());
    let landed = prepared.iter().zip(&outcomes).filter(|(_, outcome)| outcome.is_ok());
    let landed = landed.flat_map(|(prepared, _)| &prepared.commit.appends);
    let landed = landed.map(|it| (it.stream.clone(), it.expected + it.events.len() as i64)).collect();
    for (answer, outcome) in answers.into_iter().zip(outcomes) {
        // A caller that went away still has its events in the log.
        let _ = answer.send(outcome);
    }
    landed
}

/// Appends a batch. When the database refuses it as a whole, each command is tried alone, so that none suffers for another.
async fn append_or_find_the_culprit(appender: &Appender, batch: &Arc<Vec<Prepared>>) -> Result<Appended, StoreError> {
    let refused = match appender.append(Arc::clone(batch)).await {
        Err(StoreError::Failed(what)) => what,
        ended => return ended,
    };
    if let [_] = batch.as_slice() {
        let outcomes = vec![Err(CommitError::Malformed(refused))];
        return Ok(Appended { outcomes, head: 0 });
    }
    tracing::warn!(refused, commands = batch.len(), "the database refused a batch: trying its commands one by one");
    let mut all = Appended { outcomes: Vec::with_capacity(batch.len()), head: 0 };
    for prepared in batch.iter() {
        match appender.append(Arc::new(vec![prepared.clone()])).await {
            Ok(one) => {
                all.head = all.head.max(one.head);
                all.outcomes.extend(one.outcomes);
            }
            Err(StoreError::Failed(what)) => all.outcomes.push(Err(CommitError::Malformed(what))),
            Err(away) => all.outcomes.push(Err(CommitError::Unavailable(away.to_string()))),
        }
    }
    Ok(all)
}
