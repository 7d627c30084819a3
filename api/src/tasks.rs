//! Tasks: routes, and the bodies that go in and out.

mod bodies;

use std::sync::Arc;

use aide::axum::ApiRouter;
use aide::axum::routing::{get_with, post_with, put_with};
use axum::extract::State;
use commands::Done;
use commands::task::{self as command, Given, Move, MoveTask};
use domain::session;
use domain::{AgentId, EpicId, ProjectId, SessionId, TaskId, task};
use projections::tasks::{self, Filter, TaskView};
use projections::{agents, projects, timeline, workspaces};
use uuid::Uuid;

pub(crate) use bodies::TaskBody;
use bodies::{
    AssignTask, BlockTask, CompleteTask, CreateTask, GetTask, GivenTask, ListTasks, ManyTasks, OneTask, StartTask,
    TaskDetails, UpdateTask,
};

use crate::App;
use crate::answer::{Answer, SeenAt, ShownAt, Warning};
use crate::auth::{AgentCaller, Caller, Owner};
use crate::code::Code;
use crate::error::ApiError;
use crate::input::{Ask, LookBack};
use crate::openapi::route;
use crate::past::Subject;
use crate::workspaces::LONGEST_LIST;

/// How much of what happened to a task is shown with it.
const MOST_EVENTS: i64 = 100;

pub(crate) fn routes() -> ApiRouter<Arc<App>> {
    const LIST: &[Code] =
        &[Code::ProjectNotFound, Code::ProjectAccessDenied, Code::EpicAccessDenied, Code::ToolNotAllowed];
    const GET: &[Code] = &[Code::TaskNotFound, Code::TaskAccessDenied, Code::ToolNotAllowed];
    const CREATE: &[Code] = &[Code::ProjectNotFound, Code::ProjectAccessDenied, Code::TaskAlreadyExists];
    const ASSIGN: &[Code] = &[
        Code::TaskNotFound,
        Code::TaskAccessDenied,
        Code::AgentNotFound,
        Code::AgentAccessDenied,
        Code::AgentInactive,
        Code::TaskInvalidAgentAssignment,
        Code::TaskInvalidTransition,
        Code::TaskInEpic,
    ];
    const MOVE: &[Code] = &[
        Code::TaskNotFound,
        Code::TaskAccessDenied,
        Code::TaskInvalidTransition,
        Code::TaskInEpic,
        Code::SessionNotFound,
        Code::SessionAccessDenied,
        Code::AgentSessionMismatch,
        Code::SessionAlreadyStopped,
    ];
    ApiRouter::new()
        .api_route("/task.list", get_with(list, route("tasks", "A project's tasks, newest first", LIST)))
        .api_route("/task.get", get_with(get, route("tasks", "One task, who has it and what happened to it", GET)))
        .api_route("/task.create", post_with(create, route("tasks", "Add a task to a project's backlog", CREATE)))
        .api_route("/task.update", put_with(update, route("tasks", "Change a task", ASSIGN)))
        .api_route("/task.assign", post_with(assign, route("tasks", "Give a task to an agent", ASSIGN)))
        .api_route("/task.start", post_with(start, route("tasks", "Start the agent's task, or go on with it", MOVE)))
        .api_route("/task.block", post_with(block, route("tasks", "Say what is in the way of the agent's task", MOVE)))
        .api_route("/task.complete", post_with(complete, route("tasks", "Complete the agent's task", MOVE)))
}

async fn list(State(app): State<Arc<App>>, look: LookBack<Caller, ListTasks>) -> SeenAt<ManyTasks> {
    let post = app.admit_to_tool(&look.by, "mcp__epic__list_tasks").await?;
    let about = Subject::Project(look.input.project_id);
    let scene = app.scene(&look, about, &[workspaces::NAME, projects::NAME, tasks::NAME]).await?;
    let mut asked = look.input;
    if let Some(own) = post.and_then(|it| it.epic_id)
        && asked.epic_id.replace(own.0).is_some_and(|it| it != own.0)
    {
        return Err(ApiError::new(Code::EpicAccessDenied, "the epic is out of your reach"));
    }
    let project = scene.project_in_reach(&look.by, ProjectId(asked.project_id)).await?;
    if project.deleted_at.is_some() {
        return Err(ApiError::new(Code::ProjectNotFound, "the project does not exist"));
    }
    let filter = Filter {
        project: project.id,
        status: asked.status.map(Into::into),
        priority: asked.priority.map(Into::into),
        assigned_agent: asked.assigned_agent_id.map(AgentId),
        epic: asked.epic_id.map(EpicId),
    };
    let (limit, offset) = (asked.limit.unwrap_or(LONGEST_LIST), asked.offset.unwrap_or(0));
    let found = tasks::list(&scene.views, &filter, limit, offset).await?;
    Ok(ShownAt::new(&scene, &ManyTasks { tasks: found.into_iter().map(Into::into).collect() }))
}

async fn get(State(app): State<Arc<App>>, look: LookBack<Caller, GetTask>) -> SeenAt<TaskDetails> {
    let read_models = [workspaces::NAME, agents::NAME, tasks::NAME, timeline::NAME];
    let scene = app.scene(&look, Subject::Task(look.input.id), &read_models).await?;
    let task = scene.task_in_reach(&look.by, TaskId(look.input.id)).await?;
    let assigned_agent = match task.assigned_agent_id {
        Some(id) => agents::find(&scene.views, id).await?.map(Into::into),
        None => None,
    };
    let events = app.entries(timeline::about_task(&scene.views, task.id, MOST_EVENTS).await?).await?;
    Ok(ShownAt::new(&scene, &TaskDetails { task: task.into(), assigned_agent, events }))
}

async fn create(
    State(app): State<Arc<App>>,
    Ask { by, input, context }: Ask<Owner, CreateTask>,
) -> Result<Answer<OneTask>, ApiError> {
    let create = command::CreateTask {
        by: by.user_id,
        task_id: TaskId(Uuid::now_v7()),
        project_id: ProjectId(input.project_id),
        github_issue: input.github_issue(),
        title: input.title,
        description: input.description,
        priority: input.priority.map(Into::into),
        deadline: input.deadline,
        success_criteria: input.success_criteria.unwrap_or_default(),
        metadata: input.metadata.unwrap_or_default(),
    };
    let done = app.run(&context, &create).await?;
    one_task(&app, &done).await
}

async fn update(
    State(app): State<Arc<App>>,
    Ask { by, input, context }: Ask<Owner, UpdateTask>,
) -> Result<Answer<GivenTask>, ApiError> {
    let change = task::ChangeTask {
        by: by.user_id,
        title: input.title,
        description: input.description,
        priority: input.priority.map(Into::into),
        deadline: input.deadline,
        success_criteria: input.success_criteria,
        metadata: input.metadata,
        agent: None,
        status: input.status.map(Into::into),
        now: context.now,
    };
    let agent_id = input.assigned_agent_id.map(AgentId);
    let done = app.run(&context, &command::ChangeTask { task_id: TaskId(input.id), agent_id, change }).await?;
    given_task(&app, &done).await
}

async fn assign(
    State(app): State<Arc<App>>,
    Ask { by, input, context }: Ask<Owner, AssignTask>,
) -> Result<Answer<GivenTask>, ApiError> {
    let (task_id, agent_id) = (TaskId(input.task_id), AgentId(input.agent_id));
    let done = app.run(&context, &command::AssignTask { by: by.user_id, task_id, agent_id }).await?;
    given_task(&app, &done).await
}

async fn start(
    State(app): State<Arc<App>>,
    Ask { by, input, context }: Ask<AgentCaller, StartTask>,
) -> Result<Answer<OneTask>, ApiError> {
    let moved = moved(&by, input.task_id, input.session_id, Move::Start);
    let done = app.run(&context, &moved).await?;
    one_task(&app, &done).await
}

async fn block(
    State(app): State<Arc<App>>,
    Ask { by, input, context }: Ask<AgentCaller, BlockTask>,
) -> Result<Answer<OneTask>, ApiError> {
    let BlockTask { task_id, session_id, blocker, severity, requires_attention } = input;
    let to = Move::Block { blocker, severity: severity.into(), requires_attention };
    let done = app.run(&context, &moved(&by, task_id, session_id, to)).await?;
    one_task(&app, &done).await
}

async fn complete(
    State(app): State<Arc<App>>,
    Ask { by, input, context }: Ask<AgentCaller, CompleteTask>,
) -> Result<Answer<OneTask>, ApiError> {
    let to = Move::Complete { success_criteria_met: input.success_criteria_met.unwrap_or_default() };
    let done = app.run(&context, &moved(&by, input.task_id, input.session_id, to)).await?;
    one_task(&app, &done).await
}

fn moved(by: &AgentCaller, task_id: Uuid, session_id: Option<Uuid>, to: Move) -> MoveTask {
    let by = session::Caller { agent_id: by.agent_id, workspace_id: by.workspace_id };
    MoveTask { by, task_id: TaskId(task_id), session_id: session_id.map(SessionId), to }
}

async fn one_task(app: &App, done: &Done<TaskId>) -> Result<Answer<OneTask>, ApiError> {
    let shown: Option<TaskView> = app.shown(done, done.outcome.0).await?;
    Ok(Answer::of(done, shown.map(|it| OneTask { task: it.into() })))
}

async fn given_task(app: &App, done: &Done<Given>) -> Result<Answer<GivenTask>, ApiError> {
    let shown: Option<TaskView> = app.shown(done, done.outcome.task_id.0).await?;
    let warnings = Warning::of_probation(done.outcome.agent_on_probation);
    Ok(Answer::of(done, shown.map(|it| GivenTask { task: it.into(), warnings })))
}
