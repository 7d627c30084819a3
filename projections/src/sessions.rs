//! Sessions as people and agents see them, and what an agent's last one says for its next pull.

use chrono::{DateTime, Utc};
use domain::session::{AgentSnapshot, PulledCounts, SessionEvent, SessionStatus};
use domain::{AgentId, ProjectId, SessionId, Settings, TaskId, WorkspaceId};
use serde::{Deserialize, Serialize};
use store::StoreError;
use store::sql::{Database, Holds, Query, Table, Value};

use crate::fact::SESSION;
use crate::query::{first, page, records};
use crate::{Describe, Fact, FactOf, FoldError, Key, Poison, Projection, Reads, Record, RowKey, Rows, fold};

/// The projection's name.
pub const NAME: &str = "sessions";

/// A session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionView {
    /// Which session it is.
    pub id: SessionId,
    /// The workspace it belongs to.
    pub workspace_id: WorkspaceId,
    /// Who works.
    pub agent_id: AgentId,
    /// Where.
    pub project_id: ProjectId,
    /// How far it has come.
    pub status: SessionStatus,
    /// When it started.
    pub started_at: DateTime<Utc>,
    /// When it ended.
    pub stopped_at: Option<DateTime<Utc>>,
    /// How long it lasted.
    pub duration_seconds: Option<i64>,
    /// What the agent worked on.
    pub tasks_worked_on: Vec<TaskId>,
    /// What the agent did, in its own words.
    pub summary: Option<String>,
    /// Why it was taken from its agent, if it was.
    pub revoked_because: Option<String>,
    /// How much was new for the agent when it started.
    pub pulled: PulledCounts,
    /// The log position up to which the agent was given its messages.
    pub delivered_up_to: i64,
    /// The role that the agent was told it has.
    pub agent_snapshot: AgentSnapshot,
    /// The place in the log where it started.
    pub started_position: i64,
    /// When it last changed.
    pub updated_at: DateTime<Utc>,
}

impl SessionView {
    /// The part that has no field of its own in an answer.
    pub fn metadata(&self) -> Settings {
        let mut metadata = Settings::new();
        let mut put = |field: &str, value: serde_json::Value| metadata.insert(field.to_owned(), value);
        let AgentSnapshot { capabilities, settings } = &self.agent_snapshot;
        put("agentSnapshot", serde_json::json!({ "capabilities": capabilities, "settings": settings }));
        let PulledCounts { tasks, messages, role_changes } = self.pulled;
        let pulled = serde_json::json!({ "tasks": tasks, "messages": messages, "roleChanges": role_changes });
        put("pulledUpdates", pulled);
        if let Some(summary) = &self.summary {
            put("summary", summary.as_str().into());
        }
        if let Some(reason) = &self.revoked_because {
            put("revokedBecause", reason.as_str().into());
        }
        metadata
    }
}

/// A session.
pub async fn find(views: &Database, id: SessionId) -> Result<Option<SessionView>, StoreError> {
    first(views, Query::new("select doc from sessions where id = $1").bind(id.0)).await
}

/// An agent's sessions, newest first.
pub async fn recent_of(views: &Database, agent: AgentId, limit: i64) -> Result<Vec<SessionView>, StoreError> {
    let query = Query::new("select doc from sessions where agent_id = $1 order by started_position desc");
    records(views, page(query.bind(agent.0), limit, 0)).await
}

/// The last session that an agent started before a position of the log.
pub async fn last_before(views: &Database, agent: AgentId, position: i64) -> Result<Option<SessionView>, StoreError> {
    let query = Query::new(
        "select doc
         from sessions
         where agent_id = $1 and started_position < $2
         order by started_position desc
         limit 1",
    );
    first(views, query.bind(agent.0).bind(position)).await
}

/// The session that the facts of its stream make.
pub fn as_of(facts: &[Fact]) -> Result<Option<SessionView>, Poison> {
    fold::subject_of(&Sessions, facts)
}

/// Folds the facts of sessions.
#[derive(Debug, Clone, Copy)]
pub struct Sessions;

impl Projection for Sessions {
    fn name(&self) -> &str {
        NAME
    }

    fn version(&self) -> i64 {
        1
    }

    fn reads(&self) -> Reads {
        Reads::Only(&[SESSION])
    }

    fn tables(&self) -> Vec<Table> {
        let table = Describe::table(SessionView::TABLE)
            .key("id", Holds::Text)
            .required("agent_id", Holds::Text)
            .required("started_position", Holds::Int)
            .index(&["agent_id", "started_position"]);
        vec![table.finish()]
    }

    fn touches(&self, fact: &Fact) -> Vec<RowKey> {
        vec![RowKey::of::<SessionView>(fact.subject)]
    }

    fn apply(&self, fact: &Fact, rows: &mut Rows) -> Result<(), FoldError> {
        let FactOf::Session(event) = &fact.of else { return Ok(()) };
        match event.clone() {
            SessionEvent::SessionStarted {
                session_id,
                workspace_id,
                project_id,
                agent_id,
                is_organization_level: _,
                pulled,
                delivered_up_to,
                agent_snapshot,
                started_at,
            } => rows.put(SessionView {
                id: session_id,
                workspace_id,
                agent_id,
                project_id,
                status: SessionStatus::Started,
                started_at,
                stopped_at: None,
                duration_seconds: None,
                tasks_worked_on: vec![],
                summary: None,
                revoked_because: None,
                pulled,
                delivered_up_to,
                agent_snapshot,
                started_position: fact.position,
                updated_at: started_at,
            }),
            SessionEvent::SessionLogged { logged_at, .. } => rows.update(fact.subject, |it: &mut SessionView| {
                it.status = SessionStatus::Logging;
                it.updated_at = logged_at;
            })?,
            SessionEvent::ProblemReported { published_at, .. }
            | SessionEvent::AdviceGiven { published_at, .. }
            | SessionEvent::QuestionAsked { published_at, .. }
            | SessionEvent::ReviewRequested { published_at, .. }
            | SessionEvent::ReviewResponded { published_at, .. } => {
                rows.update(fact.subject, |it: &mut SessionView| it.updated_at = published_at)?;
            }
            SessionEvent::SessionStopped { duration_seconds, tasks_worked_on, summary, stopped_at } => {
                rows.update(fact.subject, |it: &mut SessionView| {
                    it.end(duration_seconds, stopped_at);
                    (it.tasks_worked_on, it.summary) = (tasks_worked_on, summary);
                })?;
            }
            SessionEvent::SessionRevoked { reason, duration_seconds, revoked_at } => {
                rows.update(fact.subject, |it: &mut SessionView| {
                    it.end(duration_seconds, revoked_at);
                    it.revoked_because = Some(reason);
                })?;
            }
        }
        Ok(())
    }
}

impl SessionView {
    fn end(&mut self, duration_seconds: i64, at: DateTime<Utc>) {
        self.status = SessionStatus::Stopped;
        self.duration_seconds = Some(duration_seconds);
        (self.stopped_at, self.updated_at) = (Some(at), at);
    }
}

impl Record for SessionView {
    const TABLE: &'static str = "sessions";

    fn key(&self) -> Key {
        self.id.0.into()
    }

    fn columns(&self) -> Vec<Value> {
        vec![self.agent_id.0.into(), self.started_position.into()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::examples::{at, facts, session, session_started};

    fn after(events: Vec<SessionEvent>) -> SessionView {
        let all = std::iter::once(session_started()).chain(events.into_iter().map(session));
        as_of(&facts(all)).expect("no poison").expect("a session")
    }

    #[test]
    fn a_session_starts_logs_and_stops() {
        assert_eq!((after(vec![]).status, after(vec![]).stopped_at), (SessionStatus::Started, None));
        let logged = SessionEvent::SessionLogged { message: "Reading".into(), context: None, logged_at: at(1) };
        assert_eq!(after(vec![logged.clone()]).status, SessionStatus::Logging);
        let tasks = vec![TaskId(crate::examples::id(60))];
        let stopped = SessionEvent::SessionStopped {
            duration_seconds: 420,
            tasks_worked_on: tasks.clone(),
            summary: Some("Done".into()),
            stopped_at: at(7),
        };
        let session = after(vec![logged, stopped]);
        assert_eq!((session.status, session.stopped_at), (SessionStatus::Stopped, Some(at(7))));
        assert_eq!((session.duration_seconds, session.tasks_worked_on.clone()), (Some(420), tasks));
        assert_eq!(session.metadata()["summary"], "Done");
    }

    #[test]
    fn a_session_that_was_taken_is_stopped_and_says_why() {
        let revoked =
            SessionEvent::SessionRevoked { reason: "no heartbeat".into(), duration_seconds: 60, revoked_at: at(1) };
        let session = after(vec![revoked]);
        assert_eq!((session.status, session.duration_seconds), (SessionStatus::Stopped, Some(60)));
        assert_eq!(session.metadata()["revokedBecause"], "no heartbeat");
    }
}
