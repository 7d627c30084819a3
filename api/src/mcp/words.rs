//! Words of tools' inputs and outputs that the domain has too.

use domain::{epic, post, task};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::words::same_words;

/// What an agent is on the floor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
pub(super) enum AgentType {
    Orchestrator,
    Supervisor,
    Worker,
}
same_words!(AgentType = post::AgentKind { Orchestrator, Supervisor, Worker });

/// How far an agent is with its work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub(super) enum AgentState {
    InProgress,
    Done,
    Failed,
}
same_words!(AgentState = post::PostState { InProgress, Done, Failed });

/// How far a task is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub(super) enum TaskState {
    Pending,
    InProgress,
    PendingReview,
    NeedsRebase,
    Approved,
    Completed,
    Failed,
}
same_words!(
    TaskState = task::TaskState { Pending, InProgress, PendingReview, NeedsRebase, Approved, Completed, Failed }
);

/// How far an epic is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub(super) enum EpicState {
    InProgress,
    AwaitingHumanReview,
    Completed,
    Failed,
}
same_words!(EpicState = epic::EpicState { InProgress, AwaitingHumanReview, Completed, Failed });
