//! The server dies before, in the middle of and after what it does outside; nothing is done twice and nothing is left out.

use std::collections::BTreeMap;
use std::fs;

use muster_tests::at_both_homes;
use muster_tests::muster::Home;
use serde_json::{Value, json};

use crate::ground::{Ground, Setup};
use crate::tripwires::{Point, Tripwires};

at_both_homes! {
    a_server_that_dies_around_every_effect_does_nothing_twice_and_leaves_nothing_out,
}

/// While agents are started and submit their work.
const STARTING: [Point; 9] = [
    ("git", "before", "* worktree add *epic-*"),
    ("git", "after", "* worktree add *epic-*"),
    ("tmux", "before", "* new-session *"),
    ("tmux", "after", "* new-session *"),
    ("git", "before", "* worktree add *task-*"),
    ("git", "after", "* worktree add *task-*"),
    ("tmux", "after", "* new-session *muster-worker*"),
    ("git", "before", "* commit --quiet *"),
    ("git", "after", "* commit --quiet *"),
];

/// While one task is merged, the other one rebased and merged, and both workers are sent home.
const MERGING: [Point; 12] = [
    ("git", "before", "* merge-tree *"),
    ("git", "after", "* commit-tree *"),
    ("git", "before", "* update-ref -m muster: merge task/*"),
    // The branch has moved; the files have not, and then they have.
    ("git", "after", "* update-ref -m muster: merge task/*"),
    ("git", "after", "* read-tree -m -u [0-9a-f]*"),
    ("git", "before", "* rebase --quiet *"),
    ("git", "middle", "* rebase --quiet *"),
    ("git", "outliving", "* rebase --quiet *"),
    ("git", "after", "* rebase --quiet *"),
    ("git", "after", "* read-tree -m -u [0-9a-f]*"),
    ("tmux", "before", "* kill-session *"),
    ("tmux", "after", "* kill-session *"),
];

/// While the epic is merged.
const ENDING: [Point; 3] = [
    ("git", "after", "* update-ref -m muster: merge epic/*"),
    ("git", "after", "* read-tree -m -u [0-9a-f]*"),
    ("tmux", "after", "* kill-session *muster-supervisor*"),
];

async fn a_server_that_dies_around_every_effect_does_nothing_twice_and_leaves_nothing_out(home: Home) {
    let mut wires = Tripwires::new();
    let mut ground = Ground::with(home.with_variable("PATH", wires.path()), &Setup::patient()).await;
    let workspace = ground.owner().workspace("acme").await;
    let project = ground.owner().project(&workspace, "shop").await;
    wires.arm(&STARTING);
    let design = [
        json!({ "title": "Cart", "file": "cart.txt", "text": "a cart", "pause_before_approval": true }),
        json!({ "title": "Search", "file": "docs/search.txt", "text": "a search", "pause_before_approval": true }),
    ];
    let design = design.map(|it| it.to_string()).join("\n");
    let body = json!({ "projectId": project, "title": "A shop", "description": "Sell things", "design": design });
    let epic = ground.owner().post("/api/epic.create", &body).await.ok().id_of("epic");

    let tasks = format!("/api/task.list?projectId={project}");
    let both_wait = |answer: &Value| states(answer).values().filter(|it| **it == "PENDING_REVIEW").count() == 2;
    ground.see(&tasks, "both tasks wait for review", |it| wires.armed().is_empty() && both_wait(it)).await;
    wires.arm(&MERGING);
    fs::write(ground.notes().join("approve"), "").unwrap();
    let about = format!("/api/epic.get?id={epic}");
    let waits = |it: &Value| wires.armed().is_empty() && it["epic"]["state"] == "AWAITING_HUMAN_REVIEW";
    ground.see(&about, "the epic waits for a human", waits).await;
    // One that is dead stays there until the machine's first process takes note of it, which may be a while.
    let outlived = fs::read_to_string(format!("/proc/{}/stat", wires.outlived())).unwrap_or_default();
    let runs = |(name, state): (&str, &str)| name.contains("git") && !state.starts_with('Z');
    assert!(!outlived.rsplit_once(") ").is_some_and(runs), "a git of a dead server still runs: {outlived}");
    wires.arm(&ENDING);
    ground.owner().post("/api/epic.complete", &json!({ "id": epic })).await.ok();
    let complete = |it: &Value| wires.armed().is_empty() && it["epic"]["state"] == "COMPLETED";
    ground.see(&about, "the epic is complete", complete).await;

    assert_eq!((wires.fired(), ground.deaths), (24, 24), "it died wherever it was to");
    let done = ground.owner().get(&tasks).await.ok().body;
    assert_eq!(states(&done), BTreeMap::from([("Cart", "COMPLETED"), ("Search", "COMPLETED")]));
    ground.stop().await;
    the_tree_is_right(&ground);
    everything_was_done_once(&ground).await;
    ground.is_proven().await;
}

fn states(answer: &Value) -> BTreeMap<&str, &str> {
    let tasks = answer["tasks"].as_array().map(Vec::as_slice).unwrap_or_default();
    tasks.iter().map(|it| (it["title"].as_str().unwrap(), it["state"].as_str().unwrap())).collect()
}

fn the_tree_is_right(ground: &Ground) {
    let files = ground.git(&["ls-tree", "-r", "--name-only", "main"]);
    assert_eq!(files.lines().collect::<Vec<_>>(), ["README.md", "cart.txt", "docs/search.txt", "shared.txt"]);
    assert_eq!(ground.git(&["show", "main:cart.txt"]), "a cart\n");
    assert_eq!(ground.git(&["show", "main:docs/search.txt"]), "a search\n");
    let trees = ground.git(&["worktree", "list", "--porcelain"]);
    let trees: Vec<&str> = trees.lines().filter_map(|it| it.strip_prefix("worktree ")).collect();
    assert_eq!(trees.len(), 4, "the base, the epic and two tasks: {trees:?}");
    for tree in trees {
        assert_eq!(ground.git(&["-C", tree, "status", "--porcelain"]), "", "{tree}");
        assert_ne!(ground.git(&["-C", tree, "branch", "--show-current"]), "", "nothing is under way in {tree}");
    }
}

async fn everything_was_done_once(ground: &Ground) {
    for (key, times) in [("Muster-Task", 2), ("Muster-Epic", 1)] {
        let merges = ground.git(&["log", "--merges", &format!("--format=%(trailers:key={key},valueonly)"), "main"]);
        let mut merged: Vec<&str> = merges.lines().filter(|it| !it.is_empty()).collect();
        merged.sort_unstable();
        merged.dedup();
        assert_eq!((merged.len(), merges.split_whitespace().count()), (times, times), "{key}: {merges}");
    }
    let commits = ground.git(&["log", "--no-merges", "--format=%s", "main"]);
    let mut commits: Vec<&str> = commits.lines().collect();
    commits.sort_unstable();
    assert_eq!(commits, ["Begin", "Cart", "Search"]);
    let starts = ground.starts();
    assert!(starts.len() == 4 && starts.values().all(|it| *it == 1), "each agent was started once: {starts:?}");
    let counts = ground.events().await;
    let count = |kind: &str| counts.get(kind).copied().unwrap_or_default();
    assert_eq!(count("ErrandOrdered"), count("ErrandDone"), "{counts:?}");
    for (kind, times) in
        [("AgentPosted", 4), ("TaskSubmitted", 2), ("TaskRebased", 1), ("TaskCompleted", 2), ("EpicCompleted", 1)]
    {
        assert_eq!(count(kind), times, "{kind}: {counts:?}");
    }
}
