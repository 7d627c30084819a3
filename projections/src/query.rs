//! Small parts that queries of read models share.

use serde::de::DeserializeOwned;
use store::StoreError;
use store::sql::{Database, Query, Row, Value};

/// The most rows that any list gives at a time.
pub(crate) const MOST: i64 = 1000;

/// Conditions of a query, joined by `and`. Only column names written in code become SQL; values are parameters.
#[derive(Debug, Clone, Default)]
pub(crate) struct Conditions {
    pub(crate) sql: String,
    pub(crate) params: Vec<Value>,
}

impl Conditions {
    /// `column comparison value`, if there is a value to compare with.
    pub(crate) fn and(self, comparison: &'static str, value: Option<impl Into<Value>>) -> Self {
        match value {
            Some(value) => self.and_with(value, |place| format!("{comparison} ${place}")),
            None => self,
        }
    }

    /// A condition without a value.
    pub(crate) fn and_that(mut self, condition: &str) -> Self {
        let joint = if self.sql.is_empty() { "" } else { " and " };
        self.sql.push_str(&format!("{joint}{condition}"));
        self
    }

    /// A condition on a value, written around the place of its parameter.
    pub(crate) fn and_with(mut self, value: impl Into<Value>, condition: impl FnOnce(usize) -> String) -> Self {
        self.params.push(value.into());
        let condition = condition(self.params.len());
        self.and_that(&condition)
    }

    /// The conditions as part of a query; `before` and `after` are SQL without parameters.
    pub(crate) fn query(self, before: &str, after: &str) -> Query {
        Query { sql: format!("{before} where {} {after}", self.sql).into(), params: self.params }
    }
}

/// A page of a list: adds `limit` and `offset` to a query.
pub(crate) fn page(mut query: Query, limit: i64, offset: i64) -> Query {
    let next = query.params.len() + 1;
    query.sql = format!("{} limit ${next} offset ${}", query.sql, next + 1).into();
    query.bind(limit.clamp(0, MOST)).bind(offset.max(0))
}

/// The records in the first column of every row.
pub(crate) async fn records<R: DeserializeOwned>(views: &Database, query: Query) -> Result<Vec<R>, StoreError> {
    views.query(query).await?.iter().map(record).collect()
}

/// The record in the first column of the first row.
pub(crate) async fn first<R: DeserializeOwned>(views: &Database, query: Query) -> Result<Option<R>, StoreError> {
    views.first(query).await?.as_ref().map(record).transpose()
}

/// The record in the first column of a row.
pub(crate) fn record<R: DeserializeOwned>(row: &Row) -> Result<R, StoreError> {
    serde_json::from_str(row.text(0)?).map_err(|e| StoreError::Damaged(format!("a read model holds no record: {e}")))
}
