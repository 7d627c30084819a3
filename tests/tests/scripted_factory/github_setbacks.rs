//! What the bench does when something is in its way on GitHub: a merge that nobody could put on record.

use commands::Actor;
use commands::factory::{AppointWorker, ApproveTask, DeclareDead, SubmitTask, Verdict};
use domain::post::{Evidence, Profiles};
use muster_tests::both_stores;
use muster_tests::pull_requests::PullRequests;
use muster_tests::stores::Bench;

use crate::errands::{start, write_and_submit};
use crate::workshop::Workshop;

both_stores!(a_merge_on_github_that_is_not_on_record_is_found_when_its_task_is_done_again);

async fn a_merge_on_github_that_is_not_on_record_is_found_when_its_task_is_done_again(place: Bench) {
    let github = PullRequests::with_repository().await;
    let shop = Workshop::open_on_github(place, &github).await;
    let (cart, one) = shop.worker("Cart").await;
    shop.perform().await;
    write_and_submit(&shop, cart, one, "cart.txt", "a cart\n").await;
    let approve = |by| ApproveTask { by, task_id: cart, pr_url: github.url_of(1) };
    shop.run(Actor::Agent(shop.supervisor), &approve(shop.supervisor)).await;
    // As the bench would have, had it not been killed before it could say so; and the supervisor died with it.
    let merge = github.merge_there(1);
    let evidence =
        Evidence { last_heartbeat: shop.now(), checks_missed: 2, process_alive: Some(false), last_output_at: None };
    let dead = DeclareDead { agent_id: shop.supervisor, evidence, profiles: Profiles::default() };
    let verdict = shop.run(Actor::System("test"), &dead).await;
    let Verdict::Recovered { successor } = verdict else { panic!("{verdict:?}") };
    let appoint = AppointWorker { task_id: cart, profiles: Profiles::default() };
    let two = shop.run(Actor::System("test"), &appoint).await.agent_id;
    shop.perform().await;
    // It finds its work done, and has nothing to add.
    start(&shop, two).await;
    let submit = SubmitTask { by: two, title: "A task".to_owned(), description: "Done".to_owned() };
    shop.run(Actor::Agent(two), &submit).await;
    shop.perform().await;
    assert_eq!(shop.count("ErrandFailed").await, 0);
    assert_eq!(shop.last("TaskSubmitted").await["pr_url"], github.url_of(1));
    shop.run(Actor::Agent(successor), &approve(successor)).await;
    shop.perform().await;
    assert!(shop.last("TaskCompleted").await.to_string().contains(&merge), "the merge that was there");
    assert_eq!(github.pulls().len(), 1);
}
