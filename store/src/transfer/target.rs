//! The other door into a log: whole batches that were decided elsewhere, each linked to the one before it.

use std::sync::{Arc, Mutex, PoisonError};

use rusqlite::{Connection as File, OptionalExtension, params_from_iter};
use sqlx::{AssertSqlSafe, Executor, PgConnection};
use tokio::sync::mpsc;

use super::TransferError;
use super::append::{AppendError, append_to_file, append_to_server};
use super::batch::{Batch, Chain};
use super::server::{self, Copy};
use super::source::{blocking, hash};
use crate::chain::Hash;
use crate::sql::{Row, Value, postgres_failed, sqlite_failed};
use crate::{Head, Location, StoreError, Take};

pub(crate) const COLUMNS_IN_SQLITE: &str = "select name from pragma_table_info($1) order by cid";
pub(crate) const COLUMNS_IN_POSTGRES: &str = "select attname::text from pg_attribute
     where attrelid = to_regclass($1) and attnum > 0 and not attisdropped
     order by attnum";

/// What is no row beside the log.
const THE_LOG: [&str; 4] = ["events", "batches", "head", "schema_migrations"];

/// A log that takes in what another one has.
pub(crate) struct Target {
    writer: Writer,
    pub(crate) head: Head,
    pub(crate) place: String,
    /// Where it stood when it was opened.
    found: Head,
}

enum Writer {
    /// The lock on the folder goes with it.
    Sqlite(Arc<Mutex<File>>, #[allow(dead_code, reason = "held")] std::fs::File),
    Postgres {
        connection: Box<PgConnection>,
        /// Our own connection that looked after the schema.
        setup: i32,
    },
}

impl Target {
    /// Opens a log, made if it is not there; a folder is taken for this process alone.
    pub(crate) async fn open(location: &Location) -> Result<Self, TransferError> {
        const HEAD: &str = "select epoch, position, recorded_at, link from head";
        let (writer, head, place) = match location {
            Location::Sqlite(folder) => {
                let (file, lock) = crate::open::open_log_file(folder)?;
                let place = format!("SQLite in {}", folder.display());
                let failed = |e: rusqlite::Error| sqlite_failed(&place, &e);
                file.pragma_update(None, "cache_size", -65_536).map_err(failed)?;
                let head = file.query_row(HEAD, [], |row| {
                    Ok(Head { epoch: row.get(0)?, position: row.get(1)?, recorded_at: row.get(2)?, link: row.get(3)? })
                });
                let head = head.map_err(failed)?;
                (Writer::Sqlite(Arc::new(Mutex::new(file)), lock), head, place)
            }
            Location::Postgres(url) => {
                let schema = crate::open::open_log_schema(url).await?;
                let failed = |e: sqlx::Error| postgres_failed(schema.place(), &e);
                let pid = sqlx::query_scalar("select pg_backend_pid()").fetch_one(schema.pool()).await;
                let setup: i32 = pid.map_err(failed)?;
                schema.pool().close().await;
                let (mut connection, place) = server::connect(url).await?;
                let head = server::head(&mut connection, HEAD).await.map_err(failed)?;
                (Writer::Postgres { connection: Box::new(connection), setup }, head, place)
            }
        };
        Ok(Self { writer, head, place, found: head })
    }

    /// Whether an earlier transfer into it did not end.
    pub(crate) fn is_unfinished(&self) -> bool {
        self.found.epoch < 0
    }

    /// Whether nothing has ever been written to it.
    pub(crate) async fn is_empty(&mut self) -> Result<bool, StoreError> {
        let accounts = "select 1 from accounts limit 1";
        let some = match &mut self.writer {
            Writer::Sqlite(file, _) => {
                let file = file.lock().unwrap_or_else(PoisonError::into_inner);
                file.prepare(accounts).and_then(|mut it| it.exists([])).map_err(|e| sqlite_failed(&self.place, &e))?
            }
            Writer::Postgres { connection, .. } => {
                let found = connection.fetch_optional(accounts).await;
                found.map_err(|e| postgres_failed(&self.place, &e))?.is_some()
            }
        };
        Ok(self.head.position == 0 && !some)
    }

    /// Keeps servers away until it is finished, and refuses if one is here.
    pub(crate) async fn begin(&mut self) -> Result<(), TransferError> {
        self.set_epoch(-self.head.epoch.abs().max(1)).await?;
        // In this order: a server that comes now sees the mark, and one that came before is seen.
        if let Writer::Postgres { connection, setup } = &mut self.writer {
            let others = "select count(*) from pg_stat_activity
                 where datname = current_database() and application_name = 'muster' and pid <> $1";
            let others: i64 = sqlx::query_scalar(others)
                .bind(*setup)
                .fetch_one(&mut **connection)
                .await
                .map_err(|e| postgres_failed(&self.place, &e))?;
            if others > 0 {
                self.give_back().await;
                let what = "a muster server is connected to this database: stop it first";
                return Err(TransferError::Refused(format!("{}: {what}", self.place)));
            }
        }
        Ok(())
    }

    /// After a failure: a log that was whole and has got nothing stays what it was.
    pub(crate) async fn give_back(&mut self) {
        if self.head.position == self.found.position
            && let Err(error) = self.set_epoch(self.found.epoch).await
        {
            tracing::warn!(%error, place = self.place, "the log stays marked as unfinished");
        }
    }

    async fn set_epoch(&mut self, epoch: i64) -> Result<(), StoreError> {
        match &mut self.writer {
            Writer::Sqlite(file, _) => {
                let file = file.lock().unwrap_or_else(PoisonError::into_inner);
                file.execute("update head set epoch = ?1", [epoch]).map_err(|e| sqlite_failed(&self.place, &e))?;
            }
            Writer::Postgres { connection, .. } => {
                let set = sqlx::query("update head set epoch = $1").bind(epoch).execute(&mut **connection).await;
                set.map_err(|e| postgres_failed(&self.place, &e))?;
            }
        }
        self.head.epoch = epoch;
        Ok(())
    }

    /// Appends batches that have been checked against the chain, all in one transaction.
    pub(crate) async fn append(&mut self, batches: Arc<Vec<Batch>>, reached: Chain) -> Result<(), AppendError> {
        let (before, place) = (self.head, self.place.clone());
        match &mut self.writer {
            Writer::Sqlite(file, _) => {
                let file = Arc::clone(file);
                let work = move || {
                    let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
                    Ok(append_to_file(&mut file, &before, &batches, reached, &place))
                };
                blocking(work).await??;
            }
            Writer::Postgres { connection, .. } => {
                connection.execute("begin").await.map_err(|e| postgres_failed(&place, &e))?;
                let appended = append_to_server(connection, &before, &batches, reached, &place).await;
                let end = if appended.is_ok() { "commit" } else { "rollback" };
                let ended = connection.execute(end).await;
                appended?;
                ended.map_err(|e| postgres_failed(&place, &e))?;
            }
        }
        let Chain { position, recorded_at, link } = reached;
        self.head = Head { position, recorded_at, link, ..self.head };
        Ok(())
    }

    /// The link of the batch that ends at a position, if one does.
    pub(crate) async fn link_at(&mut self, position: i64) -> Result<Option<Hash>, StoreError> {
        const SQL: &str = "select link
             from (select first_position, events, link from batches
                   where first_position <= $1 order by first_position desc limit 1) as around
             where first_position + events - 1 = $1";
        match &mut self.writer {
            Writer::Sqlite(file, _) => {
                let file = file.lock().unwrap_or_else(PoisonError::into_inner);
                let link = file.query_row(SQL, [position], |row| row.get(0)).optional();
                link.map_err(|e| sqlite_failed(&self.place, &e))
            }
            Writer::Postgres { connection, .. } => {
                let link = sqlx::query_scalar(SQL).bind(position).fetch_optional(&mut **connection).await;
                let link: Option<Vec<u8>> = link.map_err(|e| postgres_failed(&self.place, &e))?;
                link.map(|it| hash(&it)).transpose()
            }
        }
    }

    /// The tables that stand beside the log, whichever the schema has.
    pub(crate) async fn tables(&mut self) -> Result<Vec<(String, Vec<String>)>, StoreError> {
        let mut tables = match &mut self.writer {
            Writer::Sqlite(file, _) => {
                let file = file.lock().unwrap_or_else(PoisonError::into_inner);
                let sql =
                    "select name from sqlite_master where type = 'table' and name not like 'sqlite_%' order by name";
                let texts = |sql: &str, params: &[&str]| -> rusqlite::Result<Vec<String>> {
                    file.prepare(sql)?.query_map(params_from_iter(params), |row| row.get(0))?.collect()
                };
                let columns = COLUMNS_IN_SQLITE.replace('$', "?");
                let named = texts(sql, &[]).and_then(|names| {
                    names.into_iter().map(|name| texts(&columns, &[&name]).map(|columns| (name, columns))).collect()
                });
                named.map_err(|e: rusqlite::Error| sqlite_failed(&self.place, &e))?
            }
            Writer::Postgres { connection, .. } => {
                let sql = "select tablename::text from pg_tables where schemaname = 'log' order by tablename";
                let failed = |e: sqlx::Error| postgres_failed(&self.place, &e);
                let names: Vec<String> = sqlx::query_scalar(sql).fetch_all(&mut **connection).await.map_err(failed)?;
                let mut named = Vec::with_capacity(names.len());
                for name in names {
                    let columns = sqlx::query_scalar(COLUMNS_IN_POSTGRES).bind(&name).fetch_all(&mut **connection);
                    let columns: Vec<String> = columns.await.map_err(failed)?;
                    named.push((name, columns));
                }
                named
            }
        };
        tables.retain(|(name, _)| !THE_LOG.contains(&name.as_str()));
        Ok(tables)
    }

    /// Runs a statement between `append`s: the transaction that finishes a copy has many steps.
    pub(crate) async fn run(&mut self, sql: &'static str) -> Result<(), StoreError> {
        match &mut self.writer {
            Writer::Sqlite(file, _) => {
                let file = file.lock().unwrap_or_else(PoisonError::into_inner);
                file.execute_batch(sql).map_err(|e| sqlite_failed(&self.place, &e))
            }
            Writer::Postgres { connection, .. } => {
                connection.execute(sql).await.map(drop).map_err(|e| postgres_failed(&self.place, &e))
            }
        }
    }

    /// Puts rows where others of the table were. Answers how many there are now.
    pub(crate) async fn fill(
        &mut self,
        table: &str,
        columns: &[String],
        mut pages: mpsc::Receiver<Vec<Row>>,
    ) -> Result<i64, StoreError> {
        let (place, columns) = (self.place.clone(), columns.join(", "));
        let clear = format!("delete from {table}");
        match &mut self.writer {
            Writer::Sqlite(file, _) => {
                let places = vec!["?"; columns.split(", ").count()].join(", ");
                let insert = format!("insert into {table} ({columns}) values ({places})");
                let file = Arc::clone(file);
                let work = move || {
                    let failed = |e: rusqlite::Error| sqlite_failed(&place, &e);
                    let file = file.lock().unwrap_or_else(PoisonError::into_inner);
                    file.execute_batch(&clear).map_err(failed)?;
                    let mut insert = file.prepare(&insert).map_err(failed)?;
                    let mut count = 0;
                    while let Some(page) = pages.blocking_recv() {
                        for row in page {
                            insert.execute(params_from_iter(&row.0)).map_err(failed)?;
                            count += 1;
                        }
                    }
                    Ok(count)
                };
                blocking(work).await
            }
            Writer::Postgres { connection, .. } => {
                let failed = |e: sqlx::Error| postgres_failed(&place, &e);
                connection.execute(AssertSqlSafe(clear)).await.map_err(failed)?;
                let mut copy = Copy::into(connection, table, &columns).await.map_err(failed)?;
                let mut count = 0;
                while let Some(page) = pages.recv().await {
                    for row in &page {
                        copy.values(&row.0).await.map_err(failed)?;
                        count += 1;
                    }
                }
                copy.finish().await.map_err(failed)?;
                Ok(count)
            }
        }
    }

    /// Opens the log to servers, as this life of it.
    pub(crate) async fn finish(&mut self, epoch: i64) -> Result<(), StoreError> {
        self.set_epoch(epoch).await
    }

    /// Beside a log whose events came alone: its claims, and reactors that have seen all of it.
    pub(crate) async fn put_beside(&mut self, claims: &[Take], reactors: &[&str]) -> Result<(), StoreError> {
        let (sender, receiver) = mpsc::channel(2);
        let row = |it: &Take| {
            let (claim, holder) = (&it.claim, &it.holder);
            let texts = [&claim.scope, &claim.key, &holder.aggregate_type, &holder.aggregate_id];
            Row(texts.into_iter().map(Value::from).collect())
        };
        let columns = ["scope", "key", "holder_type", "holder_id"].map(str::to_owned);
        let rows = claims.iter().map(row).collect();
        let send = async { sender.send(rows).await.map(|()| drop(sender)) };
        let (_, filled) = tokio::join!(send, self.fill("claims", &columns, receiver));
        filled?;
        let (sender, receiver) = mpsc::channel(2);
        let row = |it: &&str| Row(vec![Value::from(*it), Value::Int(self.head.position)]);
        let rows = reactors.iter().map(row).collect();
        let columns = ["reactor", "position"].map(str::to_owned);
        let send = async { sender.send(rows).await.map(|()| drop(sender)) };
        let (_, filled) = tokio::join!(send, self.fill("reactor_checkpoints", &columns, receiver));
        filled.map(drop)
    }

    /// Leaves one file behind, with nothing beside it that belongs to it.
    pub(crate) fn close_as_one_file(self) -> Result<(), StoreError> {
        if let Writer::Sqlite(file, _) = &self.writer {
            let file = file.lock().unwrap_or_else(PoisonError::into_inner);
            let mode = file.query_row("pragma journal_mode = delete", [], |row| row.get::<_, String>(0));
            let mode = mode.map_err(|e| sqlite_failed(&self.place, &e))?;
            if mode != "delete" {
                return Err(StoreError::Failed(format!("{}: the file is still in use", self.place)));
            }
        }
        Ok(())
    }
}
