//! Merges that nobody wants any more: those that are not on record are taken back, those that are stay.

use std::fs::{self, File};
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use commands::Actor;
use commands::factory::{AppointWorker, ApproveTask, CancelErrand};
use domain::post::Profiles;
use domain::task::Task;
use domain::{ErrandId, TaskId};
use muster_tests::both_stores;
use muster_tests::muster::{PATIENCE, wait_until};
use muster_tests::stores::Bench;
use reactors::perform_errands::Performer;
use store::sql::Query;

use crate::errands::{git, write_and_submit};
use crate::setbacks::{epic, epic_tree, repository};
use crate::workshop::Workshop;

both_stores!(
    a_merge_that_is_no_longer_wanted_is_taken_back,
    of_merges_that_are_not_its_own_an_errand_takes_none_back,
    a_supervisor_starts_when_a_merge_that_was_called_off_is_taken_back,
    a_merge_that_was_called_off_before_git_came_to_it_is_not_done,
    a_task_that_begins_anew_is_in_no_branch_once_its_new_supervisor_is_there,
    no_task_is_merged_upon_one_that_begins_anew,
    a_merge_that_is_on_record_is_never_taken_back,
);

async fn a_merge_that_is_no_longer_wanted_is_taken_back(place: Bench) {
    let (before, after) = merged_too_late(place, false).await;
    assert_eq!(after, before);
}

async fn of_merges_that_are_not_its_own_an_errand_takes_none_back(place: Bench) {
    let (before, after) = merged_too_late(place, true).await;
    assert_eq!(after, before);
}

/// Where the epic is before and after a merge whose errand was called off in the middle of it. Somebody may have merged
/// the task by hand.
async fn merged_too_late(place: Bench, is_by_hand: bool) -> (String, String) {
    let shop = Workshop::open(place, None).await;
    let (task, worker) = shop.worker("Cart").await;
    shop.perform().await;
    write_and_submit(&shop, task, worker, "cart.txt", "a cart\n").await;
    let tree = epic_tree(&shop);
    if is_by_hand {
        let head = shop.last("TaskSubmitted").await["head"].as_str().unwrap().to_owned();
        git(&tree, &["merge", "--quiet", "--no-ff", "-m", "By hand", &head]);
    }
    let before = git(&tree, &["rev-parse", "HEAD"]);
    let errand_id = approved(&shop, task).await;
    let held = HeldMerge::set(&shop).await;
    let performer = Performer::start(shop.shop());
    held.is_begun().await;
    shop.run(Actor::System("test"), &CancelErrand { errand_id, reason: "No shop".to_owned() }).await;
    held.let_go();
    performer.shutdown().await;
    (before, git(&tree, &["rev-parse", "HEAD"]))
}

/// The supervisor approves a task; the errand that merges it.
async fn approved(shop: &Workshop, task_id: TaskId) -> ErrandId {
    let approve = ApproveTask { by: shop.supervisor, task_id, pr_url: format!("muster://pull/{task_id}") };
    shop.run(Actor::Agent(shop.supervisor), &approve).await
}

/// A merge into the epic that stops in the middle: git waits for the lock of a branch.
struct HeldMerge {
    /// What somebody else began in the worktree, which is aborted just before: so the test knows that it is in hand.
    begun: PathBuf,
    lock: PathBuf,
}

impl HeldMerge {
    async fn set(shop: &Workshop) -> Self {
        let (branch, tree) = (epic(shop).await, epic_tree(shop));
        git(&tree, &["checkout", "--quiet", "-b", "side", "main"]);
        git(&tree, &["commit", "--quiet", "--allow-empty", "-m", "Another side"]);
        git(&tree, &["checkout", "--quiet", &branch]);
        git(&tree, &["merge", "--quiet", "--no-ff", "--no-commit", "side"]);
        let begun = git(&tree, &["rev-parse", "--path-format=absolute", "--git-path", "MERGE_HEAD"]);
        let begun = PathBuf::from(begun.trim());
        assert!(begun.exists());
        let lock = repository(shop).join(format!(".git/refs/heads/{branch}.lock"));
        // From the future, so that nobody takes it for a lock that was left behind.
        let then = SystemTime::now() + Duration::from_secs(3600);
        File::create(&lock).unwrap().set_modified(then).unwrap();
        Self { begun, lock }
    }

    async fn is_begun(&self) {
        wait_until("it is begun", async || !self.begun.exists()).await;
    }

    fn let_go(self) {
        fs::remove_file(self.lock).unwrap();
    }
}

async fn a_supervisor_starts_when_a_merge_that_was_called_off_is_taken_back(place: Bench) {
    let look = "git rev-parse HEAD > ../draft; mv ../draft ../$MUSTER_AGENT_ID.seen; sleep 1000";
    let agents = format!("[agents.supervisor]\ncommand = {}\n", serde_json::json!(["sh", "-c", look]));
    let shop = Workshop::open_with(place, &agents, "main").await;
    let (_, _, before) = one_approved_of_two(&shop).await;
    let held = HeldMerge::set(&shop).await;
    let performer = Performer::start(shop.shop());
    held.is_begun().await;
    let successor = shop.supervisor_dies().await;
    held.let_go();
    let seen = epic_tree(&shop).with_file_name(format!("{successor}.seen"));
    wait_until("the supervisor has looked around", async || seen.exists()).await;
    assert_eq!(fs::read_to_string(seen).unwrap(), before);
    performer.shutdown().await;
    assert_eq!(git(&epic_tree(&shop), &["rev-parse", "HEAD"]), before);
}

async fn a_merge_that_was_called_off_before_git_came_to_it_is_not_done(place: Bench) {
    let shop = Workshop::open(place, None).await;
    let (cart, _, before) = one_approved_of_two(&shop).await;
    let errand_id: ErrandId = serde_json::from_value(shop.last("ErrandOrdered").await["errand_id"].clone()).unwrap();
    merge_off_the_record(&shop, cart).await;
    shop.supervisor_dies().await;
    // A bench whose read models have not heard of that has the errand in hand.
    let head = shop.place.log().head().await.unwrap().position;
    assert!(shop.engine.wait_for(&["errands"], head, PATIENCE).await);
    let views = &shop.place.stores().views;
    let served = Query::new("select version, build from projections where name = 'errands'");
    let served = views.first(served).await.unwrap().unwrap();
    let rows = format!("errands__v{}_{}", served.int(0).unwrap(), served.int(1).unwrap());
    let open = Query::new(format!("update {rows} set open_on = 'main' where id = $1")).bind(errand_id.0);
    views.transact(vec![open.into()]).await.unwrap();
    shop.perform().await;
    let moves = git(&epic_tree(&shop), &["log", "--walk-reflogs", "--format=%gs", &epic(&shop).await, "--"]);
    assert_eq!(moves.lines().filter(|it| it.starts_with("muster: ")).collect::<Vec<_>>(), ["muster: undo a merge"]);
    assert_eq!(git(&epic_tree(&shop), &["rev-parse", "HEAD"]), before);
}

/// A task that is approved, and another that waits for review; what the epic is at.
async fn one_approved_of_two(shop: &Workshop) -> (TaskId, TaskId, String) {
    let (cart, one) = shop.worker("Cart").await;
    let (catalogue, two) = shop.worker("Catalogue").await;
    shop.perform().await;
    write_and_submit(shop, cart, one, "cart.txt", "a cart\n").await;
    write_and_submit(shop, catalogue, two, "catalogue.txt", "a catalogue\n").await;
    approved(shop, cart).await;
    (cart, catalogue, git(&epic_tree(shop), &["rev-parse", "HEAD"]))
}

/// As the bench would have merged a task, had it not been killed before it could say so.
async fn merge_off_the_record(shop: &Workshop, task: TaskId) {
    let state: Task = shop.folded(task.0).await;
    let head = state.live().unwrap().in_epic().unwrap().head.clone().unwrap();
    let message = format!("Merge task: Cart\n\nMuster-Task: {task}\n");
    git(&epic_tree(shop), &["merge", "--quiet", "--no-ff", "-m", &message, &head]);
}

async fn a_task_that_begins_anew_is_in_no_branch_once_its_new_supervisor_is_there(place: Bench) {
    let shop = Workshop::open(place, None).await;
    let (cart, _, before) = one_approved_of_two(&shop).await;
    merge_off_the_record(&shop, cart).await;
    shop.supervisor_dies().await;
    // Nobody is appointed to the task itself.
    shop.perform().await;
    assert_eq!(git(&epic_tree(&shop), &["rev-parse", &epic(&shop).await]), before);
    assert_eq!(git(&epic_tree(&shop), &["status", "--porcelain"]), "");
}

async fn no_task_is_merged_upon_one_that_begins_anew(place: Bench) {
    let shop = Workshop::open(place, None).await;
    let (cart, catalogue, before) = one_approved_of_two(&shop).await;
    let successor = shop.supervisor_dies().await;
    shop.perform().await;
    // It was in hand all that time.
    merge_off_the_record(&shop, cart).await;
    let approve = ApproveTask { by: successor, task_id: catalogue, pr_url: format!("muster://pull/{catalogue}") };
    shop.run(Actor::Agent(successor), &approve).await;
    shop.perform().await;
    assert_eq!((shop.count("TaskCompleted").await, shop.count("ErrandFailed").await), (1, 0));
    let epic = epic(&shop).await;
    assert_eq!(git(&repository(&shop), &["rev-parse", &format!("{epic}^1")]), before);
    assert_eq!(git(&repository(&shop), &["ls-tree", "--name-only", &epic]), "catalogue.txt\n");
}

async fn a_merge_that_is_on_record_is_never_taken_back(place: Bench) {
    let shop = Workshop::open(place, None).await;
    let (_, catalogue, _) = one_approved_of_two(&shop).await;
    shop.perform().await;
    let merged = git(&epic_tree(&shop), &["rev-parse", "HEAD"]);
    shop.supervisor_dies().await;
    let appoint = AppointWorker { task_id: catalogue, profiles: Profiles::default() };
    shop.run(Actor::System("test"), &appoint).await;
    shop.perform().await;
    assert_eq!(shop.count("TaskCompleted").await, 1);
    assert_eq!(git(&epic_tree(&shop), &["rev-parse", "HEAD"]), merged);
}
