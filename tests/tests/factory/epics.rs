//! Epics: submitted when their tasks are over, taken, sent back or given up by humans.

use commands::factory::{ChangeEpic, CompleteEpic, FailEpic, RequestEpicChanges, SubmitEpic};
use commands::session::StartSession;
use domain::epic::{EpicError, EpicState};
use domain::errand::{ErrandError, WorkResult};
use domain::post::{AgentKind, PostError, PostState};
use domain::session::active_session;
use domain::task::TaskState;
use domain::{ErrandId, Party};
use muster_tests::both_stores;
use muster_tests::fleet::{Fleet, new};
use muster_tests::stores::Bench;

use crate::floor::{Floor, create_epic, refused};

both_stores! {
    an_epic_is_submitted_when_all_its_tasks_are_over,
    a_human_takes_an_epic_and_its_supervisor_is_done,
    an_epic_that_was_merged_elsewhere_is_taken_as_it_is,
    a_human_sends_an_epic_back_with_feedback,
    an_epic_that_is_given_up_takes_everything_with_it,
    a_supervisor_gives_its_own_epic_up,
    a_stranger_does_nothing_with_epics,
    an_epic_changes_until_it_is_over,
}

fn submit(floor: &Floor) -> SubmitEpic {
    SubmitEpic { by: floor.supervisor, title: "A shop".to_owned(), description: "All of it".to_owned() }
}

/// An epic that waits for a human.
async fn submitted(floor: &Floor) {
    let (one, _) = floor.submitted("One").await;
    floor.merges(one).await;
    let errand: ErrandId = floor.agent(floor.supervisor, &submit(floor)).await.unwrap();
    let opened = WorkResult::EpicPullRequestOpened { pr_url: "local://epic".to_owned(), head: None };
    floor.finish(errand, opened).await.unwrap();
}

async fn an_epic_is_submitted_when_all_its_tasks_are_over(bench: Bench) {
    let floor = Floor::open(bench).await;
    let early = floor.agent(floor.supervisor, &submit(&floor)).await;
    assert_eq!(early, Err(refused(EpicError::NothingMerged)));
    let ((one, _), _) = (floor.submitted("One").await, floor.begun("Two").await);
    floor.merges(one).await;
    let open = floor.agent(floor.supervisor, &submit(&floor)).await;
    assert_eq!(open, Err(refused(EpicError::TasksOpen(1))));
}

async fn a_human_takes_an_epic_and_its_supervisor_is_done(bench: Bench) {
    let floor = Floor::open(bench).await;
    submitted(&floor).await;
    assert_eq!(floor.live_epic().await.state, EpicState::AwaitingHumanReview);
    assert_eq!(floor.mails().await.last().unwrap(), "Epic complete: Shopping");
    let take = CompleteEpic { by: floor.fleet.owner, epic_id: floor.epic, merge: true };
    let errand = floor.human(&take).await.unwrap().unwrap();
    assert_eq!(floor.human(&take).await, Ok(Some(errand)));
    floor.finish(errand, WorkResult::EpicMerged { merge_commit: "fff".to_owned() }).await.unwrap();
    assert_eq!(floor.live_epic().await.state, EpicState::Completed);
    assert_eq!(floor.post(floor.supervisor).await.state, PostState::Done);
    assert_eq!(floor.human(&take).await, Ok(None));
    let late = floor.agent(floor.supervisor, &submit(&floor)).await;
    assert_eq!(late, Err(refused(PostError::Discharged)));
}

async fn an_epic_that_was_merged_elsewhere_is_taken_as_it_is(bench: Bench) {
    let floor = Floor::open(bench).await;
    submitted(&floor).await;
    let take = CompleteEpic { by: floor.fleet.owner, epic_id: floor.epic, merge: false };
    assert_eq!(floor.human(&take).await, Ok(None));
    assert_eq!(floor.live_epic().await.state, EpicState::Completed);
}

async fn a_human_sends_an_epic_back_with_feedback(bench: Bench) {
    let floor = Floor::open(bench).await;
    submitted(&floor).await;
    let back = RequestEpicChanges { by: floor.fleet.owner, epic_id: floor.epic, feedback: "Add a till".to_owned() };
    floor.human(&back).await.unwrap();
    assert_eq!(floor.live_epic().await.state, EpicState::InProgress);
    assert_eq!(floor.mails().await.last().unwrap(), "Changes Requested: Shopping");
    let (till, _) = floor.submitted("A till").await;
    floor.merges(till).await;
    let errand = floor.agent(floor.supervisor, &submit(&floor)).await.unwrap();
    floor
        .finish(errand, WorkResult::EpicPullRequestOpened { pr_url: "local://epic".to_owned(), head: None })
        .await
        .unwrap();
    // What is being merged has nothing left to change in it.
    floor.human(&CompleteEpic { by: floor.fleet.owner, epic_id: floor.epic, merge: true }).await.unwrap();
    assert_eq!(floor.human(&back).await, Err(refused(ErrandError::Underway("merge_epic"))));
}

async fn an_epic_that_is_given_up_takes_everything_with_it(bench: Bench) {
    let floor = Floor::open(bench).await;
    let ((one, first), (two, second)) = (floor.submitted("One").await, floor.begun("Two").await);
    let start = StartSession {
        session_id: new(),
        agent_id: second,
        project_id: floor.shop,
        tasks: 0,
        messages: 0,
        delivered_up_to: 0,
        told: None,
    };
    floor.agent(second, &start).await.unwrap();
    floor.approve(one).await.unwrap();
    let by = Party::User(floor.fleet.owner);
    floor.human(&FailEpic { by, epic_id: floor.epic, reason: "Too large".to_owned() }).await.unwrap();
    assert_eq!([floor.state(one).await, floor.state(two).await], [TaskState::Failed; 2]);
    let epic = floor.live_epic().await;
    assert_eq!((epic.state, epic.open_tasks, epic.queue), (EpicState::Failed, vec![], vec![]));
    for agent in [first, second, floor.supervisor] {
        assert_eq!(floor.post(agent).await.state, PostState::Done);
    }
    let held = floor.bench.log().holder(&stored(active_session(second))).await.unwrap();
    assert_eq!(held, None);
    // Nothing holds the project any more.
    let delete =
        domain::project::ProjectCommand::Delete(domain::project::DeleteProject { now: muster_tests::stores::noon() });
    let delete = commands::project::ManageProject { by: floor.fleet.owner, project_id: floor.shop, command: delete };
    floor.human(&delete).await.unwrap();
}

async fn a_supervisor_gives_its_own_epic_up(bench: Bench) {
    let floor = Floor::open(bench).await;
    let (_, worker) = floor.begun("One").await;
    let fail = |by| FailEpic { by: Party::Agent(by), epic_id: floor.epic, reason: "Too large".to_owned() };
    let refusal = PostError::WrongKind { wanted: AgentKind::Supervisor, is: AgentKind::Worker };
    assert_eq!(floor.agent(worker, &fail(worker)).await, Err(refused(refusal)));
    floor.agent(floor.supervisor, &fail(floor.supervisor)).await.unwrap();
    assert_eq!(floor.live_epic().await.state, EpicState::Failed);
}

async fn a_stranger_does_nothing_with_epics(bench: Bench) {
    let floor = Floor::open(bench).await;
    let bob = Fleet::on(floor.bench.log());
    let by = bob.owner;
    let epic_id = floor.epic;
    let change = ChangeEpic { by, epic_id, title: Some("Mine".to_owned()), description: None, design: None };
    let denied = || refused(EpicError::AccessDenied);
    assert_eq!(bob.executor.run(&bob.context(), &change).await.unwrap_err(), denied());
    let take = CompleteEpic { by, epic_id, merge: false };
    assert_eq!(bob.executor.run(&bob.context(), &take).await.unwrap_err(), denied());
    let back = RequestEpicChanges { by, epic_id, feedback: "No".to_owned() };
    assert_eq!(bob.executor.run(&bob.context(), &back).await.unwrap_err(), denied());
    let fail = FailEpic { by: Party::User(by), epic_id, reason: "No".to_owned() };
    assert_eq!(bob.executor.run(&bob.context(), &fail).await.unwrap_err(), denied());
    let create = commands::factory::CreateEpic { by, ..create_epic(&floor, new()) };
    let refusal = refused(domain::project::ProjectError::AccessDenied);
    assert_eq!(bob.executor.run(&bob.context(), &create).await.unwrap_err(), refusal);
}

async fn an_epic_changes_until_it_is_over(bench: Bench) {
    let floor = Floor::open(bench).await;
    let (by, epic_id) = (floor.fleet.owner, floor.epic);
    let change =
        |title: &str| ChangeEpic { by, epic_id, title: Some(title.to_owned()), description: None, design: None };
    floor.human(&change("A shop")).await.unwrap();
    assert_eq!(floor.live_epic().await.title, "A shop");
    floor.human(&FailEpic { by: Party::User(by), epic_id, reason: "Too large".to_owned() }).await.unwrap();
    let refusal = EpicError::NotInProgress(EpicState::Failed);
    assert_eq!(floor.human(&change("A mall")).await, Err(refused(refusal)));
}

fn stored(claim: domain::Claim) -> store::Claim {
    store::Claim { scope: claim.scope.into(), key: claim.key }
}
