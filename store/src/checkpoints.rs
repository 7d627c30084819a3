//! How far each reactor has come: rows beside the log, moved by compare-and-set.

use crate::sql::{Outcome, Query, Row, Statement};
use crate::{EventLog, StoreError};

impl EventLog {
    /// The position up to which a reactor has dealt with everything; 0 for a new one.
    pub async fn reactor_checkpoint(&self, reactor: &str) -> Result<i64, StoreError> {
        let query = Query::new("select position from reactor_checkpoints where reactor = $1").bind(reactor);
        let row = self.database.first(query).await?;
        Ok(row.map(|row: Row| row.int(0)).transpose()?.unwrap_or(0))
    }

    /// Moves a reactor's checkpoint, if it is still where the caller thinks. False when another node moved it.
    pub async fn move_reactor_checkpoint(&self, reactor: &str, from: i64, to: i64) -> Result<bool, StoreError> {
        let begin =
            Query::new("insert into reactor_checkpoints (reactor, position) values ($1, 0) on conflict do nothing");
        let moved = Query::new("update reactor_checkpoints set position = $3 where reactor = $1 and position = $2");
        let statements = vec![
            Statement::Run(begin.bind(reactor)),
            Statement::Expect { query: moved.bind(reactor).bind(from).bind(to), rows: 1 },
        ];
        Ok(self.database.transact(statements).await? == Outcome::Done)
    }
}
