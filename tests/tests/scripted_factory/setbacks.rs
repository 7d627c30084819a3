//! What the bench does when something is in its way: a stranger, a crash in the middle, a forge that says no.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use commands::Actor;
use commands::factory::{AppointOrchestrator, CompleteEpic, RebaseTask, RequestChanges, SubmitEpic, UpdateTaskState};
use domain::post::Profiles;
use domain::task::{Task, TaskState};
use domain::{AgentCode, Slug, TaskId};
use muster_tests::both_stores;
use muster_tests::fleet::Fleet;
use muster_tests::muster::{PATIENCE, wait_until};
use muster_tests::stores::Bench;
use reactors::bench::{BenchSettings, Whereabouts};
use reactors::perform_errands::{FreshKey, Performer, Shop};

use crate::errands::{approve, git, merged_and_to_be_rebased, tree, write_and_submit};
use crate::workshop::Workshop;

both_stores!(
    nothing_is_started_for_a_workspace_that_has_no_project_here,
    a_rebase_that_a_crash_cut_short_is_done_again,
    changes_that_were_asked_for_are_committed_and_reviewed,
    what_is_merged_is_what_was_reviewed,
    what_a_human_takes_is_what_was_submitted,
    an_errand_that_panics_is_tried_again_and_then_given_up,
    what_cannot_be_recorded_rests_before_it_is_done_again,
    what_another_node_left_running_is_ended_by_whoever_gets_the_bench,
);

async fn nothing_is_started_for_a_workspace_that_has_no_project_here(place: Bench) {
    let shop = Workshop::open_with(place, "[agents.orchestrator]\ncommand = [\"sleep\", \"1000\"]\n", "main").await;
    shop.perform().await;
    let stranger = Fleet::on(shop.place.log());
    let theirs = stranger.workspace("theirs").await.unwrap();
    stranger.project(theirs, "shop").await.unwrap();
    let ours = shop.workspace().await;
    for (workspace_id, started) in [(theirs, 0), (ours, 1)] {
        let bench = Some(Slug::parse("main").unwrap());
        let appoint = AppointOrchestrator { workspace_id, bench, profiles: Profiles::default() };
        shop.run(Actor::System("test"), &appoint).await;
        shop.perform().await;
        assert_eq!(shop.count("AgentCredentialsRotated").await, started);
        let error = shop.last("ErrandFailed").await["error"].clone();
        assert!(error.as_str().unwrap().contains(&format!("no project of workspace {theirs}")), "{error}");
    }
    assert_eq!(shop.count("ErrandFailed").await, 1);
}

async fn a_rebase_that_a_crash_cut_short_is_done_again(place: Bench) {
    let shop = Workshop::open(place, None).await;
    let (_, catalogue, two) = merged_and_to_be_rebased(&shop).await;
    let (worktree, epic) = (tree(&shop, catalogue), epic(&shop).await);
    let cut = ["rebase", "--quiet", "--exec", "false", &epic];
    let cut = std::process::Command::new("git").arg("-C").arg(&worktree).args(cut).output().unwrap();
    assert!(!cut.status.success(), "it stops in the middle");
    shop.run(Actor::Agent(two), &RebaseTask { by: two }).await;
    shop.perform().await;
    assert_eq!((shop.count("TaskRebased").await, shop.count("ErrandFailed").await), (1, 0));
    assert!(worktree.join("cart.txt").exists(), "it stands on the other");
}

/// What a supervisor sees of a task: the diff, and one file.
async fn looked_at(shop: &Workshop, task: TaskId, file: &str) -> (String, String) {
    let task: Task = shop.folded(task.0).await;
    let task = task.live().unwrap();
    let factory = task.in_epic().unwrap();
    let of = Whereabouts {
        project_id: task.project_id,
        epic_branch: epic(shop).await,
        task_id: task.task_id,
        task_branch: factory.worktree_name.to_string(),
        reviewed: factory.head.clone(),
    };
    let views = &shop.place.stores().views;
    (shop.bench.diff(views, &of).await.unwrap().diff, shop.bench.read_file(views, &of, file).await.unwrap())
}

async fn changes_that_were_asked_for_are_committed_and_reviewed(place: Bench) {
    let shop = Workshop::open(place, None).await;
    let (cart, one) = shop.worker("Cart").await;
    shop.perform().await;
    write_and_submit(&shop, cart, one, "cart.txt", "a cart\n").await;
    let first = shop.last("TaskSubmitted").await;
    let changes = RequestChanges { by: shop.supervisor, task_id: cart, feedback: "With wheels".to_owned() };
    shop.run(Actor::Agent(shop.supervisor), &changes).await;
    fs::write(tree(&shop, cart).join("cart.txt"), "a cart with wheels\n").unwrap();
    shop.run(Actor::Agent(one), &UpdateTaskState { by: one, to: TaskState::PendingReview }).await;
    shop.perform().await;
    let second = shop.last("TaskSubmitted").await;
    assert!(second["head"].is_string() && second["head"] != first["head"], "{second}");
    assert_eq!((&second["pr_title"], &second["pr_description"]), (&first["pr_title"], &first["pr_description"]));
    let (diff, file) = looked_at(&shop, cart, "cart.txt").await;
    assert!(diff.contains("+a cart with wheels"), "{diff}");
    assert_eq!(file, "a cart with wheels\n");
    approve(&shop, cart).await;
    assert_eq!(git(&repository(&shop), &["show", &format!("{}:cart.txt", epic(&shop).await)]), "a cart with wheels\n");
}

async fn what_is_merged_is_what_was_reviewed(place: Bench) {
    let shop = Workshop::open(place, None).await;
    let (cart, one) = shop.worker("Cart").await;
    shop.perform().await;
    write_and_submit(&shop, cart, one, "cart.txt", "a cart\n").await;
    // Nobody has seen this when the review begins.
    fs::write(tree(&shop, cart).join("cart.txt"), "a bomb\n").unwrap();
    git(&tree(&shop, cart), &["commit", "--quiet", "--all", "-m", "later"]);
    let (diff, file) = looked_at(&shop, cart, "cart.txt").await;
    assert!(diff.contains("+a cart") && !diff.contains("bomb"), "{diff}");
    assert_eq!(file, "a cart\n");
    approve(&shop, cart).await;
    assert_eq!(git(&repository(&shop), &["show", &format!("{}:cart.txt", epic(&shop).await)]), "a cart\n");
}

async fn what_a_human_takes_is_what_was_submitted(place: Bench) {
    let shop = Workshop::open(place, None).await;
    let (cart, one) = shop.worker("Cart").await;
    shop.perform().await;
    write_and_submit(&shop, cart, one, "cart.txt", "a cart\n").await;
    approve(&shop, cart).await;
    let submit = SubmitEpic { by: shop.supervisor, title: "A shop".to_owned(), description: String::new() };
    shop.run(Actor::Agent(shop.supervisor), &submit).await;
    shop.perform().await;
    let submitted = shop.last("EpicSubmitted").await["head"].as_str().unwrap().to_owned();
    let later = epic_tree(&shop);
    fs::write(later.join("cart.txt"), "a bomb\n").unwrap();
    git(&later, &["commit", "--quiet", "--all", "-m", "later"]);
    let take = CompleteEpic { by: shop.fleet.owner, epic_id: shop.epic, merge: true };
    shop.run(Actor::User(shop.fleet.owner), &take).await;
    shop.perform().await;
    assert_eq!(git(&repository(&shop), &["show", "main:cart.txt"]), "a cart\n");
    assert_eq!(git(&repository(&shop), &["rev-parse", "main^2"]).trim(), submitted);
}

pub(crate) fn repository(shop: &Workshop) -> PathBuf {
    shop.folder.path().join("shop")
}

pub(crate) fn epic_tree(shop: &Workshop) -> PathBuf {
    shop.folder.path().join("bench/worktrees/acme-shop").join(format!("epic-{}", shop.epic))
}

pub(crate) async fn epic(shop: &Workshop) -> String {
    shop.last("EpicCreated").await["worktree_name"].as_str().unwrap().to_owned()
}

/// A shop in which keys are made like this.
fn with_keys(shop: &Workshop, make: impl Fn() + Send + Sync + 'static) -> Shop {
    let keys = Arc::new(move |_, _: &AgentCode| {
        make();
        FreshKey { text: "key".to_owned(), hash: vec![7; 32] }
    });
    Shop { keys, ..shop.shop() }
}

async fn an_errand_that_panics_is_tried_again_and_then_given_up(place: Bench) {
    let shop = Workshop::open(place, Some(&["sleep", "1000"])).await;
    let (_, one) = shop.worker("Cart").await;
    let (_, two) = shop.worker("Catalogue").await;
    let performer = Performer::start(with_keys(&shop, || panic!("no key today")));
    for tries in 1..6 {
        wait_until("both were tried", async || shop.count("ErrandTried").await == 2 * tries).await;
        shop.pass(60);
        // Something happens, so that the bench looks at the clock.
        shop.hear_of(shop.supervisor).await;
    }
    wait_until("both are given up", async || shop.count("ErrandFailed").await == 2).await;
    performer.shutdown().await;
    let failed = shop.last("ErrandFailed").await;
    assert!(failed["error"].as_str().unwrap().contains("no key today"), "{failed}");
    assert_eq!(shop.count("ErrandTried").await, 10, "of {one} and {two}");
    assert_eq!(shop.count("ErrandDone").await, 1, "the supervisor starts itself");
}

async fn what_cannot_be_recorded_rests_before_it_is_done_again(place: Bench) {
    let shop = Workshop::open(place, Some(&["sleep", "1000"])).await;
    shop.worker("Cart").await;
    let launch = shop.last("ErrandOrdered").await["errand_id"].as_str().unwrap().to_owned();
    let head = shop.place.log().head().await.unwrap().position;
    assert!(shop.engine.wait_for(&["errands"], head, PATIENCE).await);
    let damage = format!("update events set payload = '{{\"Nonsense\":{{}}}}' where aggregate_id = '{launch}'");
    shop.place.tamper(&damage).await;
    let made = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&made);
    let keys = with_keys(&shop, move || {
        counted.fetch_add(1, Ordering::SeqCst);
    });
    // A node that does not remember how it was.
    let executor = shop.fleet.elsewhere(shop.place.log()).executor;
    let begun = Instant::now();
    let performer = Performer::start(Shop { executor, ..keys });
    wait_until("it was done three times", async || made.load(Ordering::SeqCst) >= 3).await;
    assert!(begun.elapsed() >= Duration::from_secs(3), "one second, and two: {:?}", begun.elapsed());
    performer.shutdown().await;
    assert_eq!(shop.count("ErrandDone").await, 1, "nobody else waits for it");
}

async fn what_another_node_left_running_is_ended_by_whoever_gets_the_bench(place: Bench) {
    let shop = Workshop::open(place, None).await;
    let worktrees = shop.folder.path().join("bench/worktrees/acme-shop");
    // Nobody's child: whoever started it is dead.
    let script = "sleep 1000 > /dev/null 2>&1 & echo $!";
    let left = std::process::Command::new("sh").args(["-c", script]).env("MUSTER_WORKTREES", &worktrees).output();
    let left: u32 = String::from_utf8(left.unwrap().stdout).unwrap().trim().parse().unwrap();
    let is_alive = || {
        let stat = fs::read_to_string(format!("/proc/{left}/stat")).unwrap_or_default();
        stat.rsplit_once(") ").is_some_and(|(_, state)| !state.starts_with('Z'))
    };
    // Another node with the same worktrees has no right to it before it has the bench.
    let text = format!(
        "folder = {}\n[projects.\"acme/shop\"]\nrepository = {}\nworktrees = {}\n",
        serde_json::json!(shop.folder.path().join("standby")),
        serde_json::json!(repository(&shop)),
        serde_json::json!(worktrees),
    );
    let file = shop.folder.path().join("standby.toml");
    fs::write(&file, text).unwrap();
    let settings = BenchSettings::read(Some(&file), |_| None, shop.folder.path()).unwrap().unwrap();
    let standby = reactors::bench::Bench::open(settings, "127.0.0.1:1").await.unwrap();
    assert!(is_alive() && !standby.is_held());
    let performer = Performer::start(Shop { bench: standby, ..shop.shop() });
    wait_until("it is ended", async || !is_alive()).await;
    performer.shutdown().await;
}
