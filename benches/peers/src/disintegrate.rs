//! disintegrate over disintegrate-postgres.

use std::convert::Infallible;

use anyhow::Result;
use disintegrate::serde::json::Json;
use disintegrate::{Decision, DecisionError, Event, NoSnapshot, StateMutate, StateQuery};
use disintegrate_postgres::{Error, PgDecisionMaker, PgEventStore, decision_maker};
use serde::{Deserialize, Serialize};
use sqlx::{Executor, PgPool};
use uuid::Uuid;

use crate::entry::Entry;
use crate::peer::{Connections, Outcome, Peer, Pool};
use crate::postgres;

pub(crate) struct Disintegrate {
    decisions: PgDecisionMaker<JournalEvent, Json<JournalEvent>, NoSnapshot>,
    pool: PgPool,
}

#[derive(Debug, Clone, PartialEq, Eq, Event, Serialize, Deserialize)]
enum JournalEvent {
    EntryLogged {
        #[id]
        journal_id: Uuid,
        entry: Entry,
    },
}

#[derive(Default, Clone, StateQuery, Serialize, Deserialize)]
#[state_query(JournalEvent)]
struct Journal {
    #[id]
    journal_id: Uuid,
    entries: usize,
}

impl StateMutate for Journal {
    fn mutate(&mut self, event: JournalEvent) {
        match event {
            JournalEvent::EntryLogged { .. } => self.entries += 1,
        }
    }
}

struct LogEntries {
    journal_id: Uuid,
    entries: Vec<Entry>,
}

impl Decision for LogEntries {
    type Event = JournalEvent;
    type StateQuery = Journal;
    type Error = Infallible;

    fn state_query(&self) -> Journal {
        Journal { journal_id: self.journal_id, entries: 0 }
    }

    fn process(&self, _: &Journal) -> Result<Vec<JournalEvent>, Infallible> {
        let logged = |entry: &Entry| JournalEvent::EntryLogged { journal_id: self.journal_id, entry: entry.clone() };
        Ok(self.entries.iter().map(logged).collect())
    }
}

impl Peer for Disintegrate {
    const NAME: &'static str = "disintegrate";
    const CRATE: &'static str = "disintegrate-postgres";
    // Each load scans the locks of all commands in flight, and serializable transactions fail each other.
    const POOL: Pool = Pool { new_streams: 6, hot_streams: 4 };

    async fn set_up(at: &str, connections: Connections) -> Result<Self> {
        let pool = postgres::open(at, "peer_disintegrate", connections).await?;
        pool.execute(sqlx::raw_sql(include_str!("../schema/disintegrate.sql"))).await?;
        let store = PgEventStore::new_uninitialized(pool.clone(), Json::default());
        Ok(Self { decisions: decision_maker(store, NoSnapshot), pool })
    }

    async fn append(&self, stream: Uuid, entries: &[Entry]) -> Result<Outcome> {
        match self.decisions.make(LogEntries { journal_id: stream, entries: entries.to_vec() }).await {
            Ok(_) => Ok(Outcome::Committed),
            Err(DecisionError::StateStore(e)) if is_conflict(&*e) => Ok(Outcome::Conflict),
            Err(e) => Err(e.into()),
        }
    }

    async fn analyze(&self) -> Result<()> {
        self.pool.execute("analyze event").await?;
        Ok(())
    }
}

/// It says so itself only where the check or the commit fails; a statement in between fails with PostgreSQL's own code.
fn is_conflict(error: &(dyn std::error::Error + 'static)) -> bool {
    match error.downcast_ref() {
        Some(Error::Concurrency) => true,
        Some(Error::Database(sqlx::Error::Database(e))) => e.code().as_deref() == Some("40001"),
        _ => false,
    }
}
