//! Health: who is silent is asked, then dead; a worker's successor goes on, until the fifth death.

use commands::factory::{CheckHealth, DeclareDead, UpdateTaskState, Verdict};
use commands::session::StartSession;
use domain::AgentId;
use domain::agent::{Agent, AgentStatus};
use domain::errand::{ErrandError, WorkResult};
use domain::post::{Evidence, HealthRules, PostError, PostState, Profiles};
use domain::session::Session;
use domain::task::TaskState;
use muster_tests::both_stores;
use muster_tests::fleet::new;
use muster_tests::stores::Bench;

use crate::floor::{Floor, at, merged, refused, submit, url};

both_stores! {
    who_is_silent_is_asked_by_mail_and_then_replaced,
    who_lives_and_says_something_is_reported_and_left_alone,
    who_was_relieved_changes_nothing_any_more,
    a_fifth_death_fails_the_task_and_the_human_is_told,
    what_a_dead_worker_asked_for_is_called_off_but_a_merge_goes_on,
    a_supervisor_rests_while_a_human_reviews,
}

pub(crate) fn check(agent_id: AgentId) -> CheckHealth {
    CheckHealth {
        agent_id,
        last_heartbeat: at(0),
        process_alive: None,
        last_output_at: None,
        rules: HealthRules::default(),
        profiles: Profiles::default(),
    }
}

pub(crate) fn dead(agent_id: AgentId) -> DeclareDead {
    let evidence =
        Evidence { last_heartbeat: at(0), checks_missed: 2, process_alive: Some(false), last_output_at: None };
    DeclareDead { agent_id, evidence, profiles: Profiles::default() }
}

async fn who_is_silent_is_asked_by_mail_and_then_replaced(bench: Bench) {
    let floor = Floor::open(bench).await;
    let (task, worker) = floor.begun("One").await;
    assert_eq!(floor.system_at(2, &check(worker)).await, Ok(Verdict::Healthy));
    assert_eq!(floor.system_at(3, &check(worker)).await, Ok(Verdict::Asked));
    assert_eq!(floor.mails().await, ["Health Check"]);
    assert_eq!(floor.system_at(4, &check(worker)).await, Ok(Verdict::Healthy), "it has time to answer");
    let verdict = floor.system_at(5, &check(worker)).await.unwrap();
    let Verdict::Recovered { successor } = verdict else { panic!("{verdict:?}") };
    let (old, new) = (floor.post(worker).await, floor.post(successor).await);
    assert_eq!((old.state, old.successor), (PostState::Failed, Some(successor)));
    assert_eq!((new.seat, new.mission, new.attempt), (old.seat, old.mission, 2));
    let live = floor.live_task(task).await;
    let factory = live.in_epic().unwrap();
    assert_eq!((live.assigned_agent_id, factory.state, factory.attempts), (Some(successor), TaskState::InProgress, 1));
    assert_eq!((floor.count("AgentDeclaredDead").await, floor.count("DecisionLogged").await), (1, 1));
    assert_eq!(floor.system_at(9, &check(worker)).await, Ok(Verdict::Healthy), "it has no post any more");
}

async fn who_lives_and_says_something_is_reported_and_left_alone(bench: Bench) {
    let floor = Floor::open(bench).await;
    let (_, worker) = floor.begun("One").await;
    let busy = |minute| CheckHealth { process_alive: Some(true), last_output_at: Some(at(minute)), ..check(worker) };
    floor.system_at(3, &busy(3)).await.unwrap();
    assert_eq!(floor.system_at(5, &busy(5)).await, Ok(Verdict::Reported));
    assert_eq!(floor.system_at(7, &busy(7)).await, Ok(Verdict::Asked));
    assert_eq!(floor.post(worker).await.state, PostState::InProgress);
    let told: Vec<_> = floor.mails().await.into_iter().filter(|it| it.starts_with("Silent agent")).collect();
    assert_eq!(told.len(), 1);
}

async fn who_was_relieved_changes_nothing_any_more(bench: Bench) {
    let floor = Floor::open(bench).await;
    let (_, worker) = floor.begun("One").await;
    let session_id = new();
    let start = StartSession {
        session_id,
        agent_id: worker,
        project_id: floor.shop,
        tasks: 0,
        messages: 0,
        delivered_up_to: 0,
        told: None,
    };
    floor.agent(worker, &start).await.unwrap();
    let Verdict::Recovered { successor } = floor.system(&dead(worker)).await.unwrap() else { panic!("no successor") };
    let relieved = || refused(PostError::Relieved { successor: Some(successor) });
    assert_eq!(floor.agent(worker, &submit(worker)).await, Err(relieved()));
    let update = UpdateTaskState { by: worker, to: TaskState::InProgress };
    assert_eq!(floor.agent(worker, &update).await, Err(relieved()));
    let agent = floor.folded::<Agent>(worker.0).await.live().unwrap().clone();
    assert_eq!(agent.status, AgentStatus::Terminated);
    assert!(matches!(floor.folded::<Session>(session_id.0).await, Session::Stopped { .. }));
    assert!(floor.agent(successor, &submit(successor)).await.is_ok());
    assert_eq!(floor.system(&dead(worker)).await, Err(relieved()));
}

async fn a_fifth_death_fails_the_task_and_the_human_is_told(bench: Bench) {
    let floor = Floor::open(bench).await;
    let (task, mut worker) = floor.begun("One").await;
    for attempts in 1..5 {
        let verdict = floor.system(&dead(worker)).await.unwrap();
        let Verdict::Recovered { successor } = verdict else { panic!("{verdict:?} at {attempts}") };
        assert_eq!(floor.live_task(task).await.in_epic().unwrap().attempts, attempts);
        worker = successor;
    }
    assert_eq!(floor.system(&dead(worker)).await, Ok(Verdict::GivenUp));
    let factory = floor.live_task(task).await.in_epic().unwrap().clone();
    assert_eq!((factory.state, factory.attempts), (TaskState::Failed, 5));
    assert_eq!(floor.mails().await.last().unwrap(), "Task failed after 5 attempts: One");
    assert_eq!((floor.post(worker).await.state, floor.live_epic().await.open_tasks), (PostState::Failed, vec![]));
    assert_eq!(floor.count("DecisionLogged").await, 5);
}

async fn what_a_dead_worker_asked_for_is_called_off_but_a_merge_goes_on(bench: Bench) {
    let floor = Floor::open(bench).await;
    let (one, worker) = floor.begun("One").await;
    let errand = floor.agent(worker, &submit(worker)).await.unwrap();
    let Verdict::Recovered { successor } = floor.system(&dead(worker)).await.unwrap() else { panic!("no successor") };
    let late = floor.finish(errand, WorkResult::PullRequestOpened { pr_url: url(one), head: None }).await;
    assert_eq!(late, Err(refused(ErrandError::Cancelled)));
    floor.submits(one, successor).await;
    let merge = floor.approve(one).await.unwrap();
    let Verdict::Recovered { successor: third } = floor.system(&dead(successor)).await.unwrap() else {
        panic!("no successor")
    };
    assert_eq!(floor.state(one).await, TaskState::Approved);
    floor.finish(merge, merged()).await.unwrap();
    assert_eq!((floor.state(one).await, floor.post(third).await.state), (TaskState::Completed, PostState::Done));
}

async fn a_supervisor_rests_while_a_human_reviews(bench: Bench) {
    let floor = Floor::open(bench).await;
    let (one, _) = floor.submitted("One").await;
    floor.merges(one).await;
    let submit =
        commands::factory::SubmitEpic { by: floor.supervisor, title: "A shop".to_owned(), description: String::new() };
    let errand = floor.agent(floor.supervisor, &submit).await.unwrap();
    floor.finish(errand, WorkResult::EpicPullRequestOpened { pr_url: "local://epic".to_owned() }).await.unwrap();
    for minute in [3, 5, 600] {
        assert_eq!(floor.system_at(minute, &check(floor.supervisor)).await, Ok(Verdict::Healthy));
    }
}
