//! esrs (Event sourcing.rs) over its own PostgreSQL store.

use std::convert::Infallible;

use anyhow::Result;
use esrs::manager::AggregateManager;
use esrs::store::postgres::{PgStore, PgStoreBuilder, PgStoreError};
use esrs::{Aggregate, AggregateState};
use serde::{Deserialize, Serialize};
use sqlx::{Executor, PgPool};
use uuid::Uuid;

use crate::entry::Entry;
use crate::peer::{Connections, Outcome, Peer, Pool};
use crate::postgres;

pub(crate) struct Esrs {
    manager: AggregateManager<PgStore<Journal>>,
    pool: PgPool,
}

struct Journal;

#[derive(Default)]
struct JournalState {
    entries: usize,
}

#[derive(Serialize, Deserialize)]
enum JournalEvent {
    EntryLogged(Entry),
}

struct LogEntries(Vec<Entry>);

impl Aggregate for Journal {
    const NAME: &'static str = "journal";
    type State = JournalState;
    type Command = LogEntries;
    type Event = JournalEvent;
    type Error = Infallible;

    fn handle_command(_: &JournalState, command: LogEntries) -> Result<Vec<JournalEvent>, Infallible> {
        Ok(command.0.into_iter().map(JournalEvent::EntryLogged).collect())
    }

    fn apply_event(state: JournalState, event: JournalEvent) -> JournalState {
        match event {
            JournalEvent::EntryLogged(_) => JournalState { entries: state.entries + 1 },
        }
    }
}

impl Peer for Esrs {
    const NAME: &'static str = "esrs";
    const CRATE: &'static str = "esrs";
    // A short queue for connections costs less than the conflicts of more commands in flight on a hot stream.
    const POOL: Pool = Pool { new_streams: 32, hot_streams: 8 };

    async fn set_up(at: &str, connections: Connections) -> Result<Self> {
        let pool = postgres::open(at, "peer_esrs", connections).await?;
        let store = PgStoreBuilder::new(pool.clone()).try_build().await?;
        Ok(Self { manager: AggregateManager::new(store), pool })
    }

    /// Its optimistic strategy: the pessimistic one holds a second connection for each command in flight.
    async fn append(&self, stream: Uuid, entries: &[Entry]) -> Result<Outcome> {
        let state = self.manager.load(stream).await?;
        self.handle(state.unwrap_or_else(|| AggregateState::with_id(stream)), entries).await
    }

    /// Its README starts a new aggregate without loading it.
    async fn create(&self, stream: Uuid, entries: &[Entry]) -> Result<Outcome> {
        self.handle(AggregateState::with_id(stream), entries).await
    }

    async fn analyze(&self) -> Result<()> {
        self.pool.execute("analyze journal_events").await?;
        Ok(())
    }
}

impl Esrs {
    async fn handle(&self, state: AggregateState<JournalState>, entries: &[Entry]) -> Result<Outcome> {
        match self.manager.handle_command(state, LogEntries(entries.to_vec())).await {
            Ok(Ok(_)) => Ok(Outcome::Committed),
            Ok(Err(refusal)) => match refusal {},
            Err(PgStoreError::Sqlx(sqlx::Error::Database(e))) if e.is_unique_violation() => Ok(Outcome::Conflict),
            Err(e) => Err(e.into()),
        }
    }
}
