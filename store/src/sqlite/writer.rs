//! The writer of SQLite: batches are taken and committed on the thread that holds the connection, so that a command
//! changes threads twice and no more.

use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};

use crossbeam_channel::{Receiver, Sender};
use rusqlite::Connection;

use super::append::SqliteAppender;
use crate::batch::Pending;
use crate::sql::SqliteDatabase;
use crate::writer::{self, Backlog, Heads};
use crate::{Clock, StoreError};

/// Commits to `log.db`.
pub(crate) struct SqliteWriter {
    database: SqliteDatabase,
    clock: Clock,
    heads: Heads,
    sender: Sender<Pending>,
    waiting: Receiver<Pending>,
    /// Only the thread that writes looks into it.
    backlog: Mutex<Backlog>,
    /// Whether that thread has been asked to write a batch and has not begun to look for one.
    asked: AtomicBool,
}

impl SqliteWriter {
    pub(crate) fn new(database: SqliteDatabase, clock: Clock, heads: Heads) -> Arc<Self> {
        let (sender, waiting) = crossbeam_channel::unbounded();
        let (backlog, asked) = (Mutex::default(), AtomicBool::new(false));
        Arc::new(Self { database, clock, heads, sender, waiting, backlog, asked })
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
        let mut log = SqliteAppender { connection, clock: &self.clock, place: self.database.place() };
        {
            let committed = pin!(writer::commit(&mut log, batch, &mut backlog, &self.heads));
            let ended = committed.poll(&mut Context::from_waker(Waker::noop()));
            debug_assert_eq!(ended, Poll::Ready(()), "nothing waits on the thread that writes");
        }
        if !backlog.is_empty() || !self.waiting.is_empty() {
            // The thread is this one, so it has not ended.
            let _ = self.ask();
        }
    }
}
