//! Epics: routes for the humans who write, review and take them, and the review queue.

mod bodies;

use std::sync::Arc;

use aide::axum::ApiRouter;
use aide::axum::routing::{get_with, post_with, put_with};
use axum::extract::State;
use commands::Done;
use commands::factory as command;
use domain::{EpicId, Party, ProjectId, Slug, tools};
use projections::epics::{self, EpicView, Filter};
use projections::tasks::{self, EpicFilter, TaskView};
use projections::{projects, workspaces};
use uuid::Uuid;

use bodies::{
    CompleteEpic, CreateEpic, CreatedEpic, EpicDetails, FailEpic, GetEpic, GetQueue, ListEpics, ManyEpics, OneEpic,
    QueuedReview, RequestEpicChanges, ReviewQueue, TakenEpic, UpdateEpic,
};

pub(crate) use bodies::{LONGEST_DESCRIPTION, LONGEST_TITLE};

use crate::App;
use crate::answer::{Answer, SeenAt, ShownAt, Warning};
use crate::auth::{Caller, Owner};
use crate::code::Code;
use crate::error::{ApiError, BadField};
use crate::input::{Ask, LookBack};
use crate::mcp::Posting;
use crate::openapi::route;
use crate::past::{Scene, Subject};

/// The most epics, tasks of an epic, or pull requests that one answer has.
const PAGE: i64 = 100;

pub(crate) fn routes() -> ApiRouter<Arc<App>> {
    const LIST: &[Code] = &[Code::ProjectNotFound, Code::ProjectAccessDenied, Code::ToolNotAllowed];
    const GET: &[Code] = &[Code::EpicNotFound, Code::EpicAccessDenied, Code::ToolNotAllowed];
    const CREATE: &[Code] = &[Code::ProjectNotFound, Code::ProjectAccessDenied];
    const UPDATE: &[Code] = &[Code::EpicNotFound, Code::EpicAccessDenied, Code::EpicNotInProgress];
    const MOVE: &[Code] =
        &[Code::EpicNotFound, Code::EpicAccessDenied, Code::EpicInvalidStateTransition, Code::ErrandUnderway];
    ApiRouter::new()
        .api_route("/epic.list", get_with(list, route("epics", "A project's epics, newest first", LIST)))
        .api_route("/epic.get", get_with(get, route("epics", "One epic with its tasks", GET)))
        .api_route("/epic.create", post_with(create, route("epics", "Write an epic for agents to carry out", CREATE)))
        .api_route("/epic.update", put_with(update, route("epics", "Change an epic", UPDATE)))
        .api_route("/epic.complete", post_with(complete, route("epics", "Take an epic", MOVE)))
        .api_route(
            "/epic.requestChanges",
            post_with(request_changes, route("epics", "Send an epic back to its supervisor", MOVE)),
        )
        .api_route("/epic.fail", post_with(fail, route("epics", "Give an epic up", MOVE)))
        .api_route(
            "/review.queue",
            get_with(queue, route("epics", "An epic's pull requests that wait for review", GET)),
        )
}

async fn list(State(app): State<Arc<App>>, look: LookBack<Caller, ListEpics>) -> SeenAt<ManyEpics> {
    let post = app.admit_to_tool(&look.by, "mcp__agent__get_epic").await?;
    let about = Subject::Project(look.input.project_id);
    let scene = app.scene(&look, about, &[workspaces::NAME, projects::NAME, epics::NAME]).await?;
    let asked = look.input;
    let project = scene.project_in_reach(&look.by, ProjectId(asked.project_id)).await?;
    if project.deleted_at.is_some() {
        return Err(ApiError::new(Code::ProjectNotFound, "the project does not exist"));
    }
    let only = post.and_then(|it| it.epic_id);
    let filter = Filter { project: project.id, only, state: asked.state.map(Into::into) };
    let (limit, offset) = (asked.limit.unwrap_or(PAGE), asked.offset.unwrap_or(0));
    let found = epics::list(&scene.views, &filter, limit, offset).await?;
    Ok(ShownAt::new(&scene, &ManyEpics { epics: found.into_iter().map(Into::into).collect() }))
}

async fn get(State(app): State<Arc<App>>, look: LookBack<Caller, GetEpic>) -> SeenAt<EpicDetails> {
    let read_models = [workspaces::NAME, epics::NAME, tasks::NAME];
    let scene = app.scene(&look, Subject::Epic(look.input.id), &read_models).await?;
    let epic = scene.epic_in_reach(&look.by, EpicId(look.input.id)).await?;
    let (limit, offset) = (look.input.limit.unwrap_or(PAGE), look.input.offset.unwrap_or(0));
    let tasks = scene.tasks_in_reach(&look.by, epic.id, limit, offset).await?;
    let tasks = tasks.into_iter().map(Into::into).collect();
    Ok(ShownAt::new(&scene, &EpicDetails { epic: epic.into(), tasks }))
}

async fn queue(State(app): State<Arc<App>>, look: LookBack<Caller, GetQueue>) -> SeenAt<ReviewQueue> {
    app.admit_to_tool(&look.by, "mcp__epic__get_review_queue").await?;
    let read_models = [workspaces::NAME, epics::NAME, tasks::NAME];
    let scene = app.scene(&look, Subject::Epic(look.input.epic_id), &read_models).await?;
    let epic = scene.epic_in_reach(&look.by, EpicId(look.input.epic_id)).await?;
    let (limit, offset) = (look.input.limit.unwrap_or(PAGE), look.input.offset.unwrap_or(0));
    let (limit, offset) = (usize::try_from(limit).unwrap_or(0), usize::try_from(offset).unwrap_or(0));
    let mut queue = Vec::new();
    for it in epic.queue.iter().skip(offset).take(limit) {
        let title = tasks::find(&scene.views, it.task_id).await?.map(|it| it.title).unwrap_or_default();
        let (task_id, pr_url, submitted_at) = (it.task_id.0, it.pr_url.clone(), it.submitted_at);
        queue.push(QueuedReview { task_id, title, pr_url, submitted_at });
    }
    let current_review = epic.queue.first().map(Into::into);
    Ok(ShownAt::new(&scene, &ReviewQueue { queue, current_review, count: epic.queue.len() }))
}

async fn create(
    State(app): State<Arc<App>>,
    Ask { by, input, context }: Ask<Owner, CreateEpic>,
) -> Result<Answer<CreatedEpic>, ApiError> {
    let bench = input.bench.map(Slug::parse).transpose();
    let create = command::CreateEpic {
        by: by.user_id,
        epic_id: EpicId(Uuid::now_v7()),
        project_id: ProjectId(input.project_id),
        bench: bench.map_err(|e| ApiError::validation(vec![BadField::new("bench", e.to_string())]))?,
        title: input.title,
        description: input.description,
        design: input.design.unwrap_or_default(),
    };
    let done = app.run(&context, &create).await?;
    let shown: Option<EpicView> = app.shown(&done, done.outcome.0).await?;
    let created = shown.map(|it| {
        let here = app.settings.bench.as_ref().map(|it| it.name());
        let warnings = Warning::of_bench(&it.bench, here == Some(&it.bench));
        CreatedEpic { epic: it.into(), warnings }
    });
    Ok(Answer::of(&done, created))
}

async fn update(
    State(app): State<Arc<App>>,
    Ask { by, input, context }: Ask<Owner, UpdateEpic>,
) -> Result<Answer<OneEpic>, ApiError> {
    let UpdateEpic { id, title, description, design } = input;
    let change = command::ChangeEpic { by: by.user_id, epic_id: EpicId(id), title, description, design };
    let done = app.run(&context, &change).await?;
    one_epic(&app, &done).await
}

async fn complete(
    State(app): State<Arc<App>>,
    Ask { by, input, context }: Ask<Owner, CompleteEpic>,
) -> Result<Answer<TakenEpic>, ApiError> {
    let (epic_id, merge) = (EpicId(input.id), input.merge.unwrap_or(true));
    let done = app.run(&context, &command::CompleteEpic { by: by.user_id, epic_id, merge }).await?;
    let shown: Option<EpicView> = app.shown(&done, epic_id.0).await?;
    let errand_id = done.outcome.map(|it| it.0);
    Ok(Answer::of(&done, shown.map(|it| TakenEpic { epic: it.into(), errand_id })))
}

async fn request_changes(
    State(app): State<Arc<App>>,
    Ask { by, input, context }: Ask<Owner, RequestEpicChanges>,
) -> Result<Answer<OneEpic>, ApiError> {
    let (epic_id, feedback) = (EpicId(input.id), input.feedback);
    let done = app.run(&context, &command::RequestEpicChanges { by: by.user_id, epic_id, feedback }).await?;
    one_epic(&app, &done).await
}

async fn fail(
    State(app): State<Arc<App>>,
    Ask { by, input, context }: Ask<Owner, FailEpic>,
) -> Result<Answer<OneEpic>, ApiError> {
    let (epic_id, reason) = (EpicId(input.id), input.reason);
    let done = app.run(&context, &command::FailEpic { by: Party::User(by.user_id), epic_id, reason }).await?;
    one_epic(&app, &done).await
}

async fn one_epic(app: &App, done: &Done<EpicId>) -> Result<Answer<OneEpic>, ApiError> {
    let shown: Option<EpicView> = app.shown(done, done.outcome.0).await?;
    Ok(Answer::of(done, shown.map(|it| OneEpic { epic: it.into() })))
}

impl Scene<'_> {
    /// An epic that the caller may look at: of the factory's agents, those that work in it.
    pub(crate) async fn epic_in_reach(&self, by: &Caller, id: EpicId) -> Result<EpicView, ApiError> {
        let post = self.app.admit_to_tool(by, "mcp__agent__get_epic").await?;
        let found = epics::find(&self.views, id).await?;
        let found = found.ok_or_else(|| ApiError::new(Code::EpicNotFound, "the epic does not exist"))?;
        let is_others = post.is_some_and(|it| it.epic_id != Some(id));
        if !is_others && self.app.reaches(by, found.workspace_id, Some(found.project_id)).await? {
            return Ok(found);
        }
        Err(ApiError::new(Code::EpicAccessDenied, "the epic is out of your reach"))
    }

    /// The tasks of an epic that the caller may look at: an agent of the factory that may not list them sees its own.
    async fn tasks_in_reach(
        &self,
        by: &Caller,
        epic: EpicId,
        limit: i64,
        offset: i64,
    ) -> Result<Vec<TaskView>, ApiError> {
        let post = self.app.posting_of_caller(by).await?;
        let is_listed = |it: &Arc<Posting>| tools::permit(it.kind, "mcp__epic__list_tasks").is_ok();
        if post.as_ref().is_none_or(is_listed) {
            return Ok(tasks::of_epic(&self.views, &EpicFilter { epic, state: None }, limit, offset).await?);
        }
        match post.and_then(|it| it.task_id) {
            Some(own) if offset == 0 => Ok(tasks::find(&self.views, own).await?.into_iter().collect()),
            Some(_) | None => Ok(vec![]),
        }
    }
}
