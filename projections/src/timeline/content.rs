//! What an entry says: the content of each type, and when it happened.

use chrono::{DateTime, Utc};
use domain::agent::AgentEvent;
use domain::project::ProjectEvent;
use domain::workspace::WorkspaceEvent;
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::Subject;
use crate::FactOf;

/// When an event happened, and what its entry says of it. `subject` is as the event left it.
pub(super) fn content(of: &FactOf, subject: &Subject) -> Option<(DateTime<Utc>, Value)> {
    match of {
        FactOf::User(_)
        | FactOf::Session(_)
        | FactOf::Task(_)
        | FactOf::Wiki(_)
        | FactOf::Scorecard(_)
        | FactOf::PullRequest(_)
        | FactOf::Repository(_) => None,
        FactOf::Workspace(event) => Some(of_workspace(event, subject)),
        FactOf::Project(event) => Some(of_project(event, subject)),
        FactOf::Agent(event) => Some(of_agent(event, subject)),
    }
}

fn of_workspace(event: &WorkspaceEvent, subject: &Subject) -> (DateTime<Utc>, Value) {
    let about = json!({ "workspaceId": subject.id, "workspaceName": subject.name });
    match event {
        WorkspaceEvent::WorkspaceCreated { owner_id, slug, description, created_at, .. } => {
            let more = json!({ "ownerId": owner_id, "slug": slug, "description": description });
            (*created_at, joined(about, more))
        }
        WorkspaceEvent::WorkspaceDetailsChanged { name, slug, description, settings, changed_at } => {
            let changes = Changed::default()
                .with("name", name)
                .with("slug", slug)
                .with("description", description)
                .with("settings", settings);
            (*changed_at, joined(about, changes.finish()))
        }
        WorkspaceEvent::WorkspaceDeleted { deleted_at } => (*deleted_at, about),
    }
}

fn of_project(event: &ProjectEvent, subject: &Subject) -> (DateTime<Utc>, Value) {
    let about = json!({ "projectId": subject.id, "projectName": subject.name });
    match event {
        ProjectEvent::ProjectCreated { slug, description, repository_url, is_active, created_at, .. } => {
            let more = json!({
                "slug": slug,
                "description": description,
                "repositoryUrl": repository_url,
                "isActive": is_active,
            });
            (*created_at, joined(about, more))
        }
        ProjectEvent::ProjectDetailsChanged {
            name,
            slug,
            description,
            repository_url,
            github_installation_id,
            mvp_document_url,
            is_active,
            changed_at,
        } => {
            let changes = Changed::default()
                .with("name", name)
                .with("slug", slug)
                .with("description", description)
                .with("repositoryUrl", repository_url)
                .with("githubInstallationId", github_installation_id)
                .with("mvpDocumentUrl", mvp_document_url)
                .with("isActive", is_active);
            (*changed_at, joined(about, changes.finish()))
        }
        ProjectEvent::ProjectDeleted { deleted_at } => (*deleted_at, about),
    }
}

fn of_agent(event: &AgentEvent, subject: &Subject) -> (DateTime<Utc>, Value) {
    let about = json!({ "agentId": subject.id, "agentName": subject.name, "agentCode": subject.agent_code });
    match event {
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
            (*changed_at, joined(about, json!({ "previousStatus": from, "newStatus": to })))
        }
        AgentEvent::AgentCredentialsRotated { credential_id, rotated_at } => {
            (*rotated_at, joined(about, json!({ "credentialId": credential_id })))
        }
        AgentEvent::AgentSupervisorLost { supervisor_agent_id, lost_at } => {
            let changes = json!({ "supervisorAgentId": null });
            (*lost_at, joined(about, json!({ "previousSupervisorAgentId": supervisor_agent_id, "changes": changes })))
        }
        AgentEvent::AgentDeleted { deleted_at } => (*deleted_at, about),
    }
}

/// Fields that changed, with their new values.
#[derive(Default)]
struct Changed(Map<String, Value>);

impl Changed {
    fn with(mut self, field: &str, value: &Option<impl Serialize>) -> Self {
        if let Some(value) = value {
            self.0.insert(field.to_owned(), json!(value));
        }
        self
    }

    fn finish(self) -> Value {
        json!({ "changes": self.0 })
    }
}

fn joined(mut one: Value, other: Value) -> Value {
    if let (Value::Object(one), Value::Object(other)) = (&mut one, other) {
        one.extend(other);
    }
    one
}
