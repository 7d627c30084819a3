//! GitHub tells things twice, at once and in any order.

use std::collections::BTreeSet;

use domain::pull_request::{KnownPullRequest, PullRequest, Standing};
use domain::{ProjectId, PullRequestId};
use futures_util::future::join_all;
use muster_tests::both_served_stores;
use muster_tests::server::Server;
use muster_tests::stores::Bench;
use muster_tests::webhooks::{Payload, REPOSITORY, listening, payload};
use proptest::strategy::{Just, Strategy, ValueTree};
use proptest::test_runner::TestRunner;
use serde_json::json;
use store::StreamId;

both_served_stores!(
    a_delivery_that_comes_again_is_answered_as_before,
    a_delivery_is_remembered_for_a_month,
    an_id_that_comes_with_another_body_changes_nothing,
    a_body_under_a_new_id_changes_nothing,
    the_same_delivery_twice_at_once_is_taken_once,
    deliveries_at_once_are_all_taken,
    an_issue_told_of_twice_at_once_is_one_task,
    the_order_of_deliveries_does_not_change_what_a_pull_request_becomes,
);

const HISTORY: [&str; 14] = [
    "issues.opened",
    "issues.assigned",
    "issues.labeled",
    "push",
    "pull_request.opened",
    "pull_request.edited",
    "pull_request.synchronize",
    "check_run.completed",
    "check_suite.completed",
    "pull_request.labeled",
    "issue_comment.created",
    "pull_request_review.submitted",
    "pull_request.merged",
    "deployment_status.created",
];

async fn with_shop(bench: Bench) -> (Server, String) {
    let server = listening(bench).await;
    let ada = server.owner("ada").await;
    let workspace = ada.workspace("acme").await;
    let project = ada.project_at(&workspace, "shop", REPOSITORY).await;
    ada.new_agent(&workspace, Some(&project), "dev-uno").await;
    (server, project)
}

async fn a_delivery_that_comes_again_is_answered_as_before(bench: Bench) {
    let (server, _) = with_shop(bench).await;
    for name in HISTORY {
        let first = server.deliver_as(name, &payload(name)).await.ok();
        let head = server.told().await;
        let again = server.deliver_as(name, &payload(name)).await.ok();
        assert_eq!((&first.body, first.body["processed"].clone()), (&again.body, json!(true)), "{name}");
        assert_eq!(server.told().await, head, "{name}");
    }
}

async fn a_delivery_is_remembered_for_a_month(bench: Bench) {
    let (server, _) = with_shop(bench).await;
    let clock = server.bench.clock.clone();
    server.deliver_as("one", &payload("issues.opened")).await.ok();
    clock.set(clock.now() + chrono::Duration::days(29));
    server.bench.log().forget_expired().await.unwrap();
    assert_eq!(server.deliver_as("one", &payload("issues.opened")).await.ok().body["processed"], true);
    clock.set(clock.now() + chrono::Duration::days(2));
    // Then the issue itself tells that it is known.
    assert_eq!(server.deliver_as("one", &payload("issues.opened")).await.ok().body["processed"], false);
    assert_eq!(server.all_of("TaskCreated").await.len(), 1);
}

async fn an_id_that_comes_with_another_body_changes_nothing(bench: Bench) {
    let (server, _) = with_shop(bench).await;
    server.deliver_as("one", &payload("issues.opened")).await.ok();
    let head = server.told().await;
    let other = server.deliver_as("one", &payload("issues.opened").numbered(13)).await.ok();
    assert_eq!((other.body["processed"].clone(), server.told().await), (json!(false), head));
}

async fn a_body_under_a_new_id_changes_nothing(bench: Bench) {
    let (server, _) = with_shop(bench).await;
    for name in HISTORY {
        server.tell(&payload(name)).await;
    }
    let head = server.told().await;
    for name in HISTORY {
        server.tell_in_vain(&payload(name)).await;
    }
    assert_eq!(server.told().await, head);
}

async fn the_same_delivery_twice_at_once_is_taken_once(bench: Bench) {
    let (server, _) = with_shop(bench).await;
    for name in HISTORY {
        let (before, told) = (server.told().await.len(), payload(name));
        let answers = join_all((0..4).map(|_| server.deliver_as(name, &told))).await;
        assert!(answers.into_iter().all(|it| it.ok().body["processed"] == true), "{name}");
        let types = server.told().await.split_off(before);
        assert_eq!(types.iter().collect::<BTreeSet<_>>().len(), types.len(), "{name}: {types:?}");
    }
}

async fn deliveries_at_once_are_all_taken(bench: Bench) {
    let (server, _) = with_shop(bench).await;
    let all: Vec<Payload> = (1..=40)
        .map(|n| match n % 2 {
            0 => payload("issue_comment.created").with("/comment/id", n),
            _ => payload("issues.opened").numbered(n),
        })
        .collect();
    let answers = join_all(all.iter().map(|it| server.deliver(it))).await;
    assert!(answers.into_iter().all(|it| it.ok().body["processed"] == true));
    assert_eq!(server.all_of("IssueCommented").await.len(), 20);
    assert_eq!(server.all_of("TaskCreated").await.len(), 20);
}

async fn an_issue_told_of_twice_at_once_is_one_task(bench: Bench) {
    let (server, _) = with_shop(bench).await;
    for number in 1..=10 {
        let told = ["issues.opened", "issues.assigned"].map(|name| payload(name).numbered(number));
        for answer in join_all(told.iter().map(|it| server.deliver(it))).await {
            answer.ok();
        }
    }
    assert_eq!(server.all_of("TaskCreated").await.len(), 10);
    assert_eq!(server.all_of("TaskAssigned").await.len(), 10);
}

/// One pull request's life, where every description differs from all others.
fn life(number: i64) -> Vec<Payload> {
    let told = |name: &str, minute: i64| {
        let at = format!("2026-03-01T13:{minute:02}:00Z");
        let it = payload(name).numbered(number).with("/pull_request/updated_at", at.as_str());
        (it.with("/pull_request/title", format!("Take {minute} (#12)")), at)
    };
    let described = |name: &str, minute: i64| told(name, minute).0;
    let closed = |name: &str, minute: i64, field: &str| {
        let (it, at) = told(name, minute);
        it.with(&format!("/pull_request/{field}"), at.as_str()).with("/pull_request/closed_at", at.as_str())
    };
    vec![
        described("pull_request.opened", 1),
        described("pull_request.synchronize", 2),
        described("pull_request.labeled", 3),
        payload("pull_request_review.submitted").numbered(number),
        closed("pull_request.closed", 4, "closed_at"),
        described("pull_request.reopened", 5),
        described("pull_request.edited", 6),
        closed("pull_request.merged", 7, "merged_at"),
        described("pull_request.labeled", 8).with("/pull_request/additions", 77),
    ]
}

async fn the_order_of_deliveries_does_not_change_what_a_pull_request_becomes(bench: Bench) {
    let (server, project) = with_shop(bench).await;
    server.tell(&payload("issues.assigned")).await;
    let project = ProjectId(project.parse().unwrap());
    let mut runner = TestRunner::deterministic();
    for number in 100..130 {
        let order = Just(life(number)).prop_shuffle().new_tree(&mut runner).unwrap().current();
        for told in &order {
            server.deliver(told).await.ok();
        }
        let known = pull_request(&server, PullRequestId::of(project, number)).await;
        assert_eq!((known.title.as_str(), known.additions, known.standing), ("Take 8 (#12)", 77, Standing::Merged));
        assert_eq!((known.labels.as_slice(), known.deletions), (["bug".to_owned()].as_slice(), 34));
        assert!(known.linked_task_id.is_some() && known.agent_id.is_some());
    }
    for once in ["PullRequestOpened", "PullRequestMerged", "PullRequestReviewed"] {
        assert_eq!(server.all_of(once).await.len(), 30, "{once}");
    }
    assert_eq!(server.all_of("TaskCompleted").await.len(), 1);
}

async fn pull_request(server: &Server, id: PullRequestId) -> KnownPullRequest {
    use cqrs_es::Aggregate;
    let mut state = PullRequest::default();
    for event in server.bench.stream(&StreamId::new(PullRequest::TYPE, id)).await {
        state.apply(domain::decode(&event.event_type, &event.event_version, &event.payload).unwrap());
    }
    state.known().unwrap().clone()
}
