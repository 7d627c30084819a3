//! What agents are measured by: whose facts are whose, at any position, and the same after a rebuild.

use std::sync::Arc;

use domain::agent::AgentStatus;
use domain::scores::{Facts, Outcome, ScorePolicy, tally};
use domain::{AgentId, ReviewDecision};
use muster_tests::both_stores;
use muster_tests::fleet;
use muster_tests::stores::Bench;
use muster_tests::work::Work;
use projections::offline::verify;
use projections::{Engine, agents, score_facts, scorecards};
use reactors::Runner;

use crate::fleet::PATIENCE;

both_stores! {
    a_task_counts_for_the_agent_that_has_it,
    reviews_by_others_count_and_ones_own_do_not,
    a_bug_is_what_is_labelled_so_last,
    a_failed_deployment_is_whose_commit_it_deployed,
    facts_can_be_read_as_of_any_position,
    scores_equal_their_rebuild,
}

struct Place {
    bench: Bench,
    engine: Arc<Engine>,
    dev: Work,
    other: Work,
}

impl Place {
    async fn new(bench: Bench) -> Self {
        let fleet = fleet::Fleet::on(bench.log());
        let workspace_id = fleet.workspace("acme").await.unwrap();
        let project_id = fleet.project(workspace_id, "shop").await.unwrap();
        let agent_id = fleet.agent(workspace_id, Some(project_id), "dev", None).await.unwrap();
        let other = fleet.agent(workspace_id, Some(project_id), "other", None).await.unwrap();
        let (executor, clock, owner) = (fleet.executor.clone(), bench.clock.clone(), fleet.owner);
        let dev = Work { executor, clock, owner, workspace_id, project_id, agent_id };
        let views = bench.stores().views.clone();
        let engine = Arc::new(Engine::start(bench.log(), views, projections::all(), Default::default()));
        Self { bench, engine, other: dev.of(other), dev }
    }

    async fn head(&self) -> i64 {
        self.bench.log().head().await.unwrap().position
    }

    async fn facts(&self, agent: AgentId) -> Facts {
        let head = self.head().await;
        assert!(self.engine.wait_for(&[score_facts::NAME], head, PATIENCE).await);
        let (facts, position) = score_facts::load(&self.bench.stores().views, agent).await.unwrap();
        assert_eq!(position, head, "facts and checkpoint are of one moment");
        facts
    }
}

async fn a_task_counts_for_the_agent_that_has_it(bench: Bench) {
    let place = Place::new(bench).await;
    let task = place.dev.task(None).await;
    let assigned = place.head().await;
    let started = place.dev.start(task).await;
    let facts = place.facts(place.dev.agent_id).await;
    let [of_dev] = facts.tasks.as_slice() else { panic!("one task: {facts:?}") };
    assert_eq!(of_dev.assigned.map(|it| it.position), Some(assigned));
    assert_eq!(of_dev.started.map(|it| it.position), Some(started));
    let reassigned = place.other.assign(task).await;
    let completed = place.other.complete(task).await;
    assert_eq!(place.facts(place.dev.agent_id).await.tasks, []);
    let facts = place.facts(place.other.agent_id).await;
    let [of_other] = facts.tasks.as_slice() else { panic!("one task: {facts:?}") };
    assert_eq!(of_other.assigned.map(|it| it.position), Some(reassigned));
    assert_eq!(of_other.started.map(|it| it.position), Some(started), "work on it began before");
    assert_eq!(of_other.completed.map(|it| it.position), Some(completed));
}

async fn reviews_by_others_count_and_ones_own_do_not(bench: Bench) {
    let place = Place::new(bench).await;
    place.dev.opens(1, None, 10, &[]).await;
    let (own, others) = (place.dev.starts_session().await, place.other.starts_session().await);
    place.dev.responds(own, 1, ReviewDecision::Approve).await;
    place.other.responds(others, 99, ReviewDecision::Approve).await;
    let sent_back = place.other.responds(others, 1, ReviewDecision::RequestChanges).await;
    let approved = place.dev.reviews(1, 10, ReviewDecision::Approve).await;
    place.dev.pass(chrono::TimeDelta::minutes(1));
    let merged = place.dev.merges(1, 15, "abc").await;
    let facts = place.facts(place.dev.agent_id).await;
    let [it] = facts.pull_requests.as_slice() else { panic!("one pull request: {facts:?}") };
    let reviews: Vec<_> = it.reviews.iter().map(|it| (it.given.position, it.decision)).collect();
    assert_eq!(reviews, [(sent_back, ReviewDecision::RequestChanges), (approved, ReviewDecision::Approve)]);
    assert!(matches!(it.outcome, Outcome::Merged(at) if at.position == merged));
    assert_eq!((it.additions, it.sized, it.merge_commit_sha.as_deref()), (15, merged - 1, Some("abc")));
    assert_eq!(place.facts(place.other.agent_id).await, Facts::default());
}

async fn a_bug_is_what_is_labelled_so_last(bench: Bench) {
    let place = Place::new(bench).await;
    // The labels may be known before the task is.
    place.dev.labels(12, &["bug"]).await;
    place.dev.labels(13, &["bug"]).await;
    place.dev.pass(chrono::TimeDelta::minutes(1));
    place.dev.labels(12, &[]).await;
    place.dev.pass(chrono::TimeDelta::minutes(1));
    let again = place.dev.labels(12, &["Bug", "ui"]).await;
    place.dev.pass(chrono::TimeDelta::minutes(1));
    place.dev.labels(12, &["bug"]).await;
    let task = place.dev.task(Some(12)).await;
    place.other.task(Some(14)).await;
    let labelled = place.dev.opens(1, Some(task), 1, &["bug"]).await;
    let facts = place.facts(place.dev.agent_id).await;
    assert_eq!(facts.tasks.iter().map(|it| it.bug).collect::<Vec<_>>(), [Some(again)]);
    assert_eq!(facts.pull_requests[0].bug, Some(labelled));
    place.dev.pass(chrono::TimeDelta::minutes(1));
    place.dev.opens(1, Some(task), 1, &[]).await;
    assert_eq!(place.facts(place.dev.agent_id).await.pull_requests[0].bug, None);
    assert_eq!(place.facts(place.other.agent_id).await.tasks[0].bug, None);
}

async fn a_failed_deployment_is_whose_commit_it_deployed(bench: Bench) {
    let place = Place::new(bench).await;
    // The failure may be heard of before the push.
    let first = place.dev.fails_to_deploy(1, 1, "pushed").await;
    place.dev.pushes("pushed").await;
    place.other.opens(2, None, 1, &[]).await;
    place.other.merges(2, 1, "merged").await;
    place.dev.fails_to_deploy(1, 2, "pushed").await;
    let second = place.dev.fails_to_deploy(2, 3, "merged").await;
    place.dev.fails_to_deploy(3, 4, "unknown").await;
    let (now, policy) = (place.dev.clock.now(), ScorePolicy::default());
    for (agent, failure) in [(place.dev.agent_id, first), (place.other.agent_id, second)] {
        let tally = tally(&place.facts(agent).await, now, &policy);
        assert_eq!((tally.inputs.failed_deployments, tally.counted.deployment_failures), (1, vec![failure]));
    }
}

async fn facts_can_be_read_as_of_any_position(bench: Bench) {
    let place = Place::new(bench).await;
    let agent = place.dev.agent_id;
    let mut known = vec![];
    for step in 0..12 {
        step_of(&place, step).await;
        known.push((place.head().await, place.facts(agent).await));
    }
    for (position, facts) in known {
        let then = score_facts::load_as_of(&place.bench.stores().views, agent, position).await.unwrap();
        assert_eq!(then, (facts, position));
    }
}

async fn step_of(place: &Place, step: i64) {
    let dev = &place.dev;
    dev.pass(chrono::TimeDelta::minutes(7));
    match step {
        0 | 5 => drop(dev.task(Some(step)).await),
        1 => drop(dev.opens(1, None, 10, &["bug"]).await),
        2 => drop(dev.reviews(1, 1, ReviewDecision::RequestChanges).await),
        3 => drop(dev.labels(0, &["bug"]).await),
        4 => drop(dev.lint_fails(1).await),
        6 => drop(dev.rejects(1).await),
        7 => drop(dev.pushes("abc").await),
        8 => drop(dev.fails_to_deploy(1, 1, "abc").await),
        9 => drop(dev.merges(1, 4, "def").await),
        10 => drop(dev.labels(0, &[]).await),
        _ => {
            let task = dev.task(None).await;
            dev.start(task).await;
            place.other.assign(task).await;
        }
    }
}

/// Waits until nothing follows from anything any more, and says where the log ends then.
async fn settled(place: &Place, runner: &Runner) -> i64 {
    let mut done = 0;
    while done < place.head().await {
        done = place.head().await;
        for reactor in runner.status() {
            assert!(runner.wait_for(reactor.name, done, PATIENCE).await, "{:?}", runner.status());
        }
    }
    done
}

async fn scores_equal_their_rebuild(bench: Bench) {
    let place = Place::new(bench).await;
    let (views, executor) = (place.bench.stores().views.clone(), place.dev.executor.clone());
    let runner = Runner::start(reactors::all(), executor, views.clone(), place.engine.clone());
    for number in 1..=3 {
        place.dev.opens(number, None, number, &[]).await;
        place.dev.rejects(number).await;
    }
    let mut done = 0;
    for step in 0..12 {
        step_of(&place, step).await;
        // One after the other: a record that a newer one has outrun is not judged.
        done = settled(&place, &runner).await;
    }
    runner.shutdown().await;
    assert!(place.engine.wait_for(&[score_facts::NAME, scorecards::NAME, agents::NAME], done, PATIENCE).await);
    place.engine.shutdown().await;
    let dev = agents::find(&views, place.dev.agent_id).await.unwrap().unwrap();
    assert!(dev.trust_score != 50.0 && dev.status == AgentStatus::Probation, "{dev:?}");
    for projection in projections::all() {
        let report = verify(&place.bench.log(), &views, &projection, &mut |_, _| {}).await.unwrap();
        assert!(report.is_clean(), "{}: {:#?}", projection.name(), report.differences);
    }
}
