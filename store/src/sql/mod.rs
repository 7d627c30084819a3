//! One small way to speak to both databases: queries out, all-or-nothing statements in.

mod copy;
mod database;
mod full_text;
mod migrate;
mod postgres;
mod sqlite;
mod statement;
mod table;
mod value;

pub use database::Database;
pub use full_text::Words;
pub use statement::{Outcome, Query, Statement};
pub use table::{Column, Holds, Table};
pub use value::{Row, Value};

pub(crate) use migrate::{Migration, migrate};
pub(crate) use postgres::{PostgresSettings, failed as postgres_failed};
pub(crate) use sqlite::{SqliteSettings, failed as sqlite_failed};

pub use postgres::PostgresDatabase;
pub use sqlite::SqliteDatabase;

/// Refuses a SQLite that can corrupt a WAL database.
pub(crate) fn check_sqlite_version() -> Result<(), crate::StoreError> {
    sqlite::check_version(rusqlite::version())
}
