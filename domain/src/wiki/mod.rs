//! A wiki entry, one stream per version: agents and the owner propose, the owner decides.
//!
//! How a slug stays one entry's, through all its versions: **the claim is held by the version that counts.**
//! The first version takes it when it is proposed, and gives it back when it is rejected. A next version is
//! proposed without it, from the version that holds it. When a next version is approved, the one before
//! is superseded and gives the claim back, and the new one takes it, in one commit. So two next versions of one
//! entry cannot both be approved, and a slug is free again only when nothing was ever approved under it.

mod approve;
mod count_views;
#[cfg(test)]
mod examples;
mod propose;
mod propose_next;
mod reject;
mod supersede;

use chrono::{DateTime, Utc};
use cqrs_es::{Aggregate, event_sink::EventSink};
use serde::{Deserialize, Serialize};
use thiserror::Error;

pub use approve::ApproveEntry;
pub use count_views::CountViews;
pub use propose::ProposeEntry;
pub use propose_next::ProposeNextVersion;
pub use reject::RejectEntry;
pub use supersede::SupersedeEntry;

use crate::catalogue::event_kinds;
use crate::{AgentId, Claim, Demand, Entity, ProjectId, Scope, Slug, UserId, WikiEntryId, WorkspaceId};

/// The life of one version of a wiki entry.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum WikiEntry {
    /// Not proposed yet.
    #[default]
    Absent,
    /// Waits for the owner's decision.
    Pending(Box<EntryVersion>),
    /// Approved, and the current one.
    Approved(Box<EntryVersion>),
    /// Approved, until a next version was.
    Superseded(Box<EntryVersion>),
    /// Rejected.
    Rejected(Box<EntryVersion>),
}

/// What one version of a wiki entry says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EntryVersion {
    /// Which version it is.
    pub entry_id: WikiEntryId,
    /// The workspace it belongs to.
    pub workspace_id: WorkspaceId,
    /// The project whose wiki it is in; none for that of the whole workspace.
    pub project_id: Option<ProjectId>,
    /// What it is called.
    pub title: String,
    /// What URLs call it.
    pub slug: Slug,
    /// What it says.
    pub content: String,
    /// What it is about.
    pub tags: Vec<String>,
    /// The how-manieth version of the entry it is, from 1.
    pub version: u32,
    /// The version that it is the next of.
    pub parent_entry_id: Option<WikiEntryId>,
}

/// Where an entry is on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WikiEntryStatus {
    /// Waits for the owner's decision.
    PendingApproval,
    /// Approved, whether or not it is the current one.
    Approved,
    /// Rejected.
    Rejected,
}

/// Who proposes an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Author {
    /// An agent.
    Agent(AgentId),
    /// The owner of the workspace.
    User(UserId),
}

/// What is asked of a wiki entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WikiCommand {
    /// See [`ProposeEntry`].
    Propose(ProposeEntry),
    /// See [`ProposeNextVersion`].
    ProposeNext(Box<ProposeNextVersion>),
    /// See [`ApproveEntry`].
    Approve(ApproveEntry),
    /// See [`RejectEntry`].
    Reject(RejectEntry),
    /// See [`SupersedeEntry`].
    Supersede(SupersedeEntry),
    /// See [`CountViews`].
    CountViews(CountViews),
}

/// What happened to a wiki entry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum WikiEvent {
    /// A version was proposed.
    WikiEntryProposed {
        /// Which version it is.
        entry_id: WikiEntryId,
        /// The workspace it belongs to.
        workspace_id: WorkspaceId,
        /// The project whose wiki it is in; none for that of the whole workspace.
        project_id: Option<ProjectId>,
        /// Who proposed it.
        proposed_by: Author,
        /// What it is called.
        title: String,
        /// What URLs call it.
        slug: Slug,
        /// What it says.
        content: String,
        /// What it is about.
        tags: Vec<String>,
        /// The how-manieth version of the entry it is, from 1.
        version: u32,
        /// The version that it is the next of.
        parent_entry_id: Option<WikiEntryId>,
        /// When it happened.
        proposed_at: DateTime<Utc>,
    },
    /// The version is the current one.
    WikiEntryApproved {
        /// Who decided.
        approved_by: UserId,
        /// When it happened.
        approved_at: DateTime<Utc>,
    },
    /// The version will not be shown.
    WikiEntryRejected {
        /// Who decided.
        rejected_by: UserId,
        /// Why.
        reason: String,
        /// When it happened.
        rejected_at: DateTime<Utc>,
    },
    /// The version is not the current one any more.
    WikiEntrySuperseded {
        /// Which one is.
        by_entry_id: WikiEntryId,
        /// When it happened.
        superseded_at: DateTime<Utc>,
    },
    /// The version was read some more times.
    WikiViewsCounted {
        /// How many more times.
        views: u64,
        /// When it was read last.
        last_viewed_at: DateTime<Utc>,
    },
}

event_kinds! { WikiEvent of WikiEntry {
    WikiEntryProposed "1" "A version of a wiki entry was proposed, and waits for the owner's decision." {
        text["title", "content", "tags"]
        plain["slug"]
    }
    WikiEntryApproved "1" "The owner approved a version of a wiki entry, which is now the current one."
    WikiEntryRejected "1" "The owner rejected a version of a wiki entry, for a reason that is given." {
        text["reason"]
        plain[]
    }
    WikiEntrySuperseded "1" "A version of a wiki entry gave way to the next."
    WikiViewsCounted "1" "A version of a wiki entry was read some more times."
}}

/// Why a command on a wiki entry is refused.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum WikiError {
    /// It was never proposed.
    #[error("the wiki entry does not exist")]
    NotFound,
    /// A stream with this id has begun already.
    #[error("the wiki entry exists already")]
    AlreadyExists,
    /// It is in another workspace, or out of the agent's reach.
    #[error("the wiki entry is not yours to use")]
    AccessDenied,
    /// Only organization agents and the owner write new entries.
    #[error("only organization agents propose wiki entries")]
    NotOrganizationLevel,
    /// Another entry of this wiki has this slug.
    #[error("the wiki slug {0} is taken")]
    SlugTaken(Slug),
    /// It was approved, and what is decided stays decided.
    #[error("the wiki entry is approved")]
    AlreadyApproved,
    /// It was rejected, and what is decided stays decided.
    #[error("the wiki entry is rejected")]
    AlreadyRejected,
    /// It is not the current version of its entry.
    #[error("the wiki entry is not the current version")]
    NotCurrent,
}

impl WikiEntry {
    /// What the version says, if it exists.
    pub fn version(&self) -> Result<&EntryVersion, WikiError> {
        match self {
            Self::Absent => Err(WikiError::NotFound),
            Self::Pending(it) | Self::Approved(it) | Self::Superseded(it) | Self::Rejected(it) => Ok(it),
        }
    }

    /// Where the version is on its way, if it exists.
    pub fn status(&self) -> Result<WikiEntryStatus, WikiError> {
        match self {
            Self::Absent => Err(WikiError::NotFound),
            Self::Pending(_) => Ok(WikiEntryStatus::PendingApproval),
            Self::Approved(_) | Self::Superseded(_) => Ok(WikiEntryStatus::Approved),
            Self::Rejected(_) => Ok(WikiEntryStatus::Rejected),
        }
    }

    /// The version, if nobody has decided on it.
    fn pending(&self) -> Result<&EntryVersion, WikiError> {
        match self {
            Self::Absent => Err(WikiError::NotFound),
            Self::Pending(version) => Ok(version),
            Self::Approved(_) | Self::Superseded(_) => Err(WikiError::AlreadyApproved),
            Self::Rejected(_) => Err(WikiError::AlreadyRejected),
        }
    }

    fn decide(&self, command: WikiCommand) -> Result<Vec<WikiEvent>, WikiError> {
        match command {
            WikiCommand::Propose(it) => propose::decide(self, it),
            WikiCommand::ProposeNext(it) => propose_next::decide(self, *it),
            WikiCommand::Approve(it) => approve::decide(self, it),
            WikiCommand::Reject(it) => reject::decide(self, it),
            WikiCommand::Supersede(it) => supersede::decide(self, it),
            WikiCommand::CountViews(it) => count_views::decide(self, it),
        }
    }
}

impl Aggregate for WikiEntry {
    const TYPE: &'static str = "wiki";
    type Command = WikiCommand;
    type Event = WikiEvent;
    type Error = WikiError;
    type Services = ();

    async fn handle(&mut self, command: WikiCommand, (): &(), sink: &EventSink<Self>) -> Result<(), WikiError> {
        for event in self.decide(command)? {
            sink.write(event, self).await;
        }
        Ok(())
    }

    fn apply(&mut self, event: WikiEvent) {
        let enter = |this: &mut Self, stage: fn(Box<EntryVersion>) -> Self| {
            if let Ok(version) = this.version().cloned() {
                *this = stage(Box::new(version));
            }
        };
        match event {
            WikiEvent::WikiEntryProposed {
                entry_id,
                workspace_id,
                project_id,
                proposed_by: _,
                title,
                slug,
                content,
                tags,
                version,
                parent_entry_id,
                proposed_at: _,
            } => {
                *self = Self::Pending(Box::new(EntryVersion {
                    entry_id,
                    workspace_id,
                    project_id,
                    title,
                    slug,
                    content,
                    tags,
                    version,
                    parent_entry_id,
                }));
            }
            WikiEvent::WikiEntryApproved { .. } => enter(self, Self::Approved),
            WikiEvent::WikiEntryRejected { .. } => enter(self, Self::Rejected),
            WikiEvent::WikiEntrySuperseded { .. } => enter(self, Self::Superseded),
            WikiEvent::WikiViewsCounted { .. } => {}
        }
    }
}

impl Entity for WikiEntry {
    fn workspace(&self) -> Option<WorkspaceId> {
        self.version().ok().map(|version| version.workspace_id)
    }

    fn demands(&self, event: &WikiEvent) -> Vec<Demand<WikiError>> {
        match event {
            WikiEvent::WikiEntryProposed { workspace_id, project_id, slug, parent_entry_id, .. } => {
                let claim = Scope::wiki_slugs(*workspace_id, *project_id).claim(slug);
                vec![match parent_entry_id {
                    None => Demand::Take { claim, or: WikiError::SlugTaken(slug.clone()) },
                    Some(parent) => Demand::Held { claim, holder: (Self::TYPE, parent.0), or: WikiError::NotCurrent },
                }]
            }
            WikiEvent::WikiEntryApproved { .. } => match self {
                // The first version has it already.
                Self::Pending(it) if it.parent_entry_id.is_some() => {
                    vec![Demand::Take { claim: it.slug_claim(), or: WikiError::NotCurrent }]
                }
                Self::Pending(_) | Self::Absent | Self::Approved(_) | Self::Superseded(_) | Self::Rejected(_) => {
                    vec![]
                }
            },
            WikiEvent::WikiEntryRejected { .. } => match self {
                Self::Pending(it) if it.parent_entry_id.is_none() => vec![Demand::Release(it.slug_claim())],
                Self::Pending(_) | Self::Absent | Self::Approved(_) | Self::Superseded(_) | Self::Rejected(_) => {
                    vec![]
                }
            },
            WikiEvent::WikiEntrySuperseded { .. } => match self {
                Self::Approved(it) => vec![Demand::Release(it.slug_claim())],
                Self::Absent | Self::Pending(_) | Self::Superseded(_) | Self::Rejected(_) => vec![],
            },
            WikiEvent::WikiViewsCounted { .. } => vec![],
        }
    }
}

impl EntryVersion {
    /// The claim that the version which counts holds.
    pub fn slug_claim(&self) -> Claim {
        Scope::wiki_slugs(self.workspace_id, self.project_id).claim(&self.slug)
    }
}
