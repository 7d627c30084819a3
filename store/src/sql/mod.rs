//! One small way to speak to both databases: queries out, all-or-nothing statements in.

mod apart;
mod arrays;
mod copy;
mod database;
mod full_text;
mod lost;
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

pub(crate) use lost::Tries;
pub(crate) use migrate::{Migration, check_schema, migrate, migrate_file};
pub(crate) use postgres::{
    PostgresSettings, failed as postgres_failed, own as postgres_row, select as postgres_select,
};
pub(crate) use sqlite::{
    SqliteSettings, connect, failed as sqlite_failed, own as sqlite_value, select as sqlite_select,
};

pub use postgres::PostgresDatabase;
pub use sqlite::SqliteDatabase;

/// Refuses a SQLite that can corrupt a WAL database.
pub(crate) fn check_sqlite_version() -> Result<(), crate::StoreError> {
    sqlite::check_version(rusqlite::version())
}
