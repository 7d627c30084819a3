//! Pull requests on a stand-in for GitHub: a real server on loopback, a real repository as `origin`.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};
use workbench::forge::{Forge, ForgeError, Github, GithubSettings, Opened, Pull, PullState, Review};
use workbench::git::{How, Merge, MergeOutcome};

use crate::fixture::{Bench, branch, trailer};
use crate::pull_requests::{Asked, PullRequests, TOKEN};

struct Scene {
    bench: Bench,
    stand: PullRequests,
    forge: Forge,
}

impl Scene {
    async fn new() -> Self {
        let bench = Bench::new();
        let origin = bench.folder.path().join("origin.git");
        bench.git(bench.folder.path(), &["init", "--quiet", "--bare", "origin.git"]);
        bench.git(&bench.base(), &["remote", "add", "origin", origin.to_str().unwrap()]);
        bench.epic().await;
        bench.task("1", "a.txt", "a").await;
        let stand = PullRequests::prepared().await;
        let settings = GithubSettings::new(stand.api().parse().unwrap(), "own-er", "repo", TOKEN);
        Self { bench, stand, forge: Forge::Github(Github::new(settings).unwrap()) }
    }

    fn prepare(&self, status: u16, body: Value) -> &Self {
        self.prepare_with(status, &[], body)
    }

    fn prepare_with(&self, status: u16, headers: &[(&'static str, &str)], body: Value) -> &Self {
        self.stand.prepare(status, headers, body);
        self
    }

    fn asked(&self) -> Vec<Asked> {
        self.stand.asked()
    }

    fn paths(&self) -> Vec<String> {
        self.asked().into_iter().map(|it| it.0.replace("/api/v3/repos/own-er/repo", "")).collect()
    }

    async fn open(&self) -> Result<Opened, ForgeError> {
        let (from, into) = (branch("task/1/t"), branch("epic/1/e"));
        let pull = Pull { id: "1", from: &from, into: &into, title: "It's \"é\"", description: "-words\n" };
        self.forge.open(&self.bench.repository, &pull).await
    }

    async fn merge(&self) -> Result<MergeOutcome, ForgeError> {
        let (from, into, trailer) = (branch("task/1/t"), branch("epic/1/e"), trailer("1"));
        let merge =
            Merge { from: &from, at: None, into: &into, message: "Title\n\nBody", trailer: &trailer, onto: None };
        self.forge.merge(&self.bench.repository, URL, &merge).await
    }

    /// Merges in the remote, as GitHub would.
    fn merge_over_there(&self) -> String {
        let place = self.bench.folder.path().join("github");
        let parent = self.bench.folder.path();
        self.bench.git(parent, &["clone", "--quiet", "-b", "epic/1/e", "origin.git", "github"]);
        self.bench.git(&place, &["merge", "--quiet", "--no-ff", "-m", "merged", "origin/task/1/t"]);
        self.bench.git(&place, &["push", "--quiet"]);
        self.bench.at(&place, "HEAD").to_string()
    }
}

const URL: &str = "https://github.example/own-er/repo/pull/5";

fn pull_5() -> Value {
    json!({ "html_url": URL, "number": 5, "state": "open", "merged": false, "merge_commit_sha": "0".repeat(40) })
}

#[tokio::test]
async fn a_pull_request_is_opened_after_its_branch_was_pushed() {
    let scene = Scene::new().await;
    scene.prepare(200, json!([])).prepare(201, pull_5());
    assert_eq!(scene.open().await.unwrap(), Opened { url: URL.to_owned(), existed: false });
    let asked = scene.asked();
    assert_eq!(
        asked[0].0,
        "GET /api/v3/repos/own-er/repo/pulls?state=open&head=own-er%3Atask%2F1%2Ft&base=epic%2F1%2Fe"
    );
    assert_eq!(
        asked[1].1,
        json!({ "title": "It's \"é\"", "body": "-words\n", "head": "task/1/t", "base": "epic/1/e" })
    );
    let origin = scene.bench.folder.path().join("origin.git");
    for name in ["task/1/t", "epic/1/e"] {
        assert_eq!(scene.bench.at(&origin, name), scene.bench.at(&scene.bench.base(), name));
    }
    assert!(scene.stand.tokens().iter().all(|it| it == "Bearer t0ken"));
}

#[tokio::test]
async fn one_that_is_open_already_is_found_and_gets_the_words() {
    let scene = Scene::new().await;
    scene.prepare(200, json!([pull_5()])).prepare(200, pull_5());
    assert!(scene.open().await.unwrap().existed);
    let asked = scene.asked();
    assert_eq!(asked[1].0, "PATCH /api/v3/repos/own-er/repo/pulls/5");
    assert_eq!(asked[1].1, json!({ "title": "It's \"é\"", "body": "-words\n" }));
}

#[tokio::test]
async fn one_whose_opening_seemed_lost_is_found() {
    let scene = Scene::new().await;
    scene.prepare(200, json!([])).prepare_with(502, &[("retry-after", "0")], json!({}));
    scene.prepare(422, json!({ "message": "already exists" })).prepare(200, json!([pull_5()])).prepare(200, pull_5());
    assert!(scene.open().await.unwrap().existed);
}

#[tokio::test]
async fn one_whose_merge_is_not_on_record_is_found() {
    let scene = Scene::new().await;
    let head = scene.bench.at(&scene.bench.base(), "task/1/t");
    let nothing_left = json!({ "message": "Validation Failed", "errors": [{ "message": "No commits between" }] });
    let listed = |sha: &str, merged_at: Value| {
        let mut pull = pull_5();
        (pull["head"], pull["merged_at"]) = (json!({ "sha": sha }), merged_at);
        json!([pull])
    };
    for (closed, is_found) in [
        (listed(head.as_str(), json!("2026-01-01T12:00:00Z")), true),
        (listed(head.as_str(), Value::Null), false),
        (listed(&"0".repeat(40), json!("2026-01-01T12:00:00Z")), false),
    ] {
        scene.prepare(200, json!([])).prepare(422, nothing_left.clone());
        scene.prepare(200, json!([])).prepare(200, closed);
        match scene.open().await {
            Ok(opened) => assert!(is_found && opened == Opened { url: URL.to_owned(), existed: true }, "{opened:?}"),
            Err(error) => assert!(!is_found && matches!(error, ForgeError::Refused { status: 422, .. }), "{error:?}"),
        }
    }
    let asked = scene.asked();
    assert!(asked[3].0.contains("state=closed&head=own-er%3Atask%2F1%2Ft&base=epic%2F1%2Fe"), "{asked:?}");
}

#[tokio::test]
async fn trouble_over_there_is_tried_again_and_then_told() {
    let scene = Scene::new().await;
    let soon = [("retry-after", "0")];
    scene.prepare_with(503, &soon, json!({})).prepare_with(429, &soon, json!({}));
    scene.prepare(200, json!([])).prepare(201, pull_5());
    assert!(scene.open().await.is_ok());
    for _ in 0..3 {
        scene.prepare_with(500, &soon, json!({ "message": "oh" }));
    }
    let error = scene.open().await.unwrap_err();
    assert!(error.is_transient(), "{error:?}");
    // Too long to wait for here, whatever the status.
    for status in [429, 403] {
        scene.prepare_with(status, &[("retry-after", "3600")], json!({ "message": "slow down" }));
        let error = scene.open().await.unwrap_err();
        assert_eq!((error.is_transient(), error.retry_after()), (true, Some(Duration::from_secs(3600))), "{error:?}");
    }
    assert_eq!(scene.asked().len(), 4 + 3 + 2);
}

#[tokio::test]
async fn a_limit_is_waited_for_until_it_is_reset_and_an_hour_at_most() {
    let scene = Scene::new().await;
    let hour = Duration::from_secs(3600);
    for (status, asked) in [(429, "18446744073709551615"), (403, "86400"), (503, "3601")] {
        scene.prepare_with(status, &[("retry-after", asked)], json!({ "message": "slow down" }));
        let error = scene.open().await.unwrap_err();
        assert_eq!((error.is_transient(), error.retry_after()), (true, Some(hour)), "{error:?}");
    }
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
    for (reset, least, most) in [(now + 90, 60, 91), (u64::MAX, 3600, 3600)] {
        for status in [429, 403] {
            let headers = [("x-ratelimit-remaining", "0"), ("x-ratelimit-reset", &*reset.to_string())];
            scene.prepare_with(status, &headers, json!({ "message": "API rate limit exceeded" }));
            let error = scene.open().await.unwrap_err();
            let waits = error.retry_after().unwrap().as_secs();
            assert!(error.is_transient() && (least..=most).contains(&waits), "{status} {reset}: {error:?}");
        }
    }
    assert_eq!(scene.asked().len(), 3 + 4, "nobody waits for that here");
}

#[tokio::test]
async fn a_bad_token_is_not_tried_again() {
    let scene = Scene::new().await;
    for status in [401, 403] {
        scene.prepare(status, json!({ "message": "Bad credentials" }));
        let error = scene.open().await.unwrap_err();
        assert!(matches!(&error, ForgeError::NotAllowed { status: it, .. } if *it == status), "{error:?}");
        assert!(!error.is_transient() && !format!("{error:?}").contains("t0ken"));
    }
    assert_eq!(scene.asked().len(), 2);
}

#[tokio::test]
async fn no_answer_may_become_one() {
    let bench = Bench::new();
    bench.git(bench.folder.path(), &["init", "--quiet", "--bare", "origin.git"]);
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let api = format!("http://127.0.0.1:{port}/").parse().unwrap();
    let settings = GithubSettings { attempts: 2, ..GithubSettings::new(api, "o", "r", "t") };
    let forge = Forge::Github(Github::new(settings).unwrap());
    let error = forge.update("https://github.example/o/r/pull/1", "t", "d").await.unwrap_err();
    assert!(matches!(error, ForgeError::Unreachable(_)) && error.is_transient(), "{error:?}");
    let other = forge.update("https://github.example/o/another/pull/1", "t", "d").await.unwrap_err();
    assert!(matches!(other, ForgeError::NotOurs(_)), "{other:?}");
}

#[tokio::test]
async fn the_token_goes_with_a_push_only_to_the_host_that_gave_it() {
    let scene = Scene::new().await;
    for (host, expected) in [("127.0.0.1", "Basic eC1hY2Nlc3MtdG9rZW46dDBrZW4="), ("localhost", "")] {
        let origin = format!("http://{host}:{}/a.git", scene.stand.port);
        scene.bench.git(&scene.bench.base(), &["remote", "set-url", "origin", &origin]);
        scene.prepare(404, json!({}));
        scene.open().await.unwrap_err();
        assert_eq!(scene.paths(), ["GET /a.git/info/refs?service=git-upload-pack"]);
        assert_eq!(scene.stand.tokens(), [expected]);
    }
}

#[tokio::test]
async fn the_last_word_of_each_reviewer_counts() {
    let scene = Scene::new().await;
    let said = |who: &str, state: &str| json!({ "user": { "login": who }, "state": state });
    let cases = [
        (vec![], Review::Pending),
        (vec![said("a", "COMMENTED")], Review::Pending),
        (vec![said("a", "CHANGES_REQUESTED"), said("a", "APPROVED"), said("a", "COMMENTED")], Review::Approved),
        (vec![said("a", "APPROVED"), said("b", "CHANGES_REQUESTED")], Review::ChangesRequested),
        (vec![said("a", "CHANGES_REQUESTED"), said("a", "DISMISSED")], Review::Pending),
    ];
    for (given, expected) in cases {
        scene.prepare(200, pull_5()).prepare(200, json!(given));
        let (into, trailer) = (branch("epic/1/e"), trailer("1"));
        let status = scene.forge.status(&scene.bench.repository, URL, &into, &trailer).await.unwrap();
        assert_eq!((status.state, status.review, status.merge_commit), (PullState::Open, Some(expected), None));
    }
    scene.prepare(200, json!({ "state": "closed", "merged": false })).prepare(200, json!([]));
    let status = scene.forge.status(&scene.bench.repository, URL, &branch("main"), &trailer("1")).await.unwrap();
    assert_eq!(status.state, PullState::Closed);
}

#[tokio::test]
async fn a_merge_over_there_arrives_here() {
    let scene = Scene::new().await;
    scene.prepare(200, json!([])).prepare(201, pull_5());
    scene.open().await.unwrap();
    scene.asked();
    let commit = scene.merge_over_there();
    scene.prepare(200, pull_5()).prepare(200, json!({ "sha": commit, "merged": true }));
    let MergeOutcome::Merged { commit: found, how, .. } = scene.merge().await.unwrap() else { panic!("a conflict") };
    assert_eq!((found.as_str(), how), (commit.as_str(), How::Made));
    let asked = scene.asked();
    assert_eq!(asked[1].0, "PUT /api/v3/repos/own-er/repo/pulls/5/merge");
    let head = scene.bench.at(&scene.bench.base(), "task/1/t");
    assert_eq!(
        asked[1].1,
        json!({ "merge_method": "merge", "sha": head.as_str(), "commit_title": "Title", "commit_message": "Body\n\nMuster-Task: 1" })
    );
    let epic = scene.bench.tree("epic-1");
    assert_eq!(scene.bench.at(&epic, "HEAD").as_str(), commit);
    assert!(scene.bench.is_clean(&epic) && epic.join("a.txt").exists());
    // The second call finds it, whether it is told at first or only when it is refused.
    let merged = json!({ "html_url": URL, "state": "closed", "merged": true, "merge_commit_sha": commit });
    scene.prepare(200, merged.clone());
    assert!(matches!(scene.merge().await.unwrap(), MergeOutcome::Merged { how: How::FoundByHistory, .. }));
    scene.prepare(200, pull_5()).prepare(405, json!({ "message": "already merged" })).prepare(200, merged);
    assert!(matches!(scene.merge().await.unwrap(), MergeOutcome::Merged { how: How::FoundByHistory, .. }));
}

#[tokio::test]
async fn a_merge_that_is_refused_is_told() {
    let scene = Scene::new().await;
    for status in [405, 409] {
        scene.prepare(200, pull_5()).prepare(status, json!({ "message": "not mergeable" })).prepare(200, pull_5());
        let error = scene.merge().await.unwrap_err();
        assert!(matches!(&error, ForgeError::Refused { status: it, .. } if *it == status), "{error:?}");
        assert!(!error.is_transient());
    }
    assert_eq!(scene.paths(), ["GET /pulls/5", "PUT /pulls/5/merge", "GET /pulls/5"].repeat(2));
}

#[tokio::test]
async fn a_merge_that_is_refused_for_a_conflict_names_the_files() {
    let scene = Scene::new().await;
    scene.prepare(200, json!([])).prepare(201, pull_5());
    scene.open().await.unwrap();
    // Somebody was faster over there, and nobody here knows yet.
    let place = scene.bench.folder.path().join("github");
    scene.bench.git(scene.bench.folder.path(), &["clone", "--quiet", "-b", "epic/1/e", "origin.git", "github"]);
    scene.bench.write(&place, "a.txt", "another");
    scene.bench.commit(&place, "faster");
    scene.bench.git(&place, &["push", "--quiet"]);
    for status in [405, 409] {
        scene.prepare(200, pull_5()).prepare(status, json!({ "message": "not mergeable" })).prepare(200, pull_5());
        let conflict = MergeOutcome::Conflict { files: vec!["a.txt".to_owned()] };
        assert_eq!(scene.merge().await.unwrap(), conflict);
    }
    let epic = scene.bench.tree("epic-1");
    assert_eq!(scene.bench.read(&epic, "a.txt"), "another", "what it is to be rebased onto is here");
}
