//! Tables that keep their last column apart: what queries filter and sort by lies close together, the documents beside.
//!
//! Every index of a table is made by reading all of it. Where the rows are mostly document, that is mostly in vain, so
//! the documents of a table with a row per event are in a second table with the same key. Whoever reads sees one table
//! ([`Table::source`]), and whoever writes hands over whole rows.

use std::sync::Arc;

use super::{Statement, Table, Value};

impl Table {
    /// What a query reads whole rows from, under a name of its own.
    pub fn source(&self, alias: &str) -> String {
        match self.parts() {
            Some(_) => format!("({}) as {alias}", self.whole()),
            None => format!("{} as {alias}", self.name),
        }
    }

    /// The query that gives whole rows.
    pub(crate) fn whole(&self) -> String {
        let Some((_, documents)) = self.parts() else { return format!("select * from {}", self.name) };
        let last = self.columns.last().map_or("", |it| it.name.as_str());
        let same: Vec<String> = self.key().iter().map(|it| format!("beside.{0} = these.{0}", it.name)).collect();
        // A row has its document. An outer join says that there is never more than one, so that nothing is looked for
        // where nobody asks for it.
        format!(
            "select these.*, beside.{last} from {} these left join {} beside on {}",
            self.name,
            documents.name,
            same.join(" and ")
        )
    }

    /// The table of what is filtered by and the table of the documents, if they are kept apart.
    pub fn parts(&self) -> Option<(Self, Self)> {
        let (document, rest) = self.columns.split_last().filter(|_| self.apart)?;
        let plain =
            |name: String, columns: Vec<_>, indexes| Self { name, columns, indexes, apart: false, ..self.clone() };
        let documents = self.key().iter().chain([document]).cloned().collect();
        Some((
            plain(self.name.clone(), rest.to_vec(), self.indexes.clone()),
            plain(documents_of(&self.name), documents, vec![]),
        ))
    }
}

/// The name of the table that has the documents of another one, where they are kept apart.
pub(super) fn documents_of(name: &str) -> String {
    format!("{name}_documents")
}

/// The same statements, each for one table that is really there.
pub(super) fn spread(statements: Vec<Statement>) -> Vec<Statement> {
    let mut all = Vec::with_capacity(statements.len());
    for statement in statements {
        match statement {
            Statement::Insert { table, rows } => match table.parts() {
                Some((these, beside)) => {
                    let (rows, documents) = split(&table, rows);
                    all.push(Statement::Insert { table: these.into(), rows });
                    all.push(Statement::Insert { table: beside.into(), rows: documents });
                }
                None => all.push(Statement::Insert { table, rows }),
            },
            Statement::Upsert { table, rows } => match table.parts() {
                Some((these, beside)) => {
                    let (rows, documents) = split(&table, rows);
                    all.push(Statement::Upsert { table: these.into(), rows });
                    all.push(Statement::Upsert { table: beside.into(), rows: documents });
                }
                None => all.push(Statement::Upsert { table, rows }),
            },
            Statement::Delete { table, keys } => match table.parts() {
                Some((these, beside)) => {
                    all.push(Statement::Delete { table: these.into(), keys: keys.clone() });
                    all.push(Statement::Delete { table: beside.into(), keys });
                }
                None => all.push(Statement::Delete { table, keys }),
            },
            Statement::CreateTable(table) => each(&table, &mut all, Statement::CreateTable),
            Statement::CreateKey(table) => each(&table, &mut all, Statement::CreateKey),
            Statement::CreateIndexes(table) => each(&table, &mut all, Statement::CreateIndexes),
            Statement::Analyze(table) => each(&table, &mut all, Statement::Analyze),
            Statement::DropTable(name) => {
                all.push(Statement::DropTable(documents_of(&name)));
                all.push(Statement::DropTable(name));
            }
            other @ (Statement::Run(_)
            | Statement::Expect { .. }
            | Statement::CreateView { .. }
            | Statement::DropView(_)) => all.push(other),
        }
    }
    all
}

fn each(table: &Arc<Table>, all: &mut Vec<Statement>, statement: impl Fn(Arc<Table>) -> Statement) {
    match table.parts() {
        Some((these, beside)) => all.extend([statement(these.into()), statement(beside.into())]),
        None => all.push(statement(table.clone())),
    }
}

/// Rows without their documents, and the documents with the keys of their rows.
fn split(table: &Table, mut rows: Vec<Vec<Value>>) -> (Vec<Vec<Value>>, Vec<Vec<Value>>) {
    let document = |row: &mut Vec<Value>| {
        let document = row.pop();
        row[..table.key_columns].iter().cloned().chain(document).collect()
    };
    let documents = rows.iter_mut().map(document).collect();
    (rows, documents)
}
