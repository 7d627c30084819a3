//! Group commit: everything that waits is committed in one transaction, and each command gets its own outcome.

use std::collections::{HashMap, VecDeque};
use std::time::Instant;

use tokio::sync::watch;

use crate::batch::{Batch, Pending, Prepared};
use crate::fate::{Answer, Standing};
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
            if pending.prepared.commit.follows.as_ref().is_some_and(|it| it.standing() == Standing::Lost) {
                pending.answer.tell(Err(CommitError::Unfounded));
                continue;
            }
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
        let mut outcomes = outcomes;
        let mut landed: HashMap<&StreamId, i64> = HashMap::new();
        for it in prepared {
            let (its_own, others) = outcomes.split_at(it.commands());
            outcomes = others;
            if its_own.iter().all(Result::is_ok) {
                let ends = it.commit.appends.iter().map(|it| (&it.stream, it.expected + it.events.len() as i64));
                landed.extend(ends);
            }
        }
        let outrun = |pending: &Pending| {
            let commit = &pending.prepared.commit;
            let first = commit.appends.first().filter(|_| commit.remember.is_none())?;
            let actual = *landed.get(&first.stream)?;
            let (stream, expected) = (first.stream.clone(), first.expected);
            (expected < actual).then_some(CommitError::Conflict { stream, expected, actual })
        };
        for pending in std::mem::take(&mut self.0) {
            match outrun(&pending) {
                Some(conflict) => pending.answer.tell(Err(conflict)),
                None => self.0.push_back(pending),
            }
        }
    }
}

/// A batch whose outcome is known and whose callers are still waiting for it.
#[must_use]
pub(crate) struct Decided {
    answers: Vec<Answer>,
    outcomes: Vec<Result<Receipt, CommitError>>,
}

impl Decided {
    /// Tells everyone how it went.
    pub(crate) fn answer(self) {
        for (answer, outcome) in self.answers.into_iter().zip(self.outcomes) {
            answer.tell(outcome);
        }
    }
}

/// Commits a batch.
pub(crate) async fn commit(log: &mut impl Append, batch: Batch, backlog: &mut Backlog, heads: &Heads) -> Decided {
    let mut prepared = Vec::with_capacity(batch.commands.len());
    let mut answers = Vec::with_capacity(batch.commands.len());
    for it in batch.commands {
        prepared.push(it.prepared);
        answers.push(it.answer);
        answers.extend(it.followers);
    }
    metrics::histogram!("muster_append_batch_commands").record(answers.len() as f64);
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
    // Before the next batch is made, which may hold commands that follow these.
    answers.iter().zip(&outcomes).for_each(|(answer, outcome)| answer.settle(outcome));
    backlog.refuse_outrun(&prepared, &outcomes);
    Decided { answers, outcomes }
}

/// Appends a batch and says what came of each command, also of those that were joined to others.
///
/// When the database refuses it as a whole, each command is tried alone, so that none suffers for another. Only
/// [`StoreError::Failed`] says that nothing of it has landed: after any other error nothing is tried again.
async fn append_or_find_the_culprit(log: &mut impl Append, batch: &[Prepared]) -> Result<Appended, StoreError> {
    let refused = match log.append(batch).await {
        Ok(appended) => return Ok(shared_out(batch, appended)),
        Err(StoreError::Failed(what)) => what,
        Err(away) => return Err(away),
    };
    let commands: usize = batch.iter().map(Prepared::commands).sum();
    if commands == 1 {
        let outcomes = vec![Err(CommitError::Malformed(refused))];
        return Ok(Appended { outcomes, head: 0 });
    }
    tracing::warn!(refused, commands, "the database refused a batch: trying its commands one by one");
    let mut all = Appended { outcomes: Vec::with_capacity(commands), head: 0 };
    for prepared in batch {
        let mut is_founded = true;
        for command in prepared.one_by_one() {
            let outcome =
                if is_founded { alone(log, command, &mut all.head).await } else { Err(CommitError::Unfounded) };
            is_founded = outcome.is_ok();
            all.outcomes.push(outcome);
        }
    }
    Ok(all)
}

async fn alone(log: &mut impl Append, command: Prepared, head: &mut i64) -> Result<Receipt, CommitError> {
    match log.append(&[command]).await {
        Ok(appended) => {
            *head = appended.head.max(*head);
            let unanswered = || Err(CommitError::Unavailable("a command was left without an outcome".into()));
            appended.outcomes.into_iter().next().unwrap_or_else(unanswered)
        }
        Err(StoreError::Failed(what)) => Err(CommitError::Malformed(what)),
        Err(away) => Err(CommitError::Unavailable(away.to_string())),
    }
}

fn shared_out(batch: &[Prepared], appended: Appended) -> Appended {
    let mut outcomes = Vec::with_capacity(batch.len());
    for (prepared, outcome) in batch.iter().zip(appended.outcomes) {
        prepared.share_out(outcome, &mut outcomes);
    }
    Appended { outcomes, ..appended }
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
