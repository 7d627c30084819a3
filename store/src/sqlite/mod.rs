//! The log on SQLite.

mod append;
mod rows;

pub(crate) use append::SqliteAppender;
