//! The outside checker: opens the log's database by itself, past Muster, and holds it against what clients were told.

use std::collections::{BTreeMap, HashMap};

use muster_tests::muster::Home;
use muster_tests::postgres;
use muster_tests::stores::Kind;
use rusqlite::{Connection, OpenFlags};
use sqlx::{AssertSqlSafe, Row};

use crate::load::{Load, MARK};

/// What stands in the database.
pub(crate) struct Found {
    pub(crate) events: Vec<Event>,
    head: i64,
    /// Positions of remembered commands by their key.
    keys: HashMap<String, Vec<i64>>,
}

#[derive(Debug, Clone)]
pub(crate) struct Event {
    pub(crate) position: i64,
    pub(crate) stream: String,
    pub(crate) sequence: i64,
    pub(crate) event_type: String,
    pub(crate) payload: String,
    pub(crate) event_id: String,
    pub(crate) in_a_workspace: bool,
}

const HEAD: &str = "select position from head";
const KEYS: &str = "select key, position from remembered_commands";
const SQLITE_EVENTS: &str = "select position, aggregate_type || '/' || aggregate_id, sequence, event_type, payload,
        event_id, workspace_id is not null
    from events
    order by position";
const POSTGRES_EVENTS: &str = "select position, aggregate_type || '/' || aggregate_id, sequence, event_type,
        payload::text, event_id, workspace_id is not null
    from events
    order by position";

impl Found {
    pub(crate) async fn read(home: &Home) -> Self {
        match home.kind {
            Kind::Sqlite => Self::read_sqlite(home).unwrap(),
            Kind::Postgres => Self::read_postgres(home).await.unwrap(),
        }
    }

    fn read_sqlite(home: &Home) -> rusqlite::Result<Self> {
        let connection = Connection::open_with_flags(home.log_file(), OpenFlags::SQLITE_OPEN_READ_ONLY)?;
        // One transaction, so that everything is of one moment even while a server writes.
        let connection = connection.unchecked_transaction()?;
        let head = connection.query_row(HEAD, [], |row| row.get(0))?;
        let event = |row: &rusqlite::Row<'_>| {
            Ok(Event {
                position: row.get(0)?,
                stream: row.get(1)?,
                sequence: row.get(2)?,
                event_type: row.get(3)?,
                payload: row.get(4)?,
                event_id: row.get(5)?,
                in_a_workspace: row.get(6)?,
            })
        };
        let events = connection.prepare(SQLITE_EVENTS)?.query_map([], event)?.collect::<Result<_, _>>()?;
        let mut keys: HashMap<String, Vec<i64>> = HashMap::new();
        let mut statement = connection.prepare(KEYS)?;
        for row in statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))? {
            let (key, position) = row?;
            keys.entry(key).or_default().push(position);
        }
        Ok(Self { events, head, keys })
    }

    async fn read_postgres(home: &Home) -> anyhow::Result<Self> {
        let mut connection = postgres::connect(home.database_url()).await?;
        let begin = "set search_path to log; begin isolation level repeatable read read only";
        sqlx::raw_sql(AssertSqlSafe(begin)).execute(&mut connection).await?;
        let head = sqlx::query_scalar(HEAD).fetch_one(&mut connection).await?;
        let mut events = Vec::new();
        for row in sqlx::query(POSTGRES_EVENTS).fetch_all(&mut connection).await? {
            events.push(Event {
                position: row.try_get(0)?,
                stream: row.try_get(1)?,
                sequence: row.try_get(2)?,
                event_type: row.try_get(3)?,
                payload: row.try_get(4)?,
                event_id: row.try_get(5)?,
                in_a_workspace: row.try_get(6)?,
            });
        }
        let mut keys: HashMap<String, Vec<i64>> = HashMap::new();
        for row in sqlx::query(KEYS).fetch_all(&mut connection).await? {
            keys.entry(row.try_get(0)?).or_default().push(row.try_get(1)?);
        }
        Ok(Self { events, head, keys })
    }

    pub(crate) fn head(&self) -> i64 {
        self.head
    }

    /// Positions from 1 to the head without a hole; each stream from 1 on, in the order of positions.
    pub(crate) fn check_order(&self) {
        let mut streams: HashMap<&str, i64> = HashMap::new();
        for (wanted, event) in (1..).zip(&self.events) {
            assert_eq!(event.position, wanted, "positions have no holes: {event:?}");
            let sequence = streams.entry(&event.stream).or_default();
            *sequence += 1;
            assert_eq!(event.sequence, *sequence, "sequences have no holes: {event:?}");
        }
        assert_eq!(self.head, self.events.len() as i64, "the head is the last position");
    }

    /// Everything acknowledged is there once and where it was said to be; nothing is there that nobody asked for.
    pub(crate) fn check_commands(&self, load: &Load) {
        let (record, pending) = (load.record(), load.pending());
        assert_eq!(record.unexpected, Vec::<String>::new());
        let mut written: BTreeMap<&str, Vec<i64>> = BTreeMap::new();
        for event in &self.events {
            if let Some(token) = token(&event.payload) {
                written.entry(token).or_default().push(event.position);
            }
        }
        for (token, told) in &record.acknowledged {
            assert_eq!(written.get(token.as_str()), Some(&vec![told.position]), "{token}: {told:?}");
            if let Some(key) = &told.key {
                assert_eq!(self.keys.get(key), Some(&vec![told.position]), "{token}: {told:?}");
            }
        }
        for token in &record.refused {
            assert_eq!(written.get(token.as_str()), None, "{token} was refused");
        }
        for (token, positions) in &written {
            let asked =
                record.acknowledged.contains_key(*token) || record.unsure.iter().chain(&pending).any(|it| it == token);
            assert!(asked && positions.len() == 1, "{token} at {positions:?}");
        }
    }
}

/// Holds the database against what the load's clients were told.
pub(crate) async fn check(home: &Home, load: &Load) -> Found {
    let found = Found::read(home).await;
    found.check_order();
    found.check_commands(load);
    found
}

/// The mark that a command of the load leaves in its event.
fn token(payload: &str) -> Option<&str> {
    let begin = payload.find(MARK)?;
    payload.get(begin..begin + MARK.len() + 32)
}
