//! Users, workspaces, projects and agents.

use domain::agent::{AgentEvent, AgentLevel, AgentStatus};
use domain::project::ProjectEvent;
use domain::user::UserEvent;
use domain::workspace::WorkspaceEvent;
use domain::{AgentCode, RepositoryUrl};

use super::{id, noon, settings, slug};

pub(crate) fn user_events() -> Vec<UserEvent> {
    vec![
        UserEvent::UserSignedUp { user_id: id(1), signed_up_at: noon() },
        UserEvent::UserSuspended { suspended_at: noon() },
        UserEvent::UserReinstated { reinstated_at: noon() },
        UserEvent::UserDeleted { deleted_at: noon() },
    ]
}

pub(crate) fn workspace_events() -> Vec<WorkspaceEvent> {
    vec![
        WorkspaceEvent::WorkspaceCreated {
            workspace_id: id(2),
            owner_id: id(1),
            name: "Acme".to_owned(),
            slug: slug("acme"),
            description: Some("Anvils".to_owned()),
            settings: settings(),
            created_at: noon(),
        },
        WorkspaceEvent::WorkspaceDetailsChanged {
            name: Some("Acme Ltd".to_owned()),
            slug: Some(slug("acme-ltd")),
            description: Some("Anvils and more".to_owned()),
            settings: Some(settings()),
            changed_at: noon(),
        },
        WorkspaceEvent::WorkspaceDeleted { deleted_at: noon() },
        WorkspaceEvent::WorkspaceTextSealed { sealed_at: noon() },
        WorkspaceEvent::WorkspaceTextErased { erased_at: noon() },
    ]
}

pub(crate) fn project_events() -> Vec<ProjectEvent> {
    vec![
        ProjectEvent::ProjectCreated {
            project_id: id(3),
            workspace_id: id(2),
            name: "Shop".to_owned(),
            slug: slug("shop"),
            description: Some("Sells anvils".to_owned()),
            repository_url: Some(RepositoryUrl::new("https://github.com/acme/shop")),
            github_installation_id: Some(7),
            mvp_document_url: Some("https://acme.example/mvp".to_owned()),
            is_active: true,
            created_at: noon(),
        },
        ProjectEvent::ProjectDetailsChanged {
            name: Some("Store".to_owned()),
            slug: Some(slug("store")),
            description: Some("Sells more than anvils".to_owned()),
            repository_url: Some(RepositoryUrl::new("https://github.com/acme/store")),
            github_installation_id: Some(8),
            mvp_document_url: Some("https://acme.example/store".to_owned()),
            is_active: Some(false),
            changed_at: noon(),
        },
        ProjectEvent::ProjectDeleted { deleted_at: noon() },
    ]
}

pub(crate) fn agent_events() -> Vec<AgentEvent> {
    vec![
        AgentEvent::AgentCreated {
            agent_id: id(4),
            workspace_id: id(2),
            project_id: Some(id(3)),
            level: AgentLevel::Project,
            code: AgentCode::parse("dev-1").unwrap(),
            name: "Dev One".to_owned(),
            role_title: "Backend developer".to_owned(),
            status: AgentStatus::Active,
            trust_score: 50.0,
            capabilities: vec!["rust".to_owned(), "sql".to_owned()],
            settings: settings(),
            supervisor_agent_id: Some(id(5)),
            credential_id: id(6),
            created_at: noon(),
        },
        AgentEvent::AgentDetailsChanged {
            name: Some("Dev Uno".to_owned()),
            role_title: Some("Reviewer".to_owned()),
            capabilities: Some(vec!["review".to_owned()]),
            settings: Some(settings()),
            supervisor_agent_id: Some(id(7)),
            changed_at: noon(),
        },
        AgentEvent::AgentStatusChanged { from: AgentStatus::Active, to: AgentStatus::Probation, changed_at: noon() },
        AgentEvent::AgentCredentialsRotated { credential_id: id(8), rotated_at: noon() },
        AgentEvent::AgentSupervisorLost { supervisor_agent_id: id(31), lost_at: noon() },
        AgentEvent::AgentDeleted { deleted_at: noon() },
    ]
}
