//! What happens to a task.

use domain::task::{Assigner, TaskEvent, TaskStatus};
use domain::{AgentId, TaskId, UserId};
use serde_json::{Value, json};

use super::{Changed, Said, agent_shown, factory_task, joined, with_optional};
use crate::timeline::subjects::Subject;
use crate::{FoldError, Rows};

pub(super) fn said(event: &TaskEvent, subject: &Subject, rows: &mut Rows) -> Result<Option<Said>, FoldError> {
    let about = json!({ "taskId": subject.id, "taskTitle": subject.name });
    let moved = |status: TaskStatus| joined(about.clone(), json!({ "changes": { "status": status } }));
    let said = match event {
        TaskEvent::TaskCreated {
            github_issue, description, priority, deadline, success_criteria, created_at, ..
        } => {
            let content = json!({
                "githubIssueId": github_issue.map(|it| it.id),
                "githubIssueNumber": github_issue.map(|it| it.number),
                "description": description,
                "priority": priority,
                "deadline": deadline,
                "successCriteria": success_criteria,
            });
            Said::new(*created_at, joined(about, content))
        }
        TaskEvent::TaskDetailsChanged {
            title,
            description,
            priority,
            deadline,
            success_criteria,
            metadata,
            changed_at,
        } => {
            let changes = Changed::default()
                .with("title", title)
                .with("description", description)
                .with("priority", priority)
                .with("deadline", deadline)
                .with("successCriteria", success_criteria)
                .with("metadata", metadata);
            Said::new(*changed_at, joined(about, changes.finish())).to(subject.agent_id).about(subject.agent_id)
        }
        TaskEvent::TaskAssigned { agent_id, assigned_by, priority, deadline, assigned_at, .. } => {
            let content = json!({
                "assignedTo": agent_shown(Some(*agent_id), rows)?,
                "assignedBy": assigner_shown(assigned_by),
                "priority": priority,
            });
            let content = with_optional(joined(about, content), [("deadline", json!(deadline))]);
            let said = Said::new(*assigned_at, content).to(Some(*agent_id)).about(Some(*agent_id));
            Said { names: user(Some(assigned_by)), ..said }
        }
        TaskEvent::TaskReturned { previous_agent_id, returned_at, .. } => {
            let changes = json!({ "changes": { "status": TaskStatus::Backlog, "assignedAgentId": null } });
            Said::new(*returned_at, joined(about, changes)).to(*previous_agent_id).about(*previous_agent_id)
        }
        TaskEvent::TaskStarted { agent_id, session_id, started_at, .. } => {
            let content = json!({ "startedBy": agent_shown(*agent_id, rows)?, "startedAt": started_at });
            Said { session: *session_id, ..Said::new(*started_at, joined(about, content)).about(*agent_id) }
        }
        TaskEvent::TaskPaused { agent_id, paused_at, .. } => {
            Said::new(*paused_at, moved(TaskStatus::Assigned)).to(*agent_id).about(*agent_id)
        }
        TaskEvent::TaskBlocked {
            agent_id,
            session_id,
            assigned_by,
            title: _,
            blocker,
            severity,
            requires_attention,
            blocked_at,
        } => {
            let content = json!({
                "blockedBy": agent_shown(*agent_id, rows)?,
                "blocker": blocker,
                "severity": severity,
                "requiresAttention": requires_attention,
            });
            let said = Said::new(*blocked_at, joined(about, content));
            told_to_both(Said { session: *session_id, ..said }, *agent_id, assigned_by.as_ref())
        }
        TaskEvent::TaskCompleted {
            agent_id,
            session_id,
            assigned_by,
            title: _,
            cause: _,
            success_criteria_met,
            duration_minutes,
            completed_at,
        } => {
            let content = json!({
                "completedBy": agent_shown(*agent_id, rows)?,
                "completedAt": completed_at,
                "duration": duration_minutes,
                "successCriteriaMet": success_criteria_met,
            });
            let said = Said::new(*completed_at, joined(about, content));
            told_to_both(Said { session: *session_id, ..said }, *agent_id, assigned_by.as_ref())
        }
        TaskEvent::TaskCancelled { agent_id, cancelled_at, .. } => {
            Said::new(*cancelled_at, moved(TaskStatus::Cancelled)).to(*agent_id).about(*agent_id)
        }
        TaskEvent::TaskAddedToEpic { .. } => return Ok(None),
        TaskEvent::TaskSubmitted { .. }
        | TaskEvent::TaskChangesRequested { .. }
        | TaskEvent::TaskRebaseRequested { .. }
        | TaskEvent::TaskRebased { .. }
        | TaskEvent::TaskApproved { .. }
        | TaskEvent::TaskMergeFailed { .. }
        | TaskEvent::TaskHandedOver { .. }
        | TaskEvent::TaskReset { .. }
        | TaskEvent::TaskFailed { .. } => match factory_task::said(event, subject, rows)? {
            Some(said) => Said { content: joined(about, said.content), ..said },
            None => return Ok(None),
        },
    };
    Ok(Some(Said { task: Some(TaskId(subject.id)), ..said }))
}

/// The agent that has the task hears of it, and so does who gave it.
fn told_to_both(said: Said, agent: Option<AgentId>, by: Option<&Assigner>) -> Said {
    Said { users: user(by).into_iter().collect(), ..said.to(agent).about(agent) }
}

fn user(by: Option<&Assigner>) -> Option<UserId> {
    match by {
        Some(Assigner::User(user)) => Some(*user),
        Some(Assigner::Github(_) | Assigner::Agent(_)) | None => None,
    }
}

fn assigner_shown(by: &Assigner) -> Value {
    match by {
        Assigner::User(user) => json!({ "userId": user }),
        Assigner::Github(login) => json!({ "githubUsername": login }),
        Assigner::Agent(agent) => json!({ "agentId": agent }),
    }
}
