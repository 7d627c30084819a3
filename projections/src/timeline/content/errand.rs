//! What cannot be done outside.

use domain::errand::ErrandEvent;
use serde_json::json;

use super::Said;
use crate::timeline::subjects::Subject;

pub(super) fn said(event: &ErrandEvent, subject: &Subject) -> Option<Said> {
    match event {
        ErrandEvent::ErrandFailed { error, details, failed_at } => {
            let content = json!({ "errandId": subject.id, "work": subject.name, "error": error, "details": details });
            Some(Said::new(*failed_at, content))
        }
        ErrandEvent::ErrandOrdered { .. }
        | ErrandEvent::ErrandTried { .. }
        | ErrandEvent::ErrandDone { .. }
        | ErrandEvent::ErrandCancelled { .. } => None,
    }
}
