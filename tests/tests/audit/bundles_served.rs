//! A bundle is served on a machine with nothing else: the same answers as where it came from, and nothing can be changed.

use muster_tests::at_both_homes;
use muster_tests::muster::{Home, Muster, bounded};
use muster_tests::stores::Kind;
use reqwest::header::{COOKIE, SET_COOKIE};
use reqwest::{Client, Response, StatusCode};
use serde_json::{Value, json};

use crate::proof_commands::Desk;
use crate::workspaces;

at_both_homes! {
    a_served_bundle_answers_like_the_server_it_came_from,
    bundles_that_cannot_be_served_are_refused,
}

async fn a_served_bundle_answers_like_the_server_it_came_from(home: Home) {
    let live = Muster::start(&home, &["--demo"]).await;
    let owner = Reader::signed_in(&live).await;
    let workspace = owner.ask(&live, "/api/workspace.list").await["workspaces"][0]["id"].as_str().unwrap().to_owned();
    let desk = Desk::new(&home).await;
    let bundle = desk.path("bundle.tar.zst");
    desk.succeed(&home, &["audit", "export", "--workspace", &workspace, "-o", &bundle]).await;

    let elsewhere = Home::new(Kind::Sqlite).await;
    let served = Muster::start(&elsewhere, &["--bundle", &bundle]).await;
    let line = bounded("the token is printed", served.stdout.line_with("__session=")).await.unwrap();
    let reader = Reader::with(line.split_once("Cookie: ").unwrap().1);
    let agents = owner.ask(&live, &format!("/api/agent.list?workspaceId={workspace}")).await;
    let agent = agents["agents"][0]["id"].as_str().unwrap();
    let projects = owner.ask(&live, &format!("/api/project.list?workspaceId={workspace}")).await;
    let project = projects["projects"][0]["id"].as_str().unwrap();
    for path in [
        format!("/api/workspace.get?id={workspace}"),
        format!("/api/project.list?workspaceId={workspace}"),
        format!("/api/agent.list?workspaceId={workspace}"),
        format!("/api/task.list?projectId={project}"),
        format!("/api/event.list?workspaceId={workspace}&limit=100"),
        format!("/api/wiki.list?workspaceId={workspace}"),
        format!("/api/kpi.history?agentId={agent}"),
        format!("/api/event.list?workspaceId={workspace}&asOf=60"),
    ] {
        // People are no events, so their names stay behind.
        let said = owner.ask(&live, &path).await.to_string().replace("Robin Demo", "The workspace's owner");
        assert_eq!(reader.ask(&served, &path).await.to_string(), said, "{path}");
    }

    // Nothing can be changed, and nobody comes in without the token.
    let create = reader.post(&served, "/api/project.create", json!({"workspaceId": workspace, "name": "x"})).await;
    assert_eq!(create.status(), StatusCode::METHOD_NOT_ALLOWED);
    let stranger = Reader::with("").get(&served, "/api/workspace.list").await;
    assert_eq!(stranger.status(), StatusCode::UNAUTHORIZED);
    served.terminate().await;
    assert!(!elsewhere.folder().exists(), "a bundle leaves no data behind");
}

async fn bundles_that_cannot_be_served_are_refused(home: Home) {
    workspaces::two(&home).await;
    let desk = Desk::new(&home).await;
    let (whole, stretch) = (desk.path("whole"), desk.path("stretch"));
    desk.succeed(&home, &["audit", "export", "--workspace", "acme", "-o", &whole]).await;
    desk.succeed(&home, &["audit", "export", "--workspace", "acme", "--from", "5", "-o", &stretch]).await;
    let bytes = std::fs::read(&whole).unwrap();
    std::fs::write(desk.file("torn"), &bytes[..bytes.len() / 2]).unwrap();
    for (args, code, says) in [
        (vec!["--bundle", &stretch], 2, "without --from"),
        (vec!["--bundle", &desk.path("torn")], 1, "torn"),
        (vec!["--bundle", &desk.path("absent")], 2, "absent"),
        (vec!["--bundle", &whole, "--host", "0.0.0.0"], 2, "on this machine alone"),
        (vec!["--bundle", &whole, "--demo"], 2, "cannot be used with"),
    ] {
        let ended = home.run(&[&["serve", "--port", "0"], &args[..]].concat()).await;
        assert_eq!(ended.code, Some(code), "{args:?}: {ended:#?}");
        assert!(ended.stderr.contains(says), "{args:?}: {ended:#?}");
    }
}

/// Somebody with a cookie.
struct Reader {
    http: Client,
    cookie: String,
}

impl Reader {
    fn with(cookie: &str) -> Self {
        Self { http: muster_tests::http_client().build().unwrap(), cookie: cookie.to_owned() }
    }

    /// The owner of the demo, by the password that the server prints.
    async fn signed_in(server: &Muster) -> Self {
        let told = bounded("the login is printed", server.stdout.line_with("Sign in as")).await.unwrap();
        let word = |after: &str| told.split_once(after).unwrap().1.split([' ', ':']).next().unwrap().to_owned();
        let login = json!({"email": word("Sign in as "), "password": word("the password ")});
        let answer = Self::with("").post(server, "/api/auth/login", login).await;
        let cookie = answer.headers()[SET_COOKIE].to_str().unwrap().split(';').next().unwrap().to_owned();
        Self::with(&cookie)
    }

    async fn get(&self, server: &Muster, path: &str) -> Response {
        self.http.get(server.url(path)).header(COOKIE, &self.cookie).send().await.unwrap()
    }

    async fn post(&self, server: &Muster, path: &str, body: Value) -> Response {
        self.http.post(server.url(path)).header(COOKIE, &self.cookie).json(&body).send().await.unwrap()
    }

    async fn ask(&self, server: &Muster, path: &str) -> Value {
        let answer = self.get(server, path).await;
        let status = answer.status();
        let body = answer.text().await.unwrap();
        assert_eq!(status, StatusCode::OK, "{path}: {body}");
        serde_json::from_str(&body).unwrap()
    }
}
