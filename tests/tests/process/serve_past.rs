//! `serve --as-of`: the whole query API of a moment, beside a live server on the same store, and nothing else.

use muster_tests::at_both_homes;
use muster_tests::muster::{Home, Muster};
use serde_json::{Value, json};

use crate::checker::Found;
use crate::client::{Answer, Client, Request};
use crate::demo::Tour;

at_both_homes! {
    the_past_is_served_beside_a_live_server_that_goes_on,
    commands_and_streams_are_refused_in_the_past,
    signing_in_to_the_past_leaves_nothing_behind,
    a_moment_that_cannot_be_served_is_refused,
}

async fn the_past_is_served_beside_a_live_server_that_goes_on(home: Home) {
    let live = Muster::start(&home, &["--demo"]).await;
    let tour = Tour::read(&live).await;
    let owner = tour.owner(&live).await;
    let then = Found::read(&home).await.head();
    let before = answers(&owner, then).await;
    let workspace = before[0]["workspaces"][0]["id"].as_str().unwrap().to_owned();
    let rename = json!({ "id": workspace, "name": "Another name" });
    let now = owner.must(Request::put("/api/workspace.update", rename)).await.position();

    let past = Muster::start(&home, &["--as-of", &then.to_string()]).await;
    // The cookie of the live server is honoured.
    let visitor = owner.at(&past);
    assert_eq!(answers(&visitor, then).await, before);
    let listed = visitor.must(Request::get("/api/workspace.list")).await;
    assert_eq!(listed.header("x-as-of-position"), Some(then.to_string().as_str()));
    let ready = visitor.must(Request::get("/health/ready")).await.body;
    assert_eq!(
        (&ready["status"], &ready["asOfPosition"], &ready["head"]),
        (&json!("ready"), &json!(then), &json!(then))
    );
    assert!(ready["projections"].as_array().unwrap().iter().all(|it| it["lagEvents"] == 0), "{ready:#}");
    // Earlier moments can be asked of it, later ones cannot.
    visitor.must(Request::get(format!("/api/event.list?workspaceId={workspace}&asOf={}", then - 5))).await;
    let later = visitor.send(&Request::get(format!("/api/workspace.list?asOf={now}"))).await.unwrap();
    assert_eq!((later.status, later.code()), (400, "VALIDATION_ERROR"), "{later:#?}");

    let history = format!("/api/audit.history?aggregate=workspace&id={workspace}");
    let (of_now, of_then) = (owner.see(&history, now).await, visitor.must(Request::get(&history)).await.body);
    assert_eq!(of_then["total"].as_i64().unwrap() + 1, of_now["total"].as_i64().unwrap(), "{of_then:#}");
    let state = visitor.must(Request::get(format!("/api/audit.state?aggregate=workspace&id={workspace}"))).await.body;
    assert!(!state.to_string().contains("Another name"), "{state:#}");

    // The live server goes on meanwhile, and the past does not move.
    let again = owner.must(Request::put("/api/workspace.update", json!({ "id": workspace, "name": "A third" }))).await;
    let shown = owner.see(&format!("/api/workspace.get?id={workspace}"), again.position()).await;
    assert_eq!(shown["workspace"]["name"], "A third");
    assert_eq!(answers(&visitor, then).await, before);
    let ended = past.terminate().await;
    assert_eq!(ended.code, Some(0), "{ended:#?}");
    assert!(ended.says("building the past") || ended.says("built the past"), "{ended:#?}");
    assert_eq!(live.terminate().await.code, Some(0));
    home.succeed(&["log", "verify"]).await;
    home.succeed(&["projections", "verify"]).await;
}

async fn commands_and_streams_are_refused_in_the_past(home: Home) {
    let live = Muster::start(&home, &[]).await;
    let owner = Client::sign_up(&live).await;
    let (workspace, position) = owner.new_workspace().await;
    assert_eq!(live.terminate().await.code, Some(0));
    let head = Found::read(&home).await.head();
    let past = Muster::start(&home, &["--as-of", &position.to_string()]).await;
    let visitor = owner.at(&past);
    let refused = |it: Answer| {
        assert_eq!((it.status, it.code()), (405, "SERVING_THE_PAST"), "{it:#?}");
        it
    };
    let project = json!({ "workspaceId": workspace, "name": "Shop", "slug": "shop" });
    let sign_up = json!({ "email": "new@muster.example", "password": "correct horse battery", "name": "New" });
    for command in [
        Request::post("/api/project.create", project),
        Request::put("/api/workspace.update", json!({ "id": workspace, "name": "x" })),
        Request { method: reqwest::Method::DELETE, ..Request::get(format!("/api/workspace.delete?id={workspace}")) },
        Request::post("/api/auth/signup", sign_up),
        Request::post("/api/webhooks/github", json!({})),
    ] {
        let answer = refused(visitor.send(&command).await.unwrap());
        assert_eq!(answer.header("allow"), Some("GET, HEAD"));
    }
    let stream = refused(visitor.send(&Request::get("/api/event.stream")).await.unwrap());
    assert!(stream.body.to_string().contains("does not move"), "{stream:#?}");
    let ahead = Request::get("/api/workspace.list").header("X-Min-Position", position + 1);
    refused(visitor.send(&ahead).await.unwrap());
    assert_eq!(past.terminate().await.code, Some(0));
    assert_eq!(Found::read(&home).await.head(), head);
}

async fn signing_in_to_the_past_leaves_nothing_behind(home: Home) {
    let live = Muster::start(&home, &["--demo"]).await;
    let tour = Tour::read(&live).await;
    let head = Found::read(&home).await.head();
    let past = Muster::start(&home, &["--as-of", &head.to_string()]).await;
    let visitor = tour.owner(&past).await;
    visitor.must(Request::get("/api/workspace.list")).await;
    let who = visitor.must(Request::get("/api/auth/session")).await.body;
    assert_eq!(who["user"]["email"], tour.email.as_str());
    // Nobody has signed in at the live server.
    let cookie = visitor.at(&live).send(&Request::get("/api/workspace.list")).await.unwrap();
    assert_eq!(cookie.status, 401, "{cookie:#?}");
    visitor.at(&past).must(Request::get("/api/workspace.list")).await;
    visitor.must(Request::post("/api/auth/logout", json!({}))).await;
    let out = visitor.send(&Request::get("/api/workspace.list")).await.unwrap();
    assert_eq!(out.status, 401, "{out:#?}");
    let wrong = json!({ "email": tour.email, "password": "not the password" });
    let wrong = visitor.send(&Request::post("/api/auth/login", wrong)).await.unwrap();
    assert_eq!((wrong.status, wrong.code()), (401, "AUTH_INVALID_CREDENTIALS"));
    assert_eq!(past.terminate().await.code, Some(0));
}

async fn a_moment_that_cannot_be_served_is_refused(home: Home) {
    let nothing = home.run(&["serve", "--port", "0", "--as-of", "1"]).await;
    assert_eq!(nothing.code, Some(3), "there is no log yet: {nothing:#?}");
    let live = Muster::start(&home, &[]).await;
    Client::sign_up(&live).await;
    live.terminate().await;
    for (moment, why) in [
        ("2", "beyond the end of the log"),
        ("0", "the first is 1"),
        ("2020-01-01T00:00:00Z", "before the first event"),
        ("2099-01-01T00:00:00Z", "has not come yet"),
        ("noon", "neither a position nor a time"),
    ] {
        let refused = home.run(&["serve", "--port", "0", "--as-of", moment]).await;
        assert_eq!(refused.code, Some(2), "{moment}: {refused:#?}");
        assert!(refused.stderr.contains(why), "{moment}: {refused:#?}");
    }
    let both = home.run(&["serve", "--port", "0", "--as-of", "1", "--demo"]).await;
    assert_eq!(both.code, Some(2), "{both:#?}");
}

/// What an owner sees of everything there is.
async fn answers(owner: &Client, position: i64) -> Vec<Value> {
    let workspaces = owner.see("/api/workspace.list?includeDeleted=true", position).await;
    let workspace = workspaces["workspaces"][0]["id"].as_str().unwrap().to_owned();
    let agents = owner.see(&format!("/api/agent.list?workspaceId={workspace}"), position).await;
    let agent = agents["agents"][0]["id"].as_str().unwrap().to_owned();
    let mut answers = vec![workspaces, agents];
    for path in [
        format!("/api/project.list?workspaceId={workspace}&includeInactive=true"),
        format!("/api/agent.get?id={agent}"),
        format!("/api/kpi.history?agentId={agent}"),
        format!("/api/trust.history?agentId={agent}"),
        format!("/api/wiki.list?workspaceId={workspace}"),
        format!("/api/event.list?workspaceId={workspace}&limit=100"),
    ] {
        answers.push(owner.see(&path, position).await);
    }
    answers
}
