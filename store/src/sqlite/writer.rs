//! The writer of SQLite: batches are taken and committed on the thread that holds the connection, so that a command
//! changes threads twice and no more.

use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};

use crossbeam_channel::{Receiver, Sender};
use rusqlite::Connection;

use super::append::SqliteAppender;
use crate::batch::Pending;
use crate::known::Known;
use crate::sql::SqliteDatabase;
use crate::writer::{self, Backlog, Heads};
use crate::{Clock, StoreError};

/// After so many bytes of events a thread that reads moves what was written from the write-ahead log into the file. The
/// thread that writes would keep every command waiting for that, and for two more syncs.
const CHECKPOINT_BYTES: usize = 4 << 20;

/// Commits to `log.db`.
pub(crate) struct SqliteWriter {
    database: SqliteDatabase,
    clock: Clock,
    heads: Heads,
    sender: Sender<Pending>,
    waiting: Receiver<Pending>,
    /// Only the thread that writes looks into them.
    backlog: Mutex<Backlog>,
    known: Mutex<Known>,
    /// Whether that thread has been asked to write a batch and has not begun to look for one.
    asked: AtomicBool,
    /// Bytes of events since a checkpoint was last asked for.
    written: AtomicUsize,
}

impl SqliteWriter {
    pub(crate) fn new(database: SqliteDatabase, clock: Clock, heads: Heads) -> Arc<Self> {
        let (sender, waiting) = crossbeam_channel::unbounded();
        let (backlog, known) = (Mutex::default(), Mutex::default());
        let (asked, written) = (AtomicBool::new(false), AtomicUsize::new(0));
        Arc::new(Self { database, clock, heads, sender, waiting, backlog, known, asked, written })
    }

    /// Hands a commit over; its answer comes when it is durable or refused.
    pub(crate) fn submit(self: &Arc<Self>, pending: Pending) -> Result<(), StoreError> {
        // Cannot fail: the receiver is held here too.
        let _ = self.sender.send(pending);
        self.ask()
    }

    fn ask(self: &Arc<Self>) -> Result<(), StoreError> {
        if self.asked.swap(true, Ordering::SeqCst) {
            return Ok(());
        }
        let writer = Arc::clone(self);
        // One batch at a time: whatever else the thread has to do comes in between.
        self.database.post(move |connection| writer.write_a_batch(connection))
    }

    fn write_a_batch(self: &Arc<Self>, connection: &mut Connection) {
        // Before the look, so that whoever comes after it asks again.
        self.asked.store(false, Ordering::SeqCst);
        let mut backlog = self.backlog.lock().unwrap_or_else(PoisonError::into_inner);
        let batch = backlog.next_batch(|| self.waiting.try_recv().ok());
        if batch.commands.is_empty() {
            return;
        }
        let bytes = batch.bytes;
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let (clock, place) = (&self.clock, self.database.place());
        let mut log = SqliteAppender { connection, clock, place, known: &mut known };
        {
            let committed = pin!(writer::commit(&mut log, batch, &mut backlog, &self.heads));
            match committed.poll(&mut Context::from_waker(Waker::noop())) {
                Poll::Ready(decided) => decided.answer(),
                Poll::Pending => unreachable!("nothing waits on the thread that writes"),
            }
        }
        if self.written.fetch_add(bytes, Ordering::Relaxed) + bytes >= CHECKPOINT_BYTES {
            self.written.store(0, Ordering::Relaxed);
            // No harm if the threads are gone or busy: the thread that writes does it itself when it has to.
            let _ = self.database.post_aside(checkpoint);
        }
        if !backlog.is_empty() || !self.waiting.is_empty() {
            // The thread is this one, so it has not ended.
            let _ = self.ask();
        }
    }
}

/// Waits for nobody: what is written or read meanwhile is left for the next time.
fn checkpoint(connection: &mut Connection) {
    if let Err(error) = connection.query_row("pragma wal_checkpoint(passive)", [], |_| Ok(())) {
        tracing::warn!(%error, "the write-ahead log was not moved into the file; it stays valid and grows");
    }
}
