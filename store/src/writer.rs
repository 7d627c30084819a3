//! Group commit: everything that waits is committed in one transaction, and each command gets its own outcome.

use std::collections::{HashMap, VecDeque};
use std::time::Instant;

use tokio::sync::{oneshot, watch};

use crate::batch::{Batch, Pending, Prepared};
use crate::{CommitError, Receipt, StoreError, StreamId};

/// Enough to fill the next batch; the rest waits where it came from.
const MOST_PUT_OFF: usize = 1024;

/// What decides a batch and writes it, all in one transaction.
pub(crate) trait Append {
    /// Decides and writes a batch.
    fn append(&mut self, batch: &[Prepared]) -> impl Future<Output = Result<Appended, StoreError>> + Send;
}

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

/// Commands that had to wait because one before them touches the same.
#[derive(Default)]
pub(crate) struct Backlog(VecDeque<Pending>);

impl Backlog {
    /// Takes a batch from those put off and from what waits besides.
    pub(crate) fn next_batch(&mut self, mut more: impl FnMut() -> Option<Pending>) -> Batch {
        let mut batch = Batch::default();
        // Those put off come first and keep their order, or a busy stream could starve one of them.
        for pending in std::mem::take(&mut self.0).into_iter().chain(std::iter::from_fn(&mut more)) {
            // The first is always admitted, and no more are put off than fit: none that was taken is lost at the break.
            self.0.extend(batch.admit(pending));
            if self.0.len() >= MOST_PUT_OFF {
                break;
            }
        }
        batch
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Answers commands whose stream has just moved past them: they cannot land any more, and asking the database
    /// would cost every writer of a busy stream a transaction. One with a key is asked about, because it may have
    /// landed before.
    fn refuse_outrun(&mut self, prepared: &[Prepared], outcomes: &[Result<Receipt, CommitError>]) {
        if self.0.is_empty() {
            return;
        }
        let landed = prepared.iter().zip(outcomes).filter(|(_, outcome)| outcome.is_ok());
        let landed: HashMap<&StreamId, i64> = landed
            .flat_map(|(prepared, _)| &prepared.commit.appends)
            .map(|it| (&it.stream, it.expected + it.events.len() as i64))
            .collect();
        let outrun = |pending: &Pending| {
            let commit = &pending.prepared.commit;
            let first = commit.appends.first().filter(|_| commit.remember.is_none())?;
            let actual = *landed.get(&first.stream)?;
            let (stream, expected) = (first.stream.clone(), first.expected);
            (expected < actual).then_some(CommitError::Conflict { stream, expected, actual })
        };
        for pending in std::mem::take(&mut self.0) {
            match outrun(&pending) {
                Some(conflict) => drop(pending.answer.send(Err(conflict))),
                None => self.0.push_back(pending),
            }
        }
    }
}

/// A batch whose outcome is known and whose callers are still waiting for it.
#[must_use]
pub(crate) struct Decided {
    answers: Vec<oneshot::Sender<Result<Receipt, CommitError>>>,
    outcomes: Vec<Result<Receipt, CommitError>>,
}

impl Decided {
    /// Tells everyone how it went.
    pub(crate) fn answer(self) {
        for (answer, outcome) in self.answers.into_iter().zip(self.outcomes) {
            // A caller that went away still has its events in the log.
            let _ = answer.send(outcome);
        }
    }
}

/// Commits a batch.
pub(crate) async fn commit(log: &mut impl Append, batch: Batch, backlog: &mut Backlog, heads: &Heads) -> Decided {
    let (prepared, answers): (Vec<_>, Vec<_>) = batch.commands.into_iter().map(|it| (it.prepared, it.answer)).unzip();
    metrics::histogram!("muster_append_batch_commands").record(prepared.len() as f64);
    let started = Instant::now();
    let outcomes = match append_or_find_the_culprit(log, &prepared).await {
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
    backlog.refuse_outrun(&prepared, &outcomes);
    Decided { answers, outcomes }
}

/// Appends a batch. When the database refuses it as a whole, each command is tried alone, so that none suffers for another.
/// Only [`StoreError::Failed`] says that nothing of it has landed: after any other error nothing is tried again.
async fn append_or_find_the_culprit(log: &mut impl Append, batch: &[Prepared]) -> Result<Appended, StoreError> {
    let refused = match log.append(batch).await {
        Err(StoreError::Failed(what)) => what,
        ended => return ended,
    };
    if let [_] = batch {
        let outcomes = vec![Err(CommitError::Malformed(refused))];
        return Ok(Appended { outcomes, head: 0 });
    }
    tracing::warn!(refused, commands = batch.len(), "the database refused a batch: trying its commands one by one");
    let mut all = Appended { outcomes: Vec::with_capacity(batch.len()), head: 0 };
    for prepared in batch {
        match log.append(std::slice::from_ref(prepared)).await {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Commit;

    /// A log that gives the same answer to every batch, and counts them.
    struct Stubborn {
        answer: StoreError,
        asked: usize,
    }

    impl Append for Stubborn {
        async fn append(&mut self, _: &[Prepared]) -> Result<Appended, StoreError> {
            self.asked += 1;
            Err(self.answer.clone())
        }
    }

    async fn asked(answer: StoreError) -> usize {
        let mut log = Stubborn { answer, asked: 0 };
        let batch = [(), ()].map(|()| Prepared::new(Commit::default()).expect("nothing is well-formed"));
        let _ = append_or_find_the_culprit(&mut log, &batch).await;
        log.asked
    }

    #[tokio::test]
    async fn a_batch_of_which_nobody_knows_what_came_is_not_tried_again() {
        assert_eq!(asked(StoreError::Failed("refused".into())).await, 3);
        assert_eq!(asked(StoreError::Unavailable("lost".into())).await, 1);
    }
}
