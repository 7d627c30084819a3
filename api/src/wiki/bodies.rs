//! What goes in and out of the wiki's routes.

use chrono::{DateTime, Utc};
use domain::wiki::WikiEntryStatus;
use domain::{ProjectId, Settings, WorkspaceId};
use projections::wiki::{Filter, WikiEntryView};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::sql::Words;
use uuid::Uuid;

use crate::agents::AgentBody;
use crate::auth::User;
use crate::input::without_nulls;

/// Where an entry is on its way.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub(super) enum EntryStatus {
    /// Here nothing is ever a draft: what is proposed waits for approval at once.
    Draft,
    PendingApproval,
    Approved,
    Rejected,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[schemars(transform = without_nulls)]
pub(super) struct ListEntries {
    pub(super) workspace_id: Uuid,
    /// The wiki of this project; that of the whole workspace without.
    pub(super) project_id: Option<Uuid>,
    /// Only those of one status; `approved` without. Of approved entries, only the current versions are listed.
    status: Option<EntryStatus>,
    /// Only those that have all of these tags.
    #[serde(default)]
    #[schemars(length(max = 50))]
    tags: Vec<String>,
    /// Only those that have all of these words, in the title, the tags or the content. Those with all of them in the
    /// title come first, then those with all of them in title and tags.
    #[schemars(length(max = 500))]
    search: Option<String>,
    #[schemars(range(min = 1, max = 100))]
    pub(super) limit: Option<i64>,
    #[schemars(range(min = 0))]
    pub(super) offset: Option<i64>,
}

impl ListEntries {
    /// Which entries are asked for; none when there can be no such entry.
    pub(super) fn filter(self, workspace: WorkspaceId, project: Option<ProjectId>) -> Option<Filter> {
        let status = match self.status {
            Some(EntryStatus::Draft) => return None,
            Some(EntryStatus::PendingApproval) => WikiEntryStatus::PendingApproval,
            Some(EntryStatus::Approved) | None => WikiEntryStatus::Approved,
            Some(EntryStatus::Rejected) => WikiEntryStatus::Rejected,
        };
        let search = Words::of(self.search.as_deref().unwrap_or_default());
        Some(Filter { workspace, project, status, tags: self.tags, search })
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[schemars(transform = without_nulls)]
pub(super) struct GetEntry {
    pub(super) id: Uuid,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[schemars(transform = without_nulls)]
pub(super) struct CreateEntry {
    pub(super) workspace_id: Uuid,
    /// The project whose wiki it is for; that of the whole workspace without.
    pub(super) project_id: Option<Uuid>,
    #[schemars(length(min = 1, max = 500))]
    pub(super) title: String,
    #[schemars(length(max = 255), regex(pattern = r"^[a-z0-9-]+$"))]
    pub(super) slug: String,
    #[schemars(length(min = 1, max = 100_000))]
    pub(super) content: String,
    #[schemars(length(max = 50), inner(length(min = 1, max = 100)))]
    pub(super) tags: Option<Vec<String>>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[schemars(transform = without_nulls)]
pub(super) struct UpdateEntry {
    /// The current version of the entry.
    pub(super) id: Uuid,
    #[schemars(length(min = 1, max = 500))]
    pub(super) title: Option<String>,
    #[schemars(length(min = 1, max = 100_000))]
    pub(super) content: Option<String>,
    #[schemars(length(max = 50), inner(length(min = 1, max = 100)))]
    pub(super) tags: Option<Vec<String>>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[schemars(transform = without_nulls)]
pub(super) struct ApproveEntry {
    pub(super) id: Uuid,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[schemars(transform = without_nulls)]
pub(super) struct RejectEntry {
    pub(super) id: Uuid,
    #[schemars(length(min = 1, max = 5000))]
    pub(super) reason: String,
}

/// One version of a wiki entry.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "WikiEntry")]
pub(crate) struct EntryBody {
    id: Uuid,
    workspace_id: Uuid,
    /// The project whose wiki it is in; null for that of the whole workspace.
    project_id: Option<Uuid>,
    /// Null when the owner proposed it.
    proposed_by_agent_id: Option<Uuid>,
    status: EntryStatus,
    /// Whether it is the version of its slug that counts.
    is_current: bool,
    title: String,
    slug: String,
    content: String,
    tags: Vec<String>,
    version: u32,
    parent_entry_id: Option<Uuid>,
    approved_by: Option<Uuid>,
    approved_at: Option<DateTime<Utc>>,
    rejection_reason: Option<String>,
    view_count: u64,
    last_viewed_at: Option<DateTime<Utc>>,
    metadata: Settings,
    created_at: DateTime<Utc>,
    updated_at: DateTime<Utc>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct OneEntry {
    pub(super) entry: EntryBody,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct ManyEntries {
    pub(super) entries: Vec<EntryBody>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct EntryDetails {
    pub(super) entry: EntryBody,
    /// The agent that proposed it; null when the owner did.
    pub(super) author: Option<AgentBody>,
    /// Who approved it; null also when that person's account is gone.
    pub(super) approver: Option<User>,
    /// The version that it is the next of.
    pub(super) parent_entry: Option<EntryBody>,
    /// The versions that were proposed as the next of it: the newest 20, newest first.
    pub(super) child_entries: Vec<EntryBody>,
}

impl From<WikiEntryStatus> for EntryStatus {
    fn from(it: WikiEntryStatus) -> Self {
        match it {
            WikiEntryStatus::PendingApproval => Self::PendingApproval,
            WikiEntryStatus::Approved => Self::Approved,
            WikiEntryStatus::Rejected => Self::Rejected,
        }
    }
}

impl From<WikiEntryView> for EntryBody {
    fn from(it: WikiEntryView) -> Self {
        Self {
            id: it.id.0,
            workspace_id: it.workspace_id.0,
            project_id: it.project_id.map(|id| id.0),
            proposed_by_agent_id: it.proposed_by_agent_id.map(|id| id.0),
            status: it.status.into(),
            is_current: it.is_current,
            title: it.title,
            slug: it.slug.to_string(),
            content: it.content,
            tags: it.tags,
            version: it.version,
            parent_entry_id: it.parent_entry_id.map(|id| id.0),
            approved_by: it.approved_by.map(|id| id.0),
            approved_at: it.approved_at,
            rejection_reason: it.rejection_reason,
            view_count: it.view_count,
            last_viewed_at: it.last_viewed_at,
            metadata: Settings::new(),
            created_at: it.created_at,
            updated_at: it.updated_at,
        }
    }
}
