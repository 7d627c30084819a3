//! Every tool for every kind of agent: which are shown and allowed, over MCP and over HTTP.

use muster_tests::both_served_stores;
use muster_tests::mcp::{call, list};
use muster_tests::stores::Bench;
use serde_json::json;

use crate::floor::{Floor, failure};

both_served_stores!(
    each_kind_is_shown_the_tools_that_it_may_use_and_is_refused_all_others,
    routes_that_show_what_tools_show_go_by_the_same_table,
);

const YES: &str = "";
const DENIED: &str = "is not allowed for";
const UNLISTED: &str = "is not in allowed list for";

/// Every tool, and what an orchestrator, a supervisor and a worker are told: by hand, in the order of the document.
#[rustfmt::skip]
const TABLE: &[(&str, [&str; 3])] = &[
    ("mcp__mail__list_inbox",                      [YES,    YES,    YES]),
    ("mcp__mail__read",                            [YES,    YES,    YES]),
    ("mcp__mail__send",                            [YES,    YES,    YES]),
    ("mcp__mail__reply",                           [YES,    YES,    YES]),
    ("mcp__agent__get_status",                     [YES,    YES,    YES]),
    ("mcp__agent__get_task",                       [DENIED, YES,    YES]),
    ("mcp__agent__get_epic",                       [DENIED, YES,    YES]),
    ("mcp__task__update_state",                    [DENIED, DENIED, YES]),
    ("mcp__task__create_pr",                       [DENIED, DENIED, YES]),
    ("mcp__task__get_pr_status",                   [DENIED, DENIED, YES]),
    ("mcp__git__rebase",                           [DENIED, DENIED, YES]),
    ("mcp__git__get_diff",                         [DENIED, YES,    YES]),
    ("mcp__epic__create_task",                     [DENIED, YES,    DENIED]),
    ("mcp__epic__list_tasks",                      [DENIED, YES,    UNLISTED]),
    ("mcp__epic__get_review_queue",                [DENIED, YES,    UNLISTED]),
    ("mcp__epic__approve_pr",                      [DENIED, YES,    DENIED]),
    ("mcp__epic__request_changes",                 [DENIED, YES,    UNLISTED]),
    ("mcp__epic__create_epic_pr",                  [DENIED, YES,    DENIED]),
    ("mcp__epic__read_file",                       [DENIED, YES,    UNLISTED]),
    ("mcp__orchestrator__list_supervisors",        [YES,    DENIED, DENIED]),
    ("mcp__orchestrator__check_supervisor_health", [YES,    DENIED, DENIED]),
    ("mcp__orchestrator__create_supervisor",       [YES,    DENIED, DENIED]),
    ("mcp__system__log_decision",                  [YES,    YES,    YES]),
];

/// The tools that a kind may use, by its column.
pub(crate) fn tools_of(column: usize) -> Vec<&'static str> {
    TABLE.iter().filter(|(_, row)| row[column] == YES).map(|(tool, _)| *tool).collect()
}

async fn each_kind_is_shown_the_tools_that_it_may_use_and_is_refused_all_others(bench: Bench) {
    let floor = Floor::new(bench).await;
    let agents = [(&floor.orchestrator, "ORCHESTRATOR"), (&floor.supervisor, "SUPERVISOR"), (&floor.worker, "WORKER")];
    for (column, (agent, kind)) in agents.into_iter().enumerate() {
        assert_eq!(list(agent).await, tools_of(column), "{kind}");
        for (tool, row) in TABLE {
            // No tool takes this: whoever is told of the input was let through to it.
            let answer = call(agent, tool, json!({ "noSuchField": true })).await;
            let told = failure(answer);
            if row[column] == YES {
                assert_eq!(told["code"], "VALIDATION_ERROR", "{kind} {tool}: {told}");
                assert!(told["details"].as_str().unwrap().contains("noSuchField is not a known field"), "{told}");
            } else {
                assert_eq!(told["code"], "TOOL_NOT_ALLOWED", "{kind} {tool}: {told}");
                assert_eq!(told["error"], format!("Tool {tool} {} {kind} agents", row[column]));
            }
        }
    }
}

async fn routes_that_show_what_tools_show_go_by_the_same_table(bench: Bench) {
    let floor = Floor::new(bench).await;
    let [get, list, queue] = [
        format!("/api/epic.get?id={}", floor.epic_id),
        format!("/api/epic.list?projectId={}", floor.project_id),
        format!("/api/review.queue?epicId={}", floor.epic_id),
    ];
    for (path, tool) in
        [(&get, "mcp__agent__get_epic"), (&list, "mcp__agent__get_epic"), (&queue, "mcp__epic__get_review_queue")]
    {
        let row = TABLE.iter().find(|(name, _)| *name == tool).unwrap().1;
        for (agent, said) in [&floor.orchestrator, &floor.supervisor, &floor.worker].into_iter().zip(row) {
            let answer = agent.get(path).await;
            if said == YES { drop(answer.ok()) } else { drop(answer.refused(403, "TOOL_NOT_ALLOWED")) }
        }
        floor.owner.get(path).await.ok();
    }
}
