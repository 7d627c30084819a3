//! Rows beside the log: accounts, secrets and keys, which are never events.

use uuid::Uuid;

use crate::TextKey;

/// A change to accounts or secrets, made in the same transaction as a commit's events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RowChange {
    /// A person who may sign in. Refused with `EmailTaken` when the address belongs to another account.
    AddAccount(Account),
    /// Whether the account may sign in.
    SuspendAccount {
        /// Whose account.
        user_id: Uuid,
        /// True to suspend, false to let in again.
        suspended: bool,
    },
    /// The account is gone, and every way to sign in to it.
    DeleteAccount {
        /// Whose account.
        user_id: Uuid,
    },
    /// The text of a workspace is sealed under this key from this commit on. It has no other one.
    AddTextKey {
        /// Whose text.
        workspace_id: Uuid,
        /// The key.
        key: TextKey,
        /// Microseconds since 1970.
        created_at: i64,
    },
    /// Nobody can open any more what the text of a workspace was sealed under.
    DestroyTextKeys {
        /// Whose text.
        workspace_id: Uuid,
        /// Microseconds since 1970.
        destroyed_at: i64,
    },
    /// The account has no password any more.
    ForgetPassword {
        /// Whose password.
        user_id: Uuid,
    },
    /// A way in through GitHub. Refused with `GithubIdentityTaken` when it opens an account already.
    LinkGithub(GithubIdentity),
    /// A browser's signed-in session.
    AddSession(SignInSession),
    /// Signs one browser out.
    RemoveSession {
        /// The session's id.
        session_id: Uuid,
    },
    /// Signs a person out everywhere.
    RemoveSessionsOf {
        /// Whose sessions.
        user_id: Uuid,
    },
    /// An agent's key. Every older key of that agent stops working in the same commit.
    IssueCredential(Credential),
    /// What the door needs to know of an agent's standing.
    SetAgentStanding {
        /// The agent.
        agent_id: Uuid,
        /// Its status, e.g. `active`.
        standing: String,
    },
    /// Every key of an agent stops working.
    RevokeCredentials {
        /// The agent.
        agent_id: Uuid,
    },
    /// Where a person is told from now on, instead of where they were told before.
    SetNotificationAddresses(NotificationAddresses),
}

/// A person who may sign in.
#[derive(Clone, PartialEq, Eq)]
pub struct Account {
    /// The only thing that the log knows of this person.
    pub user_id: Uuid,
    /// Lower-cased; unique.
    pub email: String,
    /// As the person writes it.
    pub name: String,
    /// A picture, if any.
    pub avatar_url: Option<String>,
    /// Argon2id in PHC form; `None` for people who sign in elsewhere.
    pub password_hash: Option<String>,
    /// Whether signing in is refused.
    pub suspended: bool,
    /// Microseconds since 1970.
    pub created_at: i64,
    /// Microseconds since 1970.
    pub updated_at: i64,
}

/// Who somebody is on GitHub, and whose account that opens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GithubIdentity {
    /// GitHub's own number for the person; unique, and never given to another one, as a login may be.
    pub github_id: i64,
    /// Whose account it opens.
    pub user_id: Uuid,
    /// What the person was called there when the two were linked.
    pub login: String,
    /// Microseconds since 1970.
    pub linked_at: i64,
}

/// A browser's signed-in session.
#[derive(Clone, PartialEq, Eq)]
pub struct SignInSession {
    /// Shown to the person.
    pub session_id: Uuid,
    /// Whose it is.
    pub user_id: Uuid,
    /// A keyed hash of the cookie's value; the value itself is never stored.
    pub token_hash: Vec<u8>,
    /// Microseconds since 1970.
    pub created_at: i64,
    /// Microseconds since 1970.
    pub expires_at: i64,
}

/// An agent's key, as a keyed hash, with what is needed to let the agent in.
#[derive(Clone, PartialEq, Eq)]
pub struct Credential {
    /// Which key.
    pub credential_id: Uuid,
    /// Whose key.
    pub agent_id: Uuid,
    /// The agent's tenant.
    pub workspace_id: Uuid,
    /// The agent's project; `None` for agents of the whole organization.
    pub project_id: Option<Uuid>,
    /// The agent's status when the key was issued, kept current by `SetAgentStanding`.
    pub standing: String,
    /// A keyed hash of the key; the key itself is never stored.
    pub key_hash: Vec<u8>,
    /// Microseconds since 1970.
    pub created_at: i64,
}

/// Where a person is told what concerns them. It goes with the account.
#[derive(Clone, PartialEq, Eq)]
pub struct NotificationAddresses {
    /// Whose they are.
    pub user_id: Uuid,
    /// The sound to play, as a path on the node.
    pub sound_file: Option<String>,
    /// Where news is posted.
    pub webhook_url: Option<String>,
    /// Microseconds since 1970.
    pub changed_at: i64,
}

// Written by hand so that no log line can ever carry a hash or an address.
macro_rules! debug_without_secrets {
    ($($type:ident: $id:ident),*) => {$(
        impl std::fmt::Debug for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.debug_struct(stringify!($type)).field(stringify!($id), &self.$id).finish_non_exhaustive()
            }
        }
    )*};
}
debug_without_secrets!(
    Account: user_id, SignInSession: session_id, Credential: credential_id, NotificationAddresses: user_id
);
