//! Tools with which agents see themselves, for all agents.

use chrono::{DateTime, Utc};
use domain::TaskId;
use projections::epics::{self, EpicView};
use projections::floor;
use projections::tasks::{self, InEpic, TaskView};
use schemars::JsonSchema;
use serde::Serialize;
use uuid::Uuid;

use super::Nothing;
use super::page::beginning;
use crate::mcp::call::Call;
use crate::mcp::failure::Failure;
use crate::mcp::waiting::found;
use crate::mcp::words::{AgentState, AgentType, EpicState, TaskState};

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::mcp) struct Status {
    agent_id: Uuid,
    #[serde(rename = "type")]
    kind: AgentType,
    state: AgentState,
    last_heartbeat: DateTime<Utc>,
    tmux_session: String,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::mcp) struct Task {
    task_id: Uuid,
    title: String,
    description: String,
    state: TaskState,
    epic_id: Uuid,
    worktree_name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pr_url: Option<String>,
    attempts: u32,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::mcp) struct Epic {
    epic_id: Uuid,
    title: String,
    description: String,
    /// Markdown.
    design: String,
    /// True when the description or the design is longer than what is shown.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    truncated: bool,
    state: EpicState,
    worktree_name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    supervisor_id: Option<Uuid>,
}

pub(in crate::mcp) async fn get_status(call: Call, _: Nothing) -> Result<Status, Failure> {
    call.caught_up(&[floor::NAME]).await?;
    let me = found(floor::find(&call.app.views, call.agent.agent_id).await, "an agent of the floor")?;
    Ok(Status {
        agent_id: me.agent_id.0,
        kind: me.kind.into(),
        state: me.state.into(),
        last_heartbeat: me.last_heartbeat,
        tmux_session: me.tmux_session,
    })
}

pub(in crate::mcp) async fn get_task(call: Call, _: Nothing) -> Result<Task, Failure> {
    let (task, factory) = call.task().await?;
    Ok(Task {
        task_id: task.id.0,
        title: task.title,
        description: task.description.unwrap_or_default(),
        state: factory.state.into(),
        epic_id: factory.epic_id.0,
        worktree_name: factory.worktree_name.to_string(),
        pr_url: factory.pr_url,
        attempts: factory.attempts,
    })
}

pub(in crate::mcp) async fn get_epic(call: Call, _: Nothing) -> Result<Epic, Failure> {
    let epic = call.epic().await?;
    let (description, more_description) = beginning(epic.description);
    let (design, more_design) = beginning(epic.design);
    Ok(Epic {
        epic_id: epic.id.0,
        title: epic.title,
        description,
        design,
        truncated: more_description || more_design,
        state: epic.state.into(),
        worktree_name: epic.worktree_name.to_string(),
        supervisor_id: epic.supervisor_id.map(|id| id.0),
    })
}

impl Call {
    /// The agent's epic as it is now.
    pub(in crate::mcp) async fn epic(&self) -> Result<EpicView, Failure> {
        let epic_id = self.post.epic()?;
        self.caught_up(&[epics::NAME]).await?;
        found(epics::find(&self.app.views, epic_id).await, "an epic")
    }

    /// A task of an epic, as it is now; none if there is no such task.
    pub(in crate::mcp) async fn known_task(&self, id: TaskId) -> Result<Option<(TaskView, InEpic)>, Failure> {
        self.caught_up(&[tasks::NAME]).await?;
        let Some(mut task) = tasks::find(&self.app.views, id).await? else { return Ok(None) };
        let factory = task.factory.take();
        Ok(factory.map(|factory| (task, factory)))
    }

    /// The agent's own task, as it is now.
    pub(in crate::mcp) async fn task(&self) -> Result<(TaskView, InEpic), Failure> {
        let known = self.known_task(self.post.task()?).await?;
        known.ok_or_else(|| Failure::unexpected(&"a worker's task is not in its read model"))
    }
}
