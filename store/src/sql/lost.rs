//! Connections that died while they lay idle: each shows itself only when it is used, and a read can then take another.

use sqlx::postgres::PgPool;

/// How often a read may still be tried again.
#[derive(Debug)]
pub(crate) struct Tries(u32);

impl Tries {
    /// As often as the pool may hold connections: a server that went away took all of them with it.
    pub(crate) fn of(pool: &PgPool) -> Self {
        Self(pool.options().get_max_connections())
    }

    /// Whether to try again after this. A pool that finds no server says that it ran out of time, which ends the trying.
    pub(crate) fn another(&mut self, error: &sqlx::Error) -> bool {
        let again = self.0 > 0 && is_lost(error);
        self.0 = self.0.saturating_sub(1);
        again
    }
}

fn is_lost(error: &sqlx::Error) -> bool {
    match error {
        sqlx::Error::Io(_) => true,
        // Ended by an operator, by a crash of the server, or refused while it starts; or any trouble of the connection.
        sqlx::Error::Database(it) => {
            it.code().is_some_and(|code| code.starts_with("08") || ["57P01", "57P02", "57P03"].contains(&&*code))
        }
        _ => false,
    }
}
