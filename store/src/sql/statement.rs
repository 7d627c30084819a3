//! What is asked of a database: queries, and statements that run together or not at all.

use std::borrow::Cow;
use std::sync::Arc;

use super::{Table, Value};

/// A question. Parameters are written `$1`, `$2`, .. in both databases.
#[derive(Debug, Clone)]
pub struct Query {
    /// One SQL text for both databases.
    pub sql: Cow<'static, str>,
    /// Its parameters.
    pub params: Vec<Value>,
}

impl Query {
    /// A query without parameters.
    pub fn new(sql: impl Into<Cow<'static, str>>) -> Self {
        Self { sql: sql.into(), params: Vec::new() }
    }

    /// Adds the next parameter.
    pub fn bind(mut self, value: impl Into<Value>) -> Self {
        self.params.push(value.into());
        self
    }
}

/// One step of a transaction.
#[derive(Debug, Clone)]
pub enum Statement {
    /// Any SQL.
    Run(Query),
    /// SQL that must touch exactly so many rows, or the whole transaction is undone.
    Expect {
        /// What to run.
        query: Query,
        /// How many rows it must touch.
        rows: u64,
    },
    /// Writes whole rows whose keys are not there yet, in bulk.
    Insert {
        /// Where.
        table: Arc<Table>,
        /// Every column of every row, in the table's order.
        rows: Vec<Vec<Value>>,
    },
    /// Writes whole rows, over those with the same key.
    Upsert {
        /// Where.
        table: Arc<Table>,
        /// Every column of every row, in the table's order.
        rows: Vec<Vec<Value>>,
    },
    /// Removes rows by key.
    Delete {
        /// Where.
        table: Arc<Table>,
        /// The key columns of every row.
        keys: Vec<Vec<Value>>,
    },
    /// Makes a table, without its indexes; and without its key if its rows are written once.
    CreateTable(Arc<Table>),
    /// Gives a table its key if it has none yet.
    CreateKey(Arc<Table>),
    /// Makes those of a table's indexes that are not there.
    CreateIndexes(Arc<Table>),
    /// Has the database find out what is in a table, so that queries can come at once.
    Analyze(Arc<Table>),
    /// Removes a table with its indexes, if it exists.
    DropTable(String),
    /// Shows a table under the name that queries use.
    CreateView {
        /// What it shows.
        table: Arc<Table>,
        /// The name that queries use.
        name: String,
    },
    /// Stops showing a table under this name, if one is shown.
    DropView(String),
}

impl From<Query> for Statement {
    fn from(query: Query) -> Self {
        Self::Run(query)
    }
}

/// How a transaction ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// Everything landed.
    Done,
    /// A statement did not touch the rows it had to; nothing landed.
    Unexpected,
}
