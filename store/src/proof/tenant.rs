//! Which events are one workspace's, straight from the log: what is proven must not depend on a read model.

use uuid::Uuid;

use crate::sql::Query;
use crate::{EventLog, StoreError};

impl EventLog {
    /// The positions of a workspace's events from one position to another, both included. No index leads there, so the
    /// database goes through that stretch of the log once, and sends positions alone.
    pub async fn positions_of_workspace(&self, workspace: Uuid, from: i64, to: i64) -> Result<Vec<i64>, StoreError> {
        let query = Query::new(
            "select position
             from events
             where position >= $1 and position <= $2 and workspace_id = $3
             order by position",
        );
        let rows = self.database.query(query.bind(from).bind(to).bind(workspace)).await?;
        rows.iter().map(|row| row.int(0)).collect()
    }
}
