//! Work: what an errand is for, and what comes of it.

use serde::{Deserialize, Serialize};

use crate::{AgentId, Claim, EpicId, Scope, TaskId, UserId};

/// What is to be done outside.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Work {
    /// Make sure of an agent's worktree, give it a new key and start it.
    Launch {
        /// Which agent.
        agent_id: AgentId,
    },
    /// End an agent's process.
    Stop {
        /// Which agent.
        agent_id: AgentId,
        /// The terminal session it runs in.
        tmux_session: String,
    },
    /// Open a pull request from a task's branch to its epic's.
    OpenPullRequest {
        /// Which task.
        task_id: TaskId,
        /// What the pull request is to be called.
        title: String,
        /// What it does.
        description: String,
    },
    /// Merge a task's branch into its epic's.
    Merge {
        /// Which task.
        task_id: TaskId,
    },
    /// Rebase a task's branch onto its epic's.
    Rebase {
        /// Which task.
        task_id: TaskId,
    },
    /// Open a pull request from an epic's branch to the main one.
    OpenEpicPullRequest {
        /// Which epic.
        epic_id: EpicId,
        /// What the pull request is to be called.
        title: String,
        /// What it does.
        description: String,
    },
    /// Merge an epic's branch into the main one.
    MergeEpic {
        /// Which epic.
        epic_id: EpicId,
        /// The person who takes it.
        by: UserId,
    },
}

/// What came of work.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum WorkResult {
    /// The agent runs, or is left to start itself.
    Launched {
        /// Whether the bench started it.
        started: bool,
    },
    /// The agent's process is gone.
    Stopped,
    /// The pull request is there.
    PullRequestOpened {
        /// Where.
        pr_url: String,
        /// The commit that it proposes, where it is known.
        head: Option<String>,
    },
    /// The task's branch is part of the epic's.
    Merged {
        /// The commit that did it.
        merge_commit: String,
    },
    /// The task's branch cannot be merged as it is.
    MergeConflicted {
        /// The files that cannot be joined.
        files: Vec<String>,
    },
    /// The task's branch follows the epic's.
    Rebased {
        /// Where its pull request is now, where one was opened. Rows of read models from before have no such field.
        #[serde(skip_serializing_if = "Option::is_none")]
        pr_url: Option<String>,
        /// The commit that it ends with now.
        head: Option<String>,
    },
    /// The task's branch cannot follow the epic's.
    RebaseConflicted {
        /// The files that cannot be joined.
        files: Vec<String>,
    },
    /// The epic's pull request is there.
    EpicPullRequestOpened {
        /// Where.
        pr_url: String,
        /// The commit that it proposes, where it is known.
        head: Option<String>,
    },
    /// The epic's branch is part of the main one.
    EpicMerged {
        /// The commit that did it.
        merge_commit: String,
    },
}

impl Work {
    /// The claim that only one errand at a time holds: the work on one task, one epic, or one agent's process.
    pub fn claim(&self) -> Claim {
        match self {
            Self::Launch { agent_id } => Self::on_launch(*agent_id),
            Self::Stop { agent_id, .. } => Scope::errands().claim(format!("stop:{agent_id}")),
            Self::OpenPullRequest { task_id, .. } | Self::Merge { task_id } | Self::Rebase { task_id } => {
                Self::on_task(*task_id)
            }
            Self::OpenEpicPullRequest { epic_id, .. } | Self::MergeEpic { epic_id, .. } => Self::on_epic(*epic_id),
        }
    }

    /// The claim of the errand that is under way for a task.
    pub fn on_task(task: TaskId) -> Claim {
        Scope::errands().claim(format!("task:{task}"))
    }

    /// The claim of the errand that is under way for an epic.
    pub fn on_epic(epic: EpicId) -> Claim {
        Scope::errands().claim(format!("epic:{epic}"))
    }

    /// The claim of the errand that starts an agent.
    pub fn on_launch(agent: AgentId) -> Claim {
        Scope::errands().claim(format!("launch:{agent}"))
    }

    /// Whether this is a result that the work can have.
    pub fn can_end_in(&self, result: &WorkResult) -> bool {
        match self {
            Self::Launch { .. } => matches!(result, WorkResult::Launched { .. }),
            Self::Stop { .. } => matches!(result, WorkResult::Stopped),
            Self::OpenPullRequest { .. } => matches!(result, WorkResult::PullRequestOpened { .. }),
            Self::Merge { .. } => matches!(result, WorkResult::Merged { .. } | WorkResult::MergeConflicted { .. }),
            Self::Rebase { .. } => matches!(result, WorkResult::Rebased { .. } | WorkResult::RebaseConflicted { .. }),
            Self::OpenEpicPullRequest { .. } => matches!(result, WorkResult::EpicPullRequestOpened { .. }),
            Self::MergeEpic { .. } => matches!(result, WorkResult::EpicMerged { .. }),
        }
    }

    /// What it is, in one word.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Launch { .. } => "launch",
            Self::Stop { .. } => "stop",
            Self::OpenPullRequest { .. } => "open_pull_request",
            Self::Merge { .. } => "merge",
            Self::Rebase { .. } => "rebase",
            Self::OpenEpicPullRequest { .. } => "open_epic_pull_request",
            Self::MergeEpic { .. } => "merge_epic",
        }
    }
}
