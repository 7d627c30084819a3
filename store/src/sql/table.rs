//! A table described as data, so that one description serves schema, bulk writes and comparison on both databases.

/// A table of keyed rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Table {
    /// Its name in the database.
    pub name: String,
    /// Key columns first, in the order of the key.
    pub columns: Vec<Column>,
    /// How many of the first columns are the key.
    pub key_columns: usize,
    /// Whether each row is written once and never looked for while it is: its key has the position of the one event
    /// that it comes from. Such a table can be filled first and get its key afterwards.
    pub written_once: bool,
    /// Whether the last column is kept in a table of its own: it is large, and nothing filters or sorts by it.
    pub apart: bool,
    /// Columns to index, each a list in the order of the index.
    pub indexes: Vec<Vec<String>>,
    /// A text column to find rows by the words in it, if there is one; it holds [`Words`](super::Words) as text.
    pub full_text: Option<String>,
}

/// A column of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// What it holds.
    pub holds: Holds,
    /// Whether every row has a value.
    pub required: bool,
}

/// The types that both databases store and sort alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Holds {
    /// Integers, times in microseconds, flags.
    Int,
    /// Numbers with a fraction.
    Real,
    /// Text, JSON, ids in their written form. Sorted by code point on both databases.
    Text,
    /// Ids in sixteen bytes, for tables with a row per event: less to write, to sort and to keep. Not for keys.
    Id,
}

/// What the two databases call differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    Sqlite,
    Postgres,
}

impl Table {
    /// The key columns.
    pub fn key(&self) -> &[Column] {
        &self.columns[..self.key_columns]
    }

    /// The columns beside the key.
    pub fn values(&self) -> &[Column] {
        &self.columns[self.key_columns..]
    }

    /// The statement that makes the table, without its indexes, and without its key where that can come later.
    pub(crate) fn create(&self, dialect: Dialect) -> String {
        // Order by code point.
        let (collate, id) = match dialect {
            Dialect::Sqlite => ("binary", "blob"),
            Dialect::Postgres => ("\"C\"", "uuid"),
        };
        let is_row_number = self.is_row_number(dialect);
        let columns: Vec<String> = self
            .columns
            .iter()
            .enumerate()
            .map(|(n, column)| {
                let holds = match column.holds {
                    Holds::Int if n == 0 && is_row_number => "integer primary key".to_owned(),
                    Holds::Int => "bigint".to_owned(),
                    Holds::Real => "double precision".to_owned(),
                    Holds::Text => format!("text collate {collate}"),
                    Holds::Id => id.to_owned(),
                };
                let required = if column.required { " not null" } else { "" };
                format!("{} {holds}{required}", column.name)
            })
            .collect();
        let key = if is_row_number || self.written_once {
            String::new()
        } else {
            format!(", primary key ({})", self.key_names())
        };
        format!("create table {} ({}{key})", self.name, columns.join(", "))
    }

    /// The statement that gives a table its key, where [`Table::create`] did not.
    pub(crate) fn create_key(&self, dialect: Dialect) -> Option<String> {
        let missing = self.written_once && !self.is_row_number(dialect);
        missing.then(|| format!("create unique index if not exists {0}_key on {0} ({1})", self.name, self.key_names()))
    }

    /// SQLite finds a row by its number without an index, and appends rows that come in order.
    fn is_row_number(&self, dialect: Dialect) -> bool {
        dialect == Dialect::Sqlite && matches!(self.key(), [Column { holds: Holds::Int, .. }])
    }

    fn key_names(&self) -> String {
        self.key().iter().map(|column| column.name.as_str()).collect::<Vec<_>>().join(", ")
    }

    /// The statement that shows the table under another name.
    pub(crate) fn create_view(&self, name: &str) -> String {
        format!("create view {name} as {}", self.whole())
    }

    /// The statements that make its indexes; a bulk load runs them last.
    pub(crate) fn create_indexes(&self) -> Vec<String> {
        self.indexes
            .iter()
            .map(|columns| {
                let name = columns.join("_").replace(' ', "_");
                // Nobody looks for rows by what they do not have.
                let first = columns.first().and_then(|first| self.columns.iter().find(|it| it.name == *first));
                let filled = match first {
                    Some(Column { name, required: false, .. }) => format!(" where {name} is not null"),
                    Some(_) | None => String::new(),
                };
                format!("create index if not exists {0}_by_{name} on {0} ({1}){filled}", self.name, columns.join(", "))
            })
            .collect()
    }
}
