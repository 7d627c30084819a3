//! PostgreSQL's way to take many new rows: COPY in the binary format, which neither side has to parse.

use sqlx::PgConnection;

use super::{Holds, Table, Value};

/// Fewer rows are cheaper as one prepared statement.
pub(super) const WORTH_IT: usize = 500;
/// Bytes that are sent at a time.
const CHUNK: usize = 1 << 20;
/// The format's signature, no flags, no extension.
const HEADER: &[u8] = b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0";
const END: [u8; 2] = (-1_i16).to_be_bytes();

/// Adds rows to a table, each with every column in the table's order.
pub(super) async fn rows(connection: &mut PgConnection, table: &Table, rows: &[Vec<Value>]) -> Result<(), sqlx::Error> {
    let names: Vec<&str> = table.columns.iter().map(|it| it.name.as_str()).collect();
    let sql = format!("copy {} ({}) from stdin with (format binary)", table.name, names.join(", "));
    let mut copy = connection.copy_in_raw(&sql).await?;
    let mut buffer = Vec::with_capacity(CHUNK + CHUNK / 4);
    buffer.extend_from_slice(HEADER);
    for row in rows {
        encode(table, row, &mut buffer)?;
        if buffer.len() >= CHUNK {
            copy.send(buffer.as_slice()).await?;
            buffer.clear();
        }
    }
    buffer.extend_from_slice(&END);
    copy.send(buffer.as_slice()).await?;
    copy.finish().await.map(drop)
}

fn encode(table: &Table, row: &[Value], buffer: &mut Vec<u8>) -> Result<(), sqlx::Error> {
    let width = i16::try_from(table.columns.len()).map_err(|e| sqlx::Error::Encode(e.into()))?;
    buffer.extend_from_slice(&width.to_be_bytes());
    for (n, column) in table.columns.iter().enumerate() {
        let mut field = |bytes: &[u8]| {
            let length = i32::try_from(bytes.len()).map_err(|e| sqlx::Error::Encode(e.into()))?;
            buffer.extend_from_slice(&length.to_be_bytes());
            buffer.extend_from_slice(bytes);
            Ok::<_, sqlx::Error>(())
        };
        match (column.holds, row.get(n).unwrap_or(&Value::Null)) {
            (_, Value::Null) => buffer.extend_from_slice(&(-1_i32).to_be_bytes()),
            (Holds::Int, Value::Int(it)) => field(&it.to_be_bytes())?,
            (Holds::Real, Value::Real(it)) => field(&it.to_be_bytes())?,
            (Holds::Real, Value::Int(it)) => field(&(*it as f64).to_be_bytes())?,
            (Holds::Text, Value::Text(it)) => field(it.as_bytes())?,
            (Holds::Id, Value::Id(it)) => field(it.as_bytes())?,
            (_, other) => return Err(sqlx::Error::Encode(format!("{} cannot hold {other:?}", column.name).into())),
        }
    }
    Ok(())
}
