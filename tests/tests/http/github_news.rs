//! What follows from what GitHub tells: tasks, pull requests, who did it.

use muster_tests::both_served_stores;
use muster_tests::server::{Client, Server};
use muster_tests::stores::Bench;
use muster_tests::webhooks::{REPOSITORY, listening, payload};
use serde_json::{Value, json};

both_served_stores!(
    every_kind_of_event_leaves_its_facts,
    an_issue_becomes_a_task_that_a_merged_pull_request_completes,
    a_rejected_pull_request_completes_nothing,
    a_closed_issue_completes_its_task,
    an_issue_assigned_to_a_stranger_makes_no_task,
    an_owners_task_is_moved_and_not_made_again,
    a_comment_reaches_the_tasks_agent,
    a_review_may_come_before_its_pull_request,
    checks_count_only_for_linters_that_have_an_opinion,
    an_account_is_an_agents_by_setting_before_code,
    only_agents_that_work_in_the_project_are_known,
    a_repository_is_its_projects_alone,
    texts_are_kept_within_bounds,
);

struct Shop {
    server: Server,
    ada: Client,
    workspace: String,
    project: String,
    dev: Value,
}

async fn shop(bench: Bench) -> Shop {
    let server = listening(bench).await;
    let ada = server.owner("ada").await;
    let workspace = ada.workspace("acme").await;
    // GitHub writes the address in one way, people in many.
    let project = ada.project_at(&workspace, "shop", "https://GitHub.com/Acme/Shop.git").await;
    let dev = ada.new_agent(&workspace, Some(&project), "dev-uno").await;
    Shop { server, ada, workspace, project, dev: dev["agent"]["id"].clone() }
}

impl Shop {
    async fn timeline(&self) -> Vec<Value> {
        let now = self.ada.with("X-Min-Position", &self.server.head().await.to_string());
        now.get("/api/event.list?limit=100").await.ok().body["events"].as_array().unwrap().clone()
    }

    async fn tasks(&self) -> Vec<Value> {
        let now = self.ada.with("X-Min-Position", &self.server.head().await.to_string());
        let answer = now.get(&format!("/api/task.list?projectId={}", self.project)).await.ok();
        answer.body["tasks"].as_array().unwrap().clone()
    }
}

async fn every_kind_of_event_leaves_its_facts(bench: Bench) {
    let shop = shop(bench).await;
    let told: [(&str, &[&str]); 18] = [
        ("ping", &[]),
        ("issues.opened", &["TaskCreated"]),
        ("issues.assigned", &["IssueAssigned", "TaskAssigned"]),
        ("issues.labeled", &["IssueLabelled"]),
        ("push", &["CommitsPushed"]),
        ("pull_request.opened", &["PullRequestOpened"]),
        ("pull_request.edited", &["PullRequestDetailsChanged"]),
        ("pull_request.synchronize", &["PullRequestDetailsChanged"]),
        ("check_run.completed", &["PullRequestLintFailed"]),
        ("check_suite.completed", &["PullRequestLintFailed"]),
        ("pull_request.labeled", &["PullRequestDetailsChanged"]),
        ("issue_comment.created", &["IssueCommented"]),
        ("pull_request_review.submitted", &["PullRequestReviewed"]),
        ("pull_request.closed", &["PullRequestDetailsChanged", "PullRequestClosed"]),
        ("pull_request.reopened", &["PullRequestReopened"]),
        ("pull_request.merged", &["PullRequestMerged", "TaskCompleted"]),
        ("deployment_status.created", &["DeploymentStatusReported"]),
        ("issues.closed", &[]),
    ];
    for (name, types) in told {
        let before = shop.server.told().await.len();
        let answer = shop.server.deliver(&payload(name)).await.ok();
        assert_eq!(answer.body["processed"], !types.is_empty(), "{name}");
        assert_eq!(shop.server.told().await[before..], *types, "{name}");
    }
    for name in ["PullRequestOpened", "CommitsPushed", "IssueAssigned", "PullRequestMerged"] {
        assert_eq!(shop.server.all_of(name).await[0]["agent_id"], shop.dev, "{name}");
    }
    let shown = shop.timeline().await;
    for entry in ["github_issue_assigned", "github_pr_opened", "github_comment", "github_pr_closed", "github_pr_merged"]
    {
        let found: Vec<&Value> = shown.iter().filter(|it| it["type"] == entry).collect();
        assert_eq!((found.len(), &found[0]["projectId"]), (1, &json!(shop.project)), "{entry}");
    }
    let merged = shown.iter().find(|it| it["type"] == "github_pr_merged").unwrap();
    assert_eq!(merged["content"]["mergedBy"], "ada-owner");
    assert_eq!(merged["content"]["repository"], "acme/shop");
    assert_eq!(merged["mentions"], json!([shop.dev]));
    let events = shop.server.bench.everything().await.into_iter();
    let mut by_github = events.filter(|it| it.metadata.contains("github"));
    assert!(by_github.all(|it| it.workspace_id.is_some()));
}

async fn an_issue_becomes_a_task_that_a_merged_pull_request_completes(bench: Bench) {
    let shop = shop(bench).await;
    shop.server.tell(&payload("issues.opened")).await;
    let task = shop.tasks().await.remove(0);
    assert_eq!((&task["status"], &task["githubIssueNumber"]), (&json!("backlog"), &json!(12)));
    assert_eq!((&task["title"], &task["priority"]), (&json!("Shoppers want a basket"), &json!("P2")));
    shop.server.tell(&payload("issues.assigned")).await;
    let task = shop.tasks().await.remove(0);
    assert_eq!((&task["status"], &task["assignedAgentId"]), (&json!("assigned"), &shop.dev));
    shop.server.tell(&payload("pull_request.opened")).await;
    assert_eq!(shop.server.all_of("PullRequestOpened").await[0]["linked_task_id"], task["id"]);
    shop.server.tell(&payload("pull_request.merged")).await;
    let done = shop.tasks().await.remove(0);
    assert_eq!((&done["status"], &done["completedAt"]), (&json!("completed"), &json!("2026-03-01T14:00:00Z")));
    let cause = &shop.server.all_of("TaskCompleted").await[0]["cause"];
    assert_eq!(cause, &json!({ "pull_request_merged": { "number": 7 } }));
}

async fn a_rejected_pull_request_completes_nothing(bench: Bench) {
    let shop = shop(bench).await;
    for name in ["issues.opened", "pull_request.opened", "pull_request.closed"] {
        shop.server.tell(&payload(name)).await;
    }
    assert_eq!(shop.tasks().await[0]["status"], "backlog");
}

async fn a_closed_issue_completes_its_task(bench: Bench) {
    let shop = shop(bench).await;
    shop.server.tell_in_vain(&payload("issues.closed")).await;
    shop.server.tell(&payload("issues.opened")).await;
    shop.server.tell(&payload("issues.closed")).await;
    assert_eq!(shop.tasks().await[0]["status"], "completed");
    assert_eq!(shop.server.all_of("TaskCompleted").await[0]["cause"], "issue_closed");
    // What is over stays over.
    shop.server.tell(&payload("issues.assigned")).await;
    assert_eq!(shop.tasks().await[0]["status"], "completed");
}

async fn an_issue_assigned_to_a_stranger_makes_no_task(bench: Bench) {
    let shop = shop(bench).await;
    shop.server.tell(&payload("issues.assigned").saying("stranger", "dev-uno")).await;
    assert_eq!(shop.tasks().await, [json!(null); 0]);
    assert_eq!(shop.server.all_of("IssueAssigned").await[0]["agent_id"], json!(null));
}

async fn an_owners_task_is_moved_and_not_made_again(bench: Bench) {
    let shop = shop(bench).await;
    let body = json!({ "projectId": shop.project, "githubIssueId": 440_012, "githubIssueNumber": 12, "title": "Mine" });
    let task = shop.ada.post("/api/task.create", &body).await.ok().id_of("task");
    shop.server.tell_in_vain(&payload("issues.opened")).await;
    shop.server.tell(&payload("issues.assigned")).await;
    let tasks = shop.tasks().await;
    assert_eq!((tasks.len(), &tasks[0]["id"], &tasks[0]["title"]), (1, &json!(task), &json!("Mine")));
    assert_eq!((&tasks[0]["status"], &tasks[0]["assignedAgentId"]), (&json!("assigned"), &shop.dev));
    // A number that GitHub gives to another issue than the task's is not believed.
    shop.server.tell_in_vain(&payload("issues.opened").with("/issue/number", 13)).await;
    // What GitHub said before does not undo what the owner has done since.
    let other = shop.ada.new_agent(&shop.workspace, None, "other").await["agent"]["id"].clone();
    let assign = json!({ "taskId": task, "agentId": other });
    shop.ada.post("/api/task.assign", &assign).await.ok();
    shop.server.tell_in_vain(&payload("issues.assigned")).await;
    assert_eq!(shop.tasks().await[0]["assignedAgentId"], other);
}

async fn a_comment_reaches_the_tasks_agent(bench: Bench) {
    let shop = shop(bench).await;
    shop.server.tell(&payload("issue_comment.created")).await;
    shop.server.tell(&payload("issues.assigned")).await;
    let later = payload("issue_comment.created").with("/comment/id", 550_002);
    shop.server.tell(&later).await;
    shop.server.tell(&payload("pull_request.opened")).await;
    let on_pull_request = payload("issue_comment.created").with("/comment/id", 550_003);
    let on_pull_request = on_pull_request.with("/issue/number", 7).with("/issue/pull_request", json!({ "url": "x" }));
    shop.server.tell(&on_pull_request).await;
    let task = shop.tasks().await.remove(0)["id"].clone();
    let heard = shop.server.all_of("IssueCommented").await;
    assert_eq!((&heard[0]["task_id"], &heard[0]["agent_id"]), (&json!(null), &json!(null)));
    for comment in &heard[1..] {
        assert_eq!((&comment["task_id"], &comment["agent_id"]), (&task, &shop.dev));
        assert_eq!(comment["body"], "How far is the basket? The “limit” matters most — 😀");
    }
    let told = shop.timeline().await;
    let mentions = told.iter().filter(|it| it["type"] == "github_comment" && it["mentions"] == json!([shop.dev]));
    assert_eq!(mentions.count(), 2);
    let edited = payload("issue_comment.created").with("/comment/id", 550_004).with("/action", "edited");
    shop.server.tell_in_vain(&edited).await;
}

async fn a_review_may_come_before_its_pull_request(bench: Bench) {
    let shop = shop(bench).await;
    shop.server.tell(&payload("pull_request_review.submitted").saying("dev-uno", "ada-owner")).await;
    shop.server.tell(&payload("pull_request.opened")).await;
    let types = ["PullRequestOpened", "PullRequestReviewed", "PullRequestDetailsChanged"];
    assert_eq!(shop.server.told().await, types);
    assert_eq!(shop.server.all_of("PullRequestDetailsChanged").await[0]["additions"], 120);
    let review = shop.server.all_of("PullRequestReviewed").await.remove(0);
    assert_eq!((&review["reviewer_agent_id"], &review["decision"]), (&shop.dev, &json!("request_changes")));
    let dismissed = payload("pull_request_review.submitted").with("/action", "dismissed").with("/review/id", 770_002);
    shop.server.tell_in_vain(&dismissed).await;
}

async fn checks_count_only_for_linters_that_have_an_opinion(bench: Bench) {
    let shop = shop(bench).await;
    let run = || payload("check_run.completed");
    shop.server.tell_in_vain(&run()).await;
    shop.server.tell(&payload("pull_request.opened")).await;
    let elsewhere = run().with("/check_run/pull_requests/0/base/repo/id", 1);
    for silent in [
        run().with("/check_run/name", "test / linux"),
        run().with("/check_run/conclusion", "skipped"),
        run().with("/check_run/conclusion", json!(null)),
        run().with("/check_run/pull_requests", json!([])),
        run().with("/action", "created"),
        elsewhere,
    ] {
        shop.server.tell_in_vain(&silent).await;
    }
    shop.server.tell(&run()).await;
    shop.server.tell(&run().with("/check_run/conclusion", "success")).await;
    shop.server.tell(&payload("check_suite.completed").with("/check_suite/conclusion", "success")).await;
    assert_eq!(shop.server.all_of("PullRequestLintFailed").await.len(), 1);
    assert_eq!(shop.server.all_of("PullRequestLintPassed").await.len(), 2);
}

async fn an_account_is_an_agents_by_setting_before_code(bench: Bench) {
    let shop = shop(bench).await;
    let named = json!({ "workspaceId": shop.workspace, "agentLevel": "organization", "agentCode": "other",
        "name": "Other", "roleTitle": "Developer", "settings": { "githubUsername": "@Dev-Uno" } });
    let other = shop.ada.post("/api/agent.create", &named).await.ok().body["agent"]["id"].clone();
    shop.server.tell(&payload("pull_request.opened").saying("DEV-UNO", "dev-uno")).await;
    let unnamed = json!({ "id": other, "settings": {} });
    shop.ada.put("/api/agent.update", &unnamed).await.ok();
    shop.server.tell(&payload("pull_request.opened").numbered(8)).await;
    let opened = shop.server.all_of("PullRequestOpened").await;
    assert_eq!((&opened[0]["agent_id"], &opened[0]["author"]), (&other, &json!("DEV-UNO")));
    assert_eq!(opened[1]["agent_id"], shop.dev);
}

async fn only_agents_that_work_in_the_project_are_known(bench: Bench) {
    let shop = shop(bench).await;
    let site = shop.ada.project(&shop.workspace, "site").await;
    shop.ada.new_agent(&shop.workspace, Some(&site), "dev-dos").await;
    let elsewhere = server_owner_elsewhere(&shop.server).await;
    elsewhere.0.new_agent(&elsewhere.1, None, "dev-tres").await;
    for (number, login) in [(1, "dev-dos"), (2, "dev-tres")] {
        shop.server.tell(&payload("pull_request.opened").numbered(number).saying(login, "dev-uno")).await;
    }
    shop.ada.delete(&format!("/api/agent.delete?id={}", shop.dev.as_str().unwrap())).await.ok();
    shop.server.tell(&payload("pull_request.opened").numbered(3)).await;
    let opened = shop.server.all_of("PullRequestOpened").await;
    assert!(opened.len() == 3 && opened.iter().all(|it| it["agent_id"].is_null()), "{opened:?}");
}

async fn server_owner_elsewhere(server: &Server) -> (Client, String) {
    let bob = server.owner("bob").await;
    let workspace = bob.workspace("elsewhere").await;
    (bob, workspace)
}

async fn a_repository_is_its_projects_alone(bench: Bench) {
    let shop = shop(bench).await;
    let (bob, elsewhere) = server_owner_elsewhere(&shop.server).await;
    let theirs = bob.project_at(&elsewhere, "theirs", "https://github.com/acme/shop-two").await;
    shop.server.tell(&payload("issues.opened")).await;
    let tasks_of = async |client: &Client, project: &str| {
        let now = client.with("X-Min-Position", &shop.server.head().await.to_string());
        let answer = now.get(&format!("/api/task.list?projectId={project}")).await.ok();
        answer.body["tasks"].as_array().unwrap().len()
    };
    assert_eq!(tasks_of(&bob, &theirs).await, 0);
    assert!(!bob.get("/api/event.list").await.ok().text.contains("basket"));
    shop.server.tell_in_vain(&payload("issues.opened").saying("acme/nobodys", "acme/shop")).await;
    assert_eq!(shop.server.told().await, ["TaskCreated"]);
    // A repository that changes hands takes its news along.
    let away = json!({ "id": shop.project, "repositoryUrl": "https://github.com/acme/old-shop" });
    shop.ada.put("/api/project.update", &away).await.ok();
    shop.server.tell_in_vain(&payload("issues.opened")).await;
    bob.put("/api/project.update", &json!({ "id": theirs, "repositoryUrl": REPOSITORY })).await.ok();
    shop.server.tell(&payload("issues.opened")).await;
    assert_eq!(tasks_of(&bob, &theirs).await, 1);
    assert_eq!(shop.tasks().await.len(), 1);
}

async fn texts_are_kept_within_bounds(bench: Bench) {
    let shop = shop(bench).await;
    let odd = payload("issues.opened").with("/issue/title", "a\0b".repeat(1_000));
    shop.server.tell(&odd.with("/issue/body", "ü".repeat(100_000))).await;
    let task = shop.tasks().await.remove(0);
    assert_eq!(task["title"].as_str().unwrap().chars().count(), 500);
    assert!(!task["title"].as_str().unwrap().contains('\0'));
    assert_eq!(task["description"].as_str().unwrap().chars().count(), 65_536);
    let many: Vec<Value> = (0..5_000).map(|n| json!({ "name": format!("label {n}") })).collect();
    shop.server.tell(&payload("issues.labeled").with("/issue/labels", many)).await;
    assert_eq!(shop.server.all_of("IssueLabelled").await[0]["labels"].as_array().unwrap().len(), 2_048);
    // A deleted account has no user, and a text need not be there.
    let ghost = payload("pull_request.opened").with("/pull_request/user", json!(null));
    shop.server.tell(&ghost.with("/pull_request/body", json!(null))).await;
    assert_eq!(shop.server.all_of("PullRequestOpened").await[0]["author"], "ghost");
}
