//! Sessions: how agents start, log, speak and stop.

mod bodies;
mod publish;
mod pull;

use std::sync::Arc;

use aide::axum::ApiRouter;
use aide::axum::routing::{get_with, post_with};
use axum::extract::State;
use commands::{Done, session as command};
use domain::session;
use domain::{ProjectId, SessionId, TaskId};
use projections::sessions::{self, SessionView};
use projections::timeline::{self, Filter};
use projections::{Fact, agents, projects, workspaces};
use store::StreamId;
use uuid::Uuid;

pub(crate) use bodies::SessionBody;
use bodies::{
    GetSession, LogSession, OneEvent, SessionDetails, StartSession, StartedSession, StopSession, StoppedSession,
};
use publish::PublishEvent;

use crate::App;
use crate::answer::{Answer, SeenAt, ShownAt};
use crate::auth::{AgentCaller, Caller};
use crate::code::Code;
use crate::entries::Entry;
use crate::error::ApiError;
use crate::input::{Ask, LookBack};
use crate::openapi::route;
use crate::past::Subject;

/// The most events that `session.get` shows; `event.list` has the others.
const EVENTS: i64 = 1_000;

pub(crate) fn routes() -> ApiRouter<Arc<App>> {
    const START: &[Code] = &[
        Code::AgentNotFound,
        Code::AgentInactive,
        Code::AgentHasActiveSession,
        Code::ProjectNotFound,
        Code::ProjectAccessDenied,
    ];
    const WITHIN: &[Code] =
        &[Code::SessionNotFound, Code::SessionAccessDenied, Code::SessionAlreadyStopped, Code::AgentSessionMismatch];
    const PUBLISH: &[Code] = &[
        Code::SessionNotFound,
        Code::SessionAccessDenied,
        Code::SessionAlreadyStopped,
        Code::AgentSessionMismatch,
        Code::AgentNotFound,
        Code::AgentNotOrganizationLevel,
    ];
    const GET: &[Code] = &[Code::SessionNotFound, Code::SessionAccessDenied];
    let start_route = route("sessions", "Begin to work in a project, and pull what is new", START);
    ApiRouter::new()
        .api_route("/session.start", post_with(start, start_route))
        .api_route("/session.log", post_with(log, route("sessions", "Say what the agent is doing", WITHIN)))
        .api_route("/session.stop", post_with(stop, route("sessions", "End the agent's work", WITHIN)))
        .api_route("/session.get", get_with(get, route("sessions", "One session and what happened in it", GET)))
        .api_route("/event.publish", post_with(publish, route("events", "Tell other agents something", PUBLISH)))
}

async fn start(
    State(app): State<Arc<App>>,
    Ask { by, input, context }: Ask<AgentCaller, StartSession>,
) -> Result<Answer<StartedSession>, ApiError> {
    let project_id = ProjectId(input.project_id);
    let pull = app.pull(&by, project_id).await?;
    let start = command::StartSession {
        session_id: SessionId(Uuid::now_v7()),
        agent_id: by.agent_id,
        project_id,
        tasks: pull.tasks.len() as u32,
        messages: pull.messages.len() as u32,
        delivered_up_to: pull.delivered_up_to,
        told: pull.told(),
    };
    let done = app.run(&context, &start).await?;
    Ok(Answer::of(&done, Some(app.started(&done, pull).await?)))
}

async fn log(
    State(app): State<Arc<App>>,
    Ask { by, input, context }: Ask<AgentCaller, LogSession>,
) -> Result<Answer<OneEvent>, ApiError> {
    let LogSession { session_id, message, context: with } = input;
    let session_id = SessionId(session_id);
    let log = command::LogProgress { by: caller(&by), session_id, message, context: with };
    let done = app.run(&context, &log).await?;
    let event = app.entry_in_session(&done).await?;
    Ok(Answer::of(&done, Some(OneEvent { event })))
}

async fn publish(
    State(app): State<Arc<App>>,
    Ask { by, input, context }: Ask<AgentCaller, PublishEvent>,
) -> Result<Answer<OneEvent>, ApiError> {
    let session_id = SessionId(input.session_id);
    let mentions = input.mentions();
    let publish = command::Publish { by: caller(&by), session_id, publication: input.publication()?, mentions };
    let done = app.run(&context, &publish).await?;
    let event = app.entry_in_session(&done).await?;
    Ok(Answer::of(&done, Some(OneEvent { event })))
}

async fn stop(
    State(app): State<Arc<App>>,
    Ask { by, input, context }: Ask<AgentCaller, StopSession>,
) -> Result<Answer<StoppedSession>, ApiError> {
    let stop = command::StopSession {
        by: caller(&by),
        session_id: SessionId(input.session_id),
        tasks_worked_on: input.tasks_worked_on.unwrap_or_default().into_iter().map(TaskId).collect(),
        summary: input.summary,
    };
    let done = app.run(&context, &stop).await?;
    let shown: Option<SessionView> = app.shown(&done, done.outcome.0).await?;
    let kpi_update = app.kpis_after_stop(by.agent_id, done.position).await?;
    Ok(Answer::of(&done, shown.map(|it| StoppedSession { session: it.into(), kpi_update })))
}

async fn get(State(app): State<Arc<App>>, look: LookBack<Caller, GetSession>) -> SeenAt<SessionDetails> {
    let read_models = [workspaces::NAME, projects::NAME, agents::NAME, sessions::NAME, timeline::NAME];
    let scene = app.scene(&look, Subject::Session(look.input.id), &read_models).await?;
    let session = scene.session_in_reach(&look.by, SessionId(look.input.id)).await?;
    let filter = Filter { workspaces: vec![session.workspace_id], session: Some(session.id.0), ..Filter::default() };
    let events = timeline::after(&scene.views, &filter, 0, EVENTS).await?;
    let agent = agents::find(&scene.views, session.agent_id).await?;
    let project = projects::find(&scene.views, session.project_id).await?;
    let (Some(agent), Some(project)) = (agent, project) else {
        return Err(ApiError::fault("a session has no agent or no project"));
    };
    let (agent, project) = (agent.into(), project.into());
    let events = app.entries(events).await?;
    Ok(ShownAt::new(&scene, &SessionDetails { session: session.into(), events, agent, project }))
}

impl App {
    /// The entry of an event of a session, told by the event itself and not by a read model.
    async fn entry_in_session(&self, done: &Done<SessionId>) -> Result<Entry, ApiError> {
        let stored = match done.recorded.last() {
            Some(event) => Some(event.clone()),
            None => self.log.read_at(done.position).await?,
        };
        let stored = stored.ok_or_else(|| ApiError::fault("a command's event is not there"))?;
        let said = Fact::read(stored).map_err(ApiError::fault)?;
        let began = self.beginning_of(done.outcome).await?;
        let entry = timeline::entry_of(&[Fact::clone(&began), said]).map_err(ApiError::fault)?;
        entry.as_ref().map(Entry::from).ok_or_else(|| ApiError::fault("an event of a session has no entry"))
    }

    /// The first event of a session.
    async fn beginning_of(&self, session: SessionId) -> Result<Arc<Fact>, ApiError> {
        if let Some(known) = self.beginnings.get(&session) {
            return Ok(known);
        }
        let stream = StreamId::new(projections::SESSION, session.0);
        let first = self.log.read_stream(&stream, 1, Some(1)).await?.pop();
        let first = first.ok_or_else(|| ApiError::fault("a session has no beginning"))?;
        let fact = Arc::new(Fact::read(first).map_err(ApiError::fault)?);
        self.beginnings.insert(session, fact.clone());
        Ok(fact)
    }
}

fn caller(by: &AgentCaller) -> session::Caller {
    session::Caller { agent_id: by.agent_id, workspace_id: by.workspace_id }
}
