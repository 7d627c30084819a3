//! The log on PostgreSQL.

mod append;
mod columns;
mod wake;

pub(crate) use append::PostgresAppender;
pub(crate) use wake::{listen, notify};
