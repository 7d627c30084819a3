//! Queries of the wiki: one version, the versions that follow it, and lists by project, status, tags and words.
//!
//! A search finds the entries that have **every** word of the question, each in the title, in a tag or in the content.
//! First come those whose title has all of the words, then those whose title and tags together have them, then the rest;
//! within each of these the newest first. A question without any word asks for nothing in particular and finds all.

use domain::wiki::WikiEntryStatus;
use domain::{ProjectId, WikiEntryId, WorkspaceId};
use store::StoreError;
use store::sql::{Database, Query, Words};

use super::{WikiEntryView, entries, status_name};
use crate::query::{Conditions, first, page, records};

/// The most entries that a list gives at a time.
pub const LONGEST_LIST: i64 = 100;

/// Which entries to list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Filter {
    /// Of this workspace.
    pub workspace: WorkspaceId,
    /// Of this project's wiki; of the whole workspace's without.
    pub project: Option<ProjectId>,
    /// Only those of this status; of approved ones, only those that are current.
    pub status: WikiEntryStatus,
    /// Only those that have all of these tags.
    pub tags: Vec<String>,
    /// Only those that have all of these words.
    pub search: Words,
}

/// One version of an entry.
pub async fn find(views: &Database, id: WikiEntryId) -> Result<Option<WikiEntryView>, StoreError> {
    first(views, Query::new("select doc from wiki_entries where id = $1").bind(id.0)).await
}

/// The versions that were proposed as the next of one, newest first.
pub async fn children(views: &Database, id: WikiEntryId, limit: i64) -> Result<Vec<WikiEntryView>, StoreError> {
    let query = Query::new(
        "select doc
         from wiki_entries
         where parent_entry_id = $1
         order by created_at desc, id desc",
    );
    records(views, page(query.bind(id.0), limit.min(LONGEST_LIST), 0)).await
}

/// The entries that are asked for: those that fit a search best first, and the newest of those that fit it alike.
pub async fn list(
    views: &Database,
    filter: &Filter,
    limit: i64,
    offset: i64,
) -> Result<Vec<WikiEntryView>, StoreError> {
    let mut conditions = Conditions::default()
        .and("workspace_id =", Some(filter.workspace.0))
        .and("status =", Some(status_name(filter.status)))
        .and("current =", (filter.status == WikiEntryStatus::Approved).then_some(true));
    conditions = match filter.project {
        Some(project) => conditions.and("project_id =", Some(project.0)),
        None => conditions.and_that("project_id is null"),
    };
    for tag in &filter.tags {
        let tagged = |place| format!("id in (select entry_id from wiki_tags where tag = ${place})");
        conditions = conditions.and_with(tag, tagged);
    }
    let mut order = "created_at desc, id desc".to_owned();
    if !filter.search.is_empty() {
        let (condition, words) = filter.search.condition(views, &entries(), conditions.params.len() + 1);
        conditions = conditions.and_with(words, |_| condition);
        order = format!("{}, {order}", fit(&filter.search, &mut conditions));
    }
    let query = conditions.query("select doc from wiki_entries", &format!("order by {order}"));
    records(views, page(query, limit.min(LONGEST_LIST), offset)).await
}

/// How well an entry fits: 0 when its title has all the words, 1 when its title and tags together have them, else 2.
fn fit(search: &Words, conditions: &mut Conditions) -> String {
    let mut has: [Vec<String>; 2] = Default::default();
    for word in search.iter() {
        // A word has no character that means something in a pattern.
        conditions.params.push(format!("% {word} %").into());
        let place = conditions.params.len();
        for (column, has) in ["title_words", "heading_words"].iter().zip(&mut has) {
            has.push(format!("' ' || {column} || ' ' like ${place}"));
        }
    }
    let [title, heading] = has.map(|it| it.join(" and "));
    format!("case when {title} then 0 when {heading} then 1 else 2 end")
}
