//! Agents of the factory: one per seat, each with its launch, its key and its mission.

use commands::agent::NewKey;
use commands::factory::{
    AddTask, AppointOrchestrator, AppointSupervisor, AppointWorker, FailEpic, FailErrand, RotateForLaunch,
    TryErrandAgain,
};
use domain::Party;
use domain::agent::{Agent, AgentLevel, AgentStatus};
use domain::epic::{EpicError, EpicState};
use domain::errand::{Errand, ErrandError, WorkResult};
use domain::post::{AgentKind, PostError, PostState, Profiles};
use domain::task::{TaskState, TaskStatus};
use futures_util::future::join_all;
use muster_tests::both_stores;
use muster_tests::fleet::new;
use muster_tests::stores::Bench;

use crate::floor::{Floor, at, refused};

both_stores! {
    a_supervisor_is_an_agent_with_a_post_a_seat_and_a_launch,
    a_seat_has_one_agent_even_when_many_are_appointed_at_once,
    a_worker_gets_the_task_with_its_post,
    an_orchestrator_appoints_supervisors_in_its_own_workspace_alone,
    an_epic_that_is_over_gets_no_supervisor,
    only_its_supervisor_adds_tasks,
    a_launch_gives_the_agent_its_key_and_only_while_it_has_its_post,
    an_errand_is_tried_again_and_given_up,
    what_went_wrong_is_told_without_secrets,
    a_worker_whose_task_is_merged_is_done_and_stopped,
}

async fn a_supervisor_is_an_agent_with_a_post_a_seat_and_a_launch(bench: Bench) {
    let floor = Floor::open(bench).await;
    let post = floor.post(floor.supervisor).await;
    assert_eq!((post.kind, post.seat, post.state), (AgentKind::Supervisor, floor.epic.0, PostState::InProgress));
    assert!(post.mission.contains("# Shop") && post.bench.as_ref() == "main", "{post:?}");
    assert_eq!(post.profile, Profiles::default().supervisor);
    assert_eq!(floor.live_epic().await.supervisor_id, Some(floor.supervisor));
    let agent = floor.folded::<Agent>(floor.supervisor.0).await.live().unwrap().clone();
    assert_eq!((agent.project_id, agent.status), (Some(floor.shop), AgentStatus::Active));
    let again = AppointSupervisor { by: None, epic_id: floor.epic, profiles: Profiles::default() };
    let present = floor.system(&again).await.unwrap();
    assert_eq!((present.agent_id, present.launch.is_some()), (floor.supervisor, true));
    assert_eq!(floor.count("AgentPosted").await, 1);
}

async fn a_seat_has_one_agent_even_when_many_are_appointed_at_once(bench: Bench) {
    let floor = Floor::open(bench).await;
    let appoint = AppointOrchestrator { workspace_id: floor.acme, bench: None, profiles: Profiles::default() };
    let all = join_all((0..8).map(|_| floor.system(&appoint))).await;
    let mut agents: Vec<_> = all.into_iter().filter_map(Result::ok).map(|it| it.agent_id).collect();
    agents.dedup();
    assert_eq!(agents.len(), 1);
    let task = floor.task("Baskets").await;
    let appoint = AppointWorker { task_id: task, profiles: Profiles::default() };
    let all = join_all((0..8).map(|_| floor.system(&appoint))).await;
    let workers: std::collections::BTreeSet<_> = all.into_iter().map(|it| it.unwrap().agent_id).collect();
    assert_eq!((workers.len(), floor.count("AgentPosted").await), (1, 3));
}

async fn a_worker_gets_the_task_with_its_post(bench: Bench) {
    let floor = Floor::open(bench).await;
    let task = floor.task("Baskets").await;
    assert_eq!(floor.live_task(task).await.status, TaskStatus::Backlog);
    let worker = floor.worker(task).await;
    let live = floor.live_task(task).await;
    assert_eq!((live.assigned_agent_id, live.status), (Some(worker.agent_id), TaskStatus::Assigned));
    let post = floor.post(worker.agent_id).await;
    assert_eq!((post.seat, post.task_id, post.epic_id), (task.0, Some(task), Some(floor.epic)));
    assert!(worker.tmux_session.starts_with("muster-worker-"), "{worker:?}");
    assert!(post.mission.contains("Do Baskets"));
}

async fn an_orchestrator_appoints_supervisors_in_its_own_workspace_alone(bench: Bench) {
    let floor = Floor::open(bench).await;
    let other = floor.fleet.workspace("other").await.unwrap();
    let of = |workspace_id| AppointOrchestrator { workspace_id, bench: None, profiles: Profiles::default() };
    let (own, stranger) = (floor.system(&of(floor.acme)).await.unwrap(), floor.system(&of(other)).await.unwrap());
    let agent = floor.folded::<Agent>(own.agent_id.0).await;
    assert!(AgentLevel::Organization.fits(agent.live().unwrap().project_id));
    let appoint = |by| AppointSupervisor { by: Some(by), epic_id: floor.epic, profiles: Profiles::default() };
    let done = floor.agent(own.agent_id, &appoint(own.agent_id)).await.unwrap();
    assert_eq!(done.agent_id, floor.supervisor);
    let refusal = floor.agent(stranger.agent_id, &appoint(stranger.agent_id)).await;
    assert_eq!(refusal, Err(refused(EpicError::AccessDenied)));
    let worker = PostError::WrongKind { wanted: AgentKind::Orchestrator, is: AgentKind::Supervisor };
    assert_eq!(floor.agent(floor.supervisor, &appoint(floor.supervisor)).await, Err(refused(worker)));
}

async fn an_epic_that_is_over_gets_no_supervisor(bench: Bench) {
    let floor = Floor::open(bench).await;
    let orchestrator = floor.orchestrator().await;
    let by = Party::User(floor.fleet.owner);
    floor.human(&FailEpic { by, epic_id: floor.epic, reason: "No shop".to_owned() }).await.unwrap();
    let before = floor.bench.everything().await.len();
    for by in [Some(orchestrator), None] {
        let appoint = AppointSupervisor { by, epic_id: floor.epic, profiles: Profiles::default() };
        let refusal = floor.system(&appoint).await;
        assert_eq!(refusal, Err(refused(EpicError::NotInProgress(EpicState::Failed))));
    }
    assert_eq!(floor.bench.everything().await.len(), before);
}

async fn only_its_supervisor_adds_tasks(bench: Bench) {
    let floor = Floor::open(bench).await;
    let (_, worker) = floor.begun("Baskets").await;
    let add = |by| AddTask { by, task_id: new(), title: "Tills".to_owned(), description: String::new() };
    let refusal = PostError::WrongKind { wanted: AgentKind::Supervisor, is: AgentKind::Worker };
    assert_eq!(floor.agent(worker, &add(worker)).await, Err(refused(refusal)));
    let nobody = floor.fleet.agent(floor.acme, Some(floor.shop), "dev", None).await.unwrap();
    assert_eq!(floor.agent(nobody, &add(nobody)).await, Err(refused(PostError::NotPosted)));
}

async fn a_launch_gives_the_agent_its_key_and_only_while_it_has_its_post(bench: Bench) {
    let floor = Floor::open(bench).await;
    let task = floor.task("Baskets").await;
    let worker = floor.worker(task).await;
    let launch = worker.launch.unwrap();
    let rotate = |agent_id| RotateForLaunch {
        errand_id: launch,
        agent_id,
        key: NewKey { credential_id: new(), key_hash: vec![7; 32] },
    };
    floor.system(&rotate(worker.agent_id)).await.unwrap();
    let stored = floor.bench.log().accounts().credential(worker.agent_id.0).await.unwrap().unwrap();
    assert_eq!(stored.key_hash, vec![7; 32]);
    let other = floor.system(&rotate(floor.supervisor)).await;
    assert_eq!(other, Err(refused(ErrandError::WrongResult("another errand"))));
    floor.finish(launch, WorkResult::Launched { started: true }).await.unwrap();
    floor.finish(launch, WorkResult::Launched { started: true }).await.unwrap();
    assert_eq!(floor.system(&rotate(worker.agent_id)).await, Err(refused(ErrandError::Over)));
}

async fn an_errand_is_tried_again_and_given_up(bench: Bench) {
    let floor = Floor::open(bench).await;
    let task = floor.task("Baskets").await;
    let errand_id = floor.worker(task).await.launch.unwrap();
    for _ in 0..2 {
        let again = TryErrandAgain { errand_id, error: "no tmux".to_owned(), retry_at: at(1) };
        floor.system(&again).await.unwrap();
    }
    assert_eq!(floor.folded::<Errand>(errand_id.0).await.live().unwrap().tries, 2);
    let fail = FailErrand { errand_id, error: "no tmux".to_owned(), details: None };
    floor.system(&fail).await.unwrap();
    floor.system(&fail).await.unwrap();
    assert_eq!(floor.mails().await, ["An agent could not be started"]);
    let late = floor.finish(errand_id, WorkResult::Launched { started: true }).await;
    assert_eq!(late, Err(refused(ErrandError::Over)));
}

async fn what_went_wrong_is_told_without_secrets(bench: Bench) {
    let floor = Floor::open(bench).await;
    let task = floor.task("Baskets").await;
    let errand_id = floor.worker(task).await.launch.unwrap();
    let secret = format!("ghp_{}", "a1".repeat(18));
    let error = format!("fatal: https://x:{secret}@git.example refused {secret}");
    floor.system(&TryErrandAgain { errand_id, error: error.clone(), retry_at: at(1) }).await.unwrap();
    floor.system(&FailErrand { errand_id, error: error.clone(), details: Some(error) }).await.unwrap();
    let merge = floor.submitted("Tills").await.0;
    let errand_id = floor.approve(merge).await.unwrap();
    floor.system(&FailErrand { errand_id, error: secret.clone(), details: None }).await.unwrap();
    let log = floor.bench.everything().await;
    for kind in ["ErrandTried", "ErrandFailed", "MailSent", "TaskMergeFailed"] {
        assert!(log.iter().any(|it| it.event_type == kind && it.payload.contains("[redacted]")), "{kind}");
    }
    assert!(log.iter().all(|it| !it.payload.contains(&secret)));
}

async fn a_worker_whose_task_is_merged_is_done_and_stopped(bench: Bench) {
    let floor = Floor::open(bench).await;
    let (task, worker) = floor.submitted("Baskets").await;
    floor.merges(task).await;
    assert_eq!(floor.post(worker).await.state, PostState::Done);
    let agent = floor.folded::<Agent>(worker.0).await.live().unwrap().clone();
    assert_eq!((agent.status, floor.state(task).await), (AgentStatus::Inactive, TaskState::Completed));
    let stops = floor.bench.everything().await;
    let ordered = stops.iter().filter(|it| it.event_type == "ErrandOrdered" && it.payload.contains("\"stop\""));
    assert_eq!(ordered.count(), 1);
    // Its launch was never done, and nobody wants it any more.
    assert_eq!(floor.count("ErrandCancelled").await, 1);
}
