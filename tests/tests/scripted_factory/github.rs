//! The factory with its pull requests on GitHub: opened, reviewed and merged there, and what it refuses comes back.

use std::fs;
use std::path::Path;

use muster_tests::at_both_homes;
use muster_tests::muster::{Home, wait_until};
use muster_tests::pull_requests::{PullRequests, TOKEN};
use serde_json::{Value, json};

use crate::ground::{Ground, Setup};

at_both_homes! {
    an_epic_is_built_reviewed_and_merged_on_github,
    what_github_will_not_merge_is_reviewed_again,
}

/// What the token is called in the server's environment, and what it looks like when git sends it.
const TOKEN_VARIABLE: &str = "SHOP_TOKEN";
const TOKEN_FOR_GIT: &str = "dDBrZW4";

/// A ground whose pull requests are on GitHub, and an epic there.
struct Yard {
    ground: Ground,
    github: PullRequests,
    workspace: String,
    project: String,
    epic: String,
}

impl Yard {
    async fn new(home: Home, design: &[Value]) -> Self {
        let github = PullRequests::with_repository().await;
        let mut setup = Setup::patient();
        setup.forge = github.bench_entry(TOKEN_VARIABLE);
        let ground = Ground::with(home.with_variable(TOKEN_VARIABLE, TOKEN), &setup).await;
        ground.git(&["remote", "add", "origin", github.origin().to_str().unwrap()]);
        let workspace = ground.owner().workspace("acme").await;
        let project = ground.owner().project(&workspace, "shop").await;
        let design: Vec<String> = design.iter().map(ToString::to_string).collect();
        let design = design.join("\n");
        let body = json!({ "projectId": project, "title": "A shop", "description": "Sell things", "design": design });
        let epic = ground.owner().post("/api/epic.create", &body).await.ok().id_of("epic");
        Self { ground, github, workspace, project, epic }
    }

    async fn seen(&self, path: &str) -> Value {
        self.ground.owner().get(path).await.ok().body
    }

    async fn epic(&self) -> Value {
        self.seen(&format!("/api/epic.get?id={}", self.epic)).await["epic"].clone()
    }

    async fn epic_is(&mut self, state: &str) {
        let about = format!("/api/epic.get?id={}", self.epic);
        self.ground.see(&about, state, |it| it["epic"]["state"] == state).await;
    }

    async fn take(&self) {
        self.ground.owner().post("/api/epic.complete", &json!({ "id": self.epic })).await.ok();
    }

    /// Waits until the timeline has so many entries of a kind.
    async fn entries(&self, kind: &str, times: usize) {
        let path = format!("/api/event.list?projectId={}&type={kind}", self.project);
        wait_until(kind, async || self.seen(&path).await["events"].as_array().unwrap().len() >= times).await;
    }

    /// Waits for a mail to people with this subject, so many times.
    async fn mail(&self, subject: &str, times: usize) {
        let path = format!("/api/mail.inbox?workspaceId={}", self.workspace);
        let has_it = |it: &Value| it["mail"].as_array().unwrap().iter().filter(|it| it["subject"] == subject).count();
        wait_until(subject, async || has_it(&self.seen(&path).await) >= times).await;
    }

    /// What opens GitHub is nowhere but in the server's memory and in what it sends there.
    async fn the_token_is_nowhere_else(&self) {
        let (ground, workspace, project, epic) = (&self.ground, &self.workspace, &self.project, &self.epic);
        let mut told = vec![("the server's log".to_owned(), ground.logged())];
        for path in [
            format!("/api/epic.get?id={epic}"),
            format!("/api/task.list?projectId={project}"),
            format!("/api/event.list?projectId={project}&limit=100"),
            format!("/api/agent.health?workspaceId={workspace}"),
            format!("/api/mail.inbox?workspaceId={workspace}"),
            format!("/api/decision.list?workspaceId={workspace}&limit=100"),
        ] {
            let answer = ground.owner().get(&path).await.ok().text;
            told.push((path, answer));
        }
        told.push(("the log".to_owned(), ground.home.succeed(&["log", "export"]).await.stdout));
        for note in ground.noted() {
            // Of those that are gone there is nothing to read.
            let environment = fs::read(format!("/proc/{}/environ", note["pid"])).unwrap_or_default();
            told.push((note.to_string(), String::from_utf8_lossy(&environment).into_owned()));
        }
        files(&ground.path("bench"), &mut told);
        for (place, text) in told {
            assert!(!text.contains(TOKEN) && !text.contains(TOKEN_FOR_GIT), "the token is in {place}: {text}");
        }
    }
}

fn files(folder: &Path, told: &mut Vec<(String, String)>) {
    for entry in fs::read_dir(folder).unwrap().flatten() {
        match entry.file_type().unwrap() {
            kind if kind.is_dir() => files(&entry.path(), told),
            kind if kind.is_file() => {
                let text = String::from_utf8_lossy(&fs::read(entry.path()).unwrap()).into_owned();
                told.push((entry.path().display().to_string(), text));
            }
            _ => {}
        }
    }
}

async fn an_epic_is_built_reviewed_and_merged_on_github(home: Home) {
    let cart = json!({ "title": "Cart", "file": "cart.txt", "text": "a cart" });
    let search = json!({ "title": "Search", "file": "docs/search.txt", "text": "a search", "sloppy": true });
    let mut yard = Yard::new(home, &[cart, search]).await;
    yard.epic_is("AWAITING_HUMAN_REVIEW").await;

    let epic = yard.epic().await;
    let branch = epic["worktreeName"].as_str().unwrap();
    let [one, two, whole] = &yard.github.pulls()[..] else { panic!("{:#?}", yard.github.pulls()) };
    for task in [one, two] {
        assert!(task.base == branch && task.head.starts_with("task/") && task.merged.is_some(), "{task:?}");
        assert!(task.body.starts_with("As planned"), "{task:?}");
    }
    assert_eq!((whole.head.as_str(), whole.base.as_str(), whole.merge_commit()), (branch, "main", None));
    assert_eq!(epic["prUrl"], yard.github.url_of(3));
    let tasks = yard.seen(&format!("/api/task.list?projectId={}", yard.project)).await;
    let mut urls: Vec<_> = tasks["tasks"].as_array().unwrap().iter().map(|it| it["prUrl"].as_str().unwrap()).collect();
    urls.sort_unstable();
    assert_eq!(urls, [yard.github.url_of(1), yard.github.url_of(2)]);
    assert_eq!(yard.github.commit("main").as_deref(), Some(yard.ground.git(&["rev-parse", "main"]).trim()));

    yard.take().await;
    yard.epic_is("COMPLETED").await;
    let merged = yard.github.pulls()[2].merge_commit().map(str::to_owned);
    assert!(merged.is_some() && merged == yard.github.commit("main"));
    assert_eq!(merged.as_deref(), Some(yard.ground.git(&["rev-parse", "main"]).trim()), "what is there is here");
    assert_eq!(yard.ground.git(&["show", "main:cart.txt"]), "a cart\n");
    assert_eq!(yard.ground.git(&["show", "main:docs/search.txt"]), "a search\n");
    assert_eq!(yard.ground.git(&["status", "--porcelain"]), "");
    let merges = yard.github.asked().into_iter().filter(|(what, _)| what.starts_with("PUT")).count();
    assert_eq!(merges, 3, "each was asked for once");
    yard.the_token_is_nowhere_else().await;
    yard.ground.stop().await;
    yard.ground.is_proven().await;
}

async fn what_github_will_not_merge_is_reviewed_again(home: Home) {
    let cart = json!({ "title": "Cart", "file": "cart.txt", "text": "a cart", "pause_before_approval": true });
    let mut yard = Yard::new(home, &[cart]).await;
    let approve = yard.ground.notes().join("approve");
    yard.github.refuse_merges(405, "Required status check \"build\" is expected.");
    fs::write(&approve, "").unwrap();
    yard.entries("task_merge_failed", 1).await;
    // The supervisor is not to approve it again before it was seen.
    fs::remove_file(&approve).unwrap();
    let tasks = format!("/api/task.list?projectId={}", yard.project);
    let is_back = |it: &Value| it["tasks"][0]["state"] == "PENDING_REVIEW";
    yard.ground.see(&tasks, "the task waits for review again", is_back).await;
    let first = yard.seen(&format!("/api/review.queue?epicId={}", yard.epic)).await["currentReview"].clone();
    assert_eq!(first["prUrl"], yard.github.url_of(1), "it is still the first: {first}");
    let supervisor = yard.ground.note("the supervisor", |it| it["kind"] == "SUPERVISOR").await["agent"].clone();
    let inbox = format!("/api/mail.inbox?workspaceId={}&agentId={}", yard.workspace, supervisor.as_str().unwrap());
    let inbox = yard.seen(&inbox).await;
    let told = inbox["mail"].as_array().unwrap().iter().find(|it| it["subject"] == "Merge failed: Cart").unwrap();
    assert!(told["body"].as_str().unwrap().contains("Required status check"), "{told}");

    yard.github.allow_merges();
    fs::write(&approve, "").unwrap();
    yard.epic_is("AWAITING_HUMAN_REVIEW").await;
    // An epic that is refused goes on waiting for its human, who hears of it.
    yard.github.refuse_merges(409, "Base branch was modified.");
    yard.take().await;
    yard.mail("An epic could not be merged", 1).await;
    assert_eq!(yard.epic().await["state"], "AWAITING_HUMAN_REVIEW");
    yard.github.allow_merges();
    yard.take().await;
    yard.epic_is("COMPLETED").await;
    assert_eq!(yard.ground.git(&["show", "main:cart.txt"]), "a cart\n");
    yard.the_token_is_nowhere_else().await;
    yard.ground.stop().await;
    yard.ground.is_proven().await;
}
