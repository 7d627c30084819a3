//! The decision log as people read it: one row per tool call, per outcome and per decision in words. Kept for ever.

use chrono::{DateTime, Utc};
use domain::decision::DecisionEvent;
use domain::tool_call::ToolCallEvent;
use domain::{AgentId, ToolCallId, WorkspaceId};
use serde::{Deserialize, Serialize};
use serde_json::json;
use store::StoreError;
use store::sql::{Database, Holds, Table, Value};
use uuid::Uuid;

use crate::fact::{DECISION, TOOL_CALL};
use crate::query::{Conditions, page, records};
use crate::{Describe, Fact, FactOf, FoldError, Key, Projection, Reads, Record, RowKey, Rows};

/// The projection's name.
pub const NAME: &str = "decisions";

/// The most entries that a list gives at a time.
pub const LONGEST_LIST: i64 = 100;

/// One entry of the decision log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DecisionView {
    /// Which entry it is: the decision's id, or the id of the event that tells of a tool.
    pub id: Uuid,
    /// The workspace it belongs to.
    pub workspace_id: WorkspaceId,
    /// Whose it is.
    pub agent_id: Option<AgentId>,
    /// The tool call that it tells of.
    pub call_id: Option<ToolCallId>,
    /// A tool, what became of it, or what was decided.
    pub title: String,
    /// What more there is to say: JSON for tools, words for decisions.
    pub body: String,
    /// When it happened.
    pub created_at: DateTime<Utc>,
    /// Its place in the log.
    pub position: i64,
}

/// Which entries to list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Filter {
    /// Of this workspace.
    pub workspace: WorkspaceId,
    /// Only of this agent.
    pub agent: Option<AgentId>,
    /// Only from this moment on.
    pub since: Option<DateTime<Utc>>,
    /// Only before this moment.
    pub until: Option<DateTime<Utc>>,
    /// Only those before this place in the log.
    pub before: Option<i64>,
}

/// The entries that are asked for, newest first.
pub async fn list(views: &Database, filter: &Filter, limit: i64) -> Result<Vec<DecisionView>, StoreError> {
    let query = Conditions::default()
        .and("workspace_id =", Some(filter.workspace.0))
        .and("agent_id =", filter.agent.map(|it| it.0))
        .and("happened_at >=", filter.since.map(|it| it.timestamp_micros()))
        .and("happened_at <", filter.until.map(|it| it.timestamp_micros()))
        .and("position <", filter.before)
        .query("select doc from decisions", "order by position desc");
    records(views, page(query, limit.min(LONGEST_LIST), 0)).await
}

/// Folds the facts of tool calls and decisions.
#[derive(Debug, Clone, Copy)]
pub struct Decisions;

impl Projection for Decisions {
    fn name(&self) -> &str {
        NAME
    }

    fn version(&self) -> i64 {
        1
    }

    fn reads(&self) -> Reads {
        Reads::Only(&[TOOL_CALL, DECISION])
    }

    fn tables(&self) -> Vec<Table> {
        let table = Describe::table(DecisionView::TABLE)
            .key("position", Holds::Int)
            .required("workspace_id", Holds::Text)
            .optional("agent_id", Holds::Text)
            .required("happened_at", Holds::Int)
            .written_once()
            .index(&["workspace_id", "position"])
            .index(&["agent_id", "position"]);
        vec![table.finish()]
    }

    fn touches(&self, _: &Fact) -> Vec<RowKey> {
        vec![]
    }

    fn apply(&self, fact: &Fact, rows: &mut Rows) -> Result<(), FoldError> {
        let Some(told) = told(&fact.of) else { return Ok(()) };
        let workspace_id = fact.workspace_id.ok_or(FoldError::Senseless("it belongs to no workspace".into()))?;
        let is_call = matches!(fact.of, FactOf::ToolCall(_));
        rows.put(DecisionView {
            id: if is_call { fact.event_id } else { fact.subject },
            workspace_id,
            agent_id: told.agent_id,
            call_id: is_call.then_some(ToolCallId(fact.subject)),
            title: told.title,
            body: told.body,
            created_at: told.at,
            position: fact.position,
        });
        Ok(())
    }
}

struct Told {
    agent_id: Option<AgentId>,
    title: String,
    body: String,
    at: DateTime<Utc>,
}

/// What the log says of a fact, in the document's form.
fn told(of: &FactOf) -> Option<Told> {
    let of_tool = |agent_id: &AgentId, title: String, body: serde_json::Value, at: &DateTime<Utc>| {
        Some(Told { agent_id: Some(*agent_id), title, body: body.to_string(), at: *at })
    };
    match of {
        FactOf::Decision(DecisionEvent::DecisionLogged { agent_id, title, body, logged_at, .. }) => {
            Some(Told { agent_id: *agent_id, title: title.clone(), body: body.clone(), at: *logged_at })
        }
        FactOf::ToolCall(ToolCallEvent::ToolCalled { agent_id, tool, input, called_at, .. }) => {
            let body = json!({ "type": "tool_use", "input": input, "timestamp": called_at });
            of_tool(agent_id, tool.clone(), body, called_at)
        }
        FactOf::ToolCall(ToolCallEvent::ToolCallRepeated { agent_id, tool, repeated_at }) => {
            let body = json!({ "type": "tool_repeat", "timestamp": repeated_at });
            of_tool(agent_id, format!("{tool}_repeat"), body, repeated_at)
        }
        FactOf::ToolCall(ToolCallEvent::ToolSucceeded { agent_id, tool, output, ended_at }) => {
            let body = json!({ "type": "tool_result", "success": true, "output": output, "timestamp": ended_at });
            of_tool(agent_id, format!("{tool}_result"), body, ended_at)
        }
        FactOf::ToolCall(ToolCallEvent::ToolFailed { agent_id, tool, error, details, critical, ended_at, .. }) => {
            let (kind, title) = if *critical {
                ("critical_error", format!("{tool}_critical_error"))
            } else {
                ("tool_error", format!("{tool}_error"))
            };
            let body = json!({ "type": kind, "error": error, "details": details, "timestamp": ended_at });
            of_tool(agent_id, title, body, ended_at)
        }
        _ => None,
    }
}

impl Record for DecisionView {
    const TABLE: &'static str = "decisions";

    fn key(&self) -> Key {
        self.position.into()
    }

    fn columns(&self) -> Vec<Value> {
        vec![self.workspace_id.0.into(), self.agent_id.map(|it| it.0).into(), self.created_at.timestamp_micros().into()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::examples::{AGENT_ID, at, decision_logged, facts, tool_call, tool_called, tool_failed, tool_succeeded};
    use crate::fold_stream;

    fn rows(facts: &[Fact]) -> Vec<DecisionView> {
        fold_stream(&Decisions, facts).expect("no poison").take()
    }

    #[test]
    fn a_call_and_what_came_of_it_are_an_entry_each() {
        let tool = "mcp__git__rebase";
        let again = ToolCallEvent::ToolCallRepeated { agent_id: AGENT_ID, tool: tool.into(), repeated_at: at(2) };
        let (failed, expected) = (tool_failed(true), tool_failed(false));
        let rows =
            rows(&facts([tool_called(), tool_succeeded(), expected, failed, tool_call(again), decision_logged()]));
        let titles: Vec<&str> = rows.iter().map(|it| it.title.as_str()).collect();
        let suffixes = ["", "_result", "_error", "_critical_error", "_repeat"].map(|it| format!("{tool}{it}"));
        assert_eq!(titles[..5], suffixes);
        assert_eq!(titles[5], "Split the epic");
        assert!(rows.iter().all(|it| it.agent_id == Some(AGENT_ID)));
        assert_eq!(rows.iter().filter(|it| it.call_id.is_some()).count(), 5);
    }

    #[test]
    fn the_body_of_a_call_is_the_documents_json() {
        let rows = rows(&facts([tool_called()]));
        let body: serde_json::Value = serde_json::from_str(&rows[0].body).expect("JSON");
        assert_eq!(body, json!({ "type": "tool_use", "input": { "onto": "epic" }, "timestamp": at(1) }));
    }
}
