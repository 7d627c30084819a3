//! Projects as people and agents see them.

use chrono::{DateTime, Utc};
use domain::project::ProjectEvent;
use domain::{ProjectId, RepositoryUrl, Slug, WorkspaceId};
use serde::{Deserialize, Serialize};
use store::StoreError;
use store::sql::{Database, Holds, Query, Table, Value};

use crate::fact::PROJECT;
use crate::query::{first, page, records};
use crate::rows::assign;
use crate::{Describe, Fact, FactOf, FoldError, Key, Poison, Projection, Reads, Record, RowKey, Rows, fold};

/// The projection's name.
pub const NAME: &str = "projects";

/// A project.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ProjectView {
    /// Which project it is.
    pub id: ProjectId,
    /// The workspace it belongs to.
    pub workspace_id: WorkspaceId,
    /// What people call it.
    pub name: String,
    /// What URLs call it.
    pub slug: Slug,
    /// What it is for.
    pub description: Option<String>,
    /// Where its code is.
    pub repository_url: Option<RepositoryUrl>,
    /// The GitHub App installation that reports on it.
    pub github_installation_id: Option<i64>,
    /// Where its MVP document is.
    pub mvp_document_url: Option<String>,
    /// Whether it is being worked on.
    pub is_active: bool,
    /// Since when it exists.
    pub created_at: DateTime<Utc>,
    /// When it last changed.
    pub updated_at: DateTime<Utc>,
    /// Since when it is out of use, if it is.
    pub deleted_at: Option<DateTime<Utc>>,
}

/// A project, in use or not.
pub async fn find(views: &Database, id: ProjectId) -> Result<Option<ProjectView>, StoreError> {
    first(views, Query::new("select doc from projects where id = $1").bind(id.0)).await
}

/// The projects of a workspace, newest first.
pub async fn list(
    views: &Database,
    workspace: WorkspaceId,
    include_inactive: bool,
    include_deleted: bool,
    limit: i64,
    offset: i64,
) -> Result<Vec<ProjectView>, StoreError> {
    let query = Query::new(
        "select doc
         from projects
         where workspace_id = $1 and active >= $2 and deleted <= $3
         order by created_at desc, id desc",
    )
    .bind(workspace.0)
    .bind(!include_inactive)
    .bind(include_deleted);
    records(views, page(query, limit, offset)).await
}

/// The project that the facts of its stream make.
pub fn as_of(facts: &[Fact]) -> Result<Option<ProjectView>, Poison> {
    fold::subject_of(&Projects, facts)
}

/// Folds the facts of projects.
#[derive(Debug, Clone, Copy)]
pub struct Projects;

impl Projection for Projects {
    fn name(&self) -> &str {
        NAME
    }

    fn version(&self) -> i64 {
        1
    }

    fn reads(&self) -> Reads {
        Reads::Only(&[PROJECT])
    }

    fn tables(&self) -> Vec<Table> {
        let table = Describe::table(ProjectView::TABLE)
            .key("id", Holds::Text)
            .required("workspace_id", Holds::Text)
            .required("created_at", Holds::Int)
            .required("active", Holds::Int)
            .required("deleted", Holds::Int)
            .index(&["workspace_id", "created_at"]);
        vec![table.finish()]
    }

    fn touches(&self, fact: &Fact) -> Vec<RowKey> {
        vec![RowKey::of::<ProjectView>(fact.subject)]
    }

    fn apply(&self, fact: &Fact, rows: &mut Rows) -> Result<(), FoldError> {
        let FactOf::Project(event) = &fact.of else { return Ok(()) };
        match event.clone() {
            ProjectEvent::ProjectCreated {
                project_id,
                workspace_id,
                name,
                slug,
                description,
                repository_url,
                github_installation_id,
                mvp_document_url,
                is_active,
                created_at,
            } => rows.put(ProjectView {
                id: project_id,
                workspace_id,
                name,
                slug,
                description,
                repository_url,
                github_installation_id,
                mvp_document_url,
                is_active,
                created_at,
                updated_at: created_at,
                deleted_at: None,
            }),
            ProjectEvent::ProjectDetailsChanged {
                name,
                slug,
                description,
                repository_url,
                github_installation_id,
                mvp_document_url,
                is_active,
                changed_at,
            } => {
                rows.update(fact.subject, |row: &mut ProjectView| {
                    assign(&mut row.name, name);
                    assign(&mut row.slug, slug);
                    assign(&mut row.description, description.map(Some));
                    assign(&mut row.repository_url, repository_url.map(Some));
                    assign(&mut row.github_installation_id, github_installation_id.map(Some));
                    assign(&mut row.mvp_document_url, mvp_document_url.map(Some));
                    assign(&mut row.is_active, is_active);
                    row.updated_at = changed_at;
                })?;
            }
            ProjectEvent::ProjectDeleted { deleted_at } => {
                rows.update(fact.subject, |row: &mut ProjectView| {
                    row.updated_at = deleted_at;
                    row.deleted_at = Some(deleted_at);
                })?;
            }
        }
        Ok(())
    }
}

impl Record for ProjectView {
    const TABLE: &'static str = "projects";

    fn key(&self) -> Key {
        self.id.into()
    }

    fn columns(&self) -> Vec<Value> {
        vec![
            self.workspace_id.0.into(),
            self.created_at.timestamp_micros().into(),
            self.is_active.into(),
            self.deleted_at.is_some().into(),
        ]
    }
}
