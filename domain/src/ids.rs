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
