//! A connection to PostgreSQL that may take its time, and rows that go in by COPY.

use std::str::FromStr;

use sqlx::postgres::{PgConnectOptions, PgCopyIn};
use sqlx::{ConnectOptions, PgConnection, Row as _};

use crate::sql::{Value, postgres_failed};
use crate::{Head, StoreError};

/// What our connections call themselves. Servers are called `muster`, so that one can be told from a copy.
const NAME: &str = "muster transfer";
/// How long to wait for the head row of a log that others write to.
const LOCK_TIMEOUT: &str = "5s";
/// Bytes that are sent at a time.
const CHUNK: usize = 1 << 20;
/// The signature of COPY's binary format, no flags, no extension.
const HEADER: &[u8] = b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0";
const END: [u8; 2] = (-1_i16).to_be_bytes();

/// Connects to the schema of the log. Answers where that is, too, without the password.
pub(crate) async fn connect(url: &str) -> Result<(PgConnection, String), StoreError> {
    let options = PgConnectOptions::from_str(url)
        .map_err(|e| StoreError::Setup(format!("this is not a PostgreSQL address: {e}")))?;
    let database = options.get_database().unwrap_or("");
    let place = format!("postgres://{}:{}/{database}", options.get_host(), options.get_port());
    let options = options.application_name(NAME).options([
        ("search_path", "log"),
        ("synchronous_commit", "on"),
        ("default_transaction_isolation", "read committed"),
        ("lock_timeout", LOCK_TIMEOUT),
        // One end of a copy waits while the other one works.
        ("statement_timeout", "0"),
        ("idle_in_transaction_session_timeout", "0"),
    ]);
    let connection = options.connect().await.map_err(|e| postgres_failed(&place, &e))?;
    Ok((connection, place))
}

/// The head row as a query reads it: epoch, position, recorded_at, link.
pub(crate) async fn head(connection: &mut PgConnection, sql: &'static str) -> Result<Head, sqlx::Error> {
    let row = sqlx::query(sql).fetch_one(connection).await?;
    let link: Vec<u8> = row.try_get(3)?;
    let link = link.try_into().map_err(|_| sqlx::Error::Decode("the head's link is no hash".into()))?;
    Ok(Head { epoch: row.try_get(0)?, position: row.try_get(1)?, recorded_at: row.try_get(2)?, link })
}

/// Rows on their way into a table.
pub(crate) struct Copy<'c> {
    copy: PgCopyIn<&'c mut PgConnection>,
    buffer: Vec<u8>,
}

/// One value of a row.
pub(crate) enum Field<'a> {
    Null,
    Int(i64),
    Real(f64),
    Bytes(&'a [u8]),
}

impl<'c> Copy<'c> {
    /// Begins to fill a table.
    pub(crate) async fn into(
        connection: &'c mut PgConnection,
        table: &str,
        columns: &str,
    ) -> Result<Self, sqlx::Error> {
        let sql = format!("copy {table} ({columns}) from stdin with (format binary)");
        let copy = connection.copy_in_raw(&sql).await?;
        Ok(Self { copy, buffer: HEADER.to_vec() })
    }

    /// Adds a row.
    pub(crate) async fn row<const N: usize>(&mut self, fields: [Field<'_>; N]) -> Result<(), sqlx::Error> {
        self.fields(fields.into_iter(), N).await
    }

    /// Adds a row of values as they came from a database.
    pub(crate) async fn values(&mut self, values: &[Value]) -> Result<(), sqlx::Error> {
        let field = |value| match value {
            &Value::Null => Field::Null,
            &Value::Int(it) => Field::Int(it),
            &Value::Real(it) => Field::Real(it),
            Value::Text(it) => Field::Bytes(it.as_bytes()),
            Value::Id(it) => Field::Bytes(it.as_bytes()),
            Value::Bytes(it) => Field::Bytes(it),
        };
        self.fields(values.iter().map(field), values.len()).await
    }

    async fn fields<'a>(&mut self, fields: impl Iterator<Item = Field<'a>>, width: usize) -> Result<(), sqlx::Error> {
        let too_much = |e: std::num::TryFromIntError| sqlx::Error::Encode(e.into());
        self.buffer.extend_from_slice(&i16::try_from(width).map_err(too_much)?.to_be_bytes());
        for field in fields {
            let mut add = |bytes: &[u8]| {
                let length = i32::try_from(bytes.len()).map_err(too_much)?;
                self.buffer.extend_from_slice(&length.to_be_bytes());
                self.buffer.extend_from_slice(bytes);
                Ok::<_, sqlx::Error>(())
            };
            match field {
                Field::Null => self.buffer.extend_from_slice(&(-1_i32).to_be_bytes()),
                Field::Int(it) => add(&it.to_be_bytes())?,
                Field::Real(it) => add(&it.to_be_bytes())?,
                Field::Bytes(it) => add(it)?,
            }
        }
        if self.buffer.len() >= CHUNK {
            self.copy.send(self.buffer.as_slice()).await?;
            self.buffer.clear();
        }
        Ok(())
    }

    /// Everything has been added.
    pub(crate) async fn finish(mut self) -> Result<(), sqlx::Error> {
        self.buffer.extend_from_slice(&END);
        self.copy.send(self.buffer.as_slice()).await?;
        self.copy.finish().await.map(drop)
    }
}
