//! Ids: one type per thing that has an identity, so that none is mistaken for another.

use std::fmt;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(
            /// The bare UUID.
            pub Uuid,
        );

        impl From<Uuid> for $name {
            fn from(uuid: Uuid) -> Self {
                Self(uuid)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

id! {
    /// A person who signs in.
    UserId
}
id! {
    /// A workspace, which is a tenant.
    WorkspaceId
}
id! {
    /// A project of a workspace.
    ProjectId
}
id! {
    /// An agent of a workspace.
    AgentId
}
id! {
    /// An agent's key; the key's hash lives beside the log.
    CredentialId
}
id! {
    /// A stretch of an agent's work.
    SessionId
}
id! {
    /// A piece of work in a project.
    TaskId
}
id! {
    /// A feature that a human wrote and agents carry out, task by task.
    EpicId
}
id! {
    /// Something to be done outside, on a bench.
    ErrandId
}
id! {
    /// A mail.
    MailId
}
id! {
    /// A call of a tool by an agent.
    ToolCallId
}
id! {
    /// An entry of the decision log.
    DecisionId
}
id! {
    /// A piece of news for one person.
    NotificationId
}
id! {
    /// One version of a wiki entry.
    WikiEntryId
}
id! {
    /// A pull request of a project.
    PullRequestId
}
id! {
    /// One calculation of an agent's KPIs.
    KpiId
}

impl PullRequestId {
    /// The id of a project's pull request, which follows from the number that GitHub gave it.
    pub fn of(project: ProjectId, number: i64) -> Self {
        Self(Uuid::new_v5(&project.0, format!("pull-request:{number}").as_bytes()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_id_of_a_pull_request_follows_from_its_number_for_ever() {
        let project = ProjectId(Uuid::from_u128(20));
        let stored = "df7075e7-ea43-5b0b-a039-73c720ea44b3";
        assert_eq!(PullRequestId::of(project, 7).to_string(), stored);
        assert_ne!(PullRequestId::of(project, 7), PullRequestId::of(project, 8));
    }
}
