//! What happens to an agent.

use domain::AgentId;
use domain::agent::AgentEvent;
use serde_json::json;

use super::{Changed, Said, joined};
use crate::timeline::subjects::Subject;

pub(super) fn said(event: &AgentEvent, subject: &Subject) -> Said {
    let about = json!({ "agentId": subject.id, "agentName": subject.name, "agentCode": subject.agent_code });
    let agent = Some(AgentId(subject.id));
    let (at, content) = match event {
        AgentEvent::AgentCreated {
            project_id,
            level,
            role_title,
            status,
            trust_score,
            capabilities,
            supervisor_agent_id,
            created_at,
            ..
        } => {
            let more = json!({
                "projectId": project_id,
                "agentLevel": level,
                "roleTitle": role_title,
                "status": status,
                "trustScore": trust_score,
                "capabilities": capabilities,
                "supervisorAgentId": supervisor_agent_id,
            });
            (*created_at, joined(about, more))
        }
        AgentEvent::AgentDetailsChanged {
            name,
            role_title,
            capabilities,
            settings,
            supervisor_agent_id,
            changed_at,
        } => {
            let changes = Changed::default()
                .with("name", name)
                .with("roleTitle", role_title)
                .with("capabilities", capabilities)
                .with("settings", settings)
                .with("supervisorAgentId", supervisor_agent_id);
            (*changed_at, joined(about, changes.finish()))
        }
        AgentEvent::AgentStatusChanged { from, to, changed_at } => {
            let content = joined(about, json!({ "previousStatus": from, "newStatus": to }));
            return Said::new(*changed_at, content).to(agent).about(agent);
        }
        AgentEvent::AgentCredentialsRotated { credential_id, rotated_at } => {
            (*rotated_at, joined(about, json!({ "credentialId": credential_id })))
        }
        AgentEvent::AgentSupervisorLost { supervisor_agent_id, lost_at } => {
            let changes = json!({ "supervisorAgentId": null });
            (*lost_at, joined(about, json!({ "previousSupervisorAgentId": supervisor_agent_id, "changes": changes })))
        }
        AgentEvent::AgentDeleted { deleted_at } => (*deleted_at, about),
    };
    Said::new(at, content).about(agent)
}
