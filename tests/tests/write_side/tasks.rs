//! Tasks where they meet other streams: issues, agents, projects and sessions.

use commands::project::ManageProject;
use commands::task::{ChangeTask, Move, MoveTask};
use commands::{Actor, CommandError, Context, On, Refusal};
use domain::agent::{AgentError, AgentStatus, LiveAgent};
use domain::project::{DeleteProject, ProjectCommand, ProjectError};
use domain::session::{Caller, PulledCounts, Session, SessionCommand, SessionError, StartSession, StopSession};
use domain::task::{self, GithubIssue, TaskError, TaskStatus};
use domain::{AgentCode, AgentId, ProjectId, SessionId, Settings, TaskId, WorkspaceId};
use futures_util::future::join_all;
use muster_tests::both_stores;
use muster_tests::fleet::{Fleet, new};
use muster_tests::stores::{Bench, noon};

both_stores! {
    an_issue_is_one_task_even_when_many_ask_at_once,
    an_issue_that_either_number_names_is_linked,
    an_agent_deleted_while_it_gets_a_task_has_none,
    an_agent_set_aside_while_it_gets_a_task_has_none,
    a_project_deleted_while_it_gains_a_task_has_none,
    an_agent_stays_while_it_has_a_task,
    a_project_stays_while_it_has_a_task,
    a_stranger_does_nothing_with_tasks,
    a_stopped_session_moves_no_task,
    a_session_that_ends_meanwhile_moves_no_task,
    another_session_than_the_agents_own_moves_no_task,
}

const ROUNDS: usize = 12;

/// A workspace with a project, and an agent who works in it.
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

async fn an_issue_is_one_task_even_when_many_ask_at_once(bench: Bench) {
    let Place { fleet, acme, shop, .. } = place(&bench).await;
    let issue = GithubIssue { id: 9001, number: 12 };
    let made = join_all((0..16).map(|_| fleet.task(shop, Some(issue)))).await;
    assert_eq!(made.iter().filter(|it| it.is_ok()).count(), 1);
    let linked = refused(TaskError::AlreadyLinked(issue));
    assert!(made.into_iter().filter_map(Result::err).all(|error| error == linked));
    // Numbers begin anew in another repository.
    let site = fleet.project(acme, "site").await.unwrap();
    fleet.task(site, Some(GithubIssue { id: 9002, number: 12 })).await.unwrap();
}

async fn an_issue_that_either_number_names_is_linked(bench: Bench) {
    let Place { fleet, shop, .. } = place(&bench).await;
    let task = fleet.task(shop, Some(GithubIssue { id: 9001, number: 12 })).await.unwrap();
    set_status(&fleet, task, TaskStatus::Cancelled).await.unwrap();
    for issue in [GithubIssue { id: 9001, number: 13 }, GithubIssue { id: 9002, number: 12 }] {
        assert_eq!(fleet.task(shop, Some(issue)).await, Err(refused(TaskError::AlreadyLinked(issue))));
    }
    fleet.task(shop, Some(GithubIssue { id: 9002, number: 13 })).await.unwrap();
}

async fn an_agent_deleted_while_it_gets_a_task_has_none(bench: Bench) {
    let Place { fleet, acme, shop, .. } = place(&bench).await;
    for n in 0..ROUNDS {
        let agent = fleet.agent(acme, Some(shop), &format!("dev-{n}"), None).await.unwrap();
        let task = fleet.task(shop, None).await.unwrap();
        match tokio::join!(fleet.assign(task, agent), fleet.dismiss(agent)) {
            (Ok(()), gone) => assert_eq!(gone, Err(refused(AgentError::HasAssignedTasks))),
            (given, Ok(_)) => assert_eq!(given, Err(refused(AgentError::NotFound))),
            both => panic!("neither happened: {both:?}"),
        }
    }
}

async fn an_agent_set_aside_while_it_gets_a_task_has_none(bench: Bench) {
    let Place { fleet, acme, shop, .. } = place(&bench).await;
    let elsewhere = fleet.elsewhere(bench.log());
    let agent = fleet.agent(acme, Some(shop), "dev-2", None).await.unwrap();
    let (first, second) = (fleet.task(shop, None).await.unwrap(), fleet.task(shop, None).await.unwrap());
    fleet.assign(first, agent).await.unwrap();
    // This node still believes that the agent may work.
    elsewhere.set_status(agent, AgentStatus::Inactive).await.unwrap();
    assert_eq!(fleet.assign(second, agent).await, Err(refused(TaskError::AgentInactive(AgentStatus::Inactive))));
}

async fn a_project_deleted_while_it_gains_a_task_has_none(bench: Bench) {
    let Place { fleet, acme, .. } = place(&bench).await;
    for n in 0..ROUNDS {
        let project = fleet.project(acme, &format!("project-{n}")).await.unwrap();
        match tokio::join!(fleet.task(project, None), delete_project(&fleet, project)) {
            (Ok(_), gone) => assert_eq!(gone, Err(refused(ProjectError::HasActiveTasks))),
            (made, Ok(())) => assert_eq!(made, Err(refused(ProjectError::NotFound))),
            both => panic!("neither happened: {both:?}"),
        }
    }
}

async fn an_agent_stays_while_it_has_a_task(bench: Bench) {
    let Place { fleet, acme, shop, dev } = place(&bench).await;
    let other = fleet.agent(acme, None, "lead", None).await.unwrap();
    let tasks = [fleet.task(shop, None).await.unwrap(), fleet.task(shop, None).await.unwrap()];
    for task in tasks {
        fleet.assign(task, dev).await.unwrap();
    }
    fleet.assign(tasks[0], other).await.unwrap();
    assert_eq!(fleet.dismiss(dev).await, Err(refused(AgentError::HasAssignedTasks)));
    set_status(&fleet, tasks[1], TaskStatus::Backlog).await.unwrap();
    fleet.dismiss(dev).await.unwrap();
    set_status(&fleet, tasks[0], TaskStatus::Completed).await.unwrap();
    fleet.dismiss(other).await.unwrap();
}

async fn a_project_stays_while_it_has_a_task(bench: Bench) {
    let Place { fleet, acme, .. } = place(&bench).await;
    let site = fleet.project(acme, "site").await.unwrap();
    let task = fleet.task(site, None).await.unwrap();
    assert_eq!(delete_project(&fleet, site).await, Err(refused(ProjectError::HasActiveTasks)));
    set_status(&fleet, task, TaskStatus::Cancelled).await.unwrap();
    delete_project(&fleet, site).await.unwrap();
    assert_eq!(fleet.task(site, None).await, Err(refused(ProjectError::NotFound)));
}

async fn a_stranger_does_nothing_with_tasks(bench: Bench) {
    let Place { fleet, shop, dev, .. } = place(&bench).await;
    let task = fleet.task(shop, None).await.unwrap();
    let stranger = Fleet::on(bench.log());
    let theirs = stranger.workspace("theirs").await.unwrap();
    let spy = stranger.agent(theirs, None, "spy", None).await.unwrap();
    let before = bench.everything().await;
    assert_eq!(stranger.task(shop, None).await, Err(refused(ProjectError::AccessDenied)));
    assert_eq!(stranger.assign(task, spy).await, Err(refused(TaskError::AccessDenied)));
    let cancelled = set_status(&stranger, task, TaskStatus::Cancelled).await;
    assert_eq!(cancelled, Err(refused(TaskError::AccessDenied)));
    assert_eq!(fleet.assign(task, spy).await, Err(refused(AgentError::AccessDenied)));
    assert_eq!(fleet.assign(task, new()).await, Err(refused(AgentError::NotFound)));
    assert_eq!(fleet.assign(new(), dev).await, Err(refused(TaskError::NotFound)));
    assert_eq!(bench.everything().await, before);
}

async fn a_stopped_session_moves_no_task(bench: Bench) {
    let Place { fleet, acme, shop, dev } = place(&bench).await;
    let task = fleet.task(shop, None).await.unwrap();
    fleet.assign(task, dev).await.unwrap();
    let session = start_session(&fleet, acme, shop, dev).await;
    start_task(&fleet, acme, dev, task, Some(session)).await.unwrap();
    stop_session(&fleet, acme, dev, session).await;
    // Also what is so already is refused.
    let over = Err(refused(SessionError::AlreadyStopped));
    assert_eq!(start_task(&fleet, acme, dev, task, Some(session)).await, over);
    start_task(&fleet, acme, dev, task, None).await.unwrap();
}

async fn a_session_that_ends_meanwhile_moves_no_task(bench: Bench) {
    let Place { fleet, acme, shop, dev } = place(&bench).await;
    let task = fleet.task(shop, None).await.unwrap();
    fleet.assign(task, dev).await.unwrap();
    let session = start_session(&fleet, acme, shop, dev).await;
    stop_session(&fleet.elsewhere(bench.log()), acme, dev, session).await;
    // This node still believes in the session; the log does not.
    let before = bench.everything().await;
    let over = Err(refused(TaskError::SessionOver(session)));
    assert_eq!(start_task(&fleet, acme, dev, task, Some(session)).await, over);
    assert_eq!(bench.everything().await, before);
}

async fn another_session_than_the_agents_own_moves_no_task(bench: Bench) {
    let Place { fleet, acme, shop, dev } = place(&bench).await;
    let other = fleet.agent(acme, None, "lead", None).await.unwrap();
    let task = fleet.task(shop, None).await.unwrap();
    fleet.assign(task, dev).await.unwrap();
    let session = start_session(&fleet, acme, shop, other).await;
    assert_eq!(start_task(&fleet, acme, dev, task, Some(session)).await, Err(refused(SessionError::Mismatch)));
    assert_eq!(start_task(&fleet, acme, dev, task, Some(new())).await, Err(refused(SessionError::NotFound)));
    let foreign = start_task(&fleet, new(), dev, task, Some(session)).await;
    assert_eq!(foreign, Err(refused(SessionError::AccessDenied)));
    assert_eq!(start_task(&fleet, acme, other, task, Some(session)).await, Err(refused(TaskError::AccessDenied)));
}

async fn set_status(fleet: &Fleet, task_id: TaskId, status: TaskStatus) -> Result<(), CommandError> {
    let change = task::ChangeTask {
        by: fleet.owner,
        title: None,
        description: None,
        priority: None,
        deadline: None,
        success_criteria: None,
        metadata: None,
        agent: None,
        status: Some(status),
        now: noon(),
    };
    fleet.executor.run(&fleet.context(), &ChangeTask { task_id, agent_id: None, change }).await.map(drop)
}

async fn delete_project(fleet: &Fleet, project_id: ProjectId) -> Result<(), CommandError> {
    let command = ProjectCommand::Delete(DeleteProject { now: noon() });
    fleet.executor.run(&fleet.context(), &ManageProject { by: fleet.owner, project_id, command }).await.map(drop)
}

async fn start_task(
    fleet: &Fleet,
    workspace_id: WorkspaceId,
    agent_id: AgentId,
    task_id: TaskId,
    session_id: Option<SessionId>,
) -> Result<(), CommandError> {
    let by = Caller { agent_id, workspace_id };
    let command = MoveTask { by, task_id, session_id, to: Move::Start };
    fleet.executor.run(&Context::new(Actor::Agent(agent_id), noon()), &command).await.map(drop)
}

async fn start_session(fleet: &Fleet, workspace_id: WorkspaceId, project_id: ProjectId, agent: AgentId) -> SessionId {
    let session_id = new();
    let start = StartSession {
        session_id,
        project_id,
        project_workspace_id: workspace_id,
        agent: self::agent(agent, workspace_id),
        pulled: PulledCounts::default(),
        delivered_up_to: 0,
        now: noon(),
    };
    let command = SessionCommand::Start(start);
    let start = On::<Session> { name: "session.start", id: session_id.0, command };
    fleet.executor.run(&Context::new(Actor::Agent(agent), noon()), &start).await.unwrap();
    session_id
}

async fn stop_session(fleet: &Fleet, workspace_id: WorkspaceId, agent_id: AgentId, session: SessionId) {
    let by = Caller { agent_id, workspace_id };
    let stop = StopSession { by, tasks_worked_on: vec![], summary: None, now: noon() };
    let stop = On::<Session> { name: "session.stop", id: session.0, command: SessionCommand::Stop(stop) };
    fleet.executor.run(&Context::new(Actor::Agent(agent_id), noon()), &stop).await.unwrap();
}

/// As much of an agent as a session looks at.
fn agent(agent_id: AgentId, workspace_id: WorkspaceId) -> LiveAgent {
    LiveAgent {
        agent_id,
        workspace_id,
        project_id: None,
        code: AgentCode::parse("dev").unwrap(),
        name: "dev".to_owned(),
        role_title: "Developer".to_owned(),
        status: AgentStatus::Active,
        capabilities: vec![],
        settings: Settings::new(),
        supervisor_agent_id: None,
        credential_id: new(),
    }
}

fn refused(refusal: impl Into<Refusal>) -> CommandError {
    CommandError::Refused(refusal.into())
}
