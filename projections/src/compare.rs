//! Comparing two sets of tables row by row, in the order of keys, a page at a time.

use std::cmp::Ordering;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use serde_json::{Map, Value as Json};
use store::StoreError;
use store::sql::{Database, Query, Row, Table, Value};

use crate::Key;
use crate::schema::{self, Tables};

/// Rows that are held in memory at a time, of each side.
const PAGE: i64 = 1000;

/// A row that is not what the log says.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Difference {
    /// The table, by the name that queries use.
    pub table: String,
    /// The key; its parts are separated by `/`.
    pub key: String,
    /// What queries see: all columns, with the record under `doc`. None when the row is missing.
    pub served: Option<Json>,
    /// What the log makes. None when there should be no such row.
    pub rebuilt: Option<Json>,
}

/// Keys of rows that differ, by table.
pub(crate) type Suspects = BTreeMap<String, Vec<Key>>;

/// Finds the rows in which two sets of tables differ, and counts those that were looked at.
pub(crate) async fn suspects(served: &Tables, rebuilt: &Tables) -> Result<(u64, Suspects), StoreError> {
    let (mut looked, mut suspects) = (0, Suspects::new());
    for (name, table) in rebuilt.iter() {
        let mut left = Cursor::new(served, served.table(name)?.clone());
        let mut right = Cursor::new(rebuilt, table.clone());
        while let Some((key, one, other)) = next(&mut left, &mut right).await? {
            looked += 1;
            let same = matches!((&one, &other), (Some(one), Some(other)) if same(one, other));
            if !same {
                suspects.entry(name.to_owned()).or_default().push(key);
            }
        }
    }
    Ok((looked, suspects))
}

/// The same for tables of one database, which finds the rows itself: none of them leaves it.
pub(crate) async fn suspects_within(served: &Tables, rebuilt: &Tables) -> Result<(u64, Suspects), StoreError> {
    let (mut looked, mut suspects) = (0, Suspects::new());
    for (name, new) in rebuilt.iter() {
        let old = served.table(name)?;
        let mut queries = vec![Query::new(schema::count_both(old, new)), Query::new(schema::differing(old, new))];
        if let Database::Postgres(_) = rebuilt.database {
            // A comparison of long tables takes longer than any statement of a request may.
            queries.insert(0, Query::new("set local statement_timeout = 0"));
        }
        let mut answers = rebuilt.database.snapshot(queries).await?;
        let (differing, counted) = (answers.pop().unwrap_or_default(), answers.pop().unwrap_or_default());
        looked += counted.first().map_or(Ok(0), |row| row.int(0))?.unsigned_abs();
        for row in differing {
            suspects.entry(name.to_owned()).or_default().push(schema::key_of(new, &row)?);
        }
    }
    Ok((looked, suspects))
}

/// The difference between two versions of a row, if there is one.
pub(crate) fn difference(
    name: &str,
    table: &Table,
    key: &Key,
    served: Option<&Row>,
    rebuilt: Option<&Row>,
) -> Option<Difference> {
    match (served, rebuilt) {
        (None, None) => return None,
        (Some(one), Some(other)) if same(one, other) => return None,
        _ => {}
    }
    Some(Difference {
        table: name.to_owned(),
        key: key.to_string(),
        served: served.map(|row| json(table, row)),
        rebuilt: rebuilt.map(|row| json(table, row)),
    })
}

/// The next row of either side, or the same row of both.
async fn next(
    left: &mut Cursor<'_>,
    right: &mut Cursor<'_>,
) -> Result<Option<(Key, Option<Row>, Option<Row>)>, StoreError> {
    let order = match (left.peek().await?, right.peek().await?) {
        (None, None) => return Ok(None),
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (Some(one), Some(other)) => one.cmp(other),
    };
    let one = if order.is_le() { left.page.pop_front() } else { None };
    let other = if order.is_ge() { right.page.pop_front() } else { None };
    let key = one.as_ref().or(other.as_ref()).map(|(key, _)| key.clone());
    Ok(key.map(|key| (key, one.map(|it| it.1), other.map(|it| it.1))))
}

/// Reads a table in the order of its keys.
struct Cursor<'a> {
    tables: &'a Tables,
    table: Arc<Table>,
    page: VecDeque<(Key, Row)>,
    after: Option<Key>,
    ended: bool,
}

impl<'a> Cursor<'a> {
    fn new(tables: &'a Tables, table: Arc<Table>) -> Self {
        Self { tables, table, page: VecDeque::new(), after: None, ended: false }
    }

    async fn peek(&mut self) -> Result<Option<&Key>, StoreError> {
        if self.page.is_empty() && !self.ended {
            let rows = self.tables.database.query(schema::page(&self.table, self.after.as_ref(), PAGE)).await?;
            self.ended = rows.len() < PAGE as usize;
            for row in rows {
                self.page.push_back((schema::key_of(&self.table, &row)?, row));
            }
            self.after = self.page.back().map(|(key, _)| key.clone()).or_else(|| self.after.take());
        }
        Ok(self.page.front().map(|(key, _)| key))
    }
}

/// Whether two rows say the same; records may be written differently and still say the same.
fn same(one: &Row, other: &Row) -> bool {
    let parse = |value: &Value| match value {
        Value::Text(text) => serde_json::from_str::<Json>(text).ok(),
        Value::Null | Value::Int(_) | Value::Real(_) | Value::Id(_) | Value::Bytes(_) => None,
    };
    one == other
        || match (one.0.split_last(), other.0.split_last()) {
            (Some((doc, columns)), Some((other_doc, other_columns))) => {
                columns == other_columns && parse(doc).is_some() && parse(doc) == parse(other_doc)
            }
            _ => false,
        }
}

fn json(table: &Table, row: &Row) -> Json {
    let value = |name: &str, value: &Value| match value {
        Value::Null => Json::Null,
        Value::Int(it) => (*it).into(),
        Value::Real(it) => (*it).into(),
        Value::Text(it) if name == "doc" => serde_json::from_str(it).unwrap_or_else(|_| it.as_str().into()),
        Value::Text(it) => it.as_str().into(),
        Value::Id(it) => it.to_string().into(),
        Value::Bytes(it) => format!("{} bytes", it.len()).into(),
    };
    let columns = table.columns.iter().zip(&row.0);
    Json::Object(columns.map(|(column, it)| (column.name.clone(), value(&column.name, it))).collect::<Map<_, _>>())
}
