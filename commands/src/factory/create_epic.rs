//! Gives agents a feature to carry out.

use domain::epic::{self, Epic, EpicCommand};
use domain::project::{Project, ProjectError};
use domain::workspace::{Workspace, WorkspaceError};
use domain::{EpicId, ProjectId, Settings, Slug, UserId};

use crate::{Decision, Desk, Stop};

/// The bench where nobody says otherwise.
const MAIN_BENCH: &str = "main";

/// A new epic.
#[derive(Debug, Clone)]
pub struct CreateEpic {
    /// Who asks.
    pub by: UserId,
    /// The id it gets.
    pub epic_id: EpicId,
    /// The project it becomes part of.
    pub project_id: ProjectId,
    /// The bench that it is built on; the workspace's without.
    pub bench: Option<Slug>,
    /// What it is called.
    pub title: String,
    /// What it is about.
    pub description: String,
    /// How it is to be built, in Markdown.
    pub design: String,
}

impl Decision for CreateEpic {
    type Outcome = EpicId;

    fn name(&self) -> &'static str {
        "epic.create"
    }

    async fn decide(&self, desk: &mut Desk<'_>) -> Result<EpicId, Stop> {
        let project = desk.load::<Project>(self.project_id.0).await?;
        let workspace_id = project.state.live()?.workspace_id;
        let workspace = desk.load::<Workspace>(workspace_id.0).await?;
        workspace.state.admit(self.by).map_err(|refusal| match refusal {
            WorkspaceError::AccessDenied => ProjectError::AccessDenied,
            WorkspaceError::NotFound
            | WorkspaceError::AlreadyExists
            | WorkspaceError::SlugTaken(_)
            | WorkspaceError::NotEmpty
            | WorkspaceError::TextNotSealed => ProjectError::NotFound,
        })?;
        // A project deleted meanwhile must not gain an epic.
        desk.rely_on(&project);
        let create = epic::CreateEpic {
            epic_id: self.epic_id,
            workspace_id,
            project_id: self.project_id,
            bench: self.bench.clone().unwrap_or_else(|| bench_of(workspace.state.live().ok().map(|it| &it.settings))),
            title: self.title.clone(),
            description: self.description.clone(),
            design: self.design.clone(),
            by: self.by,
            now: desk.now(),
        };
        desk.begin::<Epic>(self.epic_id.0, EpicCommand::Create(create)).await?;
        Ok(self.epic_id)
    }
}

/// The bench that a workspace's settings name, or the main one.
pub(super) fn bench_of(settings: Option<&Settings>) -> Slug {
    let named = settings.and_then(|it| it.get("bench")).and_then(|it| it.as_str());
    let named = named.and_then(|it| Slug::parse(it).ok());
    named.unwrap_or_else(|| Slug::parse(MAIN_BENCH).expect("a slug"))
}
