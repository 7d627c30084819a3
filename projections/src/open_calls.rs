//! Tool calls of which nothing came yet: whoever was to say what did may be gone.

use chrono::{DateTime, Utc};
use domain::tool_call::ToolCallEvent;
use domain::{AgentId, ToolCallId, WorkspaceId};
use serde::{Deserialize, Serialize};
use store::StoreError;
use store::sql::{Database, Holds, Query, Table, Value};

use crate::fact::TOOL_CALL;
use crate::query::{page, records};
use crate::{Describe, Fact, FactOf, FoldError, Key, Projection, Reads, Record, RowKey, Rows};

/// The projection's name.
pub const NAME: &str = "open_calls";

/// A call that has not ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OpenCallView {
    /// Which call.
    pub id: ToolCallId,
    /// The workspace it belongs to.
    pub workspace_id: WorkspaceId,
    /// Who called.
    pub agent_id: AgentId,
    /// What was called.
    pub tool: String,
    /// When.
    pub called_at: DateTime<Utc>,
}

/// The calls that were made before a moment and have not ended, oldest first.
pub async fn made_before(views: &Database, moment: DateTime<Utc>, limit: i64) -> Result<Vec<OpenCallView>, StoreError> {
    let query = Query::new(
        "select doc
         from open_calls
         where called_at < $1
         order by called_at, id",
    );
    records(views, page(query.bind(moment.timestamp_micros()), limit, 0)).await
}

/// Folds the facts of tool calls: a row comes with the call and goes with its end.
#[derive(Debug, Clone, Copy)]
pub struct OpenCalls;

impl Projection for OpenCalls {
    fn name(&self) -> &str {
        NAME
    }

    fn version(&self) -> i64 {
        1
    }

    fn reads(&self) -> Reads {
        Reads::Only(&[TOOL_CALL])
    }

    fn tables(&self) -> Vec<Table> {
        let table = Describe::table(OpenCallView::TABLE)
            .key("id", Holds::Text)
            .required("called_at", Holds::Int)
            .index(&["called_at", "id"]);
        vec![table.finish()]
    }

    fn touches(&self, fact: &Fact) -> Vec<RowKey> {
        vec![RowKey::of::<OpenCallView>(fact.subject)]
    }

    fn apply(&self, fact: &Fact, rows: &mut Rows) -> Result<(), FoldError> {
        let FactOf::ToolCall(event) = &fact.of else { return Ok(()) };
        match event.clone() {
            ToolCallEvent::ToolCalled { call_id, workspace_id, agent_id, tool, called_at, input: _, key: _ } => {
                rows.put(OpenCallView { id: call_id, workspace_id, agent_id, tool, called_at });
            }
            ToolCallEvent::ToolCallRepeated { .. } => {}
            ToolCallEvent::ToolSucceeded { .. } | ToolCallEvent::ToolFailed { .. } => {
                rows.delete::<OpenCallView>(fact.subject);
            }
        }
        Ok(())
    }
}

impl Record for OpenCallView {
    const TABLE: &'static str = "open_calls";

    fn key(&self) -> Key {
        self.id.0.into()
    }

    fn columns(&self) -> Vec<Value> {
        vec![self.called_at.timestamp_micros().into()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::examples::{facts, tool_called, tool_failed, tool_succeeded};
    use crate::fold_stream;

    #[test]
    fn a_call_is_open_until_something_came_of_it() {
        let open = |history| fold_stream(&OpenCalls, &facts(history)).expect("no poison").take::<OpenCallView>().len();
        assert_eq!(open(vec![tool_called()]), 1);
        assert_eq!(open(vec![tool_called(), tool_succeeded()]), 0);
        assert_eq!(open(vec![tool_called(), tool_failed(true)]), 0);
    }
}
