//! What the bench does: effects that may happen twice, outcomes that are recorded once, and trouble that is told.

use std::fs;

use commands::Actor;
use commands::factory::{ApproveTask, LaunchAgent, RebaseTask, SubmitTask, UpdateTaskState};
use domain::task::TaskState;
use domain::{AgentId, TaskId};
use muster_tests::both_stores;
use muster_tests::muster::wait_until;
use muster_tests::stores::Bench;

use crate::workshop::Workshop;

both_stores!(
    an_agent_is_started_in_its_worktree_with_what_it_needs_to_know,
    what_a_worker_left_uncommitted_is_reviewed_merged_and_makes_the_others_rebase,
    a_rebase_that_conflicts_fails_the_task_and_names_the_files,
    an_agent_that_cannot_be_started_is_told_of_and_nothing_else_waits,
    an_agent_that_could_not_be_started_starts_with_a_new_key_when_it_is_launched_again,
    an_errand_that_was_done_before_a_crash_is_done_once,
);

async fn an_agent_is_started_in_its_worktree_with_what_it_needs_to_know(place: Bench) {
    let shop = Workshop::open(place, Some(&["sh", "-c", "pwd > seen; env >> seen; mv seen there; sleep 1000"])).await;
    let (task, worker) = shop.worker("Cart").await;
    shop.perform().await;
    let worktree = tree(&shop, task);
    wait_until("the agent has looked around", async || worktree.join("there").exists()).await;
    let seen = fs::read_to_string(worktree.join("there")).unwrap();
    let mission = shop.folder.path().join(format!("bench/missions/{worker}.md"));
    for line in [
        worktree.display().to_string(),
        "MUSTER_URL=http://127.0.0.1:1".to_owned(),
        "MUSTER_MCP_URL=http://127.0.0.1:1/mcp".to_owned(),
        format!("MUSTER_AGENT_ID={worker}"),
        "MUSTER_AGENT_KIND=WORKER".to_owned(),
        "MUSTER_MODEL=sonnet".to_owned(),
        "MUSTER_PERMISSIONS=yolo".to_owned(),
        "MUSTER_DISALLOWED_TOOLS=AskUserQuestion".to_owned(),
        format!("MUSTER_MISSION_FILE={}", mission.display()),
        format!("MUSTER_WORKTREE={}", worktree.display()),
    ] {
        assert!(seen.lines().any(|it| it == line), "{line} is not in\n{seen}");
    }
    assert!(seen.contains("MUSTER_AGENT_KEY=key of worker-"), "{seen}");
    assert!(fs::read_to_string(mission).unwrap().contains("Cart"));
    assert_eq!(shop.count("AgentCredentialsRotated").await, 1, "the supervisor starts itself");
}

async fn what_a_worker_left_uncommitted_is_reviewed_merged_and_makes_the_others_rebase(place: Bench) {
    let shop = Workshop::open(place, None).await;
    let (cart, catalogue, two) = merged_and_to_be_rebased(&shop).await;
    assert_eq!(shop.last("TaskRebaseRequested").await["merged_task_id"], cart.to_string());
    shop.run(Actor::Agent(two), &RebaseTask { by: two }).await;
    shop.perform().await;
    assert_eq!(
        fs::read_to_string(tree(&shop, catalogue).join("cart.txt")).unwrap(),
        "a cart\n",
        "it stands on the other"
    );
    approve(&shop, catalogue).await;
    assert_eq!((shop.count("TaskCompleted").await, shop.count("ErrandFailed").await), (2, 0));
}

async fn a_rebase_that_conflicts_fails_the_task_and_names_the_files(place: Bench) {
    let shop = Workshop::open(place, None).await;
    let (left, one) = shop.worker("Left").await;
    let (right, two) = shop.worker("Right").await;
    shop.perform().await;
    write_and_submit(&shop, left, one, "shared.txt", "the left\n").await;
    write_and_submit(&shop, right, two, "shared.txt", "the right\n").await;
    approve(&shop, left).await;
    assert_eq!(shop.last("MailSent").await["subject"], "Rebase Required");
    shop.run(Actor::Agent(two), &RebaseTask { by: two }).await;
    shop.perform().await;
    let failed = shop.last("TaskFailed").await;
    assert_eq!(failed["conflict_files"], serde_json::json!(["shared.txt"]), "{failed}");
    let found = fs::read_to_string(tree(&shop, right).join("shared.txt")).unwrap();
    assert_eq!(found, "the right\n", "its work is as it was");
}

async fn an_agent_that_cannot_be_started_is_told_of_and_nothing_else_waits(place: Bench) {
    let shop = Workshop::open_on(place, None, "trunk").await;
    shop.worker("Cart").await;
    shop.perform().await;
    assert_eq!(shop.count("ErrandFailed").await, 2, "neither worktree can begin at a branch that is not there");
    assert!(shop.last("ErrandFailed").await["error"].as_str().unwrap().contains("trunk"));
    let mail = shop.last("MailSent").await;
    assert_eq!(mail["subject"], "An agent could not be started", "{mail}");
}

async fn an_agent_that_could_not_be_started_starts_with_a_new_key_when_it_is_launched_again(place: Bench) {
    let shop = Workshop::open_on(place, Some(&["sh", "-c", "env > seen; mv seen there; sleep 1000"]), "trunk").await;
    let (task, worker) = shop.worker("Cart").await;
    shop.perform().await;
    assert_eq!((shop.count("AgentLaunchFailed").await, shop.count("AgentCredentialsRotated").await), (2, 0));
    // Somebody puts it right.
    git(&shop.folder.path().join("shop"), &["branch", "trunk", "main"]);
    let launch = LaunchAgent { by: shop.fleet.owner, agent_id: worker, heard_of: false };
    shop.run(Actor::User(shop.fleet.owner), &launch).await;
    shop.perform().await;
    let seen = tree(&shop, task).join("there");
    wait_until("the agent has looked around", async || seen.exists()).await;
    let seen = fs::read_to_string(seen).unwrap();
    assert!(seen.contains("MUSTER_AGENT_KEY=key of worker-"), "{seen}");
    assert_eq!((shop.count("AgentLaunched").await, shop.count("AgentCredentialsRotated").await), (1, 1));
}

async fn an_errand_that_was_done_before_a_crash_is_done_once(place: Bench) {
    let shop = Workshop::open(place, None).await;
    let (cart, one) = shop.worker("Cart").await;
    shop.perform().await;
    write_and_submit(&shop, cart, one, "cart.txt", "a cart\n").await;
    let submitted = shop.last("TaskSubmitted").await;
    let approve = ApproveTask { by: shop.supervisor, task_id: cart, pr_url: format!("muster://pull/{cart}") };
    shop.run(Actor::Agent(shop.supervisor), &approve).await;
    // As the bench would have, had it not been killed before it could say so.
    let epic = shop.last("EpicCreated").await["worktree_name"].as_str().unwrap().to_owned();
    let folder = fs::read_dir(shop.folder.path().join("bench/worktrees/acme-shop")).unwrap().flatten();
    let folder = folder.map(|it| it.path()).find(|it| it.to_string_lossy().contains("epic-")).unwrap();
    let message = format!("Merge task: Cart\n\nMuster-Task: {cart}\n");
    let head = submitted["head"].as_str().unwrap();
    git(&folder, &["merge", "--quiet", "--no-ff", "-m", &message, head]);
    let merge = git(&folder, &["rev-parse", "HEAD"]);
    shop.perform().await;
    assert!(shop.last("TaskCompleted").await.to_string().contains(merge.trim()), "the commit that was there");
    assert_eq!(git(&folder, &["rev-parse", &epic]), merge);
}

pub(crate) fn git(folder: &std::path::Path, args: &[&str]) -> String {
    let identity = ["-c", "user.name=Ada", "-c", "user.email=ada@localhost"];
    let output = std::process::Command::new("git").arg("-C").arg(folder).args(identity).args(args).output().unwrap();
    assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

pub(crate) fn tree(shop: &Workshop, task: TaskId) -> std::path::PathBuf {
    shop.folder.path().join(format!("bench/worktrees/acme-shop/task-{task}"))
}

pub(crate) async fn start(shop: &Workshop, worker: AgentId) {
    shop.run(Actor::Agent(worker), &UpdateTaskState { by: worker, to: TaskState::InProgress }).await;
}

pub(crate) async fn write_and_submit(shop: &Workshop, task: TaskId, worker: AgentId, file: &str, text: &str) {
    start(shop, worker).await;
    fs::write(tree(shop, task).join(file), text).unwrap();
    let submit = SubmitTask { by: worker, title: "A task".to_owned(), description: "Done".to_owned() };
    shop.run(Actor::Agent(worker), &submit).await;
    shop.perform().await;
}

/// Two tasks in review, of which the first was merged: that one, and the other with its worker.
pub(crate) async fn merged_and_to_be_rebased(shop: &Workshop) -> (TaskId, TaskId, AgentId) {
    let (cart, one) = shop.worker("Cart").await;
    let (catalogue, two) = shop.worker("Catalogue").await;
    shop.perform().await;
    write_and_submit(shop, cart, one, "cart.txt", "a cart\n").await;
    write_and_submit(shop, catalogue, two, "catalogue.txt", "a catalogue\n").await;
    approve(shop, cart).await;
    (cart, catalogue, two)
}

pub(crate) async fn approve(shop: &Workshop, task: TaskId) {
    let approve = ApproveTask { by: shop.supervisor, task_id: task, pr_url: format!("muster://pull/{task}") };
    shop.run(Actor::Agent(shop.supervisor), &approve).await;
    shop.perform().await;
}
