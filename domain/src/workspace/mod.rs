//! A workspace: a tenant, owned by one user. Its projects and agents are streams of their own.

mod change;
mod create;
mod delete;
mod erase_text;
#[cfg(test)]
mod examples;
mod seal_text;

use chrono::{DateTime, Utc};
use cqrs_es::{Aggregate, event_sink::EventSink};
use serde::{Deserialize, Serialize};
use thiserror::Error;

pub use change::ChangeWorkspace;
pub use create::CreateWorkspace;
pub use delete::DeleteWorkspace;
pub use erase_text::EraseText;
pub use seal_text::SealText;

use crate::catalogue::event_kinds;
use crate::difference::assign;
use crate::{Claim, Demand, Entity, Scope, Settings, Slug, UserId, WorkspaceId};

/// The life of a workspace.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub enum Workspace {
    /// Not created yet.
    #[default]
    Absent,
    /// In use.
    Live(LiveWorkspace),
    /// Soft-deleted, and its slug is free again.
    Deleted {
        /// The tenant that its events still belong to.
        workspace_id: WorkspaceId,
        /// Whether its text was kept under a key of its own.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        text_sealed: bool,
    },
}

/// A workspace in use.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LiveWorkspace {
    /// Which workspace it is.
    pub workspace_id: WorkspaceId,
    /// Who may use it.
    pub owner_id: UserId,
    /// What people call it.
    pub name: String,
    /// What URLs call it.
    pub slug: Slug,
    /// What it is for.
    pub description: Option<String>,
    /// What its owner configured.
    pub settings: Settings,
    /// Whether its text is kept under a key of its own.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub text_sealed: bool,
}

/// What a user asks of a workspace.
#[derive(Clone, Debug, PartialEq)]
pub enum WorkspaceCommand {
    /// See [`CreateWorkspace`].
    Create(CreateWorkspace),
    /// See [`ChangeWorkspace`].
    Change(ChangeWorkspace),
    /// See [`DeleteWorkspace`].
    Delete(DeleteWorkspace),
    /// See [`SealText`].
    SealText(SealText),
    /// See [`EraseText`].
    EraseText(EraseText),
}

/// What happened to a workspace.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum WorkspaceEvent {
    /// The workspace now exists.
    WorkspaceCreated {
        /// Which workspace it is.
        workspace_id: WorkspaceId,
        /// Who may use it.
        owner_id: UserId,
        /// What people call it.
        name: String,
        /// What URLs call it.
        slug: Slug,
        /// What it is for.
        description: Option<String>,
        /// What its owner configured.
        settings: Settings,
        /// When it happened.
        created_at: DateTime<Utc>,
    },
    /// Some details are new; the others stayed.
    WorkspaceDetailsChanged {
        /// The new name.
        #[serde(skip_serializing_if = "Option::is_none")]
        name: Option<String>,
        /// The new slug.
        #[serde(skip_serializing_if = "Option::is_none")]
        slug: Option<Slug>,
        /// The new description.
        #[serde(skip_serializing_if = "Option::is_none")]
        description: Option<String>,
        /// The new settings, all of them.
        #[serde(skip_serializing_if = "Option::is_none")]
        settings: Option<Settings>,
        /// When it happened.
        changed_at: DateTime<Utc>,
    },
    /// The workspace is out of use.
    WorkspaceDeleted {
        /// When it happened.
        deleted_at: DateTime<Utc>,
    },
    /// What is written in the workspace from now on is kept under a key of its own.
    WorkspaceTextSealed {
        /// When it happened.
        sealed_at: DateTime<Utc>,
    },
    /// The key of everything that was sealed until now is gone; what comes is sealed under a new one.
    WorkspaceTextErased {
        /// When it happened.
        erased_at: DateTime<Utc>,
    },
}

event_kinds! { WorkspaceEvent of Workspace {
    WorkspaceCreated "1" "A user opened a workspace and owns it." {
        text["name", "description", "settings"]
        plain["slug"]
    }
    WorkspaceDetailsChanged "1" "The owner gave a workspace another name, slug, description or settings." {
        text["name", "description", "settings"]
        plain["slug"]
    }
    WorkspaceDeleted "1" "The owner closed an empty workspace."
    WorkspaceTextSealed "1" "The owner had the workspace's text kept under a key of its own from then on."
    WorkspaceTextErased "1" "An operator destroyed the key of a workspace's text, which nobody can read any more."
}}

/// Why a command on a workspace is refused.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum WorkspaceError {
    /// It was never created, or it was deleted.
    #[error("the workspace does not exist")]
    NotFound,
    /// A stream with this id has begun already.
    #[error("the workspace exists already")]
    AlreadyExists,
    /// Another user owns it.
    #[error("the workspace belongs to another user")]
    AccessDenied,
    /// Another workspace has this slug.
    #[error("the workspace slug {0} is taken")]
    SlugTaken(Slug),
    /// It still has projects or agents.
    #[error("the workspace still has projects or agents")]
    NotEmpty,
    /// Its text was never kept under a key, so there is none to destroy.
    #[error("the workspace's text was never sealed, so it cannot be erased")]
    TextNotSealed,
}

impl Workspace {
    /// The workspace, if it is in use.
    pub fn live(&self) -> Result<&LiveWorkspace, WorkspaceError> {
        match self {
            Self::Live(live) => Ok(live),
            Self::Absent | Self::Deleted { .. } => Err(WorkspaceError::NotFound),
        }
    }

    /// Whether a user may use this workspace, its projects and its agents.
    pub fn admit(&self, user: UserId) -> Result<(), WorkspaceError> {
        self.owned_by(user).map(drop)
    }

    /// Whether its text is, or was when it was closed, kept under a key of its own.
    pub fn text_sealed(&self) -> bool {
        match self {
            Self::Absent => false,
            Self::Live(LiveWorkspace { text_sealed, .. }) | Self::Deleted { text_sealed, .. } => *text_sealed,
        }
    }

    fn owned_by(&self, user: UserId) -> Result<&LiveWorkspace, WorkspaceError> {
        let live = self.live()?;
        if live.owner_id == user { Ok(live) } else { Err(WorkspaceError::AccessDenied) }
    }

    fn decide(&self, command: WorkspaceCommand) -> Result<Vec<WorkspaceEvent>, WorkspaceError> {
        match command {
            WorkspaceCommand::Create(it) => create::decide(self, it),
            WorkspaceCommand::Change(it) => change::decide(self, it),
            WorkspaceCommand::Delete(it) => delete::decide(self, it),
            WorkspaceCommand::SealText(it) => seal_text::decide(self, it),
            WorkspaceCommand::EraseText(it) => erase_text::decide(self, it),
        }
    }
}

impl Aggregate for Workspace {
    const TYPE: &'static str = "workspace";
    type Command = WorkspaceCommand;
    type Event = WorkspaceEvent;
    type Error = WorkspaceError;
    type Services = ();

    async fn handle(
        &mut self,
        command: WorkspaceCommand,
        (): &(),
        sink: &EventSink<Self>,
    ) -> Result<(), WorkspaceError> {
        for event in self.decide(command)? {
            sink.write(event, self).await;
        }
        Ok(())
    }

    fn apply(&mut self, event: WorkspaceEvent) {
        match event {
            WorkspaceEvent::WorkspaceCreated {
                workspace_id,
                owner_id,
                name,
                slug,
                description,
                settings,
                created_at: _,
            } => {
                *self = Self::Live(LiveWorkspace {
                    workspace_id,
                    owner_id,
                    name,
                    slug,
                    description,
                    settings,
                    text_sealed: false,
                });
            }
            WorkspaceEvent::WorkspaceDetailsChanged { name, slug, description, settings, changed_at: _ } => {
                if let Self::Live(live) = self {
                    assign(&mut live.name, name);
                    assign(&mut live.slug, slug);
                    assign(&mut live.description, description.map(Some));
                    assign(&mut live.settings, settings);
                }
            }
            WorkspaceEvent::WorkspaceDeleted { deleted_at: _ } => {
                if let Some(workspace_id) = self.workspace() {
                    *self = Self::Deleted { workspace_id, text_sealed: self.text_sealed() };
                }
            }
            WorkspaceEvent::WorkspaceTextSealed { sealed_at: _ } => {
                if let Self::Live(live) = self {
                    live.text_sealed = true;
                }
            }
            // Sealed it stays, under another key.
            WorkspaceEvent::WorkspaceTextErased { erased_at: _ } => {}
        }
    }
}

impl Entity for Workspace {
    fn workspace(&self) -> Option<WorkspaceId> {
        match self {
            Self::Absent => None,
            Self::Live(LiveWorkspace { workspace_id, .. }) | Self::Deleted { workspace_id, .. } => Some(*workspace_id),
        }
    }

    fn demands(&self, event: &WorkspaceEvent) -> Vec<Demand<WorkspaceError>> {
        let held = self.live().ok().map(|live| slug_claim(&live.slug));
        match event {
            WorkspaceEvent::WorkspaceCreated { slug, .. }
            | WorkspaceEvent::WorkspaceDetailsChanged { slug: Some(slug), .. } => {
                Demand::replace(held, slug_claim(slug), WorkspaceError::SlugTaken(slug.clone()))
            }
            WorkspaceEvent::WorkspaceDetailsChanged { slug: None, .. }
            | WorkspaceEvent::WorkspaceTextSealed { .. }
            | WorkspaceEvent::WorkspaceTextErased { .. } => vec![],
            WorkspaceEvent::WorkspaceDeleted { .. } => {
                let Some(id) = self.workspace() else { return vec![] };
                let contents = [Scope::project_slugs(id), Scope::agent_codes(id)];
                let empty = contents.map(|scope| Demand::Empty { scope, or: WorkspaceError::NotEmpty });
                empty.into_iter().chain(held.map(Demand::Release)).collect()
            }
        }
    }
}

fn slug_claim(slug: &Slug) -> Claim {
    Scope::workspace_slugs().claim(slug)
}
