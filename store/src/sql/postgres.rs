//! PostgreSQL through sqlx's pool: one schema per database handle.

use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use sqlx::postgres::types::Oid;
use sqlx::postgres::{PgArguments, PgConnectOptions, PgPool, PgPoolOptions, PgRow, PgTypeInfo};
use sqlx::{
    Arguments, AssertSqlSafe, Column as _, Connection as _, Executor, PgConnection, Postgres, Row as _, TypeInfo,
};

use uuid::Uuid;

use super::lost::Tries;
use super::table::Dialect;
use super::{Outcome, Query, Row, Statement, Value, arrays, copy, full_text};
use crate::StoreError;

/// No statement of ours takes longer, apart from rebuilds that say so.
const STATEMENT_TIMEOUT: &str = "30s";
/// How long a batch waits for the head row of another node.
const LOCK_TIMEOUT: &str = "5s";
/// A node that dies inside a transaction must not hold the head row.
const IDLE_TIMEOUT: &str = "10s";
/// How long a caller waits for a free connection before it is told to come back.
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(3);

/// One schema of a PostgreSQL server, with its pool.
#[derive(Debug, Clone)]
pub struct PostgresDatabase {
    pool: PgPool,
    place: Arc<str>,
}

/// How a schema is used.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PostgresSettings {
    /// The schema that unqualified names mean.
    pub(crate) schema: &'static str,
    /// `on` makes a commit durable when acknowledged; read models can be rebuilt and need not wait.
    pub(crate) synchronous_commit: &'static str,
    /// The most connections of this handle.
    pub(crate) connections: u32,
}

impl PostgresDatabase {
    /// Connects, checks the server's version and makes the schema.
    pub(crate) async fn open(url: &str, settings: PostgresSettings) -> Result<Self, StoreError> {
        let options = PgConnectOptions::from_str(url)
            .map_err(|e| StoreError::Setup(format!("DATABASE_URL is not a PostgreSQL address: {e}")))?;
        let place = format!(
            "postgres://{}:{}/{}",
            options.get_host(),
            options.get_port(),
            options.get_database().unwrap_or("")
        );
        let options = options.application_name("muster").options([
            ("search_path", settings.schema),
            ("synchronous_commit", settings.synchronous_commit),
            // What a batch decides by is read after the head row is locked, whatever this database's default is.
            ("default_transaction_isolation", "read committed"),
            ("statement_timeout", STATEMENT_TIMEOUT),
            ("lock_timeout", LOCK_TIMEOUT),
            ("idle_in_transaction_session_timeout", IDLE_TIMEOUT),
        ]);
        let pool = PgPoolOptions::new()
            .max_connections(settings.connections)
            .acquire_timeout(ACQUIRE_TIMEOUT)
            // A dead connection shows itself on use; testing each one first costs a third of the throughput.
            .test_before_acquire(false)
            .connect_with(options)
            .await
            .map_err(|e| failed(&place, &e))?;
        let database = Self { pool, place: place.into() };
        database.check_version().await?;
        database.make_schema(settings.schema).await?;
        Ok(database)
    }

    /// A connection beside the pool, on the runtime of the caller, for few statements that are run again and again:
    /// planning one anew for its parameters would take longer than running it.
    pub(crate) async fn connect(&self) -> Result<PgConnection, StoreError> {
        let options = (*self.pool.connect_options()).clone().options([("plan_cache_mode", "force_generic_plan")]);
        let connected = tokio::time::timeout(ACQUIRE_TIMEOUT, PgConnection::connect_with(&options)).await;
        connected.unwrap_or(Err(sqlx::Error::PoolTimedOut)).map_err(|e| failed(&self.place, &e))
    }

    pub(crate) fn pool(&self) -> &PgPool {
        &self.pool
    }

    /// Where it is, for messages; never with a password.
    pub(crate) fn place(&self) -> &str {
        &self.place
    }

    pub(crate) async fn query(&self, query: Query) -> Result<Vec<Row>, StoreError> {
        let mut tries = Tries::of(&self.pool);
        loop {
            match select(&self.pool, &query).await {
                Err(e) if tries.another(&e) => {}
                answer => return answer.map_err(|e| failed(&self.place, &e)),
            }
        }
    }

    pub(crate) async fn snapshot(&self, queries: Vec<Query>) -> Result<Vec<Vec<Row>>, StoreError> {
        let mut tries = Tries::of(&self.pool);
        loop {
            match self.of_one_moment(&queries).await {
                Err(e) if tries.another(&e) => {}
                answer => return answer.map_err(|e| failed(&self.place, &e)),
            }
        }
    }

    async fn of_one_moment(&self, queries: &[Query]) -> Result<Vec<Vec<Row>>, sqlx::Error> {
        let mut transaction = self.pool.begin().await?;
        transaction.execute("set transaction isolation level repeatable read, read only").await?;
        let mut answers = Vec::with_capacity(queries.len());
        for query in queries {
            answers.push(select(&mut *transaction, query).await?);
        }
        transaction.commit().await?;
        Ok(answers)
    }

    pub(crate) async fn transact(&self, statements: Vec<Statement>) -> Result<Outcome, StoreError> {
        let work = async {
            let mut transaction = self.pool.begin().await?;
            for statement in statements {
                if !run(&mut transaction, statement).await? {
                    transaction.rollback().await?;
                    return Ok(Outcome::Unexpected);
                }
            }
            transaction.commit().await?;
            Ok(Outcome::Done)
        };
        work.await.map_err(|e| failed(&self.place, &e))
    }

    pub(crate) async fn change(&self, query: Query) -> Result<Outcome, StoreError> {
        let arguments = arguments(&query.params).map_err(|e| failed(&self.place, &e))?;
        let done = sqlx::query_with(AssertSqlSafe(query.sql), arguments).execute(&self.pool).await;
        let rows = done.map_err(|e| failed(&self.place, &e))?.rows_affected();
        Ok(if rows == 1 { Outcome::Done } else { Outcome::Unexpected })
    }

    pub(crate) async fn now_micros(&self) -> Result<i64, StoreError> {
        let sql = "select (extract(epoch from clock_timestamp()) * 1000000)::bigint";
        sqlx::query_scalar(sql).fetch_one(&self.pool).await.map_err(|e| failed(&self.place, &e))
    }

    /// Whether the schema has a table of this name.
    pub(crate) async fn has_table(&self, name: &'static str) -> Result<bool, StoreError> {
        let found = sqlx::query_scalar("select to_regclass($1) is not null").bind(name).fetch_one(&self.pool).await;
        found.map_err(|e| failed(&self.place, &e))
    }

    async fn check_version(&self) -> Result<(), StoreError> {
        const OLDEST: i32 = 150_000;
        let version: i32 = sqlx::query_scalar("select current_setting('server_version_num')::int")
            .fetch_one(&self.pool)
            .await
            .map_err(|e| failed(&self.place, &e))?;
        if version >= OLDEST {
            return Ok(());
        }
        Err(StoreError::Setup(format!(
            "{}: PostgreSQL 15 or newer is needed, this is {}",
            self.place,
            version / 10_000
        )))
    }

    async fn make_schema(&self, schema: &'static str) -> Result<(), StoreError> {
        let work = async {
            let mut transaction = self.pool.begin().await?;
            transaction.execute(ONE_NODE_AT_A_TIME).await?;
            transaction.execute(AssertSqlSafe(format!("create schema if not exists {schema}"))).await?;
            transaction.commit().await
        };
        work.await.map_err(|e| failed(&self.place, &e))
    }
}

/// Nodes that start together must not change the schema together; the lock ends with its transaction.
pub(crate) const ONE_NODE_AT_A_TIME: &str = "select pg_advisory_xact_lock(7355608)";

/// Tells a database that is away from one that refuses.
pub(crate) fn failed(place: &str, error: &sqlx::Error) -> StoreError {
    let text = format!("{place}: {error}");
    match error {
        sqlx::Error::Database(refusal) => match refusal.code().as_deref() {
            // Connection trouble, a server that turned read-only in a failover, deadlocks, resources, operator
            // intervention, lock and statement timeouts, trouble of the server's own disk.
            Some(code) if ["08", "25006", "40", "53", "55", "57", "58", "XX"].iter().any(|it| code.starts_with(it)) => {
                StoreError::Unavailable(text)
            }
            Some("3D000" | "28000" | "28P01" | "42501") => StoreError::Setup(text),
            _ => StoreError::Failed(text),
        },
        sqlx::Error::Io(_)
        | sqlx::Error::Tls(_)
        | sqlx::Error::PoolTimedOut
        | sqlx::Error::PoolClosed
        | sqlx::Error::Protocol(_)
        | sqlx::Error::WorkerCrashed => StoreError::Unavailable(text),
        _ => StoreError::Failed(text),
    }
}

pub(crate) async fn select<'e>(
    executor: impl Executor<'e, Database = Postgres>,
    query: &Query,
) -> Result<Vec<Row>, sqlx::Error> {
    let arguments = arguments(&query.params)?;
    let rows = sqlx::query_with(AssertSqlSafe(query.sql.clone()), arguments).fetch_all(executor).await?;
    rows.iter().map(own).collect()
}

async fn run(connection: &mut sqlx::PgConnection, statement: Statement) -> Result<bool, sqlx::Error> {
    match statement {
        Statement::Run(query) => execute(connection, query).await.map(|_| true),
        Statement::Expect { query, rows } => Ok(execute(connection, query).await? == rows),
        Statement::Insert { rows, .. } if rows.is_empty() => Ok(true),
        Statement::Insert { table, rows } if rows.len() >= copy::WORTH_IT => {
            copy::rows(connection, &table, &rows).await.map(|()| true)
        }
        Statement::Insert { table, rows } => {
            let arguments = arrays::columns(&table.columns, rows)?;
            sqlx::query_with(AssertSqlSafe(arrays::insert(&table)), arguments).execute(connection).await.map(|_| true)
        }
        Statement::Upsert { rows, .. } if rows.is_empty() => Ok(true),
        Statement::Upsert { table, rows } => {
            let arguments = arrays::columns(&table.columns, rows)?;
            sqlx::query_with(AssertSqlSafe(arrays::upsert(&table)), arguments).execute(connection).await.map(|_| true)
        }
        Statement::Delete { keys, .. } if keys.is_empty() => Ok(true),
        Statement::Delete { table, keys } => {
            let arguments = arrays::columns(table.key(), keys)?;
            sqlx::query_with(AssertSqlSafe(arrays::delete(&table)), arguments).execute(connection).await.map(|_| true)
        }
        Statement::CreateTable(table) => {
            connection.execute(AssertSqlSafe(table.create(Dialect::Postgres))).await.map(|_| true)
        }
        Statement::CreateKey(table) => match table.create_key(Dialect::Postgres) {
            Some(key) => connection.execute(AssertSqlSafe(key)).await.map(|_| true),
            None => Ok(true),
        },
        Statement::CreateIndexes(table) => {
            for index in table.create_indexes().into_iter().chain(full_text::index_on_postgres(&table)) {
                connection.execute(AssertSqlSafe(index)).await?;
            }
            Ok(true)
        }
        Statement::Analyze(table) => {
            connection.execute(AssertSqlSafe(format!("analyze {}", table.name))).await.map(|_| true)
        }
        Statement::DropTable(name) => {
            connection.execute(AssertSqlSafe(format!("drop table if exists {name}"))).await.map(|_| true)
        }
        Statement::CreateView { table, name } => {
            connection.execute(AssertSqlSafe(table.create_view(&name))).await.map(|_| true)
        }
        Statement::DropView(name) => {
            connection.execute(AssertSqlSafe(format!("drop view if exists {name}"))).await.map(|_| true)
        }
    }
}

async fn execute(connection: &mut sqlx::PgConnection, query: Query) -> Result<u64, sqlx::Error> {
    let arguments = arguments(&query.params)?;
    let done = sqlx::query_with(AssertSqlSafe(query.sql), arguments).execute(connection).await?;
    Ok(done.rows_affected())
}

fn arguments(params: &[Value]) -> Result<PgArguments, sqlx::Error> {
    let mut arguments = PgArguments::default();
    for value in params {
        match value {
            Value::Null => arguments.add(Untyped),
            Value::Int(it) => arguments.add(it),
            Value::Real(it) => arguments.add(it),
            Value::Text(it) => arguments.add(it),
            Value::Id(it) => arguments.add(it),
            Value::Bytes(it) => arguments.add(it),
        }
        .map_err(sqlx::Error::Encode)?;
    }
    Ok(arguments)
}

/// A null whose type the server finds out from where it is used.
struct Untyped;

impl sqlx::Type<Postgres> for Untyped {
    fn type_info() -> PgTypeInfo {
        PgTypeInfo::with_oid(Oid(0))
    }
}

impl sqlx::Encode<'_, Postgres> for Untyped {
    fn encode_by_ref(
        &self,
        _: &mut sqlx::postgres::PgArgumentBuffer,
    ) -> Result<sqlx::encode::IsNull, sqlx::error::BoxDynError> {
        Ok(sqlx::encode::IsNull::Yes)
    }
}

pub(crate) fn own(row: &PgRow) -> Result<Row, sqlx::Error> {
    let value = |column: &sqlx::postgres::PgColumn| -> Result<Value, sqlx::Error> {
        let at = column.ordinal();
        Ok(match column.type_info().name() {
            "INT8" => row.try_get::<Option<i64>, _>(at)?.into(),
            "INT4" => row.try_get::<Option<i32>, _>(at)?.map(i64::from).into(),
            "BOOL" => row.try_get::<Option<bool>, _>(at)?.into(),
            "FLOAT8" => row.try_get::<Option<f64>, _>(at)?.into(),
            "UUID" => row.try_get::<Option<Uuid>, _>(at)?.map_or(Value::Null, Value::Id),
            "BYTEA" => row.try_get::<Option<Vec<u8>>, _>(at)?.into(),
            _ => row.try_get_unchecked::<Option<String>, _>(at)?.into(),
        })
    };
    row.columns().iter().map(value).collect::<Result<_, _>>().map(Row)
}
