//! What the bench does when something happens on GitHub without it: a merge that nobody could put on record, people who merge or push.

use commands::Actor;
use commands::factory::{AppointWorker, ApproveTask, CompleteEpic, RebaseTask, SubmitEpic, SubmitTask};
use domain::post::Profiles;
use domain::task::Task;
use muster_tests::both_stores;
use muster_tests::pull_requests::PullRequests;
use muster_tests::stores::Bench;

use crate::errands::{git, start, write_and_submit};
use crate::workshop::Workshop;

both_stores!(
    a_merge_on_github_that_is_not_on_record_is_found_when_its_task_is_done_again,
    what_people_merged_on_github_is_found_merged,
    a_conflict_on_github_sends_the_task_to_its_rebase,
    a_task_whose_pull_request_was_closed_is_rebased_into_another,
);

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
    let successor = shop.supervisor_dies().await;
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

async fn what_people_merged_on_github_is_found_merged(place: Bench) {
    let github = PullRequests::with_repository().await;
    let shop = Workshop::open_on_github(place, &github).await;
    let (cart, one) = shop.worker("Cart").await;
    shop.perform().await;
    write_and_submit(&shop, cart, one, "cart.txt", "a cart\n").await;
    let merge = github.merge_there(1);
    let approve = ApproveTask { by: shop.supervisor, task_id: cart, pr_url: github.url_of(1) };
    shop.run(Actor::Agent(shop.supervisor), &approve).await;
    shop.perform().await;
    assert!(shop.last("TaskCompleted").await.to_string().contains(&merge));
    let submit = SubmitEpic { by: shop.supervisor, title: "A shop".to_owned(), description: String::new() };
    shop.run(Actor::Agent(shop.supervisor), &submit).await;
    shop.perform().await;
    let merge = github.merge_there(2);
    let take = CompleteEpic { by: shop.fleet.owner, epic_id: shop.epic, merge: true };
    shop.run(Actor::User(shop.fleet.owner), &take).await;
    shop.perform().await;
    assert_eq!(shop.last("EpicCompleted").await["merge_commit"], merge);
    assert_eq!(git(&shop.folder.path().join("shop"), &["show", "main:cart.txt"]), "a cart\n", "what is there is here");
}

async fn a_conflict_on_github_sends_the_task_to_its_rebase(place: Bench) {
    let github = PullRequests::with_repository().await;
    let shop = Workshop::open_on_github(place, &github).await;
    let (cart, one) = shop.worker("Cart").await;
    shop.perform().await;
    write_and_submit(&shop, cart, one, "cart.txt", "a cart\n").await;
    // Somebody was faster over there, and nobody here knows yet.
    let (epic, theirs) = (github.pulls()[0].base.clone(), shop.folder.path().join("theirs"));
    let origin = github.origin();
    git(shop.folder.path(), &["clone", "--quiet", "--branch", &epic, origin.to_str().unwrap(), "theirs"]);
    std::fs::write(theirs.join("cart.txt"), "a barrow\n").unwrap();
    git(&theirs, &["add", "--all"]);
    git(&theirs, &["commit", "--quiet", "-m", "faster"]);
    git(&theirs, &["push", "--quiet"]);
    let approve = ApproveTask { by: shop.supervisor, task_id: cart, pr_url: github.url_of(1) };
    shop.run(Actor::Agent(shop.supervisor), &approve).await;
    shop.perform().await;
    assert_eq!((shop.count("TaskRebaseRequested").await, shop.count("TaskMergeFailed").await), (1, 0));
    assert_eq!(shop.last("MailSent").await["subject"], "Rebase Required");
    let here = shop.folder.path().join("shop");
    assert_eq!(git(&here, &["show", &format!("{epic}:cart.txt")]), "a barrow\n", "what it is to be rebased onto");
}

async fn a_task_whose_pull_request_was_closed_is_rebased_into_another(place: Bench) {
    let github = PullRequests::with_repository().await;
    let shop = Workshop::open_on_github(place, &github).await;
    let (cart, one) = shop.worker("Cart").await;
    let (catalogue, two) = shop.worker("Catalogue").await;
    shop.perform().await;
    write_and_submit(&shop, cart, one, "cart.txt", "a cart\n").await;
    write_and_submit(&shop, catalogue, two, "catalogue.txt", "a catalogue\n").await;
    let approve = async |task_id, number| {
        let approve = ApproveTask { by: shop.supervisor, task_id, pr_url: github.url_of(number) };
        shop.run(Actor::Agent(shop.supervisor), &approve).await;
        shop.perform().await;
    };
    approve(cart, 1).await;
    github.close_there(2);
    shop.run(Actor::Agent(two), &RebaseTask { by: two }).await;
    shop.perform().await;
    assert_eq!(shop.last("TaskRebased").await["pr_url"], github.url_of(3));
    assert_eq!(shop.last("EpicReviewQueued").await["pr_url"], github.url_of(3));
    let task: Task = shop.folded(catalogue.0).await;
    assert_eq!(task.live().unwrap().in_epic().unwrap().pr_url, Some(github.url_of(3)));
    approve(catalogue, 3).await;
    assert_eq!((shop.count("TaskCompleted").await, shop.count("TaskMergeFailed").await), (2, 0));
}
