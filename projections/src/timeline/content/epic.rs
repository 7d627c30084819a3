//! What happens to an epic.

use domain::epic::EpicEvent;
use domain::{AgentId, Party, UserId};
use serde_json::{Value, json};

use super::{Changed, Said, agent_shown, joined};
use crate::timeline::subjects::Subject;
use crate::{FoldError, Rows};

pub(super) fn said(event: &EpicEvent, subject: &Subject, rows: &mut Rows) -> Result<Option<Said>, FoldError> {
    let about = json!({ "epicId": subject.id, "epicTitle": subject.name });
    let supervisor = subject.agent_id;
    let said = match event {
        EpicEvent::EpicCreated { description, design, worktree_name, bench, created_by, created_at, .. } => {
            let content = json!({
                "description": description,
                "design": design,
                "worktreeName": worktree_name,
                "bench": bench,
                "createdBy": { "userId": created_by },
            });
            Said { names: Some(*created_by), ..Said::new(*created_at, joined(about, content)) }
        }
        EpicEvent::EpicDetailsChanged { title, description, design, changed_at } => {
            let changes =
                Changed::default().with("title", title).with("description", description).with("design", design);
            Said::new(*changed_at, joined(about, changes.finish())).to(supervisor).about(supervisor)
        }
        EpicEvent::EpicSubmitted { agent_id, pr_url, title, description, head, submitted_at } => {
            let content = json!({
                "submittedBy": agent_shown(Some(*agent_id), rows)?,
                "prUrl": pr_url,
                "prTitle": title,
                "prDescription": description,
                "head": head,
            });
            Said::new(*submitted_at, joined(about, content)).about(Some(*agent_id))
        }
        EpicEvent::EpicChangesRequested { by, feedback, requested_at } => {
            let content = json!({ "requestedBy": { "userId": by }, "feedback": feedback });
            let said = Said::new(*requested_at, joined(about, content)).to(supervisor).about(supervisor);
            Said { names: Some(*by), ..said }
        }
        EpicEvent::EpicCompleted { by, merge_commit, completed_at } => {
            let content = json!({ "completedBy": { "userId": by }, "mergeCommit": merge_commit });
            let said = Said::new(*completed_at, joined(about, content)).to(supervisor).about(supervisor);
            Said { names: Some(*by), ..said }
        }
        EpicEvent::EpicFailed { by, reason, failed_at } => {
            let (shown, user, agent) = party_shown(*by);
            let content = json!({ "failedBy": shown, "reason": reason });
            let said = Said::new(*failed_at, joined(about, content)).to(supervisor).about(agent.or(supervisor));
            Said { names: user, ..said }
        }
        EpicEvent::EpicSupervisorAppointed { .. }
        | EpicEvent::EpicTaskAdded { .. }
        | EpicEvent::EpicReviewQueued { .. }
        | EpicEvent::EpicReviewLeft { .. }
        | EpicEvent::EpicTaskEnded { .. } => return Ok(None),
    };
    Ok(Some(said))
}

fn party_shown(party: Party) -> (Value, Option<UserId>, Option<AgentId>) {
    match party {
        Party::User(user) => (json!({ "userId": user }), Some(user), None),
        Party::Agent(agent) => (json!({ "agentId": agent }), None, Some(agent)),
    }
}
