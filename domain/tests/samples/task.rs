//! Tasks.

use domain::Severity;
use domain::WorktreeName;
use domain::github::Login;
use domain::task::{Assigner, CompletionCause, GithubIssue, Priority, TaskEvent, TaskState};

use super::{id, noon, settings, text};

pub(crate) fn events() -> Vec<TaskEvent> {
    let (agent_id, session_id, title) = (Some(id(4)), Some(id(10)), text("Add a basket"));
    vec![
        TaskEvent::TaskCreated {
            task_id: id(11),
            workspace_id: id(2),
            project_id: id(3),
            github_issue: Some(GithubIssue { id: 9001, number: 12 }),
            title: title.clone(),
            description: Some(text("With wheels")),
            priority: Priority::P1,
            deadline: Some(noon()),
            success_criteria: vec![text("It rolls")],
            metadata: settings(),
            created_at: noon(),
        },
        TaskEvent::TaskDetailsChanged {
            title: Some(text("Add a cart")),
            description: Some(text("With four wheels")),
            priority: Some(Priority::P0),
            deadline: Some(noon()),
            success_criteria: Some(vec![text("It rolls well")]),
            metadata: Some(settings()),
            changed_at: noon(),
        },
        TaskEvent::TaskAssigned {
            agent_id: id(4),
            previous_agent_id: Some(id(5)),
            assigned_by: Assigner::Github(Login::new("ada")),
            title: title.clone(),
            priority: Priority::P1,
            deadline: Some(noon()),
            assigned_at: noon(),
        },
        TaskEvent::TaskReturned { previous_agent_id: agent_id, title: title.clone(), returned_at: noon() },
        TaskEvent::TaskStarted { agent_id, session_id, title: title.clone(), started_at: noon() },
        TaskEvent::TaskPaused { agent_id, title: title.clone(), paused_at: noon() },
        TaskEvent::TaskBlocked {
            agent_id,
            session_id,
            assigned_by: Some(Assigner::User(id(1))),
            title: title.clone(),
            blocker: text("No wheels"),
            severity: Severity::High,
            requires_attention: true,
            blocked_at: noon(),
        },
        TaskEvent::TaskCompleted {
            agent_id,
            session_id,
            assigned_by: Some(Assigner::User(id(1))),
            title: title.clone(),
            cause: CompletionCause::PullRequestMerged { number: 7 },
            success_criteria_met: vec![text("It rolls")],
            duration_minutes: 60,
            completed_at: noon(),
        },
        TaskEvent::TaskCancelled { agent_id, title: title.clone(), cancelled_at: noon() },
        TaskEvent::TaskAddedToEpic {
            epic_id: id(20),
            worktree_name: WorktreeName::of_task(id(11), &title),
            added_at: noon(),
        },
        TaskEvent::TaskSubmitted {
            agent_id: id(4),
            pr_url: text("local://main/pull/7"),
            pr_title: text("A basket"),
            pr_description: text("It rolls"),
            head: Some(text("0a1b2c")),
            submitted_at: noon(),
        },
        TaskEvent::TaskChangesRequested { by: id(4), feedback: text("More wheels"), requested_at: noon() },
        TaskEvent::TaskRebaseRequested { merged_task_id: Some(id(11)), requested_at: noon() },
        TaskEvent::TaskRebased {
            agent_id: id(4),
            pr_url: Some(text("https://github.com/acme/shop/pull/8")),
            head: Some(text("0a1b2d")),
            rebased_at: noon(),
        },
        TaskEvent::TaskApproved { by: id(4), pr_url: text("local://main/pull/7"), approved_at: noon() },
        TaskEvent::TaskMergeFailed { error: text("The forge refuses"), failed_at: noon() },
        TaskEvent::TaskHandedOver {
            from_agent_id: Some(id(5)),
            to_agent_id: id(4),
            attempts: 2,
            handed_over_at: noon(),
        },
        TaskEvent::TaskReset { from: TaskState::NeedsRebase, previous_agent_id: agent_id, reset_at: noon() },
        TaskEvent::TaskFailed {
            reason: text("Its rebase conflicts"),
            conflict_files: vec![text("src/cart.rs")],
            attempts: 1,
            with_epic: false,
            failed_at: noon(),
        },
    ]
}
