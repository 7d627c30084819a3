//! The log on SQLite.

mod append;
mod rows;
mod writer;

pub(crate) use writer::SqliteWriter;
