//! The writer of PostgreSQL: one batch in flight, on a thread of its own; a command that finds nobody writing goes by itself.

use std::sync::Arc;

use futures_util::future::join;
use tokio::sync::{Mutex, OwnedMutexGuard, mpsc};

use super::append::{PostgresAppender, Seat};
use crate::batch::Pending;
use crate::writer::{self, Backlog, Decided, Heads};
use crate::{Standing, StoreError};

/// Commits to the log of a server. **Whoever holds the appender writes**, so there is never more than one batch under way.
pub(crate) struct PostgresWriter {
    appender: Arc<Mutex<PostgresAppender>>,
    /// To the thread.
    commits: mpsc::UnboundedSender<Pending>,
    heads: Arc<Heads>,
}

impl PostgresWriter {
    /// Starts the thread. It ends when the writer is gone and everything that was sent has its answer.
    ///
    /// Among the tasks of a busy runtime the answer to a batch would wait for its turn, and the database with it.
    pub(crate) fn start(appender: PostgresAppender, heads: Heads) -> Result<Self, StoreError> {
        let failed = |e: std::io::Error| StoreError::Setup(format!("cannot start the thread that writes: {e}"));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(failed)?;
        let (commits, waiting) = mpsc::unbounded_channel();
        let (appender, heads) = (Arc::new(Mutex::new(appender)), Arc::new(heads));
        let writing = write(appender.clone(), waiting, heads.clone());
        let work = move || runtime.block_on(writing);
        std::thread::Builder::new().name("postgres-write".into()).spawn(work).map_err(failed)?;
        Ok(Self { appender, commits, heads })
    }

    /// Hands a commit over; its answer comes when it is durable or refused.
    pub(crate) fn submit(&self, pending: Pending) -> Result<(), StoreError> {
        // What it follows may be waiting for the thread.
        let follows = pending.prepared.commit.follows.as_ref().is_some_and(|it| it.standing() == Standing::Underway);
        let pen = if follows { None } else { self.appender.clone().try_lock_owned().ok() };
        match pen {
            // Nobody writes, so there is nobody to share a batch with, and the way to the thread and back is spared. A
            // task of its own, because whoever waits for the answer may give up, and the batch may not.
            Some(appender) => {
                tokio::spawn(write_alone(appender, pending, self.heads.clone()));
                Ok(())
            }
            None => {
                let gone = |_| StoreError::Unavailable("the thread that writes has ended".into());
                self.commits.send(pending).map_err(gone)
            }
        }
    }
}

async fn write_alone(mut appender: OwnedMutexGuard<PostgresAppender>, pending: Pending, heads: Arc<Heads>) {
    appender.seat = Seat::Caller;
    let mut backlog = Backlog::default();
    let mut only = Some(pending);
    let batch = backlog.next_batch(|| only.take());
    let decided = writer::commit(&mut *appender, batch, &mut backlog, &heads).await;
    // Before the answer: what follows from it should find nobody writing.
    drop(appender);
    decided.answer();
}

async fn write(
    appender: Arc<Mutex<PostgresAppender>>,
    mut commits: mpsc::UnboundedReceiver<Pending>,
    heads: Arc<Heads>,
) {
    let mut backlog = Backlog::default();
    while let Some(first) = commits.recv().await {
        let mut appender = appender.lock().await;
        appender.seat = Seat::Thread;
        let mut first = Some(first);
        let mut decided: Option<Decided> = None;
        loop {
            let batch = backlog.next_batch(|| first.take().or_else(|| commits.try_recv().ok()));
            if batch.commands.is_empty() {
                break;
            }
            // The next batch is on its way before those of the last one are told: the database has not to wait for that.
            let commit = writer::commit(&mut *appender, batch, &mut backlog, &heads);
            let tell = async { decided.into_iter().for_each(Decided::answer) };
            decided = Some(join(commit, tell).await.0);
        }
        drop(appender);
        decided.into_iter().for_each(Decided::answer);
    }
    appender.lock().await.close().await;
}
