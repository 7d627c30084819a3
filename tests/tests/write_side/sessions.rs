//! Sessions where they meet other streams: one per agent, and a lease that ends with them.

use commands::session::{Publish, StartSession, StopSession};
use commands::{Actor, CommandError, Context, On, Refusal};
use domain::agent::{AgentError, AgentStatus};
use domain::project::{DeleteProject, ProjectCommand, ProjectError};
use domain::session::{
    Caller, LogProgress, Publication, Question, QuestionContext, RevokeSession, Session, SessionCommand, SessionError,
    Urgency,
};
use domain::{AgentId, ProjectId, SessionId, TaskId, WorkspaceId};
use futures_util::future::join_all;
use muster_tests::both_stores;
use muster_tests::fleet::{Fleet, new};
use muster_tests::stores::{Bench, noon};

both_stores! {
    an_agent_has_one_session_even_when_many_start_at_once,
    a_session_that_is_over_takes_nothing,
    a_session_that_ends_meanwhile_takes_nothing_more,
    a_session_that_was_taken_takes_nothing,
    an_agent_deleted_while_it_starts_does_not_work,
    an_agent_set_aside_while_it_starts_does_not_work,
    a_session_starts_in_a_project_that_is_there,
    an_agent_with_a_session_stays,
    only_agents_of_the_workspace_are_mentioned,
    only_tasks_of_the_project_were_worked_on,
}

const ROUNDS: usize = 8;

struct Place {
    fleet: Fleet,
    acme: WorkspaceId,
    shop: ProjectId,
    dev: AgentId,
}

async fn place(bench: &Bench) -> Place {
    let fleet = Fleet::on(bench.log());
    let acme = fleet.workspace("acme").await.unwrap();
    let shop = fleet.project(acme, "shop").await.unwrap();
    let dev = fleet.agent(acme, Some(shop), "dev", None).await.unwrap();
    Place { fleet, acme, shop, dev }
}

impl Place {
    fn context(&self) -> Context {
        Context::new(Actor::Agent(self.dev), noon())
    }

    fn by_dev(&self) -> Caller {
        Caller { agent_id: self.dev, workspace_id: self.acme }
    }

    async fn start(&self) -> Result<SessionId, CommandError> {
        self.start_of(self.dev).await
    }

    async fn start_of(&self, agent_id: AgentId) -> Result<SessionId, CommandError> {
        let (session_id, project_id) = (new(), self.shop);
        let start =
            StartSession { session_id, agent_id, project_id, tasks: 0, messages: 0, delivered_up_to: 0, told: None };
        Ok(self.fleet.executor.run(&self.context(), &start).await?.outcome)
    }

    async fn log(&self, session: SessionId) -> Result<(), CommandError> {
        let log = LogProgress { by: self.by_dev(), message: "Reading".into(), context: None, now: noon() };
        let command = SessionCommand::Log(log);
        let log = On::<Session> { name: "session.log", id: session.0, command };
        self.fleet.executor.run(&self.context(), &log).await.map(drop)
    }

    async fn publish(&self, session_id: SessionId, mentions: Vec<AgentId>) -> Result<(), CommandError> {
        let context = QuestionContext::default();
        let question = Question { question: "Why?".into(), context, urgency: Urgency::Low };
        let publication = Publication::Question(question);
        let publish = Publish { by: self.by_dev(), session_id, publication, mentions };
        self.fleet.executor.run(&self.context(), &publish).await.map(drop)
    }

    async fn stop(&self, session_id: SessionId, tasks_worked_on: Vec<TaskId>) -> Result<(), CommandError> {
        let stop = StopSession { by: self.by_dev(), session_id, tasks_worked_on, summary: None };
        self.fleet.executor.run(&self.context(), &stop).await.map(drop)
    }
}

async fn an_agent_has_one_session_even_when_many_start_at_once(bench: Bench) {
    let place = place(&bench).await;
    let started = join_all((0..16).map(|_| place.start())).await;
    assert_eq!(started.iter().filter(|it| it.is_ok()).count(), 1);
    let active = refused(SessionError::AgentHasActiveSession);
    assert!(started.into_iter().filter_map(Result::err).all(|error| error == active));
}

async fn a_session_that_is_over_takes_nothing(bench: Bench) {
    let place = place(&bench).await;
    let over = place.start().await.unwrap();
    place.stop(over, vec![]).await.unwrap();
    let next = place.start().await.unwrap();
    let before = bench.everything().await;
    let stopped = refused(SessionError::AlreadyStopped);
    assert_eq!(place.log(over).await, Err(stopped.clone()));
    assert_eq!(place.publish(over, vec![]).await, Err(stopped.clone()));
    assert_eq!(place.stop(over, vec![]).await, Err(stopped));
    assert_eq!(bench.everything().await, before);
    place.log(next).await.unwrap();
}

/// Another node still has the session warm and open when it ends here: the append says no, and then the rule does.
async fn a_session_that_ends_meanwhile_takes_nothing_more(bench: Bench) {
    let here = place(&bench).await;
    for _ in 0..ROUNDS {
        let there = Place { fleet: here.fleet.elsewhere(bench.log()), ..here };
        let session = here.start().await.unwrap();
        there.log(session).await.unwrap();
        let (stopped, logged) = tokio::join!(here.stop(session, vec![]), join_all((0..4).map(|_| there.log(session))));
        stopped.unwrap();
        let late = refused(SessionError::AlreadyStopped);
        assert!(logged.into_iter().filter_map(Result::err).all(|error| error == late));
        assert_eq!(there.log(session).await, Err(late.clone()));
        assert_eq!(there.publish(session, vec![]).await, Err(late));
        let events = bench.stream(&store::StreamId::new("session", session.0)).await;
        assert_eq!(events.last().unwrap().event_type, "SessionStopped", "nothing comes after the end");
    }
}

async fn a_session_that_was_taken_takes_nothing(bench: Bench) {
    let place = place(&bench).await;
    let session = place.start().await.unwrap();
    let command = SessionCommand::Revoke(RevokeSession { reason: "no heartbeat".into(), now: noon() });
    let revoke = On::<Session> { name: "session.revoke", id: session.0, command };
    let context = Context::new(Actor::System("recovery"), noon());
    place.fleet.executor.run(&context, &revoke).await.unwrap();
    assert_eq!(place.log(session).await, Err(refused(SessionError::AlreadyStopped)));
    place.start().await.unwrap();
}

async fn an_agent_deleted_while_it_starts_does_not_work(bench: Bench) {
    let place = place(&bench).await;
    for round in 0..ROUNDS {
        let agent = place.fleet.agent(place.acme, None, &format!("agent-{round}"), None).await.unwrap();
        let (started, dismissed) = tokio::join!(place.start_of(agent), place.fleet.dismiss(agent));
        match (started, dismissed) {
            (Ok(_), Err(error)) => assert_eq!(error, refused(AgentError::HasActiveSession)),
            (Err(error), Ok(_)) => assert_eq!(error, refused(AgentError::NotFound)),
            both => panic!("{both:?}"),
        }
    }
}

async fn an_agent_set_aside_while_it_starts_does_not_work(bench: Bench) {
    let place = place(&bench).await;
    place.fleet.set_status(place.dev, AgentStatus::Inactive).await.unwrap();
    assert_eq!(place.start().await, Err(refused(SessionError::AgentInactive(AgentStatus::Inactive))));
    place.fleet.set_status(place.dev, AgentStatus::Probation).await.unwrap();
    place.start().await.unwrap();
}

async fn a_session_starts_in_a_project_that_is_there(bench: Bench) {
    let place = place(&bench).await;
    let lead = place.fleet.agent(place.acme, None, "lead", None).await.unwrap();
    let gone = Place { shop: place.fleet.project(place.acme, "gone").await.unwrap(), ..place };
    let command = ProjectCommand::Delete(DeleteProject { now: noon() });
    let delete = commands::project::ManageProject { by: gone.fleet.owner, project_id: gone.shop, command };
    gone.fleet.executor.run(&gone.fleet.context(), &delete).await.unwrap();
    assert_eq!(gone.start_of(lead).await, Err(refused(ProjectError::NotFound)));
    let elsewhere = gone.fleet.workspace("elsewhere").await.unwrap();
    let foreign = Place { shop: gone.fleet.project(elsewhere, "foreign").await.unwrap(), ..gone };
    assert_eq!(foreign.start_of(lead).await, Err(refused(SessionError::ProjectAccessDenied)));
}

async fn an_agent_with_a_session_stays(bench: Bench) {
    let place = place(&bench).await;
    let session = place.start().await.unwrap();
    assert_eq!(place.fleet.dismiss(place.dev).await, Err(refused(AgentError::HasActiveSession)));
    place.stop(session, vec![]).await.unwrap();
    place.fleet.dismiss(place.dev).await.unwrap();
}

async fn only_agents_of_the_workspace_are_mentioned(bench: Bench) {
    let place = place(&bench).await;
    let elsewhere = place.fleet.workspace("elsewhere").await.unwrap();
    let spy = place.fleet.agent(elsewhere, None, "spy", None).await.unwrap();
    let session = place.start().await.unwrap();
    for unknown in [spy, new()] {
        let refusal = refused(SessionError::UnknownMention(unknown));
        assert_eq!(place.publish(session, vec![place.dev, unknown]).await, Err(refusal));
    }
    place.publish(session, vec![place.dev]).await.unwrap();
}

async fn only_tasks_of_the_project_were_worked_on(bench: Bench) {
    let place = place(&bench).await;
    let site = place.fleet.project(place.acme, "site").await.unwrap();
    let (own, other) = (place.fleet.task(place.shop, None).await.unwrap(), place.fleet.task(site, None).await.unwrap());
    let session = place.start().await.unwrap();
    for unknown in [other, new()] {
        let refusal = refused(SessionError::UnknownTask(unknown));
        assert_eq!(place.stop(session, vec![own, unknown]).await, Err(refusal));
    }
    place.stop(session, vec![own]).await.unwrap();
}

fn refused(refusal: impl Into<Refusal>) -> CommandError {
    CommandError::Refused(refusal.into())
}
