//! What people and benches read of the factory: epics, the floor, errands, tasks and the timeline.

use std::time::Duration;

use commands::factory::{TryErrandAgain, Verdict};
use domain::Slug;
use domain::epic::EpicState;
use domain::errand::WorkResult;
use domain::post::{AgentKind, PostState};
use domain::task::TaskState;
use muster_tests::both_stores;
use muster_tests::stores::Bench;
use projections::offline::rebuild;
use projections::{Engine, epics, errands, floor, tasks, timeline};

use crate::floor::{Floor, at, merged};
use crate::health::dead;

both_stores! {
    a_run_of_the_factory_reads_as_it_went_and_equals_a_rebuild,
    a_bench_finds_what_it_has_to_do_in_the_order_of_ordering,
}

const PATIENCE: Duration = Duration::from_secs(30);

async fn project(floor: &Floor) -> Engine {
    let views = floor.bench.stores().views.clone();
    let engine = Engine::start(floor.bench.log(), views, projections::all(), projections::Settings::default());
    let head = floor.bench.log().head().await.unwrap().position;
    let names: Vec<String> = projections::all().iter().map(|it| it.name().to_owned()).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    assert!(engine.wait_for(&names, head, PATIENCE).await, "{:#?}", engine.status().await);
    engine
}

async fn a_run_of_the_factory_reads_as_it_went_and_equals_a_rebuild(bench: Bench) {
    let floor = Floor::open(bench).await;
    let ((one, _), (two, second)) = (floor.submitted("One").await, floor.submitted("Two").await);
    let (three, third) = floor.begun("Three").await;
    floor.merges(one).await;
    let errand = floor.rebase(second).await.unwrap();
    // Somebody closed its pull request over there, so it has another one.
    let moved = Some("https://github.com/acme/shop/pull/8".to_owned());
    floor.finish(errand, WorkResult::Rebased { pr_url: moved.clone(), head: None }).await.unwrap();
    let Verdict::Recovered { successor } = floor.system(&dead(third)).await.unwrap() else { panic!("no successor") };
    let engine = project(&floor).await;
    let views = &floor.bench.stores().views;

    let epic = epics::find(views, floor.epic).await.unwrap().unwrap();
    assert_eq!((epic.state, epic.supervisor_id), (EpicState::InProgress, Some(floor.supervisor)));
    assert_eq!((epic.tasks.open, epic.tasks.merged), (2, 1));
    let queue: Vec<_> = epic.queue.iter().map(|it| (it.task_id, Some(it.pr_url.clone()))).collect();
    assert_eq!(queue, [(two, moved)]);

    let filter = tasks::EpicFilter { epic: floor.epic, state: None };
    let shown = tasks::of_epic(views, &filter, 10, 0).await.unwrap();
    let states: Vec<_> = shown.iter().map(|it| (it.id, it.factory.as_ref().unwrap().state)).collect();
    assert_eq!(states, [(one, TaskState::Completed), (two, TaskState::PendingReview), (three, TaskState::InProgress)]);
    let waiting = tasks::EpicFilter { state: Some(TaskState::PendingReview), ..filter };
    assert_eq!(tasks::of_epic(views, &waiting, 10, 0).await.unwrap().len(), 1);
    for (task, _) in states {
        let (shown, live) = (tasks::find(views, task).await.unwrap().unwrap(), floor.live_task(task).await);
        assert_eq!((shown.status, shown.assigned_agent_id), (live.status, live.assigned_agent_id));
        let (shown, live) = (shown.factory.unwrap(), live.factory.unwrap());
        assert_eq!((shown.attempts, shown.pr_url), (live.attempts, live.pr_url));
    }

    let dead = floor::find(views, third).await.unwrap().unwrap();
    assert_eq!((dead.state, dead.successor, dead.evidence.is_some()), (PostState::Failed, Some(successor), true));
    let there = floor::in_progress_on(views, &Slug::parse("main").unwrap()).await.unwrap();
    let kinds: Vec<_> = there.iter().map(|it| it.kind).collect();
    assert_eq!(kinds.iter().filter(|it| **it == AgentKind::Worker).count(), 2);
    assert_eq!(kinds.len(), 3);

    told_on_the_timeline(&floor).await;
    engine.shutdown().await;
    for projection in projections::all() {
        let report = rebuild(&floor.bench.log(), views, &projection, &mut |_, _| {}).await.unwrap();
        assert_eq!(report.compared.unwrap().differences_total, 0, "{}", projection.name());
    }
}

/// Every event that people care about shows, once.
async fn told_on_the_timeline(floor: &Floor) {
    let of = |kind: &str| timeline::Filter {
        workspaces: vec![floor.acme],
        project: None,
        agent: None,
        session: None,
        kind: Some(kind.to_owned()),
        before: None,
    };
    for (kind, times) in [
        ("epic_created", 1),
        ("agent_posted", 5),
        ("task_submitted", 2),
        ("task_approved", 1),
        ("task_completed", 1),
        ("task_rebase_requested", 1),
        ("task_rebased", 1),
        ("agent_declared_dead", 1),
        ("agent_relieved", 1),
        ("agent_discharged", 1),
        ("task_handed_over", 1),
    ] {
        let page = timeline::list(&floor.bench.stores().views, &of(kind), 100, 0).await.unwrap();
        assert_eq!(page.entries.len(), times, "{kind}");
    }
}

async fn a_bench_finds_what_it_has_to_do_in_the_order_of_ordering(bench: Bench) {
    let floor = Floor::open(bench).await;
    let (one, _) = floor.submitted("One").await;
    let errand_id = floor.approve(one).await.unwrap();
    let again = TryErrandAgain { errand_id, error: "busy".to_owned(), retry_at: at(10) };
    floor.system(&again).await.unwrap();
    let engine = project(&floor).await;
    let (views, main) = (&floor.bench.stores().views, Slug::parse("main").unwrap());
    let names = |found: Vec<errands::ErrandView>| found.iter().map(|it| it.work.name()).collect::<Vec<_>>();
    assert_eq!(names(errands::open_on(views, &main, at(5), 10).await.unwrap()), ["launch", "launch"]);
    assert_eq!(names(errands::open_on(views, &main, at(10), 10).await.unwrap()), ["launch", "launch", "merge"]);
    assert_eq!(errands::open_on(views, &Slug::parse("other").unwrap(), at(10), 10).await.unwrap(), []);
    assert!(errands::next_due_on(views, &main).await.unwrap().is_some());
    floor.finish(errand_id, merged()).await.unwrap();
    let head = floor.bench.log().head().await.unwrap().position;
    assert!(engine.wait_for(&[errands::NAME], head, PATIENCE).await);
    let done = errands::find(views, errand_id).await.unwrap().unwrap();
    assert_eq!((done.state, done.attempts, done.result), (errands::ErrandState::Done, 1, Some(merged())));
    assert_eq!(names(errands::open_on(views, &main, at(10), 10).await.unwrap()), ["launch", "stop"]);
    engine.shutdown().await;
}
