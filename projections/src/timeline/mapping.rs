//! The public names of events: what each domain event is called on the timeline.

use domain::agent::AgentEvent;
use domain::project::ProjectEvent;
use domain::user::UserEvent;
use domain::workspace::WorkspaceEvent;

use crate::FactOf;

macro_rules! timeline_types {
    ($($aggregate:ident $events:ident { $($($event:ident)|+ => $name:literal,)+ })+) => {
        /// Every type that an entry can have.
        pub const TYPES: &[&str] = &[$($($name,)+)+];

        /// The type of the entry that an event becomes; none for events that are on no workspace's timeline.
        pub(super) fn type_of(of: &FactOf) -> Option<&'static str> {
            match of {
                // A user belongs to no workspace.
                FactOf::User(
                    UserEvent::UserSignedUp { .. }
                    | UserEvent::UserSuspended { .. }
                    | UserEvent::UserReinstated { .. },
                ) => None,
                FactOf::Session(_)
                | FactOf::Task(_)
                | FactOf::Wiki(_)
                | FactOf::Scorecard(_)
                | FactOf::PullRequest(_)
                | FactOf::Repository(_) => None,
                $($(FactOf::$aggregate($($events::$event { .. })|+) => Some($name),)+)+
            }
        }
    };
}

timeline_types! {
    Workspace WorkspaceEvent {
        WorkspaceCreated => "workspace_created",
        WorkspaceDetailsChanged => "workspace_updated",
        WorkspaceDeleted => "workspace_deleted",
    }
    Project ProjectEvent {
        ProjectCreated => "project_created",
        ProjectDetailsChanged => "project_updated",
        ProjectDeleted => "project_deleted",
    }
    Agent AgentEvent {
        AgentCreated => "agent_created",
        AgentDetailsChanged | AgentSupervisorLost => "agent_updated",
        AgentStatusChanged => "agent_status_changed",
        AgentCredentialsRotated => "agent_credentials_rotated",
        AgentDeleted => "agent_deleted",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_rows_of_the_table_share_a_name() {
        let names: std::collections::BTreeSet<_> = TYPES.iter().collect();
        assert_eq!(names.len(), TYPES.len());
    }
}
