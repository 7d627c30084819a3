//! Decides and writes a batch on PostgreSQL: one call, one round trip while the head row is locked.

use serde::Deserialize;
use sqlx::pool::PoolConnection;
use sqlx::{Postgres, Row};

use super::columns::{CALL, Columns};
use crate::batch::Prepared;
use crate::sql::{PostgresDatabase, postgres_failed};
use crate::writer::{Append, Appended};
use crate::{Claim, Clock, CommitError, Receipt, Remembered, StoreError, StreamId};

/// Appends batches through `append_batch`, always on the same connection while it lasts: what the server keeps for a
/// connection stays warm, and readers that use up the pool do not keep commands waiting.
pub(crate) struct PostgresAppender {
    database: PostgresDatabase,
    clock: Clock,
    connection: Option<PoolConnection<Postgres>>,
    /// How many batches to come look for every stream before they write.
    wary: u32,
}

/// A stream that is begun is not looked for, because the insert finds out whether it is there; but then all that was
/// written is written again. So where one command came too late, others may: this many batches look first.
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
}

impl PostgresAppender {
    pub(crate) fn new(database: PostgresDatabase, clock: Clock) -> Self {
        Self { database, clock, connection: None, wary: 0 }
    }
}

impl Append for PostgresAppender {
    async fn append(&mut self, batch: &[Prepared]) -> Result<Appended, StoreError> {
        let events: Vec<i64> = batch.iter().map(|prepared| prepared.leaves.len() as i64).collect();
        let arguments = Columns::of(batch, self.wary > 0)
            .arguments(self.clock.fixed_micros())
            .map_err(|e| StoreError::Failed(format!("a batch cannot be sent: {e}")))?;
        let failed = |e: sqlx::Error| postgres_failed(self.database.place(), &e);
        let mut connection = match self.connection.take() {
            Some(connection) => connection,
            None => self.database.pool().acquire().await.map_err(failed)?,
        };
        // Not put back when this fails: the next batch gets a connection that works.
        let row = sqlx::query_with(CALL, arguments).fetch_one(&mut *connection).await.map_err(failed)?;
        self.connection = Some(connection);
        let base: i64 = row.try_get(0).map_err(failed)?;
        let recorded_at: i64 = row.try_get(1).map_err(failed)?;
        let refused: Vec<i32> = row.try_get(2).map_err(failed)?;
        let reasons: serde_json::Value = row.try_get(3).map_err(failed)?;
        let reasons: Vec<Reason> = serde_json::from_value(reasons)
            .map_err(|e| StoreError::Failed(format!("append_batch gave an unknown reason: {e}")))?;
        if let [Reason::Keys] = reasons.as_slice() {
            return Ok(Appended { outcomes: vec![Err(CommitError::KeysMoved); events.len()], head: base });
        }
        let too_late = reasons.iter().any(|it| matches!(it, Reason::Stream { .. }));
        self.wary = if too_late { WARY } else { self.wary.saturating_sub(1) };
        let mut refusals: std::collections::HashMap<i32, Reason> = refused.into_iter().zip(reasons).collect();

        let mut head = base;
        let outcomes = (1..)
            .zip(events)
            .map(|(command, events)| match refusals.remove(&command) {
                Some(reason) => Err(reason.into()),
                None => {
                    let first = head;
                    head += events;
                    Ok(Receipt { first: (first + 1).min(head), last: head, recorded_at })
                }
            })
            .collect();
        Ok(Appended { outcomes, head })
    }
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
            Reason::Keys => Self::KeysMoved,
        }
    }
}
