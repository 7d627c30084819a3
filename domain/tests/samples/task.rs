//! Tasks.

use domain::Severity;
use domain::github::Login;
use domain::task::{Assigner, CompletionCause, GithubIssue, Priority, TaskEvent};

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
        TaskEvent::TaskCancelled { agent_id, title, cancelled_at: noon() },
    ]
}
