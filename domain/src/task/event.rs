//! What happens to a task.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::{Assigner, CompletionCause, GithubIssue, Priority, Task, TaskState};
use crate::catalogue::event_kinds;
use crate::{AgentId, EpicId, ProjectId, SessionId, Settings, Severity, TaskId, WorkspaceId, WorktreeName};

/// What happened to a task.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum TaskEvent {
    /// The task now exists, and nobody has it.
    TaskCreated {
        /// Which task it is.
        task_id: TaskId,
        /// The workspace it belongs to.
        workspace_id: WorkspaceId,
        /// The project it is part of.
        project_id: ProjectId,
        /// The GitHub issue that it is; none for tasks that did not come from GitHub.
        github_issue: Option<GithubIssue>,
        /// What it is called.
        title: String,
        /// What is to be done.
        description: Option<String>,
        /// What comes first.
        priority: Priority,
        /// When it is due.
        deadline: Option<DateTime<Utc>>,
        /// How to tell that it is done.
        success_criteria: Vec<String>,
        /// What else its maker noted.
        metadata: Settings,
        /// When it happened.
        created_at: DateTime<Utc>,
    },
    /// Some details are new; the others stayed.
    TaskDetailsChanged {
        /// The new title.
        #[serde(skip_serializing_if = "Option::is_none")]
        title: Option<String>,
        /// The new description.
        #[serde(skip_serializing_if = "Option::is_none")]
        description: Option<String>,
        /// The new priority.
        #[serde(skip_serializing_if = "Option::is_none")]
        priority: Option<Priority>,
        /// The new deadline.
        #[serde(skip_serializing_if = "Option::is_none")]
        deadline: Option<DateTime<Utc>>,
        /// The new success criteria, all of them.
        #[serde(skip_serializing_if = "Option::is_none")]
        success_criteria: Option<Vec<String>>,
        /// The new metadata, all of it.
        #[serde(skip_serializing_if = "Option::is_none")]
        metadata: Option<Settings>,
        /// When it happened.
        changed_at: DateTime<Utc>,
    },
    /// An agent has the task from now on. One from the backlog is now assigned; others stay as far as they are.
    TaskAssigned {
        /// Who has it.
        agent_id: AgentId,
        /// Who had it.
        previous_agent_id: Option<AgentId>,
        /// Who gave it.
        assigned_by: Assigner,
        /// What the task is called.
        title: String,
        /// What comes first.
        priority: Priority,
        /// When it is due.
        deadline: Option<DateTime<Utc>>,
        /// When it happened.
        assigned_at: DateTime<Utc>,
    },
    /// The task went back to the backlog, and nobody has it.
    TaskReturned {
        /// Who had it.
        previous_agent_id: Option<AgentId>,
        /// What the task is called.
        title: String,
        /// When it happened.
        returned_at: DateTime<Utc>,
    },
    /// An agent works on the task, for the first time or again.
    TaskStarted {
        /// Who works on it.
        agent_id: Option<AgentId>,
        /// Under which session.
        session_id: Option<SessionId>,
        /// What the task is called.
        title: String,
        /// When it happened.
        started_at: DateTime<Utc>,
    },
    /// The task was put down: its agent keeps it, and does not work on it.
    TaskPaused {
        /// Who has it.
        agent_id: Option<AgentId>,
        /// What the task is called.
        title: String,
        /// When it happened.
        paused_at: DateTime<Utc>,
    },
    /// The task cannot go on.
    TaskBlocked {
        /// Who has it.
        agent_id: Option<AgentId>,
        /// Under which session.
        session_id: Option<SessionId>,
        /// Who gave it to its agent, and is to hear of this.
        assigned_by: Option<Assigner>,
        /// What the task is called.
        title: String,
        /// What is in the way.
        blocker: String,
        /// How bad that is.
        severity: Severity,
        /// Whether a person must look at it.
        requires_attention: bool,
        /// When it happened.
        blocked_at: DateTime<Utc>,
    },
    /// The task is done.
    TaskCompleted {
        /// Who had it.
        agent_id: Option<AgentId>,
        /// Under which session.
        session_id: Option<SessionId>,
        /// Who gave it to its agent, and is to hear of this.
        assigned_by: Option<Assigner>,
        /// What the task is called.
        title: String,
        /// What says so.
        cause: CompletionCause,
        /// Which of its success criteria are met.
        success_criteria_met: Vec<String>,
        /// From the first start to now, in whole minutes; 0 when it was never started.
        duration_minutes: i64,
        /// When it happened.
        completed_at: DateTime<Utc>,
    },
    /// The task will not be done.
    TaskCancelled {
        /// Who had it.
        agent_id: Option<AgentId>,
        /// What the task is called.
        title: String,
        /// When it happened.
        cancelled_at: DateTime<Utc>,
    },
    /// The task is part of an epic from now on, and its worker's from the start.
    TaskAddedToEpic {
        /// Which epic.
        epic_id: EpicId,
        /// The branch and worktree that it is done in.
        worktree_name: WorktreeName,
        /// When it happened.
        added_at: DateTime<Utc>,
    },
    /// The worker's pull request waits for review.
    TaskSubmitted {
        /// Who submitted it.
        agent_id: AgentId,
        /// Where the pull request is.
        pr_url: String,
        /// What the pull request is called.
        pr_title: String,
        /// What it does.
        pr_description: String,
        /// The commit that was submitted, where it is known.
        head: Option<String>,
        /// When it happened.
        submitted_at: DateTime<Utc>,
    },
    /// The supervisor wants more before it merges.
    TaskChangesRequested {
        /// Who reviewed it.
        by: AgentId,
        /// What is wanted.
        feedback: String,
        /// When it happened.
        requested_at: DateTime<Utc>,
    },
    /// The epic's branch has moved on, and the task must follow it before it is reviewed.
    TaskRebaseRequested {
        /// The task whose merge moved it; none when the task's own merge failed, or its worker asked for it.
        merged_task_id: Option<TaskId>,
        /// When it happened.
        requested_at: DateTime<Utc>,
    },
    /// The task's branch follows the epic's again, and waits for review.
    TaskRebased {
        /// Who rebased it.
        agent_id: AgentId,
        /// Where its pull request is now; none where it is where it was.
        pr_url: Option<String>,
        /// The commit that it ends with now, where it is known.
        head: Option<String>,
        /// When it happened.
        rebased_at: DateTime<Utc>,
    },
    /// The supervisor approved the pull request, and it is about to be merged.
    TaskApproved {
        /// Who approved it.
        by: AgentId,
        /// Which pull request.
        pr_url: String,
        /// When it happened.
        approved_at: DateTime<Utc>,
    },
    /// The approved pull request could not be merged, and waits for review again.
    TaskMergeFailed {
        /// What went wrong.
        error: String,
        /// When it happened.
        failed_at: DateTime<Utc>,
    },
    /// A dead worker's task went to the worker's successor.
    TaskHandedOver {
        /// Who had it; nobody when its worker was gone already.
        from_agent_id: Option<AgentId>,
        /// Who has it.
        to_agent_id: AgentId,
        /// How often a worker of it has died.
        attempts: u32,
        /// When it happened.
        handed_over_at: DateTime<Utc>,
    },
    /// The task's supervisor died: it begins anew, and nobody has it.
    TaskReset {
        /// How far it had come.
        from: TaskState,
        /// Who had it.
        previous_agent_id: Option<AgentId>,
        /// When it happened.
        reset_at: DateTime<Utc>,
    },
    /// The task will not come to an end without a human.
    TaskFailed {
        /// Why.
        reason: String,
        /// The files that a rebase could not join, if that is why.
        conflict_files: Vec<String>,
        /// How often a worker of it has died.
        attempts: u32,
        /// Whether it was given up because its epic was.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        with_epic: bool,
        /// When it happened.
        failed_at: DateTime<Utc>,
    },
}

event_kinds! { TaskEvent of Task {
    TaskCreated "1" "A task was added to a project's backlog." {
        text["title", "description", "success_criteria", "metadata"]
        plain["priority"]
    }
    TaskDetailsChanged "1" "The owner changed a task's title, description, priority, deadline, criteria or metadata." {
        text["title", "description", "success_criteria", "metadata"]
        plain["priority"]
    }
    TaskAssigned "1" "A task was given to an agent, by the owner or on GitHub." {
        text["title", "assigned_by.github"]
        plain["priority"]
    }
    TaskReturned "1" "A task went back to the backlog, and its agent is rid of it." {
        text["title"]
        plain[]
    }
    TaskStarted "1" "An agent began to work on its task, or took it up again." {
        text["title"]
        plain[]
    }
    TaskPaused "1" "A task was put down; its agent keeps it." {
        text["title"]
        plain[]
    }
    TaskBlocked "1" "A task cannot go on, for a reason that is given." {
        text["title", "blocker", "assigned_by.github"]
        plain["severity"]
    }
    TaskCompleted "1" "A task was done, as its agent, the owner or GitHub says." {
        text["title", "success_criteria_met", "assigned_by.github"]
        plain[]
    }
    TaskCancelled "1" "The owner decided that a task will not be done." {
        text["title"]
        plain[]
    }
    TaskAddedToEpic "1" "A supervisor made a task part of its epic." {
        text[]
        plain["worktree_name"]
    }
    TaskSubmitted "1" "A worker submitted the pull request of its task, which waits for review." {
        text["pr_title", "pr_description"]
        plain["pr_url", "head"]
    }
    TaskChangesRequested "1" "A supervisor reviewed a task's pull request and wants changes." {
        text["feedback"]
        plain[]
    }
    TaskRebaseRequested "1" "Another task was merged first, so this one must be rebased before it is reviewed."
    TaskRebased "2" "A task was rebased onto its epic's branch and waits for review again." {
        text[]
        plain["pr_url", "head"]
    }
    TaskApproved "1" "A supervisor approved a task's pull request, which is about to be merged." {
        text[]
        plain["pr_url"]
    }
    TaskMergeFailed "1" "A task's approved pull request could not be merged, and waits for review again." {
        text["error"]
        plain[]
    }
    TaskHandedOver "1" "A task's worker died, and its successor goes on."
    TaskReset "1" "A task's supervisor died, so the task begins anew." {
        text[]
        plain["from"]
    }
    TaskFailed "1" "A task of an epic failed and needs a human." {
        text["reason", "conflict_files"]
        plain[]
    }
}}
