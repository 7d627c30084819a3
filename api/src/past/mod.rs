//! The past, for queries: where one reads, today or as of a moment, and which workspaces it is about.
//!
//! A query that names a moment is answered by its own handler from read models that were built up to there: `kept.rs`
//! builds and keeps them. Who may ask is decided by the rows of today. `served.rs` is a whole server of the past.

mod kept;
mod served;

use domain::{AgentId, EpicId, MailId, ProjectId, SessionId, TaskId, WikiEntryId, WorkspaceId};
use projections::{agents, epics, lineage, mail, projects, sessions, tasks, timeline, wiki, workspaces};
use store::sql::Database;
use store::{Moment, MomentError};
use uuid::Uuid;

pub(crate) use kept::Pasts;
pub(crate) use served::{Served, refuse_commands};

use crate::App;
use crate::auth::{Caller, Principal};
use crate::error::{ApiError, BadField};
use crate::input::LookBack;

/// Where a query reads.
pub(crate) struct Scene<'a> {
    pub(crate) app: &'a App,
    /// The read models, of today or of then.
    pub(crate) views: Database,
    /// The position that they are as of, where they do not move.
    pub(crate) as_of: Option<i64>,
}

/// What a query is about: it decides whose past is built.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Subject {
    Workspace(Uuid),
    Project(Uuid),
    Agent(Uuid),
    Session(Uuid),
    Task(Uuid),
    Epic(Uuid),
    WikiEntry(Uuid),
    Mail(Uuid),
    Event(Uuid),
    /// Everything that the caller may see.
    Reach,
}

impl Scene<'_> {
    /// Whether more may come to these read models.
    pub(crate) fn is_live(&self) -> bool {
        self.as_of.is_none()
    }
}

impl App {
    /// What is served now.
    pub(crate) fn now(&self) -> Scene<'_> {
        Scene { app: self, views: self.views.clone(), as_of: self.past.as_ref().map(|it| it.position) }
    }

    /// Where a query reads: read models that show what it must see, or that show what was there at its moment.
    pub(crate) async fn scene<P: Principal, T>(
        &self,
        look: &LookBack<P, T>,
        subject: Subject,
        read_models: &[&'static str],
    ) -> Result<Scene<'_>, ApiError> {
        self.wait_for_reader(look.by.actor(), look.min_position, read_models).await?;
        let Some(moment) = &look.as_of else { return Ok(self.now()) };
        let position = self.position_of("asOf", moment).await?;
        if look.min_position.is_some_and(|it| it > position) {
            let text = format!("is after asOf, which is position {position}");
            return Err(ApiError::validation(vec![BadField::new("X-Min-Position", text)]));
        }
        let needed = [read_models, &[lineage::NAME]].concat();
        if self.past.is_none() && !self.engine.wait_for(&needed, position, self.settings.patience).await {
            return Err(ApiError::unavailable(format!("position {position} is not shown yet; try again")));
        }
        let Some(about) = self.workspaces_of(&look.by.caller(), subject).await? else {
            // Not there, or not the caller's: what is served today says which, and nobody's past is built for it.
            return Ok(self.now());
        };
        let views = self.pasts.of(self, about, position, read_models).await?;
        Ok(Scene { app: self, views, as_of: Some(position) })
    }

    /// The last position that is shown.
    pub(crate) async fn end(&self) -> Result<i64, ApiError> {
        match &self.past {
            Some(past) => Ok(past.position),
            None => Ok(self.log.head().await?.position),
        }
    }

    /// The position of a moment that a field of a request names.
    pub(crate) async fn position_of(&self, field: &str, moment: &Moment) -> Result<i64, ApiError> {
        let wrong = |text: String| ApiError::validation(vec![BadField::new(field, text)]);
        let position = match self.log.position_at(moment).await {
            Ok(position) => position,
            Err(MomentError::Store(error)) => return Err(error.into()),
            Err(other) => return Err(wrong(other.to_string())),
        };
        match &self.past {
            Some(past) if position > past.position => {
                Err(wrong(format!("is after position {}, up to which this server shows the log", past.position)))
            }
            Some(_) | None => Ok(position),
        }
    }

    /// The workspaces whose events the answer is made of, if the caller may look into them.
    async fn workspaces_of(&self, by: &Caller, subject: Subject) -> Result<Option<Vec<WorkspaceId>>, ApiError> {
        let views = &self.views;
        let found = match subject {
            Subject::Reach => return self.now().workspaces_in_reach(by).await.map(Some),
            Subject::Workspace(id) => workspaces::find(views, WorkspaceId(id)).await?.map(|it| it.id),
            Subject::Project(id) => projects::find(views, ProjectId(id)).await?.map(|it| it.workspace_id),
            Subject::Agent(id) => agents::find(views, AgentId(id)).await?.map(|it| it.workspace_id),
            Subject::Session(id) => sessions::find(views, SessionId(id)).await?.map(|it| it.workspace_id),
            Subject::Task(id) => tasks::find(views, TaskId(id)).await?.map(|it| it.workspace_id),
            Subject::Epic(id) => epics::find(views, EpicId(id)).await?.map(|it| it.workspace_id),
            Subject::WikiEntry(id) => wiki::find(views, WikiEntryId(id)).await?.map(|it| it.workspace_id),
            Subject::Mail(id) => mail::find(views, MailId(id)).await?.map(|it| it.workspace_id),
            Subject::Event(id) => timeline::find(views, id).await?.map(|it| it.workspace_id),
        };
        let Some(workspace) = found else { return Ok(None) };
        let within = match by {
            Caller::Owner(_) => self.reaches(by, workspace, None).await?,
            // Which of its projects an agent may see is decided by the rows that are shown.
            Caller::Agent(agent) => agent.workspace_id == workspace,
        };
        Ok(within.then(|| vec![workspace]))
    }
}
