//! What happens to an agent at its post.

use domain::AgentId;
use domain::post::{Evidence, PostEvent};
use serde_json::{Value, json};

use super::{Said, joined};
use crate::timeline::subjects::Subject;

pub(super) fn said(event: &PostEvent, subject: &Subject) -> Option<Said> {
    let about = json!({ "agentId": subject.id, "agentName": subject.name });
    let agent = Some(AgentId(subject.id));
    let (at, content) = match event {
        PostEvent::AgentPosted {
            kind,
            epic_id,
            task_id,
            bench,
            profile,
            tmux_session,
            attempt,
            replaces,
            posted_at,
            ..
        } => {
            let content = json!({
                "agentType": kind,
                "epicId": epic_id,
                "taskId": task_id,
                "bench": bench,
                "model": profile.model,
                "permissions": profile.permissions,
                "tmuxSession": tmux_session,
                "attempt": attempt,
                "replaces": replaces,
            });
            let said = Said::new(*posted_at, joined(about, content)).about(agent);
            return Some(Said { task: *task_id, ..said });
        }
        PostEvent::AgentLaunched { .. } | PostEvent::AgentLaunchFailed { .. } => return None,
        PostEvent::AgentLaunchOrdered { ordered_at } => (*ordered_at, json!({})),
        PostEvent::AgentHealthChecked { last_heartbeat, checks_missed, checked_at } => {
            (*checked_at, json!({ "lastHeartbeat": last_heartbeat, "checksMissed": checks_missed }))
        }
        PostEvent::AgentReportedSilent { evidence, reported_at } => {
            (*reported_at, json!({ "evidence": evidence_shown(evidence) }))
        }
        PostEvent::AgentDeclaredDead { evidence, declared_at } => {
            (*declared_at, json!({ "evidence": evidence_shown(evidence) }))
        }
        PostEvent::AgentRelieved { reason, successor, relieved_at } => {
            (*relieved_at, json!({ "reason": reason, "successor": successor }))
        }
        PostEvent::AgentDischarged { result, discharged_at } => (*discharged_at, json!({ "result": result })),
    };
    Some(Said::new(at, joined(about, content)).to(agent).about(agent))
}

fn evidence_shown(evidence: &Evidence) -> Value {
    json!({
        "lastHeartbeat": evidence.last_heartbeat,
        "checksMissed": evidence.checks_missed,
        "processAlive": evidence.process_alive,
        "lastOutputAt": evidence.last_output_at,
    })
}
