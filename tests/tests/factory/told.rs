//! Who is told what of an epic: its orchestrator by mail, its owner by mail and notification.

use std::sync::Arc;
use std::time::Duration;

use commands::Executor;
use commands::factory::{AppointSupervisor, FailEpic, SubmitEpic, Verdict};
use domain::agent::Agent;
use domain::errand::WorkResult;
use domain::mail::{Addressee, Mail, MailEvent, Sender};
use domain::notification_settings::Preferences;
use domain::post::Profiles;
use domain::{AgentId, Party};
use muster_tests::both_stores;
use muster_tests::fleet::new;
use muster_tests::stores::Bench;
use projections::{Engine, notifications};
use reactors::overdue::Overdue;
use reactors::{HandOnReportsOnAgentRelieved, RaiseNotificationsOnNews, Reactor, Runner};

use crate::floor::{Floor, PATIENCE, at, create_epic, decoded};
use crate::health::dead;

both_stores! {
    the_orchestrator_hears_of_new_epics_of_those_in_review_and_of_those_that_failed,
    an_epic_that_is_submitted_says_which_of_its_tasks_failed,
    of_tasks_that_fall_with_their_epic_nobody_is_notified,
    supervisors_report_to_whoever_is_the_orchestrator,
    of_agents_that_no_bench_starts_people_are_told_once,
}

/// Lets a reactor see everything there is, and what comes of it.
async fn react(floor: &Floor, reactor: Arc<dyn Reactor>) {
    let (log, views) = (floor.bench.log(), floor.views().clone());
    let engine = Arc::new(Engine::start(log.clone(), views.clone(), projections::all(), Default::default()));
    let executor = floor.fleet.elsewhere(log.clone()).executor;
    let name = reactor.name();
    let runner = Runner::start(vec![reactor], executor, views, engine.clone());
    let mut seen = 0;
    while seen < log.head().await.unwrap().position {
        seen = log.head().await.unwrap().position;
        assert!(runner.wait_for(name, seen, PATIENCE).await, "{:?}", runner.status());
    }
    assert!(engine.wait_for(&[notifications::NAME], seen, PATIENCE).await);
    runner.shutdown().await;
    engine.shutdown().await;
}

/// What the owner was notified of, oldest first: title and message.
async fn notified(floor: &Floor) -> Vec<(String, String)> {
    react(floor, Arc::new(RaiseNotificationsOnNews { everybody: Preferences::default() })).await;
    let mut listed = notifications::list(floor.views(), floor.fleet.owner, None, None, 100).await.unwrap();
    listed.reverse();
    listed.into_iter().map(|it| (it.title, it.message)).collect()
}

/// The mails to an agent, or to people: who wrote, subject and body.
async fn mails_to(floor: &Floor, agent: Option<AgentId>) -> Vec<(Sender, String, String)> {
    let events = floor.bench.everything().await;
    let mails = events.iter().filter(|it| it.event_type == "MailSent").map(decoded::<Mail>);
    let mut found = Vec::new();
    for mail in mails {
        let MailEvent::MailSent { from, to, subject, body, .. } = mail else { continue };
        let addressee = match to {
            Addressee::Agent { agent_id, .. } => Some(agent_id),
            Addressee::Human => None,
        };
        if addressee == agent {
            found.push((from, subject, body));
        }
    }
    found
}

/// One task merged, one that failed, and the epic submitted.
async fn submitted_with_a_failed_task(floor: &Floor) {
    let (done, _) = floor.submitted("Baskets").await;
    floor.merges(done).await;
    let (_, mut worker) = floor.begun("Tills").await;
    while let Verdict::Recovered { successor } = floor.system(&dead(worker)).await.unwrap() {
        worker = successor;
    }
    let submit = SubmitEpic { by: floor.supervisor, title: "A shop".to_owned(), description: String::new() };
    let errand = floor.agent(floor.supervisor, &submit).await.unwrap();
    floor
        .finish(errand, WorkResult::EpicPullRequestOpened { pr_url: "local://epic".to_owned(), head: None })
        .await
        .unwrap();
}

async fn the_orchestrator_hears_of_new_epics_of_those_in_review_and_of_those_that_failed(bench: Bench) {
    let floor = Floor::open(bench).await;
    let orchestrator = floor.orchestrator().await;
    submitted_with_a_failed_task(&floor).await;
    let epic = new();
    floor.human(&create_epic(&floor, epic)).await.unwrap();
    let appoint = AppointSupervisor { by: None, epic_id: epic, profiles: Profiles::default() };
    let supervisor = floor.system(&appoint).await.unwrap().agent_id;
    floor.system(&appoint).await.unwrap();
    let (owner, reason) = (floor.fleet.owner, "No shop".to_owned());
    floor.human(&FailEpic { by: Party::User(owner), epic_id: epic, reason }).await.unwrap();
    let told = mails_to(&floor, Some(orchestrator)).await;
    let heads: Vec<_> = told.iter().map(|(from, subject, _)| (*from, subject.as_str())).collect();
    let wanted = [
        (Sender::Agent(floor.supervisor), "Epic complete: Shopping"),
        (Sender::User(owner), "New epic: Shopping"),
        (Sender::User(owner), "Epic failed: Shopping"),
    ];
    assert_eq!(heads, wanted);
    assert!(told[1].2.contains(&epic.to_string()) && told[1].2.contains(&supervisor.to_string()), "{}", told[1].2);
    assert!(told[2].2.contains("No shop"));
}

async fn an_epic_that_is_submitted_says_which_of_its_tasks_failed(bench: Bench) {
    let floor = Floor::open(bench).await;
    submitted_with_a_failed_task(&floor).await;
    let (_, subject, body) = mails_to(&floor, None).await.pop().unwrap();
    assert_eq!(subject, "Epic complete: Shopping");
    assert_eq!(
        body,
        "Epic complete, PR: local://epic\n\nNot all of it: these tasks failed and are not part of it.\n- Tills"
    );
    let (title, message) = notified(&floor).await.pop().unwrap();
    assert_eq!(title, "Epic Ready, Tasks Failed: Shopping");
    let wanted =
        "⚠️ Not all tasks completed for 'Shopping'\nFailed: Tills\nEpic PR: local://epic\nReady for your review";
    assert_eq!(message, wanted);
}

async fn of_tasks_that_fall_with_their_epic_nobody_is_notified(bench: Bench) {
    let floor = Floor::open(bench).await;
    let (_, mut worker) = floor.begun("Tills").await;
    while let Verdict::Recovered { successor } = floor.system(&dead(worker)).await.unwrap() {
        worker = successor;
    }
    floor.begun("Baskets").await;
    floor.task("Shelves").await;
    let (by, reason) = (Party::User(floor.fleet.owner), "No shop".to_owned());
    floor.human(&FailEpic { by, epic_id: floor.epic, reason }).await.unwrap();
    assert_eq!(floor.count("TaskFailed").await, 3);
    let titles: Vec<_> = notified(&floor).await.into_iter().map(|it| it.0).collect();
    assert_eq!(titles, ["Task Failed: Tills"], "it failed before, and by itself");
}

async fn supervisors_report_to_whoever_is_the_orchestrator(bench: Bench) {
    let floor = Floor::open(bench).await;
    let orchestrator = floor.orchestrator().await;
    let above = async |agent: AgentId| floor.folded::<Agent>(agent.0).await.live().unwrap().supervisor_agent_id;
    let Verdict::Recovered { successor } = floor.system(&dead(floor.supervisor)).await.unwrap() else {
        panic!("no successor")
    };
    assert_eq!(above(successor).await, Some(orchestrator));
    let Verdict::Recovered { successor: next } = floor.system(&dead(orchestrator)).await.unwrap() else {
        panic!("no successor")
    };
    react(&floor, Arc::new(HandOnReportsOnAgentRelieved)).await;
    assert_eq!(above(successor).await, Some(next));
    assert_eq!(above(floor.supervisor).await, None, "whoever is gone stays as it was");
}

async fn of_agents_that_no_bench_starts_people_are_told_once(bench: Bench) {
    let floor = Floor::open(bench).await;
    // Launched, so it waits for nobody.
    let launched = floor.worker(floor.task("Baskets").await).await.launch.unwrap();
    floor.finish(launched, WorkResult::Launched { started: true }).await.unwrap();
    floor.worker(floor.task("Tills").await).await;
    let engine = Engine::start(floor.bench.log(), floor.views().clone(), projections::all(), Default::default());
    let engine = Arc::new(engine);
    let node = || Overdue {
        executor: Arc::new(Executor::new(floor.bench.log())),
        views: floor.views().clone(),
        engine: engine.clone(),
        longest_call: Duration::from_secs(60),
        longest_launch: Duration::from_secs(5 * 60),
    };
    floor.bench.clock.set(at(5));
    node().look().await.unwrap();
    assert_eq!(mails_to(&floor, None).await, []);
    floor.bench.clock.set(at(6));
    let (one, other) = (node(), node());
    let (one, other) = tokio::join!(one.look(), other.look());
    assert_eq!((one, other), (Ok(vec![]), Ok(vec![])));
    node().look().await.unwrap();
    let told = mails_to(&floor, None).await;
    assert_eq!(told.len(), 1, "{told:?}");
    assert_eq!(told[0].1, "Agents wait to be started on bench main");
    assert!(told[0].2.contains("2 agent(s)") && told[0].2.contains("2026-03-01T12:00:00Z"), "{}", told[0].2);
    engine.shutdown().await;
}
