//! The log on PostgreSQL.

mod append;
mod columns;
mod wake;
mod writer;

pub(crate) use append::PostgresAppender;
pub(crate) use wake::{listen, notify};
pub(crate) use writer::PostgresWriter;
