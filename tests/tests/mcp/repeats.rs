//! What is asked for again is answered from the log, however far behind the read models are.

use muster_tests::both_served_stores;
use muster_tests::mcp::call;
use muster_tests::stores::Bench;
use projections::Projection;
use projections::epics::Epics;
use projections::tasks::Tasks;
use serde_json::json;
use store::sql::Query;

use crate::floor::{Floor, Pretender, output};
use crate::tools::submit;

both_served_stores!(a_worker_hears_again_what_no_read_model_shows, a_supervisor_hears_again_what_no_read_model_shows,);

/// Takes a read model's rows away, as if it had seen nothing yet.
async fn forget(floor: &Floor, read_model: &dyn Projection) {
    let sql = format!("delete from {}__v{}_1", read_model.name(), read_model.version());
    floor.server.bench.stores().views.transact(vec![Query::new(sql).into()]).await.unwrap();
}

async fn a_worker_hears_again_what_no_read_model_shows(bench: Bench) {
    let floor = Floor::new(bench).await;
    let _bench = Pretender::succeeding(&floor);
    let pr_url = submit(&floor.worker).await;
    let shown = output(call(&floor.worker, "mcp__agent__get_task", json!({})).await);
    assert_eq!(shown["state"], "PENDING_REVIEW");
    forget(&floor, &Tasks).await;
    let input = json!({ "title": "Basket", "description": "It holds things" });
    let again = output(call(&floor.worker, "mcp__task__create_pr", input).await);
    assert_eq!(again, json!({ "prUrl": pr_url, "taskId": floor.task_id }));
}

async fn a_supervisor_hears_again_what_no_read_model_shows(bench: Bench) {
    let floor = Floor::new(bench).await;
    floor.awaits_human_review().await;
    let shown = output(call(&floor.supervisor, "mcp__agent__get_epic", json!({})).await);
    assert_eq!(shown["state"], "AWAITING_HUMAN_REVIEW");
    forget(&floor, &Tasks).await;
    forget(&floor, &Epics).await;
    let approve = json!({ "taskId": floor.task_id, "prUrl": format!("muster://pull/{}", floor.task_id) });
    let merged = output(call(&floor.supervisor, "mcp__epic__approve_pr", approve).await);
    assert_eq!(merged, json!({ "merged": true, "mergeCommitSha": "c0ffee" }));
    let input = json!({ "title": "Baskets", "description": "All of them" });
    let submitted = output(call(&floor.supervisor, "mcp__epic__create_epic_pr", input).await);
    assert_eq!(submitted["prUrl"], format!("muster://pull/{}", floor.epic_id));
}
