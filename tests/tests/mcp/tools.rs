//! What the tools do for those who may use them.

use muster_tests::both_served_stores;
use muster_tests::mcp::call;
use muster_tests::server::Client;
use muster_tests::stores::Bench;
use serde_json::{Value, json};

use crate::floor::{Floor, Pretender, failure, output};

both_served_stores!(
    mail_goes_to_agents_and_to_the_human_and_is_answered,
    agents_see_themselves_their_task_and_their_epic,
    a_worker_carries_its_task_to_the_merge,
    changes_and_rebases_bring_a_task_back_to_review,
    who_begins_a_task_anew_was_not_asked_for_changes,
    a_supervisor_hands_its_epic_to_the_human,
    an_orchestrator_sees_to_supervisors,
    a_worker_says_that_it_is_ready_again_and_its_changes_are_submitted,
    decisions_and_calls_are_on_record_without_secrets,
    lists_have_pages_and_long_mail_is_shortened,
    a_pull_request_may_be_as_long_as_an_epic,
    of_a_long_design_the_beginning_is_shown,
);

async fn mail_goes_to_agents_and_to_the_human_and_is_answered(bench: Bench) {
    let floor = Floor::new(bench).await;
    let to = Floor::id_of(&floor.worker);
    let sent = json!({ "toAgentId": to, "subject": "Hello", "body": "How far are you?" });
    let sent = output(call(&floor.supervisor, "mcp__mail__send", sent).await);
    assert!(sent["sentAt"].is_string());

    let inbox = output(call(&floor.worker, "mcp__mail__list_inbox", json!({})).await);
    assert_eq!(inbox["count"], 1);
    let mail = &inbox["mail"][0];
    assert_eq!((&mail["id"], &mail["subject"]), (&sent["mailId"], &json!("Hello")));
    assert_eq!(mail["fromAgentId"], Floor::id_of(&floor.supervisor));

    let read = output(call(&floor.worker, "mcp__mail__read", json!({ "mailId": sent["mailId"] })).await);
    assert_eq!(read["body"], "How far are you?");
    let again = output(call(&floor.worker, "mcp__mail__read", json!({ "mailId": sent["mailId"] })).await);
    assert_eq!(read, again);
    assert_eq!(output(call(&floor.worker, "mcp__mail__list_inbox", json!({})).await)["count"], 0);

    let reply = json!({ "inReplyToMailId": sent["mailId"], "body": "Nearly there" });
    let reply = output(call(&floor.worker, "mcp__mail__reply", reply).await);
    let inbox = output(call(&floor.supervisor, "mcp__mail__list_inbox", json!({})).await);
    let answer = inbox["mail"].as_array().unwrap().iter().find(|it| it["id"] == reply["mailId"]).unwrap().clone();
    assert_eq!((&answer["subject"], &answer["body"]), (&json!("Re: Hello"), &json!("Nearly there")));

    let human = json!({ "toHuman": true, "subject": "Question", "body": "Gross or net?" });
    output(call(&floor.orchestrator, "mcp__mail__send", human).await);
    for nobody in [json!({}), json!({ "toHuman": false }), json!({ "toHuman": true, "toAgentId": to })] {
        let mut input = json!({ "subject": "x", "body": "x" });
        input.as_object_mut().unwrap().extend(nobody.as_object().unwrap().clone());
        assert_eq!(failure(call(&floor.worker, "mcp__mail__send", input).await)["code"], "VALIDATION_ERROR");
    }
    // Another's mail stays another's.
    let others = call(&floor.orchestrator, "mcp__mail__read", json!({ "mailId": sent["mailId"] })).await;
    assert_eq!(failure(others)["code"], "MAIL_ACCESS_DENIED");
}

async fn agents_see_themselves_their_task_and_their_epic(bench: Bench) {
    let floor = Floor::new(bench).await;
    for (agent, kind) in [(&floor.orchestrator, "ORCHESTRATOR"), (&floor.worker, "WORKER")] {
        let status = output(call(agent, "mcp__agent__get_status", json!({})).await);
        assert_eq!((&status["type"], &status["state"]), (&json!(kind), &json!("IN_PROGRESS")));
        assert_eq!(status["agentId"], Floor::id_of(agent));
        assert!(status["tmuxSession"].as_str().unwrap().starts_with("muster-"));
        assert!(status["lastHeartbeat"].is_string());
    }
    let task = output(call(&floor.worker, "mcp__agent__get_task", json!({})).await);
    assert_eq!((&task["taskId"], &task["epicId"]), (&json!(floor.task_id), &json!(floor.epic_id)));
    assert_eq!((&task["title"], &task["attempts"]), (&json!("Add a basket"), &json!(0)));
    assert_eq!(task["worktreeName"], format!("task/{}/add-a-basket", floor.task_id));
    for agent in [&floor.worker, &floor.supervisor] {
        let epic = output(call(agent, "mcp__agent__get_epic", json!({})).await);
        assert_eq!((&epic["epicId"], &epic["design"]), (&json!(floor.epic_id), &json!("# Design")));
        assert_eq!(epic["supervisorId"], Floor::id_of(&floor.supervisor));
        assert_eq!(epic["state"], "IN_PROGRESS");
    }
    let none = failure(call(&floor.supervisor, "mcp__agent__get_task", json!({})).await);
    assert_eq!((&none["code"], &none["error"]), (&json!("NOT_YOURS"), &json!("SUPERVISOR agents have no task")));
}

async fn start(worker: &Client) {
    let started = output(call(worker, "mcp__task__update_state", json!({ "state": "IN_PROGRESS" })).await);
    assert_eq!(started["newState"], "IN_PROGRESS");
}

/// Hands a task in and returns its pull request.
pub(crate) async fn submit(worker: &Client) -> String {
    start(worker).await;
    let input = json!({ "title": "Basket", "description": "It holds things" });
    output(call(worker, "mcp__task__create_pr", input).await)["prUrl"].as_str().unwrap().to_owned()
}

async fn approve(floor: &Floor, task: &str, pr_url: &str) -> Value {
    let input = json!({ "taskId": task, "prUrl": pr_url });
    output(call(&floor.supervisor, "mcp__epic__approve_pr", input).await)
}

async fn queue(floor: &Floor) -> Vec<Value> {
    let queue = output(call(&floor.supervisor, "mcp__epic__get_review_queue", json!({})).await);
    assert_eq!(queue["currentReview"]["taskId"], queue["queue"][0]["taskId"]);
    queue["queue"].as_array().unwrap().iter().map(|it| it["taskId"].clone()).collect()
}

async fn a_worker_carries_its_task_to_the_merge(bench: Bench) {
    let floor = Floor::new(bench).await;
    let _bench = Pretender::succeeding(&floor);
    let refused = failure(call(&floor.worker, "mcp__task__get_pr_status", json!({})).await);
    assert_eq!(refused["code"], "NOT_YOURS");
    let pr_url = submit(&floor.worker).await;
    let status = output(call(&floor.worker, "mcp__task__get_pr_status", json!({})).await);
    assert_eq!(status, json!({ "prUrl": pr_url, "state": "open", "reviewStatus": "pending" }));
    assert_eq!(queue(&floor).await, [json!(floor.task_id)]);
    let inbox = output(call(&floor.supervisor, "mcp__mail__list_inbox", json!({})).await);
    assert_eq!(inbox["mail"][0]["subject"], "PR Ready for Review");
    let merged = approve(&floor, &floor.task_id, &pr_url).await;
    assert_eq!(merged, json!({ "merged": true, "mergeCommitSha": "c0ffee" }));
    assert!(output(call(&floor.supervisor, "mcp__epic__get_review_queue", json!({})).await)["queue"] == json!([]));
    let tasks = output(call(&floor.supervisor, "mcp__epic__list_tasks", json!({ "state": "COMPLETED" })).await);
    assert_eq!((&tasks["count"], &tasks["tasks"][0]["taskId"]), (&json!(1), &json!(floor.task_id)));
}

async fn changes_and_rebases_bring_a_task_back_to_review(bench: Bench) {
    let floor = Floor::new(bench).await;
    let _bench = Pretender::succeeding(&floor);
    let other = floor.task("Add a till").await;
    let other_worker = floor.worker_of(&other).await;
    let first = submit(&floor.worker).await;
    let second = submit(&other_worker).await;
    assert_eq!(queue(&floor).await, [json!(floor.task_id), json!(other)]);

    let early = json!({ "taskId": other, "prUrl": second });
    let early = failure(call(&floor.supervisor, "mcp__epic__approve_pr", early).await);
    assert!(early["error"].as_str().unwrap().contains("only the first"), "{early}");

    let changes = json!({ "taskId": floor.task_id, "feedback": "Say what it holds" });
    let changes = output(call(&floor.supervisor, "mcp__epic__request_changes", changes).await);
    assert_eq!(changes, json!({ "mailSent": true }));
    assert_eq!(queue(&floor).await, [json!(other)]);
    let status = output(call(&floor.worker, "mcp__task__get_pr_status", json!({})).await);
    assert_eq!((&status["prUrl"], &status["reviewStatus"]), (&json!(first), &json!("changes_requested")));
    submit(&floor.worker).await;

    approve(&floor, &other, &second).await;
    let task = output(call(&floor.worker, "mcp__agent__get_task", json!({})).await);
    assert_eq!(task["state"], "NEEDS_REBASE");
    let inbox = output(call(&floor.worker, "mcp__mail__list_inbox", json!({})).await);
    assert_eq!(inbox["mail"][0]["subject"], "Rebase Required");
    let rebased = output(call(&floor.worker, "mcp__git__rebase", json!({})).await);
    assert_eq!(rebased, json!({ "success": true, "conflicts": 0 }));
    assert_eq!(queue(&floor).await, [json!(floor.task_id)]);
}

async fn who_begins_a_task_anew_was_not_asked_for_changes(bench: Bench) {
    let floor = Floor::new(bench).await;
    let _bench = Pretender::succeeding(&floor);
    let other = floor.task("Add a till").await;
    let other_worker = floor.worker_of(&other).await;
    submit(&floor.worker).await;
    let changes = json!({ "taskId": floor.task_id, "feedback": "Say what it holds" });
    output(call(&floor.supervisor, "mcp__epic__request_changes", changes).await);
    submit(&floor.worker).await;
    let second = submit(&other_worker).await;
    approve(&floor, &floor.task_id, &format!("muster://pull/{}", floor.task_id)).await;
    // The other one needs a rebase, and is reset with its supervisor.
    floor.loses(&floor.supervisor).await;
    let successor = floor.worker_of(&other).await;
    output(call(&successor, "mcp__task__update_state", json!({ "state": "IN_PROGRESS" })).await);
    let status = output(call(&successor, "mcp__task__get_pr_status", json!({})).await);
    assert_eq!(status, json!({ "prUrl": second, "state": "open", "reviewStatus": "pending" }));
}

async fn a_supervisor_hands_its_epic_to_the_human(bench: Bench) {
    let floor = Floor::new(bench).await;
    let _bench = Pretender::succeeding(&floor);
    let input = json!({ "title": "Baskets", "description": "All of them" });
    let early = failure(call(&floor.supervisor, "mcp__epic__create_epic_pr", input.clone()).await);
    assert_eq!(early["error"], "1 tasks of the epic are not over");
    let pr_url = submit(&floor.worker).await;
    approve(&floor, &floor.task_id, &pr_url).await;
    let created = output(call(&floor.supervisor, "mcp__epic__create_epic_pr", input).await);
    assert_eq!(created["prUrl"], format!("muster://pull/{}", floor.epic_id));
    let epic = output(call(&floor.supervisor, "mcp__agent__get_epic", json!({})).await);
    assert_eq!(epic["state"], "AWAITING_HUMAN_REVIEW");
}

async fn an_orchestrator_sees_to_supervisors(bench: Bench) {
    let floor = Floor::new(bench).await;
    let _bench = Pretender::succeeding(&floor);
    let supervisor = Floor::id_of(&floor.supervisor);
    let tills = floor.epic("Tills").await;
    let created =
        output(call(&floor.orchestrator, "mcp__orchestrator__create_supervisor", json!({ "epicId": tills })).await);
    let again =
        output(call(&floor.orchestrator, "mcp__orchestrator__create_supervisor", json!({ "epicId": tills })).await);
    assert_eq!(created, again, "an epic has one supervisor");
    let listed = output(call(&floor.orchestrator, "mcp__orchestrator__list_supervisors", json!({})).await);
    assert_eq!(listed["count"], 2);
    let row = listed["supervisors"].as_array().unwrap().iter().find(|it| it["agentId"] == supervisor.as_str()).unwrap();
    assert_eq!((&row["epicId"], &row["epicTitle"]), (&json!(floor.epic_id), &json!("Baskets")));

    let check = json!({ "supervisorId": supervisor });
    let health = output(call(&floor.orchestrator, "mcp__orchestrator__check_supervisor_health", check.clone()).await);
    assert_eq!((&health["healthy"], &health["minutesSinceHeartbeat"]), (&json!(true), &json!(0)));
    let clock = &floor.server.bench.clock;
    clock.set(clock.now() + chrono::TimeDelta::minutes(3));
    let health = output(call(&floor.orchestrator, "mcp__orchestrator__check_supervisor_health", check).await);
    assert_eq!((&health["healthy"], &health["minutesSinceHeartbeat"]), (&json!(false), &json!(3)));
    // It rests while a human reviews its epic, however long that takes.
    floor.awaits_human_review().await;
    clock.set(clock.now() + chrono::TimeDelta::minutes(90));
    let check = json!({ "supervisorId": supervisor });
    let health = output(call(&floor.orchestrator, "mcp__orchestrator__check_supervisor_health", check).await);
    assert_eq!(health["healthy"], json!(true));
    let worker = json!({ "supervisorId": Floor::id_of(&floor.worker) });
    let none = failure(call(&floor.orchestrator, "mcp__orchestrator__check_supervisor_health", worker).await);
    assert_eq!(none["code"], "AGENT_NOT_FOUND");
}

async fn a_worker_says_that_it_is_ready_again_and_its_changes_are_submitted(bench: Bench) {
    let floor = Floor::new(bench).await;
    let _bench = Pretender::succeeding(&floor);
    submit(&floor.worker).await;
    let changes = json!({ "taskId": floor.task_id, "feedback": "Say what it holds" });
    output(call(&floor.supervisor, "mcp__epic__request_changes", changes).await);
    let updated = output(call(&floor.worker, "mcp__task__update_state", json!({ "state": "PENDING_REVIEW" })).await);
    assert_eq!(updated["newState"], "PENDING_REVIEW");
    assert_eq!(queue(&floor).await, [json!(floor.task_id)]);
    let log = floor.server.bench.everything().await;
    let opened = log.iter().filter(|it| it.event_type == "ErrandOrdered" && it.payload.contains("open_pull_request"));
    let words = |it: &store::StoredEvent| it.payload.contains("Basket") && it.payload.contains("It holds things");
    assert_eq!(opened.filter(|it| words(it)).count(), 2, "both in the same words");
}

async fn decisions_and_calls_are_on_record_without_secrets(bench: Bench) {
    let floor = Floor::new(bench).await;
    let input = json!({ "title": "Split it", "body": "The token=abcdef123 was in the way" });
    let logged = output(call(&floor.orchestrator, "mcp__system__log_decision", input).await);
    assert!(logged["logId"].is_string());
    failure(call(&floor.orchestrator, "mcp__task__create_pr", json!({ "title": "x", "description": "x" })).await);
    let wanted = [
        // Its own, and its supervisor's.
        "agent_created",
        "agent_created",
        "mcp__system__log_decision",
        "Split it",
        "mcp__system__log_decision_result",
        "mcp__task__create_pr",
        "mcp__task__create_pr_error",
    ];
    assert_eq!(floor.decisions_of(&floor.orchestrator).await, wanted);
    let path = format!("/api/decision.list?workspaceId={}", floor.workspace_id);
    let listed = floor.owner.get(&path).await.ok();
    assert!(!listed.text.contains("abcdef123"), "{}", listed.text);
}

async fn lists_have_pages_and_long_mail_is_shortened(bench: Bench) {
    let floor = Floor::new(bench).await;
    for n in 0..3 {
        let body = format!("{n}{}", "x".repeat(3_000));
        let mail = json!({ "toAgentId": Floor::id_of(&floor.worker), "subject": format!("{n}"), "body": body });
        output(call(&floor.supervisor, "mcp__mail__send", mail).await);
    }
    let page = output(call(&floor.worker, "mcp__mail__list_inbox", json!({ "limit": 1, "offset": 1 })).await);
    assert_eq!((&page["count"], page["mail"].as_array().unwrap().len()), (&json!(3), 1));
    let mail = &page["mail"][0];
    assert_eq!(mail["subject"], "1");
    assert!(mail["body"].as_str().unwrap().ends_with("… [shortened: mcp__mail__read shows all of it]"));
    let whole = output(call(&floor.worker, "mcp__mail__read", json!({ "mailId": mail["id"] })).await);
    assert_eq!(whole["body"].as_str().unwrap().len(), 3_001);
    for (tool, agent, most) in [
        ("mcp__mail__list_inbox", &floor.worker, 50),
        ("mcp__epic__list_tasks", &floor.supervisor, 100),
        ("mcp__orchestrator__list_supervisors", &floor.orchestrator, 100),
    ] {
        output(call(agent, tool, json!({ "limit": most })).await);
        let told = failure(call(agent, tool, json!({ "limit": most + 1 })).await);
        assert_eq!(told["details"], format!("limit must be at most {most}"), "{tool}");
    }
}

async fn a_pull_request_may_be_as_long_as_an_epic(bench: Bench) {
    let floor = Floor::new(bench).await;
    let _bench = Pretender::succeeding(&floor);
    let (title, description) = ("L".repeat(500), "D".repeat(100_000));
    let update = json!({ "id": floor.epic_id, "title": title, "description": description });
    floor.owner.put("/api/epic.update", &update).await.ok();
    output(call(&floor.worker, "mcp__task__update_state", json!({ "state": "IN_PROGRESS" })).await);
    let input = json!({ "title": title, "description": description });
    let pr_url = output(call(&floor.worker, "mcp__task__create_pr", input.clone()).await)["prUrl"].clone();
    let approve = json!({ "taskId": floor.task_id, "prUrl": pr_url });
    output(call(&floor.supervisor, "mcp__epic__approve_pr", approve).await);
    output(call(&floor.supervisor, "mcp__epic__create_epic_pr", input).await);
}

async fn of_a_long_design_the_beginning_is_shown(bench: Bench) {
    let floor = Floor::new(bench).await;
    let shown = output(call(&floor.worker, "mcp__agent__get_epic", json!({})).await);
    assert!(shown["design"] == "# Design" && shown.get("truncated").is_none(), "{shown}");
    let update = json!({ "id": floor.epic_id, "design": "one more line of it\n".repeat(10_000) });
    floor.owner.put("/api/epic.update", &update).await.ok();
    let shown = output(call(&floor.worker, "mcp__agent__get_epic", json!({})).await);
    assert_eq!((shown["design"].as_str().unwrap().len(), &shown["truncated"]), (65_520, &json!(true)));
}
