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
    /// Text, ids, JSON. Sorted by code point on both databases.
    Text,
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

    /// The statements that make the table, without its indexes. `collate` is what this database calls order by code point.
    pub(crate) fn create(&self, collate: &str) -> String {
        let columns: Vec<String> = self
            .columns
            .iter()
            .map(|column| {
                let holds = match column.holds {
                    Holds::Int => "bigint".to_owned(),
                    Holds::Real => "double precision".to_owned(),
                    Holds::Text => format!("text collate {collate}"),
                };
                let required = if column.required { " not null" } else { "" };
                format!("{} {holds}{required}", column.name)
            })
            .collect();
        let key: Vec<&str> = self.key().iter().map(|column| column.name.as_str()).collect();
        format!("create table {} ({}, primary key ({}))", self.name, columns.join(", "), key.join(", "))
    }

    /// The statement that shows the table under another name.
    pub(crate) fn create_view(&self, name: &str) -> String {
        format!("create view {name} as select * from {}", self.name)
    }

    /// The statements that make its indexes; a bulk load runs them last.
    pub(crate) fn create_indexes(&self) -> Vec<String> {
        self.indexes
            .iter()
            .map(|columns| {
                let name = columns.join("_").replace(' ', "_");
                format!("create index if not exists {0}_by_{name} on {0} ({1})", self.name, columns.join(", "))
            })
            .collect()
    }
}
