//! Brings a schema up to date: each migration once, in order, none of them ever changed.

use rusqlite::OptionalExtension;
use sqlx::{AssertSqlSafe, Executor};

use super::postgres::ONE_NODE_AT_A_TIME;
use super::{Database, PostgresDatabase, SqliteDatabase};
use crate::StoreError;

/// One step of a schema.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Migration {
    /// Counted from 1.
    pub(crate) version: i64,
    /// The SQL for SQLite.
    pub(crate) sqlite: &'static str,
    /// The SQL for PostgreSQL.
    pub(crate) postgres: &'static str,
}

const CREATE: &str = "create table if not exists schema_migrations (version bigint primary key)";
const NEWEST: &str = "select max(version) from schema_migrations";
const DONE: &str = "insert into schema_migrations (version) values ($1)";

/// Applies what is missing; refuses a schema from the future.
pub(crate) async fn migrate(database: &Database, migrations: &'static [Migration]) -> Result<(), StoreError> {
    match database {
        Database::Sqlite(it) => migrate_sqlite(it, migrations).await,
        Database::Postgres(it) => migrate_postgres(it, migrations).await,
    }
}

async fn migrate_sqlite(database: &SqliteDatabase, migrations: &'static [Migration]) -> Result<(), StoreError> {
    let place = database.place().to_owned();
    database.write(move |connection| migrate_file(connection, &place, migrations)).await?
}

/// Applies what is missing to a file.
pub(crate) fn migrate_file(
    connection: &mut rusqlite::Connection,
    place: &str,
    migrations: &'static [Migration],
) -> Result<(), StoreError> {
    let failed = |e: rusqlite::Error| super::sqlite::failed(place, &e);
    let has = "select 1 from sqlite_master where name = 'schema_migrations'";
    let known: Option<i64> = connection.query_row(has, [], |row| row.get(0)).optional().map_err(failed)?;
    let found = match known {
        Some(_) => connection.query_row(NEWEST, [], |row| row.get::<_, Option<i64>>(0)).map_err(failed)?,
        None => None,
    };
    let pending = pending(place, found.unwrap_or(0), migrations)?;
    if pending.is_empty() {
        // Nothing is written, so that a reader of a folder it may not write to can look at it.
        return Ok(());
    }
    let transaction = connection.transaction().map_err(failed)?;
    transaction.execute_batch(CREATE).map_err(failed)?;
    for migration in pending {
        transaction.execute_batch(migration.sqlite).map_err(failed)?;
        transaction.execute(DONE, [migration.version]).map_err(failed)?;
    }
    transaction.commit().map_err(failed)
}

/// Refuses a schema from the future.
pub(crate) fn check_schema(place: &str, found: i64, migrations: &'static [Migration]) -> Result<(), StoreError> {
    pending(place, found, migrations).map(drop)
}

async fn migrate_postgres(database: &PostgresDatabase, migrations: &'static [Migration]) -> Result<(), StoreError> {
    let failed = |e: sqlx::Error| super::postgres::failed(database.place(), &e);
    let mut transaction = database.pool().begin().await.map_err(failed)?;
    transaction.execute(ONE_NODE_AT_A_TIME).await.map_err(failed)?;
    transaction.execute(CREATE).await.map_err(failed)?;
    let found: Option<i64> = sqlx::query_scalar(NEWEST).fetch_one(&mut *transaction).await.map_err(failed)?;
    for migration in pending(database.place(), found.unwrap_or(0), migrations)? {
        transaction.execute(sqlx::raw_sql(AssertSqlSafe(migration.postgres))).await.map_err(failed)?;
        sqlx::query(DONE).bind(migration.version).execute(&mut *transaction).await.map_err(failed)?;
    }
    transaction.commit().await.map_err(failed)
}

fn pending(place: &str, found: i64, migrations: &'static [Migration]) -> Result<&'static [Migration], StoreError> {
    let known = migrations.last().map_or(0, |newest| newest.version);
    if found > known {
        return Err(StoreError::NewerSchema { place: place.to_owned(), found, known });
    }
    let first = migrations.partition_point(|migration| migration.version <= found);
    Ok(&migrations[first..])
}
