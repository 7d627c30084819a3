//! The wiki over HTTP: agents and the owner propose, the owner decides, and everybody reads within their reach.

use muster_tests::both_served_stores;
use muster_tests::server::{Answer, Client, Server};
use muster_tests::stores::Bench;
use serde_json::{Value, json};
use uuid::Uuid;

both_served_stores!(
    an_entry_waits_for_approval_and_is_then_listed,
    an_entry_is_shown_with_its_people_and_versions,
    the_owner_and_organization_agents_propose,
    a_slug_is_one_entrys_within_its_wiki,
    an_entrys_project_is_one_of_its_workspace,
    what_is_decided_stays_decided,
    a_rejected_entry_says_why_and_frees_its_slug,
    only_the_owner_decides,
    the_next_version_takes_over_when_it_is_approved,
    of_two_next_versions_one_is_approved,
    only_the_current_version_has_a_next,
    a_list_shows_one_wiki_by_status_and_tags,
    a_search_finds_words_in_title_tags_and_content,
    a_project_agent_writes_in_its_projects_wiki_and_reads_the_workspaces,
    what_does_not_exist_is_not_found,
    bad_input_is_named,
    a_repeated_proposal_is_one_entry,
);

/// Ada, her workspace with a project, and an agent of each level.
struct World {
    server: Server,
    ada: Client,
    workspace: String,
    shop: String,
    lead: Client,
    lead_id: Value,
    dev: Client,
}

async fn world(bench: Bench) -> World {
    let server = Server::start(bench).await;
    let ada = server.owner("ada").await;
    let workspace = ada.workspace("acme").await;
    let shop = ada.project(&workspace, "shop").await;
    let lead = ada.new_agent(&workspace, None, "lead").await;
    let dev = server.agent(&ada.new_agent(&workspace, Some(&shop), "dev").await);
    let lead_id = lead["agent"]["id"].clone();
    World { ada, workspace, shop, lead: server.agent(&lead), lead_id, dev, server }
}

fn entry(workspace: &str, slug: &str) -> Value {
    json!({ "workspaceId": workspace, "title": slug, "slug": slug, "content": "Avoid them" })
}

async fn propose(by: &Client, workspace: &str, slug: &str) -> String {
    by.post("/api/wiki.create", &entry(workspace, slug)).await.ok().id_of("entry")
}

async fn approve(by: &Client, id: &str) -> Answer {
    by.post("/api/wiki.approve", &json!({ "id": id })).await
}

async fn next(by: &Client, id: &str) -> Answer {
    by.put("/api/wiki.update", &json!({ "id": id, "content": "Avoid them well" })).await
}

async fn slugs(by: &Client, query: &str) -> Vec<String> {
    let found = by.get(&format!("/api/wiki.list?{query}")).await.ok();
    let entries = found.body["entries"].as_array().unwrap();
    entries.iter().map(|it| it["slug"].as_str().unwrap().to_owned()).collect()
}

async fn an_entry_waits_for_approval_and_is_then_listed(bench: Bench) {
    let World { ada, workspace, lead, lead_id, server, .. } = &world(bench).await;
    let mut body = entry(workspace, "locks");
    body["tags"] = json!(["rust", "sync", "rust"]);
    let answer = lead.post("/api/wiki.create", &body).await.ok();
    let id = answer.id_of("entry");
    let proposed = json!({
        "id": id, "workspaceId": workspace, "projectId": null, "proposedByAgentId": lead_id,
        "status": "pending_approval", "isCurrent": false, "title": "locks", "slug": "locks", "content": "Avoid them",
        "tags": ["rust", "sync"], "version": 1, "parentEntryId": null, "approvedBy": null, "approvedAt": null,
        "rejectionReason": null, "viewCount": 0, "lastViewedAt": null, "metadata": {},
        "createdAt": "2026-03-01T12:00:00Z", "updatedAt": "2026-03-01T12:00:00Z",
    });
    assert_eq!(answer.body, json!({ "entry": proposed }));
    let list = format!("workspaceId={workspace}");
    assert_eq!(slugs(ada, &list).await, Vec::<String>::new());
    assert_eq!(slugs(ada, &format!("{list}&status=pending_approval")).await, ["locks"]);
    server.bench.clock.set("2026-03-01T13:00:00Z".parse().unwrap());
    let approved = approve(ada, &id).await.ok().body["entry"].clone();
    assert_eq!((&approved["status"], &approved["isCurrent"]), (&json!("approved"), &json!(true)));
    assert_eq!(approved["approvedAt"], "2026-03-01T13:00:00Z");
    let owner = ada.get("/api/auth/session").await.ok().body["user"]["id"].clone();
    assert_eq!(approved["approvedBy"], owner);
    assert_eq!(slugs(lead, &list).await, ["locks"]);
}

async fn an_entry_is_shown_with_its_people_and_versions(bench: Bench) {
    let World { ada, workspace, lead, lead_id, .. } = &world(bench).await;
    let first = propose(lead, workspace, "locks").await;
    approve(ada, &first).await.ok();
    let second = next(ada, &first).await.ok().id_of("entry");
    let shown = ada.get(&format!("/api/wiki.get?id={first}")).await.ok().body;
    assert_eq!((&shown["entry"]["id"], &shown["author"]["id"]), (&json!(first), lead_id));
    assert_eq!((&shown["approver"]["name"], &shown["approver"]["email"]), (&json!("ada"), &json!("ada@example.com")));
    assert_eq!((&shown["parentEntry"], &shown["childEntries"][0]["id"]), (&Value::Null, &json!(second)));
    let shown = lead.get(&format!("/api/wiki.get?id={second}")).await.ok().body;
    assert_eq!((&shown["author"], &shown["approver"]), (&Value::Null, &Value::Null));
    assert_eq!((&shown["parentEntry"]["id"], &shown["childEntries"]), (&json!(first), &json!([])));
    assert_eq!((&shown["entry"]["version"], &shown["entry"]["parentEntryId"]), (&json!(2), &json!(first)));
}

async fn the_owner_and_organization_agents_propose(bench: Bench) {
    let World { ada, workspace, shop, lead, dev, server, .. } = &world(bench).await;
    propose(ada, workspace, "by-owner").await;
    propose(lead, workspace, "by-lead").await;
    let mut of_project = entry(workspace, "by-lead");
    of_project["projectId"] = json!(shop);
    lead.post("/api/wiki.create", &of_project).await.ok();
    for body in [entry(workspace, "by-dev"), of_project.clone()] {
        dev.post("/api/wiki.create", &body).await.refused(403, "AGENT_NOT_ORGANIZATION_LEVEL");
    }
    let bob = server.owner("bob").await;
    let elsewhere = bob.workspace("elsewhere").await;
    let spy = server.agent(&bob.new_agent(&elsewhere, None, "spy").await);
    for stranger in [&bob, &spy] {
        stranger.post("/api/wiki.create", &entry(workspace, "x")).await.refused(403, "WORKSPACE_ACCESS_DENIED");
    }
}

async fn a_slug_is_one_entrys_within_its_wiki(bench: Bench) {
    let World { ada, workspace, shop, .. } = &world(bench).await;
    propose(ada, workspace, "locks").await;
    let again = ada.post("/api/wiki.create", &entry(workspace, "locks")).await;
    again.refused(409, "WIKI_ENTRY_SLUG_ALREADY_EXISTS");
    let mut of_project = entry(workspace, "locks");
    of_project["projectId"] = json!(shop);
    ada.post("/api/wiki.create", &of_project).await.ok();
    let other = ada.workspace("other").await;
    propose(ada, &other, "locks").await;
}

async fn an_entrys_project_is_one_of_its_workspace(bench: Bench) {
    let World { ada, workspace, .. } = &world(bench).await;
    let other = ada.workspace("other").await;
    for project in [ada.project(&other, "shop").await, Uuid::now_v7().to_string()] {
        let mut body = entry(workspace, "locks");
        body["projectId"] = json!(project);
        ada.post("/api/wiki.create", &body).await.refused(404, "PROJECT_NOT_FOUND");
    }
}

async fn what_is_decided_stays_decided(bench: Bench) {
    let World { ada, workspace, .. } = &world(bench).await;
    let (one, two) = (propose(ada, workspace, "one").await, propose(ada, workspace, "two").await);
    let reject = async |id: &str| ada.post("/api/wiki.reject", &json!({ "id": id, "reason": "No" })).await;
    approve(ada, &one).await.ok();
    approve(ada, &one).await.refused(400, "WIKI_ENTRY_ALREADY_APPROVED");
    reject(&one).await.refused(400, "WIKI_ENTRY_ALREADY_APPROVED");
    reject(&two).await.ok();
    reject(&two).await.refused(400, "WIKI_ENTRY_ALREADY_REJECTED");
    approve(ada, &two).await.refused(400, "WIKI_ENTRY_ALREADY_REJECTED");
}

async fn a_rejected_entry_says_why_and_frees_its_slug(bench: Bench) {
    let World { ada, workspace, lead, .. } = &world(bench).await;
    let id = propose(lead, workspace, "locks").await;
    let rejected = ada.post("/api/wiki.reject", &json!({ "id": id, "reason": "Not so" })).await.ok();
    let rejected = &rejected.body["entry"];
    assert_eq!((&rejected["status"], &rejected["rejectionReason"]), (&json!("rejected"), &json!("Not so")));
    propose(lead, workspace, "locks").await;
    assert_eq!(slugs(lead, &format!("workspaceId={workspace}&status=rejected")).await, ["locks"]);
}

async fn only_the_owner_decides(bench: Bench) {
    let World { ada, workspace, lead, dev, server, .. } = &world(bench).await;
    let id = propose(lead, workspace, "locks").await;
    let reject = json!({ "id": id, "reason": "No" });
    for agent in [lead, dev] {
        approve(agent, &id).await.refused(403, "NOT_CEO");
        agent.post("/api/wiki.reject", &reject).await.refused(403, "NOT_CEO");
    }
    let bob = server.owner("bob").await;
    approve(&bob, &id).await.refused(403, "WIKI_ENTRY_ACCESS_DENIED");
    bob.post("/api/wiki.reject", &reject).await.refused(403, "WIKI_ENTRY_ACCESS_DENIED");
    approve(ada, &id).await.ok();
}

async fn the_next_version_takes_over_when_it_is_approved(bench: Bench) {
    let World { ada, workspace, lead, .. } = &world(bench).await;
    let first = propose(ada, workspace, "locks").await;
    approve(ada, &first).await.ok();
    let second = next(lead, &first).await.ok();
    let entry = &second.body["entry"];
    assert_eq!((&entry["version"], &entry["slug"], &entry["title"]), (&json!(2), &json!("locks"), &json!("locks")));
    assert_eq!((&entry["status"], &entry["content"]), (&json!("pending_approval"), &json!("Avoid them well")));
    let listed = async || {
        let found = ada.get(&format!("/api/wiki.list?workspaceId={workspace}")).await.ok();
        found.body["entries"].as_array().unwrap().iter().map(|it| it["id"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(listed().await, [json!(first)]);
    let head = approve(ada, &second.id_of("entry")).await.ok().position();
    assert_eq!(listed().await, [json!(second.id_of("entry"))]);
    let before = ada.with("X-Min-Position", &head.to_string()).get(&format!("/api/wiki.get?id={first}")).await.ok();
    assert_eq!(before.body["entry"]["isCurrent"], false);
    assert_eq!(before.body["childEntries"][0]["isCurrent"], true);
}

async fn of_two_next_versions_one_is_approved(bench: Bench) {
    let World { ada, workspace, lead, .. } = &world(bench).await;
    let first = propose(ada, workspace, "locks").await;
    approve(ada, &first).await.ok();
    let one = next(ada, &first).await.ok().id_of("entry");
    let two = next(lead, &first).await.ok().id_of("entry");
    let (a, b) = tokio::join!(approve(ada, &one), approve(ada, &two));
    let (good, bad): (Vec<_>, Vec<_>) = [a, b].into_iter().partition(|it| it.status.is_success());
    assert_eq!((good.len(), bad.len()), (1, 1));
    bad.into_iter().next().unwrap().refused(409, "WIKI_ENTRY_NOT_CURRENT");
    assert_eq!(slugs(ada, &format!("workspaceId={workspace}")).await, ["locks"]);
    // The one that lost can still be turned down.
    let lost = if good[0].id_of("entry") == one { &two } else { &one };
    ada.post("/api/wiki.reject", &json!({ "id": lost, "reason": "Too late" })).await.ok();
}

async fn only_the_current_version_has_a_next(bench: Bench) {
    let World { ada, workspace, .. } = &world(bench).await;
    let first = propose(ada, workspace, "locks").await;
    next(ada, &first).await.refused(409, "WIKI_ENTRY_NOT_CURRENT");
    approve(ada, &first).await.ok();
    let second = next(ada, &first).await.ok().id_of("entry");
    approve(ada, &second).await.ok();
    next(ada, &first).await.refused(409, "WIKI_ENTRY_NOT_CURRENT");
    assert_eq!(next(ada, &second).await.ok().body["entry"]["version"], 3);
}

async fn a_list_shows_one_wiki_by_status_and_tags(bench: Bench) {
    let World { ada, workspace, shop, server, .. } = &world(bench).await;
    for (minute, slug, project, tags) in [
        (1, "plain", None, json!([])),
        (2, "rust", None, json!(["rust"])),
        (3, "both", None, json!(["rust", "a b"])),
        (4, "shop", Some(shop), json!(["rust"])),
    ] {
        server.bench.clock.set(format!("2026-03-01T12:0{minute}:00Z").parse().unwrap());
        let mut body = entry(workspace, slug);
        body["tags"] = tags;
        if let Some(project) = project {
            body["projectId"] = json!(project);
        }
        let id = ada.post("/api/wiki.create", &body).await.ok().id_of("entry");
        approve(ada, &id).await.ok();
    }
    let list = format!("workspaceId={workspace}");
    assert_eq!(slugs(ada, &list).await, ["both", "rust", "plain"]);
    assert_eq!(slugs(ada, &format!("{list}&status=approved&limit=1&offset=1")).await, ["rust"]);
    assert_eq!(slugs(ada, &format!("{list}&tags=rust&tags=a%20b")).await, ["both"]);
    assert_eq!(slugs(ada, &format!("{list}&projectId={shop}&tags=rust")).await, ["shop"]);
    for status in ["draft", "rejected", "pending_approval"] {
        assert_eq!(slugs(ada, &format!("{list}&status={status}")).await, Vec::<String>::new());
    }
}

async fn a_search_finds_words_in_title_tags_and_content(bench: Bench) {
    let World { ada, workspace, .. } = &world(bench).await;
    for (slug, title, tag, content) in
        [("one", "Other", "none", "Uses locks"), ("two", "Other", "locks", "x"), ("three", "All locks", "none", "x")]
    {
        let body = json!({ "workspaceId": workspace, "title": title, "slug": slug, "content": content, "tags": [tag] });
        let id = ada.post("/api/wiki.create", &body).await.ok().id_of("entry");
        approve(ada, &id).await.ok();
    }
    let list = format!("workspaceId={workspace}");
    assert_eq!(slugs(ada, &format!("{list}&search=Locks%21")).await, ["three", "two", "one"]);
    assert_eq!(slugs(ada, &format!("{list}&search=locks%20uses")).await, ["one"]);
    assert_eq!(slugs(ada, &format!("{list}&search=%22%27%20OR%201%3D1")).await, Vec::<String>::new());
    assert_eq!(slugs(ada, &format!("{list}&search=")).await.len(), 3);
}

async fn a_project_agent_writes_in_its_projects_wiki_and_reads_the_workspaces(bench: Bench) {
    let World { ada, workspace, shop, dev, .. } = &world(bench).await;
    let site = ada.project(workspace, "site").await;
    let mut ids = vec![];
    for project in [None, Some(shop.as_str()), Some(&site)] {
        let mut body = entry(workspace, "locks");
        if let Some(project) = project {
            body["projectId"] = json!(project);
        }
        let id = ada.post("/api/wiki.create", &body).await.ok().id_of("entry");
        approve(ada, &id).await.ok();
        ids.push(id);
    }
    let [of_workspace, of_shop, of_site] = ids.try_into().unwrap();
    let get = async |id: &str| dev.get(&format!("/api/wiki.get?id={id}")).await;
    get(&of_workspace).await.ok();
    get(&of_shop).await.ok();
    get(&of_site).await.refused(403, "WIKI_ENTRY_ACCESS_DENIED");
    let list = format!("workspaceId={workspace}");
    assert_eq!(slugs(dev, &list).await, ["locks"]);
    assert_eq!(slugs(dev, &format!("{list}&projectId={shop}")).await, ["locks"]);
    let other = dev.get(&format!("/api/wiki.list?{list}&projectId={site}")).await;
    other.refused(403, "PROJECT_ACCESS_DENIED");
    next(dev, &of_shop).await.ok();
    for id in [&of_workspace, &of_site] {
        next(dev, id).await.refused(403, "WIKI_ENTRY_ACCESS_DENIED");
    }
}

async fn what_does_not_exist_is_not_found(bench: Bench) {
    let World { ada, lead, .. } = &world(bench).await;
    let nothing = Uuid::now_v7().to_string();
    for caller in [ada, lead] {
        caller.get(&format!("/api/wiki.list?workspaceId={nothing}")).await.refused(404, "WORKSPACE_NOT_FOUND");
        caller.get(&format!("/api/wiki.get?id={nothing}")).await.refused(404, "WIKI_ENTRY_NOT_FOUND");
        caller.post("/api/wiki.create", &entry(&nothing, "x")).await.refused(404, "WORKSPACE_NOT_FOUND");
        next(caller, &nothing).await.refused(404, "WIKI_ENTRY_NOT_FOUND");
    }
    approve(ada, &nothing).await.refused(404, "WIKI_ENTRY_NOT_FOUND");
    let reject = json!({ "id": nothing, "reason": "No" });
    ada.post("/api/wiki.reject", &reject).await.refused(404, "WIKI_ENTRY_NOT_FOUND");
}

async fn bad_input_is_named(bench: Bench) {
    let World { ada, workspace, .. } = &world(bench).await;
    let bad = json!({ "workspaceId": workspace, "title": "", "slug": "No Slug", "content": "x".repeat(100_001),
        "tags": ["", "fine"] });
    let refused = ada.post("/api/wiki.create", &bad).await.refused(400, "VALIDATION_ERROR");
    assert_eq!(refused.bad_fields(), ["content", "slug", "tags.0", "title"]);
    let id = propose(ada, workspace, "locks").await;
    let refused = ada.post("/api/wiki.reject", &json!({ "id": id, "reason": "" })).await;
    assert_eq!(refused.refused(400, "VALIDATION_ERROR").bad_fields(), ["reason"]);
    let refused = ada.get(&format!("/api/wiki.list?workspaceId={workspace}&limit=101&status=new")).await;
    assert_eq!(refused.refused(400, "VALIDATION_ERROR").bad_fields(), ["limit", "status"]);
    // As long as an entry may be.
    let mut longest = entry(workspace, "longest");
    longest["content"] = json!("x ".repeat(50_000));
    ada.post("/api/wiki.create", &longest).await.ok();
}

async fn a_repeated_proposal_is_one_entry(bench: Bench) {
    let World { workspace, lead, server, .. } = &world(bench).await;
    let keyed = lead.with("Idempotency-Key", "once");
    let first = keyed.post("/api/wiki.create", &entry(workspace, "locks")).await.ok();
    let head = server.head().await;
    let again = keyed.post("/api/wiki.create", &entry(workspace, "locks")).await.ok();
    assert_eq!((again.body, server.head().await), (first.body, head));
    assert_eq!(again.headers["idempotent-replayed"], "true");
}
