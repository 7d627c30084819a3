//! What happens to a wiki entry.

use domain::wiki::{Author, WikiEntryStatus, WikiEvent};
use serde_json::json;

use super::{Said, agent_shown, joined, with_optional};
use crate::timeline::subjects::Subject;
use crate::{FoldError, Rows};

pub(super) fn said(event: &WikiEvent, subject: &Subject, rows: &mut Rows) -> Result<Option<Said>, FoldError> {
    let about = json!({ "entryId": subject.id, "title": subject.name, "slug": subject.slug });
    Ok(match event {
        WikiEvent::WikiEntryProposed { proposed_by, tags, version, parent_entry_id, proposed_at, .. } => {
            let (by, names) = match proposed_by {
                Author::Agent(agent) => (agent_shown(Some(*agent), rows)?, None),
                Author::User(user) => (json!({ "userId": user }), Some(*user)),
            };
            let content = json!({
                "status": WikiEntryStatus::PendingApproval,
                "proposedBy": by,
                "tags": tags,
                "version": version,
                "isUpdate": parent_entry_id.is_some(),
            });
            let content = with_optional(joined(about, content), [("parentEntryId", json!(parent_entry_id))]);
            Some(Said { names, ..Said::new(*proposed_at, content).about(subject.agent_id) })
        }
        WikiEvent::WikiEntryApproved { approved_by, approved_at } => {
            let content = json!({ "status": WikiEntryStatus::Approved, "approvedBy": { "userId": approved_by } });
            let said = Said::new(*approved_at, joined(about, content)).to(subject.agent_id).about(subject.agent_id);
            Some(Said { names: Some(*approved_by), ..said })
        }
        WikiEvent::WikiEntryRejected { rejected_by, reason, rejected_at } => {
            let content = json!({
                "status": WikiEntryStatus::Rejected,
                "rejectedBy": { "userId": rejected_by },
                "reason": reason,
            });
            let said = Said::new(*rejected_at, joined(about, content)).to(subject.agent_id).about(subject.agent_id);
            Some(Said { names: Some(*rejected_by), ..said })
        }
        WikiEvent::WikiEntrySuperseded { .. } | WikiEvent::WikiViewsCounted { .. } => None,
    })
}
