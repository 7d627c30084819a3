//! Health: who is silent is asked, then dead; a worker's successor goes on, until the fifth death.

use commands::factory::{CheckHealth, DeclareDead, FailErrand, RequestEpicChanges, UpdateTaskState, Verdict};
use commands::mail::ReplyMail;
use commands::session::StartSession;
use domain::agent::{Agent, AgentStatus};
use domain::errand::{ErrandError, WorkResult};
use domain::mail::Sender;
use domain::post::{Evidence, HealthRules, PostError, PostState, Profiles};
use domain::session::Session;
use domain::task::TaskState;
use domain::{AgentId, ErrandId, Party, TaskId};
use muster_tests::both_stores;
use muster_tests::fleet::new;
use muster_tests::stores::Bench;
use projections::Engine;

use crate::floor::{Floor, PATIENCE, at, merged, refused, submit, url};

both_stores! {
    who_is_silent_is_asked_by_mail_and_then_replaced,
    who_lives_and_says_something_is_reported_and_left_alone,
    who_was_neither_started_nor_heard_of_is_reported_once_and_not_replaced,
    who_started_itself_and_falls_silent_is_replaced,
    who_was_relieved_changes_nothing_any_more,
    a_fifth_death_fails_the_task_and_the_human_is_told,
    a_fifth_death_lets_an_approved_merge_finish,
    a_merge_that_comes_to_nothing_after_the_fifth_death_fails_the_task,
    what_a_dead_worker_asked_for_is_called_off_but_a_merge_goes_on,
    a_supervisor_rests_while_a_human_reviews,
    a_supervisor_that_rested_has_its_whole_time_when_its_epic_is_sent_back,
    a_health_check_comes_from_whoever_looks_after_the_agent_and_can_be_answered,
}

pub(crate) fn check(agent_id: AgentId) -> CheckHealth {
    CheckHealth {
        agent_id,
        last_heartbeat: at(0),
        heard_of: true,
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
    let unheard = CheckHealth { heard_of: false, ..check(worker) };
    assert_eq!(floor.system_at(600, &unheard).await, Ok(Verdict::Healthy), "it is not launched yet");
    floor.started(worker).await;
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
    assert_eq!(floor.count("AgentDeclaredDead").await, 1);
    assert_eq!(floor.system_at(9, &check(worker)).await, Ok(Verdict::Healthy), "it has no post any more");
}

async fn who_lives_and_says_something_is_reported_and_left_alone(bench: Bench) {
    let floor = Floor::open(bench).await;
    let (_, worker) = floor.begun("One").await;
    floor.started(worker).await;
    let busy = |minute| CheckHealth { process_alive: Some(true), last_output_at: Some(at(minute)), ..check(worker) };
    floor.system_at(3, &busy(3)).await.unwrap();
    assert_eq!(floor.system_at(5, &busy(5)).await, Ok(Verdict::Reported));
    assert_eq!(floor.system_at(7, &busy(7)).await, Ok(Verdict::Asked));
    assert_eq!(floor.post(worker).await.state, PostState::InProgress);
    let told: Vec<_> = floor.mails().await.into_iter().filter(|it| it.starts_with("Silent agent")).collect();
    assert_eq!(told.len(), 1);
}

async fn who_was_neither_started_nor_heard_of_is_reported_once_and_not_replaced(bench: Bench) {
    let floor = Floor::open(bench).await;
    let one = floor.worker(floor.task("One").await).await.agent_id;
    let two = floor.worker(floor.task("Two").await).await.agent_id;
    floor.launched(one, false).await;
    let fail = FailErrand { errand_id: floor.launch_of(two).await, error: "no tmux".to_owned(), details: None };
    floor.system(&fail).await.unwrap();
    for agent in [one, two] {
        let unheard = CheckHealth { heard_of: false, ..check(agent) };
        let verdicts = [
            floor.system_at(3, &unheard).await.unwrap(),
            floor.system_at(5, &unheard).await.unwrap(),
            floor.system_at(600, &unheard).await.unwrap(),
        ];
        assert_eq!(verdicts, [Verdict::Asked, Verdict::Reported, Verdict::Healthy]);
        assert_eq!(floor.post(agent).await.state, PostState::InProgress);
    }
    let told: Vec<_> = floor.mails().await.into_iter().filter(|it| it.starts_with("Silent agent")).collect();
    assert_eq!((told.len(), floor.count("AgentDeclaredDead").await), (2, 0));
}

async fn who_started_itself_and_falls_silent_is_replaced(bench: Bench) {
    let floor = Floor::open(bench).await;
    let (_, worker) = floor.begun("One").await;
    floor.launched(worker, false).await;
    assert_eq!(floor.system_at(3, &check(worker)).await, Ok(Verdict::Asked));
    let verdict = floor.system_at(5, &check(worker)).await.unwrap();
    assert!(matches!(verdict, Verdict::Recovered { .. }), "{verdict:?}");
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
    let crashes = floor.decisions().await.into_iter().filter(|it| it.1 == "worker_crash_detected");
    let crashes: Vec<_> = crashes.map(|it| it.2).collect();
    assert_eq!(crashes.iter().map(|it| it["attempts"].as_u64().unwrap()).collect::<Vec<_>>(), [1, 2, 3, 4, 5]);
    let decided = |at: usize| (crashes[at]["action"].as_str().unwrap(), crashes[at]["decision"].as_str().unwrap());
    assert_eq!(decided(3), ("recreate", "Worker crashed and recreated (attempt 4/5)"));
    assert_eq!(decided(4), ("fail", "Task marked as failed due to repeated crashes"));
}

/// A task that is being merged while its fifth worker dies.
async fn approved_and_alone(floor: &Floor) -> (TaskId, AgentId, ErrandId) {
    let (task, mut worker) = floor.begun("One").await;
    for _ in 1..5 {
        let Verdict::Recovered { successor } = floor.system(&dead(worker)).await.unwrap() else {
            panic!("no successor")
        };
        worker = successor;
    }
    floor.submits(task, worker).await;
    let merge = floor.approve(task).await.unwrap();
    assert_eq!(floor.system(&dead(worker)).await, Ok(Verdict::GivenUp));
    assert_eq!((floor.state(task).await, floor.post(worker).await.state), (TaskState::Approved, PostState::Failed));
    (task, worker, merge)
}

async fn a_fifth_death_lets_an_approved_merge_finish(bench: Bench) {
    let floor = Floor::open(bench).await;
    let (task, _, merge) = approved_and_alone(&floor).await;
    floor.finish(merge, merged()).await.unwrap();
    assert_eq!((floor.state(task).await, floor.live_epic().await.merged), (TaskState::Completed, 1));
    assert_eq!(floor.count("TaskFailed").await, 0);
}

async fn a_merge_that_comes_to_nothing_after_the_fifth_death_fails_the_task(bench: Bench) {
    let floor = Floor::open(bench).await;
    for ends in ["in a conflict", "in vain"] {
        let (task, worker, merge) = approved_and_alone(&floor).await;
        if ends == "in vain" {
            let fail = FailErrand { errand_id: merge, error: "the forge refuses".to_owned(), details: None };
            floor.system(&fail).await.unwrap();
        } else {
            floor.finish(merge, WorkResult::MergeConflicted { files: vec![] }).await.unwrap();
        }
        let factory = floor.live_task(task).await.in_epic().unwrap().clone();
        assert_eq!((factory.state, factory.attempts), (TaskState::Failed, 5), "{ends}");
        assert_eq!((floor.queue().await, floor.live_epic().await.open_tasks), (vec![], vec![]), "{ends}");
        assert_eq!(floor.mails().await.last().unwrap(), "Task failed after 5 attempts: One", "{worker}");
    }
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

/// An epic that waits for a human.
async fn reviewed_by_a_human(floor: &Floor) {
    let (one, _) = floor.submitted("One").await;
    floor.merges(one).await;
    let submit =
        commands::factory::SubmitEpic { by: floor.supervisor, title: "A shop".to_owned(), description: String::new() };
    let errand = floor.agent(floor.supervisor, &submit).await.unwrap();
    floor
        .finish(errand, WorkResult::EpicPullRequestOpened { pr_url: "local://epic".to_owned(), head: None })
        .await
        .unwrap();
}

async fn a_supervisor_rests_while_a_human_reviews(bench: Bench) {
    let floor = Floor::open(bench).await;
    reviewed_by_a_human(&floor).await;
    for minute in [3, 5, 600] {
        assert_eq!(floor.system_at(minute, &check(floor.supervisor)).await, Ok(Verdict::Healthy));
    }
}

async fn a_supervisor_that_rested_has_its_whole_time_when_its_epic_is_sent_back(bench: Bench) {
    let floor = Floor::open(bench).await;
    floor.started(floor.supervisor).await;
    reviewed_by_a_human(&floor).await;
    let back = RequestEpicChanges { by: floor.fleet.owner, epic_id: floor.epic, feedback: "Add a till".to_owned() };
    floor.system_at(600, &back).await.unwrap();
    for (minute, verdict) in [(602, Verdict::Healthy), (603, Verdict::Asked), (604, Verdict::Healthy)] {
        assert_eq!(floor.system_at(minute, &check(floor.supervisor)).await, Ok(verdict), "{minute}");
    }
    let verdict = floor.system_at(605, &check(floor.supervisor)).await.unwrap();
    assert!(matches!(verdict, Verdict::Recovered { .. }), "{verdict:?}");
}

async fn a_health_check_comes_from_whoever_looks_after_the_agent_and_can_be_answered(bench: Bench) {
    let floor = Floor::open(bench).await;
    let orchestrator = floor.orchestrator().await;
    let (_, worker) = floor.begun("One").await;
    for agent in [orchestrator, floor.supervisor, worker] {
        floor.started(agent).await;
    }
    for (asked, asks) in [(worker, floor.supervisor), (floor.supervisor, orchestrator)] {
        assert_eq!(floor.system_at(3, &check(asked)).await, Ok(Verdict::Asked));
        let (mail_id, from) = floor.last_mail().await;
        assert_eq!(from, Sender::Agent(asks));
        let reply = ReplyMail { by: Party::Agent(asked), in_reply_to: mail_id, body: "All is well".to_owned() };
        floor.agent(asked, &reply).await.unwrap();
        assert_eq!(floor.mails().await.last().unwrap(), "Re: Health Check");
    }
    // Nobody looks after the orchestrator but Muster.
    assert_eq!(floor.system_at(3, &check(orchestrator)).await, Ok(Verdict::Asked));
    assert_eq!(floor.last_mail().await.1, Sender::System);
    // That they are asked in its name is no sign of life of whoever asks.
    let engine = Engine::start(floor.bench.log(), floor.views().clone(), projections::all(), Default::default());
    let head = floor.bench.log().head().await.unwrap().position;
    assert!(engine.wait_for(&[projections::floor::NAME], head, PATIENCE).await);
    let heard = projections::floor::find(floor.views(), orchestrator).await.unwrap().unwrap().last_heartbeat;
    assert_eq!(heard, at(0));
    engine.shutdown().await;
}
