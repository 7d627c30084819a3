//! The wiki as people and agents read it: one row per version of an entry, found by words and tags.

mod queries;

use chrono::{DateTime, Utc};
use domain::wiki::{Author, WikiEntryStatus, WikiEvent};
use domain::{AgentId, ProjectId, Slug, UserId, WikiEntryId, WorkspaceId};
use serde::{Deserialize, Serialize};
use store::sql::{Holds, Table, Value, Words};

use crate::fact::WIKI;
use crate::{Describe, Fact, FactOf, FoldError, Key, KeyPart, Poison, Projection, Reads, Record, RowKey, Rows, fold};

pub use queries::{Filter, LONGEST_LIST, children, find, list};

/// The projection's name.
pub const NAME: &str = "wiki";

/// One version of a wiki entry.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WikiEntryView {
    /// Which version it is.
    pub id: WikiEntryId,
    /// The workspace it belongs to.
    pub workspace_id: WorkspaceId,
    /// The project whose wiki it is in; none for that of the whole workspace.
    pub project_id: Option<ProjectId>,
    /// The agent that proposed it; none when the owner did.
    pub proposed_by_agent_id: Option<AgentId>,
    /// Where it is on its way.
    pub status: WikiEntryStatus,
    /// Whether it is the version of its slug that counts.
    pub is_current: bool,
    /// What it is called.
    pub title: String,
    /// What URLs call it; all versions of an entry share it.
    pub slug: Slug,
    /// What it says.
    pub content: String,
    /// What it is about.
    pub tags: Vec<String>,
    /// The how-manieth version of the entry it is, from 1.
    pub version: u32,
    /// The version that it is the next of.
    pub parent_entry_id: Option<WikiEntryId>,
    /// Who approved it.
    pub approved_by: Option<UserId>,
    /// When it was approved.
    pub approved_at: Option<DateTime<Utc>>,
    /// Why it was turned down.
    pub rejection_reason: Option<String>,
    /// How often it was read, by what the log has counted.
    pub view_count: u64,
    /// When it was read last.
    pub last_viewed_at: Option<DateTime<Utc>>,
    /// Since when it exists.
    pub created_at: DateTime<Utc>,
    /// When it last changed; being read is no change.
    pub updated_at: DateTime<Utc>,
}

/// That an entry has a tag.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Tagged {
    entry_id: WikiEntryId,
    tag: String,
}

/// The entry that the facts of its stream make.
pub fn as_of(facts: &[Fact]) -> Result<Option<WikiEntryView>, Poison> {
    fold::subject_of(&Wiki, facts)
}

/// Folds the facts of wiki entries.
#[derive(Debug, Clone, Copy)]
pub struct Wiki;

impl Projection for Wiki {
    fn name(&self) -> &str {
        NAME
    }

    fn version(&self) -> i64 {
        1
    }

    fn reads(&self) -> Reads {
        Reads::Only(&[WIKI])
    }

    fn tables(&self) -> Vec<Table> {
        vec![entries(), tags()]
    }

    fn touches(&self, fact: &Fact) -> Vec<RowKey> {
        vec![RowKey::of::<WikiEntryView>(fact.subject)]
    }

    fn apply(&self, fact: &Fact, rows: &mut Rows) -> Result<(), FoldError> {
        let FactOf::Wiki(event) = &fact.of else { return Ok(()) };
        let mut update = |change: &dyn Fn(&mut WikiEntryView)| rows.update(fact.subject, |row| change(row));
        match event {
            WikiEvent::WikiEntryProposed { .. } => propose(event.clone(), rows),
            WikiEvent::WikiEntryApproved { approved_by, approved_at } => update(&|row| {
                row.status = WikiEntryStatus::Approved;
                row.is_current = true;
                row.approved_by = Some(*approved_by);
                row.approved_at = Some(*approved_at);
                row.updated_at = *approved_at;
            })?,
            WikiEvent::WikiEntryRejected { rejected_by: _, reason, rejected_at } => update(&|row| {
                row.status = WikiEntryStatus::Rejected;
                row.rejection_reason = Some(reason.clone());
                row.updated_at = *rejected_at;
            })?,
            WikiEvent::WikiEntrySuperseded { by_entry_id: _, superseded_at } => update(&|row| {
                row.is_current = false;
                row.updated_at = *superseded_at;
            })?,
            WikiEvent::WikiViewsCounted { views, last_viewed_at } => update(&|row| {
                row.view_count += views;
                // Nodes count for themselves, and one may tell of an earlier view after another.
                row.last_viewed_at = row.last_viewed_at.max(Some(*last_viewed_at));
            })?,
        }
        Ok(())
    }
}

fn propose(event: WikiEvent, rows: &mut Rows) {
    let WikiEvent::WikiEntryProposed {
        entry_id,
        workspace_id,
        project_id,
        proposed_by,
        title,
        slug,
        content,
        tags,
        version,
        parent_entry_id,
        proposed_at,
    } = event
    else {
        return;
    };
    for tag in &tags {
        rows.put(Tagged { entry_id, tag: tag.clone() });
    }
    rows.put(WikiEntryView {
        id: entry_id,
        workspace_id,
        project_id,
        proposed_by_agent_id: match proposed_by {
            Author::Agent(id) => Some(id),
            Author::User(_) => None,
        },
        status: WikiEntryStatus::PendingApproval,
        is_current: false,
        title,
        slug,
        content,
        tags,
        version,
        parent_entry_id,
        approved_by: None,
        approved_at: None,
        rejection_reason: None,
        view_count: 0,
        last_viewed_at: None,
        created_at: proposed_at,
        updated_at: proposed_at,
    });
}

/// The table of entries. The three columns of words tell where a word is: in the title; there or in the tags; anywhere.
fn entries() -> Table {
    Describe::table(WikiEntryView::TABLE)
        .key("id", Holds::Text)
        .required("workspace_id", Holds::Text)
        .optional("project_id", Holds::Text)
        .required("status", Holds::Text)
        .required("current", Holds::Int)
        .required("created_at", Holds::Int)
        .optional("parent_entry_id", Holds::Text)
        .required("title_words", Holds::Text)
        .required("heading_words", Holds::Text)
        .full_text("words")
        .index(&["workspace_id", "project_id", "created_at"])
        .index(&["parent_entry_id"])
        .finish()
}

fn tags() -> Table {
    Describe::table(Tagged::TABLE).key("entry_id", Holds::Text).key("tag", Holds::Text).index(&["tag"]).finish()
}

impl Record for WikiEntryView {
    const TABLE: &'static str = "wiki_entries";

    fn key(&self) -> Key {
        self.id.0.into()
    }

    fn columns(&self) -> Vec<Value> {
        let heading = || self.tags.iter().chain([&self.title]).map(String::as_str);
        vec![
            self.workspace_id.0.into(),
            self.project_id.map(|it| it.0).into(),
            status_name(self.status).into(),
            self.is_current.into(),
            self.created_at.timestamp_micros().into(),
            self.parent_entry_id.map(|it| it.0).into(),
            Words::of(&self.title).text().into(),
            Words::of_all(heading()).text().into(),
            Words::of_all(heading().chain([self.content.as_str()])).text().into(),
        ]
    }
}

impl Record for Tagged {
    const TABLE: &'static str = "wiki_tags";

    fn key(&self) -> Key {
        Key(vec![KeyPart::Id(self.entry_id.0), KeyPart::text(self.tag.clone())])
    }

    fn columns(&self) -> Vec<Value> {
        vec![]
    }
}

/// The status as it is stored and shown.
pub(crate) fn status_name(status: WikiEntryStatus) -> &'static str {
    match status {
        WikiEntryStatus::PendingApproval => "pending_approval",
        WikiEntryStatus::Approved => "approved",
        WikiEntryStatus::Rejected => "rejected",
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;
    use crate::examples::{at, facts, wiki, wiki_proposed};
    use crate::fold_stream;

    fn after(events: Vec<WikiEvent>) -> WikiEntryView {
        let history = std::iter::once(wiki_proposed()).chain(events.into_iter().map(wiki));
        as_of(&facts(history)).expect("no poison").expect("an entry")
    }

    fn approved() -> WikiEvent {
        WikiEvent::WikiEntryApproved { approved_by: UserId(Uuid::from_u128(9)), approved_at: at(2) }
    }

    fn counted(views: u64, minute: i64) -> WikiEvent {
        WikiEvent::WikiViewsCounted { views, last_viewed_at: at(minute) }
    }

    #[test]
    fn an_approved_version_is_the_current_one_until_the_next_is() {
        let entry = after(vec![approved()]);
        assert_eq!((entry.status, entry.is_current, entry.updated_at), (WikiEntryStatus::Approved, true, at(2)));
        let by_entry_id = WikiEntryId(Uuid::from_u128(71));
        let entry = after(vec![approved(), WikiEvent::WikiEntrySuperseded { by_entry_id, superseded_at: at(3) }]);
        assert_eq!((entry.status, entry.is_current, entry.updated_at), (WikiEntryStatus::Approved, false, at(3)));
    }

    #[test]
    fn views_add_up_and_change_nothing_else() {
        let entry = after(vec![counted(3, 8), counted(2, 7)]);
        assert_eq!((entry.view_count, entry.last_viewed_at, entry.updated_at), (5, Some(at(8)), at(0)));
    }

    #[test]
    fn every_tag_of_an_entry_is_a_row() {
        let changes = fold_stream(&Wiki, &facts([wiki_proposed()])).expect("no poison").changes().expect("changes");
        assert_eq!(changes.writes["wiki_tags"].len(), 2);
    }

    #[test]
    fn words_are_kept_by_where_they_are() {
        let columns = after(vec![]).columns();
        let words = ["locks", "locks rust sync", "avoid locks rust sync them"].map(Value::from);
        assert_eq!(columns[6..], words);
    }
}
