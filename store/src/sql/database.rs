//! A database, whichever it is.

use super::{Outcome, PostgresDatabase, Query, Row, SqliteDatabase, Statement, apart};
use crate::StoreError;

/// A handle to one database; clones share its connections.
#[derive(Debug, Clone)]
pub enum Database {
    /// A file, or memory, of this process.
    Sqlite(SqliteDatabase),
    /// A schema of a server.
    Postgres(PostgresDatabase),
}

impl Database {
    /// A private database in memory: scratch space with the same SQL.
    pub fn in_memory() -> Result<Self, StoreError> {
        SqliteDatabase::in_memory().map(Self::Sqlite)
    }

    /// The rows that answer one query.
    pub async fn query(&self, query: Query) -> Result<Vec<Row>, StoreError> {
        match self {
            Self::Sqlite(it) => it.query(query).await,
            Self::Postgres(it) => it.query(query).await,
        }
    }

    /// The first row that answers a query, if any.
    pub async fn first(&self, query: Query) -> Result<Option<Row>, StoreError> {
        Ok(self.query(query).await?.into_iter().next())
    }

    /// The answers to several queries, all of one moment.
    pub async fn snapshot(&self, queries: Vec<Query>) -> Result<Vec<Vec<Row>>, StoreError> {
        match self {
            Self::Sqlite(it) => it.snapshot(queries).await,
            Self::Postgres(it) => it.snapshot(queries).await,
        }
    }

    /// Runs all statements in one transaction, or none of them.
    pub async fn transact(&self, statements: Vec<Statement>) -> Result<Outcome, StoreError> {
        let statements = apart::spread(statements);
        match self {
            Self::Sqlite(it) => it.transact(statements).await,
            Self::Postgres(it) => it.transact(statements).await,
        }
    }

    /// Changes the one row that a key names, or none; for that no transaction has to be begun and ended.
    pub async fn change(&self, query: Query) -> Result<Outcome, StoreError> {
        match self {
            Self::Sqlite(it) => it.transact(vec![Statement::Expect { query, rows: 1 }]).await,
            Self::Postgres(it) => it.change(query).await,
        }
    }

    /// Microseconds since 1970 by the database's own clock, which all nodes on it share.
    pub async fn now_micros(&self) -> Result<i64, StoreError> {
        match self {
            Self::Sqlite(_) => Ok(chrono::Utc::now().timestamp_micros()),
            Self::Postgres(it) => it.now_micros().await,
        }
    }
}
