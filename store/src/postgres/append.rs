//! Decides and writes a batch on PostgreSQL: one call, one round trip while the head row is locked.

use std::collections::HashMap;

use serde::Deserialize;
use sqlx::postgres::PgRow;
use sqlx::{Connection, PgConnection, Row};

use super::columns::{APPEND, CALL, Columns};
use crate::batch::Prepared;
use crate::chain;
use crate::known::Known;
use crate::sql::{PostgresDatabase, postgres_failed};
use crate::writer::{Append, Appended};
use crate::{Claim, Clock, CommitError, Receipt, Remembered, StoreError, StreamId};

/// Appends batches through `append_batch`, always on the same connection while it lasts, which is not of the pool: what
/// the server keeps for a connection stays warm, and readers that use up the pool do not keep commands waiting.
pub(crate) struct PostgresAppender {
    database: PostgresDatabase,
    clock: Clock,
    /// Who writes now.
    pub(super) seat: Seat,
    /// One for each seat.
    connections: [Option<PgConnection>; 2],
    known: Known,
    /// How many batches to come look for every stream before they write.
    wary: u32,
}

/// Where the work is done. A connection is at home on one runtime, so each seat has its own.
#[derive(Debug, Clone, Copy)]
pub(super) enum Seat {
    /// On the thread that writes.
    Thread,
    /// Where commands come from.
    Caller,
}

/// What is known of a stream spares looking for it; but what turns out wrong costs a batch another call. So where one
/// was wrong, others may be: this many batches look first.
const WARY: u32 = 16;

/// Why one command was refused, as `append_batch` says it.
#[derive(Debug, Deserialize)]
#[serde(tag = "why")]
enum Reason {
    #[serde(rename = "key")]
    Key { outcome: String, fingerprint: String, position: i64 },
    #[serde(rename = "stream")]
    Stream { r#type: String, id: String, expected: i64, actual: i64 },
    #[serde(rename = "taken")]
    Taken { scope: String, key: String, r#type: String, id: String },
    #[serde(rename = "not held")]
    NotHeld { scope: String, key: String, r#type: String, id: String },
    #[serde(rename = "not empty")]
    NotEmpty { scope: String },
    #[serde(rename = "email")]
    Email,
    #[serde(rename = "github identity")]
    GithubIdentity,
    #[serde(rename = "keys")]
    Keys,
    #[serde(rename = "look")]
    Look,
}

/// What the server says of a batch that it has written, or refused in parts.
struct Answer {
    base: i64,
    recorded_at: i64,
    undisturbed: bool,
    link: Vec<u8>,
    refused: Vec<i32>,
    reasons: Vec<Reason>,
}

/// What one call gave.
enum Called {
    Appended(Appended),
    /// Nothing is written: what was known of some stream is not sure.
    LookForAll,
}

impl PostgresAppender {
    pub(crate) fn new(database: PostgresDatabase, clock: Clock) -> Self {
        Self { database, clock, seat: Seat::Thread, connections: [None, None], known: Known::default(), wary: 0 }
    }

    /// Says good-bye to the server, from the thread.
    pub(super) async fn close(&mut self) {
        if let Some(connection) = self.connections[Seat::Thread as usize].take() {
            // It is gone one way or the other.
            let _ = connection.close().await;
        }
    }

    async fn decide(&mut self, batch: &[&Prepared]) -> Result<Appended, StoreError> {
        let mut look_for_all = self.wary > 0;
        self.wary = self.wary.saturating_sub(1);
        loop {
            match self.call(batch, look_for_all).await {
                Ok(Called::Appended(appended)) => return Ok(appended),
                Ok(Called::LookForAll) => {
                    look_for_all = true;
                    self.wary = WARY;
                }
                Err(error) => {
                    // It may have landed all the same.
                    self.known.forget();
                    return Err(error);
                }
            }
        }
    }

    async fn call(&mut self, batch: &[&Prepared], look_for_all: bool) -> Result<Called, StoreError> {
        let columns = Columns::of(batch, &self.known, look_for_all);
        let (fixed_now, only_events) = (self.clock.fixed_micros(), columns.has_only_events());
        let (sql, arguments) = match only_events {
            true => (APPEND, columns.only_events(fixed_now)),
            false => (CALL, columns.arguments(fixed_now)),
        };
        let arguments = arguments.map_err(|e| StoreError::Failed(format!("a batch cannot be sent: {e}")))?;
        let seat = self.seat as usize;
        let mut connection = match self.connections[seat].take() {
            Some(connection) => connection,
            None => self.database.connect().await?,
        };
        // Not put back when this fails: the next batch gets a connection that works.
        let row = match sqlx::query_with(sql, arguments).fetch_optional(&mut connection).await {
            Err(error) if !look_for_all && breaks_a_sequence(&error) => {
                self.connections[seat] = Some(connection);
                return Ok(Called::LookForAll);
            }
            // The server has undone it.
            Err(error @ sqlx::Error::Database(_)) => return Err(postgres_failed(self.database.place(), &error)),
            Err(error) => return Err(outcome_unknown(&error)),
            Ok(row) => row,
        };
        self.connections[seat] = Some(connection);
        let Some(row) = row else {
            self.known.forget();
            return Ok(Called::LookForAll);
        };
        // It has landed, whatever is wrong with the answer.
        let answer = if only_events { Answer::of_append(&row, &self.known, batch) } else { Answer::of_call(&row) };
        let Answer { base, recorded_at, undisturbed, link, refused, reasons } =
            answer.map_err(|e| outcome_unknown(&e))?;
        if !undisturbed {
            self.known.forget();
        }
        self.known.link = link;
        match reasons.as_slice() {
            [Reason::Keys] => {
                let outcomes = vec![Err(CommitError::KeysMoved); batch.len()];
                return Ok(Called::Appended(Appended { outcomes, head: base }));
            }
            [Reason::Look] => return Ok(Called::LookForAll),
            _ => {}
        }
        let mut refusals: HashMap<i32, Reason> = refused.into_iter().zip(reasons).collect();

        let mut head = base;
        let outcomes: Vec<_> = (1..)
            .zip(batch)
            .map(|(command, prepared)| match refusals.remove(&command) {
                Some(reason) => Err(reason.into()),
                None => {
                    let first = head;
                    head += prepared.leaves.len() as i64;
                    Ok(Receipt { first: (first + 1).min(head), last: head, recorded_at })
                }
            })
            .collect();
        for (prepared, outcome) in batch.iter().zip(&outcomes) {
            self.known.learn(prepared, outcome);
        }
        Ok(Called::Appended(Appended { outcomes, head }))
    }
}

impl Append for PostgresAppender {
    async fn append(&mut self, batch: &[Prepared]) -> Result<Appended, StoreError> {
        let refusals: Vec<Option<CommitError>> = batch.iter().map(|it| self.known.refusal(it)).collect();
        let left: Vec<&Prepared> =
            batch.iter().zip(&refusals).filter_map(|(it, refused)| refused.is_none().then_some(it)).collect();
        let appended =
            if left.is_empty() { Appended { outcomes: vec![], head: 0 } } else { self.decide(&left).await? };
        let mut outcomes = appended.outcomes.into_iter();
        let unanswered = || outcome_unknown(&"a command was left without an outcome");
        let outcomes = refusals.into_iter().map(|refused| match refused {
            Some(refusal) => Ok(Err(refusal)),
            None => outcomes.next().ok_or_else(unanswered),
        });
        Ok(Appended { outcomes: outcomes.collect::<Result<_, _>>()?, head: appended.head })
    }
}

impl Answer {
    /// The row of [`APPEND`]: nothing is refused. What the link would be had nobody else written says whether they have.
    fn of_append(row: &PgRow, known: &Known, batch: &[&Prepared]) -> Result<Self, sqlx::Error> {
        let (base, recorded_at, link): (i64, i64, Vec<u8>) = (row.try_get(0)?, row.try_get(1)?, row.try_get(2)?);
        let leaves: Vec<_> = batch.iter().flat_map(|it| &it.leaves).collect();
        let undisturbed = known
            .link
            .as_slice()
            .try_into()
            .is_ok_and(|known| chain::link(known, base + 1, recorded_at, leaves.into_iter()) == *link);
        Ok(Self { base, recorded_at, undisturbed, link, refused: vec![], reasons: vec![] })
    }

    /// The row of [`CALL`].
    fn of_call(row: &PgRow) -> Result<Self, sqlx::Error> {
        let reasons = serde_json::from_value(row.try_get(5)?).map_err(|e| sqlx::Error::Decode(e.into()))?;
        Ok(Self {
            base: row.try_get(0)?,
            recorded_at: row.try_get(1)?,
            undisturbed: row.try_get(2)?,
            link: row.try_get(3)?,
            refused: row.try_get(4)?,
            reasons,
        })
    }
}

/// The batch was sent, and may have landed: it must not be tried again.
fn outcome_unknown(what: &dyn std::fmt::Display) -> StoreError {
    StoreError::Unavailable(format!("what came of a batch is not known: {what}"))
}

/// Whether a command begins a stream that is there.
fn breaks_a_sequence(error: &sqlx::Error) -> bool {
    let database = error.as_database_error();
    database.is_some_and(|it| it.is_unique_violation() && it.constraint() == Some("one_event_per_sequence"))
}

impl From<Reason> for CommitError {
    fn from(reason: Reason) -> Self {
        match reason {
            Reason::Key { outcome, fingerprint, position } => {
                let fingerprint = hex::decode(fingerprint).unwrap_or_default();
                Self::KeyUsed(Remembered { fingerprint, outcome, position })
            }
            Reason::Stream { r#type, id, expected, actual } => {
                Self::Conflict { stream: StreamId::new(r#type, id), expected, actual }
            }
            Reason::Taken { scope, key, r#type, id } => {
                Self::ClaimTaken { claim: Claim { scope, key }, holder: StreamId::new(r#type, id) }
            }
            Reason::NotHeld { scope, key, r#type, id } => {
                Self::ClaimNotHeld { claim: Claim { scope, key }, holder: StreamId::new(r#type, id) }
            }
            Reason::NotEmpty { scope } => Self::ScopeNotEmpty { scope },
            Reason::Email => Self::EmailTaken,
            Reason::GithubIdentity => Self::GithubIdentityTaken,
            // Of the whole batch, which is tried again before anybody is answered.
            Reason::Keys | Reason::Look => Self::KeysMoved,
        }
    }
}
