//! What happens to an epic.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::Epic;
use crate::catalogue::event_kinds;
use crate::{AgentId, EpicId, Party, ProjectId, Slug, TaskId, UserId, WorkspaceId, WorktreeName};

/// What happened to an epic.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum EpicEvent {
    /// The epic now exists and is in progress.
    EpicCreated {
        /// Which epic it is.
        epic_id: EpicId,
        /// The workspace it belongs to.
        workspace_id: WorkspaceId,
        /// The project it is part of.
        project_id: ProjectId,
        /// The bench that it is built on.
        bench: Slug,
        /// What it is called.
        title: String,
        /// What it is about.
        description: String,
        /// How it is to be built, in Markdown.
        design: String,
        /// Its branch and worktree.
        worktree_name: WorktreeName,
        /// Who wrote it.
        created_by: UserId,
        /// When it happened.
        created_at: DateTime<Utc>,
    },
    /// Some details are new; the others stayed.
    EpicDetailsChanged {
        /// The new title.
        #[serde(skip_serializing_if = "Option::is_none")]
        title: Option<String>,
        /// The new description.
        #[serde(skip_serializing_if = "Option::is_none")]
        description: Option<String>,
        /// The new design.
        #[serde(skip_serializing_if = "Option::is_none")]
        design: Option<String>,
        /// When it happened.
        changed_at: DateTime<Utc>,
    },
    /// The epic has a supervisor, its first or a dead one's successor.
    EpicSupervisorAppointed {
        /// Who supervises it.
        agent_id: AgentId,
        /// Who did before.
        replaces: Option<AgentId>,
        /// When it happened.
        appointed_at: DateTime<Utc>,
    },
    /// The epic has one more task.
    EpicTaskAdded {
        /// Which task.
        task_id: TaskId,
        /// When it happened.
        added_at: DateTime<Utc>,
    },
    /// A task's pull request is the last in the review queue.
    EpicReviewQueued {
        /// Which task.
        task_id: TaskId,
        /// Where its pull request is.
        pr_url: String,
        /// When it happened.
        submitted_at: DateTime<Utc>,
    },
    /// A task's pull request is no longer in the review queue.
    EpicReviewLeft {
        /// Which task.
        task_id: TaskId,
        /// Why.
        because: LeftBecause,
        /// When it happened.
        left_at: DateTime<Utc>,
    },
    /// One of the epic's tasks is over.
    EpicTaskEnded {
        /// Which task.
        task_id: TaskId,
        /// How it ended.
        end: TaskEnd,
        /// When it happened.
        ended_at: DateTime<Utc>,
    },
    /// The epic's own pull request waits for a human.
    EpicSubmitted {
        /// The supervisor who submitted it.
        agent_id: AgentId,
        /// Where the pull request is.
        pr_url: String,
        /// What it is called.
        title: String,
        /// What it does.
        description: String,
        /// The commit that was submitted, where it is known.
        head: Option<String>,
        /// When it happened.
        submitted_at: DateTime<Utc>,
    },
    /// A human wants more, and the epic is in progress again.
    EpicChangesRequested {
        /// Who reviewed it.
        by: UserId,
        /// What is wanted.
        feedback: String,
        /// When it happened.
        requested_at: DateTime<Utc>,
    },
    /// A human took the epic.
    EpicCompleted {
        /// Who took it.
        by: UserId,
        /// The commit that merged it; none when it was merged elsewhere.
        merge_commit: Option<String>,
        /// When it happened.
        completed_at: DateTime<Utc>,
    },
    /// The epic was given up.
    EpicFailed {
        /// Who gave it up.
        by: Party,
        /// Why.
        reason: String,
        /// When it happened.
        failed_at: DateTime<Utc>,
    },
}

/// Why a pull request left the review queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LeftBecause {
    /// It was merged.
    Merged,
    /// Another was merged first.
    Rebase,
    /// The supervisor wants changes.
    Changes,
    /// Its task failed.
    Failed,
    /// The supervisor died, and its task begins anew.
    Reset,
}

/// How a task of an epic ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskEnd {
    /// It is part of the epic's branch.
    Merged,
    /// It needs a human.
    Failed,
}

event_kinds! { EpicEvent of Epic {
    EpicCreated "1" "A human wrote an epic for agents to carry out." {
        text["title", "description", "design"]
        plain["bench", "worktree_name"]
    }
    EpicDetailsChanged "1" "A human changed an epic's title, description or design." {
        text["title", "description", "design"]
        plain[]
    }
    EpicSupervisorAppointed "1" "An epic got a supervisor, its first or a dead one's successor."
    EpicTaskAdded "1" "A supervisor added a task to its epic."
    EpicReviewQueued "1" "A task's pull request went to the end of its epic's review queue." {
        text[]
        plain["pr_url"]
    }
    EpicReviewLeft "1" "A task's pull request left its epic's review queue." {
        text[]
        plain["because"]
    }
    EpicTaskEnded "1" "One of an epic's tasks was merged, or failed." {
        text[]
        plain["end"]
    }
    EpicSubmitted "1" "A supervisor submitted its epic's pull request, which waits for a human." {
        text["title", "description"]
        plain["pr_url", "head"]
    }
    EpicChangesRequested "1" "A human reviewed an epic and wants changes." {
        text["feedback"]
        plain[]
    }
    EpicCompleted "1" "A human took an epic." {
        text[]
        plain["merge_commit"]
    }
    EpicFailed "1" "An epic was given up, by its supervisor or by a human." {
        text["reason"]
        plain[]
    }
}}
