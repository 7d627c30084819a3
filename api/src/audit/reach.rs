//! Who may look into which history: whoever may look at the thing itself.

use std::collections::HashMap;

use domain::{AgentId, EpicId, MailId, ProjectId, SessionId, TaskId, WikiEntryId, WorkspaceId};
use projections::history::project_of;
use projections::lineage::{Node, Tree};
use projections::{AGENT, PROJECT, PULL_REQUEST, REPOSITORY, SCORECARD, SESSION, TASK, USER, WIKI, WORKSPACE};
use projections::{DECISION, MAIL, NOTIFICATION, NOTIFICATION_SETTINGS, TOOL_CALL};
use projections::{EPIC, ERRAND, POST};
use store::StreamId;
use uuid::Uuid;

use crate::App;
use crate::auth::Caller;
use crate::code::Code;
use crate::error::ApiError;

impl App {
    /// The stream of an aggregate that the caller may look at.
    pub(super) async fn history_in_reach(&self, by: &Caller, kind: &str, id: Uuid) -> Result<StreamId, ApiError> {
        let stream = StreamId::new(kind, id);
        match kind {
            USER | NOTIFICATION_SETTINGS => admit_to_user(by, id)?,
            WORKSPACE => {
                if let Caller::Agent(_) = by {
                    return Err(ApiError::new(Code::NotCeo, "only its owner may look at a workspace"));
                }
                self.now().workspace_in_reach(by, WorkspaceId(id)).await.map(drop)?;
            }
            PROJECT | REPOSITORY => self.now().project_in_reach(by, ProjectId(id)).await.map(drop)?,
            POST | TOOL_CALL | DECISION | NOTIFICATION | ERRAND if self.is_anothers(by, kind, id).await? => {
                return Err(ApiError::new(Code::AggregateAccessDenied, "it is out of your reach"));
            }
            AGENT | SCORECARD | POST => self.now().agent_in_reach(by, AgentId(id)).await.map(drop)?,
            SESSION => self.now().session_in_reach(by, SessionId(id)).await.map(drop)?,
            EPIC => {
                // Its stream tells of every task's review.
                self.admit_to_tool(by, "mcp__epic__list_tasks").await?;
                self.now().epic_in_reach(by, EpicId(id)).await.map(drop)?;
            }
            TASK => self.now().task_in_reach(by, TaskId(id)).await.map(drop)?,
            WIKI => self.now().wiki_entry_in_reach(by, WikiEntryId(id)).await.map(drop)?,
            MAIL => self.now().mail_in_reach(by, MailId(id)).await.map(drop)?,
            PULL_REQUEST | ERRAND => self.admit_to_stream(by, &stream).await?,
            // A project agent has no project to see them in.
            TOOL_CALL | DECISION | NOTIFICATION => self.admit_to_stream(by, &stream).await?,
            _ => return Err(ApiError::new(Code::AggregateNotFound, format!("there are no aggregates of kind {kind}"))),
        }
        Ok(stream)
    }

    /// Whether it is of the factory floor and another agent's than the caller, who is of the factory too: no tool shows
    /// such things.
    async fn is_anothers(&self, by: &Caller, kind: &str, id: Uuid) -> Result<bool, ApiError> {
        let is_own = matches!(by, Caller::Agent(agent) if kind == POST && agent.agent_id.0 == id);
        Ok(!is_own && self.posting_of_caller(by).await?.is_some())
    }

    /// The part of a tree that the caller may see, and how many events are hidden. The event itself must be in reach.
    pub(super) async fn tree_in_reach(&self, by: &Caller, tree: Tree) -> Result<(Tree, usize), ApiError> {
        let mut known: HashMap<StreamId, bool> = HashMap::new();
        for node in &tree.nodes {
            if !known.contains_key(&node.stream) {
                known.insert(node.stream.clone(), self.may_see(by, node).await?);
            }
        }
        let (tree, hidden) = tree.limited_to(|node| known.get(&node.stream).copied().unwrap_or(false));
        if tree.nodes.is_empty() {
            return Err(ApiError::new(Code::EventAccessDenied, "the event is out of your reach"));
        }
        Ok((tree, hidden))
    }

    async fn may_see(&self, by: &Caller, node: &Node) -> Result<bool, ApiError> {
        let Some(workspace) = node.workspace_id else {
            let user = Uuid::try_parse(&node.stream.aggregate_id).unwrap_or_default();
            let is_persons = matches!(node.stream.aggregate_type.as_str(), USER | NOTIFICATION_SETTINGS);
            return Ok(is_persons && admit_to_user(by, user).is_ok());
        };
        let project = match by {
            Caller::Agent(agent) if agent.project_id.is_some() => project_of(&self.log, &node.stream).await?,
            Caller::Agent(_) | Caller::Owner(_) => None,
        };
        self.reaches(by, workspace, project).await
    }

    /// Admits whoever reaches the workspace and project of what is asked for, as its first event says.
    async fn admit_to_stream(&self, by: &Caller, stream: &StreamId) -> Result<(), ApiError> {
        let first = self.log.read_stream(stream, 1, Some(1)).await?.pop();
        let workspace = first.and_then(|it| it.workspace_id).map(WorkspaceId);
        let unknown = || ApiError::new(Code::AggregateNotFound, "nothing was recorded of it");
        let workspace = workspace.ok_or_else(unknown)?;
        if self.reaches(by, workspace, project_of(&self.log, stream).await?).await? {
            return Ok(());
        }
        Err(ApiError::new(Code::AggregateAccessDenied, "it is out of your reach"))
    }
}

/// A user's own history is for that user alone.
fn admit_to_user(by: &Caller, id: Uuid) -> Result<(), ApiError> {
    match by {
        Caller::Owner(owner) if owner.user_id.0 == id => Ok(()),
        Caller::Owner(_) | Caller::Agent(_) => {
            Err(ApiError::new(Code::AggregateAccessDenied, "the user is somebody else"))
        }
    }
}
