//! Workspaces as their owners see them.

use chrono::{DateTime, Utc};
use domain::workspace::WorkspaceEvent;
use domain::{Settings, Slug, UserId, WorkspaceId};
use serde::{Deserialize, Serialize};
use store::StoreError;
use store::sql::{Database, Holds, Query, Table, Value};

use crate::fact::WORKSPACE;
use crate::query::{first, page, records};
use crate::rows::assign;
use crate::{Describe, Fact, FactOf, FoldError, Key, Poison, Projection, Reads, Record, RowKey, Rows, fold};

/// The projection's name.
pub const NAME: &str = "workspaces";

/// A workspace.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WorkspaceView {
    /// Which workspace it is.
    pub id: WorkspaceId,
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
    /// Since when it exists.
    pub created_at: DateTime<Utc>,
    /// Since when its text is kept under a key of its own, if it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text_sealed_at: Option<DateTime<Utc>>,
    /// When its text was last erased, if it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text_erased_at: Option<DateTime<Utc>>,
    /// When it last changed.
    pub updated_at: DateTime<Utc>,
    /// Since when it is out of use, if it is.
    pub deleted_at: Option<DateTime<Utc>>,
}

/// A workspace, in use or not.
pub async fn find(views: &Database, id: WorkspaceId) -> Result<Option<WorkspaceView>, StoreError> {
    first(views, Query::new("select doc from workspaces where id = $1").bind(id.0)).await
}

/// The workspaces of a user, newest first.
pub async fn list_owned(
    views: &Database,
    owner: UserId,
    include_deleted: bool,
    limit: i64,
    offset: i64,
) -> Result<Vec<WorkspaceView>, StoreError> {
    let query = Query::new(
        "select doc
         from workspaces
         where owner_id = $1 and deleted <= $2
         order by created_at desc, id desc",
    )
    .bind(owner.0)
    .bind(include_deleted);
    records(views, page(query, limit, offset)).await
}

/// The workspace that the facts of its stream make.
pub fn as_of(facts: &[Fact]) -> Result<Option<WorkspaceView>, Poison> {
    fold::subject_of(&Workspaces, facts)
}

/// Folds the facts of workspaces.
#[derive(Debug, Clone, Copy)]
pub struct Workspaces;

impl Projection for Workspaces {
    fn name(&self) -> &str {
        NAME
    }

    fn version(&self) -> i64 {
        1
    }

    fn reads(&self) -> Reads {
        Reads::Only(&[WORKSPACE])
    }

    fn tables(&self) -> Vec<Table> {
        let table = Describe::table(WorkspaceView::TABLE)
            .key("id", Holds::Text)
            .required("owner_id", Holds::Text)
            .required("created_at", Holds::Int)
            .required("deleted", Holds::Int)
            .index(&["owner_id", "created_at"]);
        vec![table.finish()]
    }

    fn touches(&self, fact: &Fact) -> Vec<RowKey> {
        vec![RowKey::of::<WorkspaceView>(fact.subject)]
    }

    fn apply(&self, fact: &Fact, rows: &mut Rows) -> Result<(), FoldError> {
        let FactOf::Workspace(event) = &fact.of else { return Ok(()) };
        match event.clone() {
            WorkspaceEvent::WorkspaceCreated {
                workspace_id,
                owner_id,
                name,
                slug,
                description,
                settings,
                created_at,
            } => rows.put(WorkspaceView {
                id: workspace_id,
                owner_id,
                name,
                slug,
                description,
                settings,
                created_at,
                text_sealed_at: None,
                text_erased_at: None,
                updated_at: created_at,
                deleted_at: None,
            }),
            WorkspaceEvent::WorkspaceDetailsChanged { name, slug, description, settings, changed_at } => {
                rows.update(fact.subject, |row: &mut WorkspaceView| {
                    assign(&mut row.name, name);
                    assign(&mut row.slug, slug);
                    assign(&mut row.description, description.map(Some));
                    assign(&mut row.settings, settings);
                    row.updated_at = changed_at;
                })?;
            }
            WorkspaceEvent::WorkspaceDeleted { deleted_at } => {
                rows.update(fact.subject, |row: &mut WorkspaceView| {
                    row.updated_at = deleted_at;
                    row.deleted_at = Some(deleted_at);
                })?;
            }
            WorkspaceEvent::WorkspaceTextSealed { sealed_at } => {
                rows.update(fact.subject, |row: &mut WorkspaceView| {
                    row.updated_at = sealed_at;
                    row.text_sealed_at = Some(sealed_at);
                })?;
            }
            // Nothing that anybody said of the workspace is new.
            WorkspaceEvent::WorkspaceTextErased { erased_at } => {
                rows.update(fact.subject, |row: &mut WorkspaceView| row.text_erased_at = Some(erased_at))?;
            }
        }
        Ok(())
    }
}

impl Record for WorkspaceView {
    const TABLE: &'static str = "workspaces";

    fn key(&self) -> Key {
        self.id.into()
    }

    fn columns(&self) -> Vec<Value> {
        vec![self.owner_id.0.into(), self.created_at.timestamp_micros().into(), self.deleted_at.is_some().into()]
    }
}
