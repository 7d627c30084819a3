//! Tasks to test with: task 60 of project 20 is issue 12, and agent 30 has it.

use super::{Assigner, ChangeTask, CompletionCause, CreateTask, GithubIssue, Priority, TaskEvent, TaskState};
use crate::agent::LiveAgent;
pub(super) use crate::examples::dev;
use crate::examples::{at, id};
use crate::{AgentId, Claim, Scope, Severity, TaskId, WorktreeName};

const TITLE: &str = "Add a basket";
pub(super) const PR_URL: &str = "local://pull/1";

pub(super) fn dev_two() -> LiveAgent {
    LiveAgent { agent_id: id(31), ..dev() }
}

pub(super) fn create() -> CreateTask {
    CreateTask {
        task_id: id(60),
        workspace_id: id(10),
        project_id: id(20),
        github_issue: Some(GithubIssue { id: 9001, number: 12 }),
        title: TITLE.to_owned(),
        description: None,
        priority: None,
        deadline: None,
        success_criteria: vec!["It works".to_owned()],
        metadata: Default::default(),
        now: at(0),
    }
}

/// What a command to create a task makes.
pub(super) fn created_by(it: CreateTask) -> TaskEvent {
    TaskEvent::TaskCreated {
        task_id: it.task_id,
        workspace_id: it.workspace_id,
        project_id: it.project_id,
        github_issue: it.github_issue,
        title: it.title,
        description: it.description,
        priority: it.priority.unwrap_or(Priority::P2),
        deadline: it.deadline,
        success_criteria: it.success_criteria,
        metadata: it.metadata,
        created_at: it.now,
    }
}

pub(super) fn created() -> TaskEvent {
    created_by(create())
}

/// A request that asks for no change; tests fill in what they change.
pub(super) fn change() -> ChangeTask {
    ChangeTask {
        by: id(1),
        title: None,
        description: None,
        priority: None,
        deadline: None,
        success_criteria: None,
        metadata: None,
        agent: None,
        status: None,
        now: at(1),
    }
}

fn assigned_to(agent_id: AgentId, previous_agent_id: Option<AgentId>) -> TaskEvent {
    TaskEvent::TaskAssigned {
        agent_id,
        previous_agent_id,
        assigned_by: Assigner::User(id(1)),
        title: TITLE.to_owned(),
        priority: Priority::P2,
        deadline: None,
        assigned_at: at(1),
    }
}

pub(super) fn assigned() -> TaskEvent {
    assigned_to(id(30), None)
}

pub(super) fn reassigned() -> TaskEvent {
    assigned_to(id(31), Some(id(30)))
}

pub(super) fn started() -> TaskEvent {
    TaskEvent::TaskStarted {
        agent_id: Some(id(30)),
        session_id: Some(id(50)),
        title: TITLE.to_owned(),
        started_at: at(2),
    }
}

pub(super) fn blocked() -> TaskEvent {
    TaskEvent::TaskBlocked {
        agent_id: Some(id(30)),
        session_id: Some(id(50)),
        assigned_by: Some(Assigner::User(id(1))),
        title: TITLE.to_owned(),
        blocker: "No access".to_owned(),
        severity: Severity::High,
        requires_attention: true,
        blocked_at: at(3),
    }
}

pub(super) fn completed() -> TaskEvent {
    TaskEvent::TaskCompleted {
        agent_id: Some(id(30)),
        session_id: Some(id(50)),
        assigned_by: Some(Assigner::User(id(1))),
        title: TITLE.to_owned(),
        cause: CompletionCause::Agent,
        success_criteria_met: vec!["It works".to_owned()],
        duration_minutes: 60,
        completed_at: at(62),
    }
}

pub(super) fn cancelled() -> TaskEvent {
    TaskEvent::TaskCancelled { agent_id: Some(id(30)), title: TITLE.to_owned(), cancelled_at: at(3) }
}

/// The claim by which the task keeps an agent from being deleted.
pub(super) fn place(agent: AgentId) -> Claim {
    Scope::agent_tasks(agent).claim(TaskId(id(60)))
}

/// The task is part of epic 70, whose supervisor is agent 32.
pub(super) fn added() -> TaskEvent {
    TaskEvent::TaskAddedToEpic { epic_id: id(70), worktree_name: WorktreeName::of_task(id(60), TITLE), added_at: at(0) }
}

pub(super) fn assigned_by_supervisor() -> TaskEvent {
    TaskEvent::TaskAssigned {
        agent_id: id(30),
        previous_agent_id: None,
        assigned_by: Assigner::Agent(id(32)),
        title: TITLE.to_owned(),
        priority: Priority::P2,
        deadline: None,
        assigned_at: at(1),
    }
}

pub(super) fn submitted() -> TaskEvent {
    TaskEvent::TaskSubmitted {
        agent_id: id(30),
        pr_url: PR_URL.to_owned(),
        pr_title: "A basket".to_owned(),
        pr_description: "With wheels".to_owned(),
        head: Some("abc123".to_owned()),
        submitted_at: at(3),
    }
}

pub(super) fn changes_requested() -> TaskEvent {
    TaskEvent::TaskChangesRequested { by: id(32), feedback: "More wheels".to_owned(), requested_at: at(4) }
}

pub(super) fn rebase_requested() -> TaskEvent {
    TaskEvent::TaskRebaseRequested { merged_task_id: Some(id(61)), requested_at: at(4) }
}

pub(super) fn rebased() -> TaskEvent {
    TaskEvent::TaskRebased { agent_id: id(30), pr_url: None, head: Some("def456".to_owned()), rebased_at: at(5) }
}

pub(super) fn approved() -> TaskEvent {
    TaskEvent::TaskApproved { by: id(32), pr_url: PR_URL.to_owned(), approved_at: at(6) }
}

pub(super) fn merge_failed() -> TaskEvent {
    TaskEvent::TaskMergeFailed { error: "The forge refuses".to_owned(), failed_at: at(7) }
}

pub(super) fn handed_over() -> TaskEvent {
    TaskEvent::TaskHandedOver { from_agent_id: Some(id(30)), to_agent_id: id(31), attempts: 1, handed_over_at: at(7) }
}

pub(super) fn failed() -> TaskEvent {
    TaskEvent::TaskFailed {
        reason: "Its rebase conflicts".to_owned(),
        conflict_files: vec!["cart.rs".to_owned()],
        attempts: 0,
        with_epic: false,
        failed_at: at(9),
    }
}

/// How a task of an epic came as far as that.
pub(super) fn history_in(state: TaskState) -> Vec<TaskEvent> {
    let begun =
        TaskEvent::TaskStarted { agent_id: Some(id(30)), session_id: None, title: TITLE.to_owned(), started_at: at(2) };
    let pending = vec![created(), added(), assigned_by_supervisor()];
    let then = |history: Vec<TaskEvent>, event: TaskEvent| [history, vec![event]].concat();
    let in_progress = then(pending.clone(), begun);
    let in_review = then(in_progress.clone(), submitted());
    match state {
        TaskState::Pending => pending,
        TaskState::InProgress => in_progress,
        TaskState::PendingReview => in_review,
        TaskState::NeedsRebase => then(in_review, rebase_requested()),
        TaskState::Approved => then(in_review, approved()),
        TaskState::Completed => then(then(in_review, approved()), completed()),
        TaskState::Failed => then(in_progress, failed()),
    }
}
