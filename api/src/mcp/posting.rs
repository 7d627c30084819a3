//! An agent's place on the floor, as it was given: it never changes, so it is read once.

use std::sync::Arc;

use domain::post::{AgentKind, PostEvent};
use domain::{AgentId, EpicId, TaskId, WorkspaceId, tools};
use store::StreamId;
use uuid::Uuid;

use super::failure::{self, Failure, Told};
use crate::App;
use crate::auth::Caller;
use crate::code::Code;
use crate::error::ApiError;

/// An agent's place on the floor.
#[derive(Debug, Clone)]
pub(crate) struct Posting {
    pub(crate) workspace_id: WorkspaceId,
    pub(crate) kind: AgentKind,
    /// What its successors inherit, mail included.
    pub(crate) seat: Uuid,
    /// The epic that it works in, if it does in one.
    pub(crate) epic_id: Option<EpicId>,
    /// The task that it works on, if it does on one.
    pub(crate) task_id: Option<TaskId>,
}

impl Posting {
    /// The epic that the agent works in.
    pub(super) fn epic(&self) -> Result<EpicId, Failure> {
        self.epic_id.ok_or_else(|| self.has_no("epic"))
    }

    /// The task that the agent works on.
    pub(super) fn task(&self) -> Result<TaskId, Failure> {
        self.task_id.ok_or_else(|| self.has_no("task"))
    }

    fn has_no(&self, what: &str) -> Failure {
        Failure::Refused(Told::new(failure::NOT_YOURS, format!("{} agents have no {what}", self.kind)))
    }
}

impl App {
    /// The place that an agent was given; none for agents that are not of the factory.
    pub(crate) async fn posting_of(&self, agent: AgentId) -> Result<Option<Arc<Posting>>, ApiError> {
        if let Some(known) = self.postings.get(&agent) {
            return Ok(Some(known));
        }
        // Read from the log: an agent may ask before any read model has heard of it.
        let stream = StreamId::new(PostEvent::KINDS[0].aggregate, agent.0);
        let Some(first) = self.log.read_stream(&stream, 1, Some(1)).await?.pop() else { return Ok(None) };
        let event = domain::decode::<PostEvent>(&first.event_type, &first.event_version, &first.payload);
        let PostEvent::AgentPosted { workspace_id, kind, seat, epic_id, task_id, .. } =
            event.map_err(ApiError::fault)?
        else {
            return Err(ApiError::fault("a post does not begin with its beginning"));
        };
        let posting = Arc::new(Posting { workspace_id, kind, seat, epic_id, task_id });
        self.postings.insert(agent, posting.clone());
        Ok(Some(posting))
    }

    /// Holds an agent of the factory to the table of tools where a route shows what a tool shows, and says where it is
    /// posted: a tool shows an agent its own things. People and all other agents are none of the table's business.
    pub(crate) async fn admit_to_tool(&self, by: &Caller, tool: &str) -> Result<Option<Arc<Posting>>, ApiError> {
        let Some(post) = self.posting_of_caller(by).await? else { return Ok(None) };
        tools::permit(post.kind, tool).map_err(|why| ApiError::new(Code::ToolNotAllowed, why.to_string()))?;
        Ok(Some(post))
    }

    /// The place of a caller in the factory; none for people, and for agents that are not of the factory.
    pub(crate) async fn posting_of_caller(&self, by: &Caller) -> Result<Option<Arc<Posting>>, ApiError> {
        match by {
            Caller::Agent(agent) => self.posting_of(agent.agent_id).await,
            Caller::Owner(_) => Ok(None),
        }
    }

    /// What an agent of the factory is.
    pub(crate) async fn kind_of(&self, agent: AgentId) -> Result<Option<AgentKind>, ApiError> {
        Ok(self.posting_of(agent).await?.map(|it| it.kind))
    }
}
