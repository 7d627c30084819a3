//! Tables of read models: described once, kept under a name of their own for each build.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use store::StoreError;
use store::sql::{Column, Database, Holds, Query, Row, Statement, Table, Value};

use crate::rows::Changes;
use crate::{Key, Projection, RowKey, Rows};

/// Rows are asked for in chunks of these sizes, so that few different statements are prepared.
const CHUNKS: [usize; 5] = [256, 64, 16, 4, 1];

/// Describes a table; its last column, `doc`, holds the record.
pub struct Describe(Table);

impl Describe {
    /// A table by the name that queries use.
    pub fn table(name: &str) -> Self {
        Self(Table {
            name: name.to_owned(),
            columns: Vec::new(),
            key_columns: 0,
            written_once: false,
            apart: false,
            indexes: Vec::new(),
            full_text: None,
        })
    }

    /// A column of the key; these come first.
    pub fn key(mut self, name: &str, holds: Holds) -> Self {
        self.0.key_columns += 1;
        self.column(name, holds, true)
    }

    /// A column that every row fills.
    pub fn required(self, name: &str, holds: Holds) -> Self {
        self.column(name, holds, true)
    }

    /// A column that a row may leave empty.
    pub fn optional(self, name: &str, holds: Holds) -> Self {
        self.column(name, holds, false)
    }

    /// Says that each row is written once, by the fact whose position is part of its key. The fold may not read it.
    pub fn written_once(mut self) -> Self {
        self.0.written_once = true;
        self
    }

    /// Keeps the records apart from the columns: for tables with a row per event and an index per question.
    pub fn apart(mut self) -> Self {
        self.0.apart = true;
        self
    }

    /// Columns to find and sort rows by.
    pub fn index(mut self, columns: &[&str]) -> Self {
        self.0.indexes.push(columns.iter().map(|it| (*it).to_owned()).collect());
        self
    }

    /// A column of [`Words`](store::sql::Words) to find rows by; every row fills it.
    pub fn full_text(mut self, name: &str) -> Self {
        self.0.full_text = Some(name.to_owned());
        self.required(name, Holds::Text)
    }

    /// The table.
    pub fn finish(self) -> Table {
        self.column("doc", Holds::Text, true).0
    }

    fn column(mut self, name: &str, holds: Holds, required: bool) -> Self {
        self.0.columns.push(Column { name: name.to_owned(), holds, required });
        self
    }
}

/// The tables of one build, in one database.
#[derive(Debug, Clone)]
pub(crate) struct Tables {
    pub(crate) database: Database,
    /// By the names that queries use.
    by_name: BTreeMap<String, Arc<Table>>,
}

impl Tables {
    /// The tables of a projection, each under the name that `rename` gives it.
    pub(crate) fn of(projection: &dyn Projection, database: Database, rename: impl Fn(&str) -> String) -> Self {
        let named = |mut table: Table| {
            let name = std::mem::take(&mut table.name);
            table.name = rename(&name);
            (name, Arc::new(table))
        };
        Self { database, by_name: projection.tables().into_iter().map(named).collect() }
    }

    /// The tables with the names that queries use.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &Arc<Table>)> {
        self.by_name.iter().map(|(name, table)| (name.as_str(), table))
    }

    /// Makes the tables, without their indexes, and without keys where they can come later.
    pub(crate) fn create(&self) -> impl Iterator<Item = Statement> {
        self.by_name.values().map(|table| Statement::CreateTable(table.clone()))
    }

    /// Makes the keys that tables were made without.
    pub(crate) fn create_keys(&self) -> impl Iterator<Item = Statement> {
        self.by_name.values().map(|table| Statement::CreateKey(table.clone()))
    }

    /// Makes the indexes.
    pub(crate) fn create_indexes(&self) -> impl Iterator<Item = Statement> {
        self.by_name.values().map(|table| Statement::CreateIndexes(table.clone()))
    }

    /// Has the database find out what is in the tables.
    pub(crate) fn analyze(&self) -> impl Iterator<Item = Statement> {
        self.by_name.values().map(|table| Statement::Analyze(table.clone()))
    }

    /// Shows each table under the name that queries use.
    pub(crate) fn show(&self) -> impl Iterator<Item = Statement> {
        self.by_name.iter().map(|(name, table)| Statement::CreateView { table: table.clone(), name: name.clone() })
    }

    /// Loads the rows that a batch touches, and remembers of the others that they do not exist.
    pub(crate) async fn load(&self, keys: HashSet<RowKey>) -> Result<Rows, StoreError> {
        let mut rows = Rows::default();
        self.load_into(&mut rows, keys).await?;
        Ok(rows)
    }

    /// Loads more rows, and remembers of the others that they do not exist.
    pub(crate) async fn load_into(&self, rows: &mut Rows, keys: HashSet<RowKey>) -> Result<(), StoreError> {
        let mut wanted: BTreeMap<&'static str, Vec<Key>> = BTreeMap::new();
        for row in keys {
            wanted.entry(row.table).or_default().push(row.key.clone());
            rows.load(row, None);
        }
        for (name, keys) in wanted {
            let table = self.table(name)?;
            for mut row in self.rows_by_key(table, keys).await? {
                let key = key_of(table, &row)?;
                let doc = row.take_text(table.columns.len() - 1)?;
                rows.load(RowKey { table: name, key }, Some(doc));
            }
        }
        Ok(())
    }

    /// Whole rows, by their keys.
    async fn rows_by_key(&self, table: &Table, keys: Vec<Key>) -> Result<Vec<Row>, StoreError> {
        let mut queries = by_key(table, keys);
        if queries.len() == 1
            && let Some(query) = queries.pop()
        {
            return self.database.query(query).await;
        }
        Ok(self.database.snapshot(queries).await?.into_iter().flatten().collect())
    }

    /// The statements that write changes.
    pub(crate) fn write(&self, changes: Changes) -> Result<Vec<Statement>, StoreError> {
        let mut statements = Vec::new();
        for (name, keys) in changes.removals {
            statements.push(Statement::Delete { table: self.table(name)?.clone(), keys });
        }
        for (name, rows) in changes.inserts {
            statements.push(Statement::Insert { table: self.table(name)?.clone(), rows });
        }
        for (name, rows) in changes.writes {
            let table = self.table(name)?.clone();
            let write =
                if table.written_once { Statement::Insert { table, rows } } else { Statement::Upsert { table, rows } };
            statements.push(write);
        }
        Ok(statements)
    }

    pub(crate) fn table(&self, name: &str) -> Result<&Arc<Table>, StoreError> {
        self.by_name.get(name).ok_or_else(|| StoreError::Failed(format!("the projection has no table {name}")))
    }
}

/// The questions for whole rows by their keys.
pub(crate) fn by_key(table: &Table, mut keys: Vec<Key>) -> Vec<Query> {
    let mut queries = Vec::new();
    while !keys.is_empty() {
        let chunk = CHUNKS.into_iter().find(|size| *size <= keys.len()).unwrap_or(1);
        let chunk = keys.split_off(keys.len() - chunk);
        let condition = match table.key() {
            // Written out, because it is the form that every planner turns into look-ups.
            [column] => format!("{} in ({})", column.name, places(0, chunk.len())),
            key => {
                let rows: Vec<String> =
                    (0..chunk.len()).map(|n| format!("({})", places(n * key.len(), key.len()))).collect();
                format!("({}) in (values {})", names(key), rows.join(", "))
            }
        };
        let sql = format!("select {} from {} where {condition}", names(&table.columns), table.source("whole"));
        let mut query = Query::new(sql);
        query.params = chunk.iter().flat_map(Key::values).collect();
        queries.push(query);
    }
    queries
}

/// The question for whole rows in the order of their keys, a page at a time.
pub(crate) fn page(table: &Table, after: Option<&Key>, limit: i64) -> Query {
    let (columns, key) = (names(&table.columns), names(table.key()));
    let (condition, params) = match after {
        Some(after) => (format!("where ({key}) > ({})", places(0, table.key_columns)), after.values()),
        None => (String::new(), Vec::new()),
    };
    let next = params.len() + 1;
    let sql = format!("select {columns} from {} {condition} order by {key} limit ${next}", table.source("whole"));
    let mut query = Query::new(sql);
    query.params = params;
    query.bind(limit)
}

/// The question for the keys of rows that are not the same in two tables of one database.
pub(crate) fn differing(old: &Table, new: &Table) -> String {
    match (old.parts(), new.parts()) {
        // Each part for itself: put together first, they would have to be written down somewhere.
        (Some((old, old_beside)), Some((new, new_beside))) => {
            let (these, beside) = (differing_in_one(&old, &new), differing_in_one(&old_beside, &new_beside));
            format!("select * from ({these}) as these union select * from ({beside}) as beside")
        }
        _ => differing_in_one(old, new),
    }
}

fn differing_in_one(old: &Table, new: &Table) -> String {
    let key = |of: &str| new.key().iter().map(|it| format!("{of}.{}", it.name)).collect::<Vec<_>>().join(", ");
    let differs: Vec<String> =
        new.values().iter().map(|it| format!("new.{0} is distinct from old.{0}", it.name)).collect();
    format!(
        "select {new_key} from {new_name} new left join {old_name} old on {same}
         where old.{first} is null or {differs}
         union all
         select {old_key} from {old_name} old
         where not exists (select 1 from {new_name} new where {same})",
        new_key = key("new"),
        old_key = key("old"),
        new_name = new.name,
        old_name = old.name,
        same = same_key(new),
        first = new.columns[0].name,
        differs = differs.join(" or "),
    )
}

/// The question how many rows two tables of one database have, the same key counted once.
pub(crate) fn count_both(old: &Table, new: &Table) -> String {
    format!(
        "select (select count(*) from {new_name})
              + (select count(*) from {old_name} old where not exists (select 1 from {new_name} new where {same}))",
        new_name = new.name,
        old_name = old.name,
        same = same_key(new),
    )
}

fn same_key(table: &Table) -> String {
    let same: Vec<String> = table.key().iter().map(|it| format!("new.{0} = old.{0}", it.name)).collect();
    same.join(" and ")
}

/// The key of a whole row.
pub(crate) fn key_of(table: &Table, row: &Row) -> Result<Key, StoreError> {
    let values: &[Value] = &row.0[..table.key_columns];
    Key::from_values(values).ok_or_else(|| StoreError::Damaged(format!("{} has a row without a key", table.name)))
}

/// So many parameters, after the first few.
fn places(after: usize, count: usize) -> String {
    (after + 1..=after + count).map(|n| format!("${n}")).collect::<Vec<_>>().join(", ")
}

fn names(columns: &[Column]) -> String {
    columns.iter().map(|it| it.name.as_str()).collect::<Vec<_>>().join(", ")
}
