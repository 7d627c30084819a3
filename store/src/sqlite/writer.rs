//! The writer of SQLite: one batch at a time, on the thread that writes, so that a command changes threads twice and no
//! more; one that finds nobody writing goes by itself and changes none.

use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Sender};
use rusqlite::Connection;
use tokio::runtime::Handle;

use super::append::SqliteAppender;
use crate::batch::Pending;
use crate::known::Known;
use crate::sql::SqliteDatabase;
use crate::writer::{self, Backlog, Heads};
use crate::{Clock, StoreError};

/// After so many bytes of events what was written is moved from the write-ahead log into the file. A log that is begun again
/// so often stays small: a sync writes over what is there, which takes half as long as to make a file grow.
const CHECKPOINT_BYTES: usize = 3 << 19;
/// What a task may take from those that wait for its thread. Where a batch takes longer, the way to another thread and
/// back is the smaller part.
const BRIEF: Duration = Duration::from_millis(1);

/// Commits to `log.db`.
pub(crate) struct SqliteWriter {
    database: SqliteDatabase,
    clock: Clock,
    heads: Heads,
    sender: Sender<Pending>,
    waiting: Receiver<Pending>,
    /// Only who writes looks into them.
    backlog: Mutex<Backlog>,
    known: Mutex<Known>,
    /// Whether that thread has been asked to write a batch and has not begun to look for one.
    asked: AtomicBool,
    /// Whether the last batch took no longer than a task may.
    brief: AtomicBool,
    /// Bytes of events since the last checkpoint.
    written: AtomicUsize,
}

impl SqliteWriter {
    pub(crate) fn new(database: SqliteDatabase, clock: Clock, heads: Heads) -> Arc<Self> {
        let (sender, waiting) = crossbeam_channel::unbounded();
        let (backlog, known) = (Mutex::default(), Mutex::default());
        let (asked, brief, written) = (AtomicBool::new(false), AtomicBool::new(false), AtomicUsize::new(0));
        Arc::new(Self { database, clock, heads, sender, waiting, backlog, known, asked, brief, written })
    }

    /// Hands a commit over; its answer comes when it is durable or refused.
    pub(crate) fn submit(self: &Arc<Self>, pending: Pending) -> Result<(), StoreError> {
        // Cannot fail: the receiver is held here too.
        let _ = self.sender.send(pending);
        if self.asked.load(Ordering::SeqCst) || self.write_here() {
            return Ok(());
        }
        self.ask()
    }

    /// Has what waits written by a task where it comes from, unless somebody is writing or it would take long: with
    /// nobody to share a batch with, the way to the thread and back would cost nearly as much as the sync. The task runs
    /// when the caller waits for its answer, so that others about to hand something over come first.
    fn write_here(self: &Arc<Self>) -> bool {
        let is_free = self.brief.load(Ordering::Relaxed) && self.database.pen().is_some();
        let Ok(runtime) = Handle::try_current() else { return false };
        // Others must go on meanwhile.
        if !is_free || runtime.metrics().num_workers() < 2 {
            return false;
        }
        let writer = Arc::clone(self);
        runtime.spawn(async move {
            match writer.database.pen() {
                Some(mut pen) => writer.write_a_batch(&mut pen),
                // If the thread has ended, whoever comes next is told.
                None => drop(writer.ask()),
            }
        });
        true
    }

    /// Has the thread write a batch, one at a time: whatever else it has to do comes in between.
    fn ask(self: &Arc<Self>) -> Result<(), StoreError> {
        if self.asked.swap(true, Ordering::SeqCst) {
            return Ok(());
        }
        let writer = Arc::clone(self);
        self.database
            .post(move |connection| writer.write_a_batch(connection))
            .inspect_err(|_| self.asked.store(false, Ordering::SeqCst))
    }

    fn write_a_batch(self: &Arc<Self>, connection: &mut Connection) {
        // Before the look, so that whoever comes after it asks again.
        self.asked.store(false, Ordering::SeqCst);
        let mut backlog = self.backlog.lock().unwrap_or_else(PoisonError::into_inner);
        let batch = backlog.next_batch(|| self.waiting.try_recv().ok());
        if batch.commands.is_empty() {
            return;
        }
        let (bytes, begun) = (batch.bytes, Instant::now());
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let (clock, place) = (&self.clock, self.database.place());
        let mut log = SqliteAppender { connection, clock, place, known: &mut known };
        {
            let committed = pin!(writer::commit(&mut log, batch, &mut backlog, &self.heads));
            match committed.poll(&mut Context::from_waker(Waker::noop())) {
                Poll::Ready(decided) => {
                    self.brief.store(begun.elapsed() < BRIEF, Ordering::Relaxed);
                    decided.answer();
                }
                Poll::Pending => unreachable!("nothing waits on the thread that writes"),
            }
        }
        if self.written.fetch_add(bytes, Ordering::Relaxed) + bytes >= CHECKPOINT_BYTES {
            self.written.store(0, Ordering::Relaxed);
            checkpoint(connection);
        }
        if !backlog.is_empty() || !self.waiting.is_empty() {
            // If the thread has ended, whoever comes next is told.
            let _ = self.ask();
        }
    }
}

/// Moves what nobody reads any more, and waits for nobody: the rest is left for the next time.
fn checkpoint(connection: &Connection) {
    if let Err(error) = connection.query_row("pragma wal_checkpoint(passive)", [], |_| Ok(())) {
        tracing::warn!(%error, "the write-ahead log was not moved into the file; it stays valid and grows");
    }
}
