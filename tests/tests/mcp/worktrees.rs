//! Tools that look at worktrees: whose they are, and what is seen of work under review.

use std::sync::Arc;

use domain::errand::WorkResult;
use muster_tests::both_served_stores;
use muster_tests::mcp::call;
use muster_tests::stores::Bench;
use serde_json::json;

use crate::floor::{Floor, Pretender, Shown, failure, output, success_of};
use crate::tools::submit;

both_served_stores!(what_is_reviewed_is_looked_at_as_it_was_submitted, worktrees_are_looked_at_by_those_whose_they_are,);

async fn what_is_reviewed_is_looked_at_as_it_was_submitted(bench: Bench) {
    let shown = Arc::new(Shown::default());
    let floor = Floor::with(bench, shown.settings()).await;
    let _bench = Pretender::at(&floor, |work| {
        Ok(match success_of(work) {
            WorkResult::PullRequestOpened { pr_url, .. } => {
                WorkResult::PullRequestOpened { pr_url, head: Some("abc123".to_owned()) }
            }
            other => other,
        })
    });
    let look = async || {
        let diff = output(call(&floor.supervisor, "mcp__git__get_diff", json!({ "taskId": floor.task_id })).await);
        let file = json!({ "taskId": floor.task_id, "filePath": "a.txt" });
        let file = output(call(&floor.supervisor, "mcp__epic__read_file", file).await);
        let of = diff["diff"].as_str().unwrap().split(' ').next().unwrap().to_owned();
        (of, file["content"].as_str().unwrap().to_owned())
    };
    let branch = (format!("task/{}/add-a-basket", floor.task_id), "the text of a.txt".to_owned());
    assert_eq!(look().await, branch);
    submit(&floor.worker).await;
    assert_eq!(look().await, ("abc123".to_owned(), "the text of a.txt at abc123".to_owned()));
    let changes = json!({ "taskId": floor.task_id, "feedback": "Say what it holds" });
    output(call(&floor.supervisor, "mcp__epic__request_changes", changes).await);
    assert_eq!(look().await, branch, "nothing is reviewed any more");
}

async fn worktrees_are_looked_at_by_those_whose_they_are(bench: Bench) {
    let shown = Arc::new(Shown::default());
    let floor = Floor::with(bench, shown.settings()).await;
    let (task, epic) = (&floor.task_id, &floor.epic_id);
    let diff = output(call(&floor.worker, "mcp__git__get_diff", json!({})).await);
    let text = format!("task/{task}/add-a-basket against epic/{epic}/baskets");
    assert_eq!(diff, json!({ "diff": text, "filesChanged": 1, "insertions": 2, "deletions": 3 }));
    assert_eq!(output(call(&floor.supervisor, "mcp__git__get_diff", json!({ "taskId": task })).await), diff);
    assert_eq!(failure(call(&floor.supervisor, "mcp__git__get_diff", json!({})).await)["code"], "NOT_YOURS");

    let file = json!({ "taskId": task, "filePath": "src/basket.rs" });
    let file = output(call(&floor.supervisor, "mcp__epic__read_file", file).await);
    assert_eq!(file, json!({ "content": "the text of src/basket.rs", "path": "src/basket.rs" }));
    let out = json!({ "taskId": task, "filePath": "../secret" });
    let refused = failure(call(&floor.supervisor, "mcp__epic__read_file", out).await);
    assert_eq!(
        (&refused["code"], &refused["error"]),
        (&json!("BENCH_REFUSED"), &json!("the path leads out of the worktree"))
    );

    // Neither another epic's task nor a colleague's.
    let tills = floor.epic("Tills").await;
    let stranger = floor.supervisor_of(&tills).await;
    for tool in ["mcp__git__get_diff", "mcp__epic__read_file"] {
        let mut input = json!({ "taskId": task });
        if tool == "mcp__epic__read_file" {
            input["filePath"] = "x".into();
        }
        assert_eq!(failure(call(&stranger, tool, input).await)["code"], "NOT_YOURS");
    }
    let colleague = floor.task("Add a till").await;
    let refused = call(&floor.worker, "mcp__git__get_diff", json!({ "taskId": colleague })).await;
    assert_eq!(failure(refused)["code"], "NOT_YOURS");
}
