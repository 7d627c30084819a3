//! What happens to a task as part of an epic.

use domain::task::TaskEvent;
use serde_json::json;

use super::{Said, agent_shown};
use crate::timeline::subjects::{Subject, named};
use crate::{FoldError, Rows};

/// What is said beside the task itself; nothing of what happens to tasks outside epics too.
pub(super) fn said(event: &TaskEvent, subject: &Subject, rows: &mut Rows) -> Result<Option<Said>, FoldError> {
    let worker = subject.agent_id;
    let said = match event {
        TaskEvent::TaskSubmitted { agent_id, pr_url, pr_title, pr_description, head, submitted_at } => {
            let content = json!({
                "submittedBy": agent_shown(Some(*agent_id), rows)?,
                "prUrl": pr_url,
                "prTitle": pr_title,
                "prDescription": pr_description,
                "head": head,
            });
            Said::new(*submitted_at, content).about(Some(*agent_id))
        }
        TaskEvent::TaskChangesRequested { by, feedback, requested_at } => {
            let content = json!({ "requestedBy": agent_shown(Some(*by), rows)?, "feedback": feedback });
            Said::new(*requested_at, content).to(worker).about(worker)
        }
        TaskEvent::TaskRebaseRequested { merged_task_id, requested_at } => {
            let merged = match merged_task_id {
                Some(task) => json!({ "taskId": task, "taskTitle": named(task.0, rows)? }),
                None => json!(null),
            };
            Said::new(*requested_at, json!({ "merged": merged })).to(worker).about(worker)
        }
        TaskEvent::TaskRebased { agent_id, pr_url, head, rebased_at } => {
            let mut content = json!({ "rebasedBy": agent_shown(Some(*agent_id), rows)?, "head": head });
            if let Some(pr_url) = pr_url {
                content["prUrl"] = json!(pr_url);
            }
            Said::new(*rebased_at, content).about(Some(*agent_id))
        }
        TaskEvent::TaskApproved { by, pr_url, approved_at } => {
            let content = json!({ "approvedBy": agent_shown(Some(*by), rows)?, "prUrl": pr_url });
            Said::new(*approved_at, content).to(worker).about(worker)
        }
        TaskEvent::TaskMergeFailed { error, failed_at } => {
            Said::new(*failed_at, json!({ "error": error })).to(worker).about(worker)
        }
        TaskEvent::TaskHandedOver { from_agent_id, to_agent_id, attempts, handed_over_at } => {
            let content = json!({
                "previousAgentId": from_agent_id,
                "assignedTo": agent_shown(Some(*to_agent_id), rows)?,
                "attempts": attempts,
            });
            Said::new(*handed_over_at, content).to(Some(*to_agent_id)).about(Some(*to_agent_id))
        }
        TaskEvent::TaskReset { from, previous_agent_id, reset_at } => {
            let content = json!({ "previousState": from, "previousAgentId": previous_agent_id });
            Said::new(*reset_at, content).about(*previous_agent_id)
        }
        TaskEvent::TaskFailed { reason, conflict_files, attempts, with_epic: _, failed_at } => {
            let content = json!({ "reason": reason, "conflictFiles": conflict_files, "attempts": attempts });
            Said::new(*failed_at, content).to(worker).about(worker)
        }
        TaskEvent::TaskCreated { .. }
        | TaskEvent::TaskDetailsChanged { .. }
        | TaskEvent::TaskAssigned { .. }
        | TaskEvent::TaskReturned { .. }
        | TaskEvent::TaskStarted { .. }
        | TaskEvent::TaskPaused { .. }
        | TaskEvent::TaskBlocked { .. }
        | TaskEvent::TaskCompleted { .. }
        | TaskEvent::TaskCancelled { .. }
        | TaskEvent::TaskAddedToEpic { .. } => return Ok(None),
    };
    Ok(Some(said))
}
