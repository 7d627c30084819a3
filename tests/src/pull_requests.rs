//! A stand-in for GitHub on loopback, where pull requests live: it answers as a test prepared, or else as GitHub would.
//!
//! It needs nothing of this crate: the tests of the drivers, which may not depend on it, take the file as it is.

use std::collections::{HashMap, VecDeque};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::Router;
use axum::extract::{Query, State};
use axum::http::{HeaderMap, Method, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};
use tempfile::TempDir;

/// Whoever is asked with another token says no. It looks like any other word, so that nothing takes it out by its form.
pub const TOKEN: &str = "t0ken";
/// The repository, as GitHub calls it.
pub const REPOSITORY: &str = "own-er/repo";

/// What was asked: method and path with query, body.
pub type Asked = (String, Value);

/// What is answered: status, headers, body.
type Prepared = (u16, Vec<(&'static str, String)>, Value);

/// A running stand-in.
#[derive(Clone)]
pub struct PullRequests {
    /// Where it listens.
    pub port: u16,
    shared: Arc<Mutex<Inner>>,
    origin: Option<Arc<TempDir>>,
}

/// A pull request over there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PullRequest {
    /// Its number, from 1.
    pub number: usize,
    /// The branch that it proposes.
    pub head: String,
    /// The branch that it is for.
    pub base: String,
    /// What it is called.
    pub title: String,
    /// What it says.
    pub body: String,
    /// The commit that was merged, and the merge, once it is merged.
    pub merged: Option<(String, String)>,
    /// Whether somebody closed it without a merge.
    pub is_given_up: bool,
}

impl PullRequest {
    fn is_open(&self) -> bool {
        self.merged.is_none() && !self.is_given_up
    }

    /// The merge, once it is merged.
    pub fn merge_commit(&self) -> Option<&str> {
        self.merged.as_ref().map(|it| it.1.as_str())
    }
}

#[derive(Default)]
struct Inner {
    prepared: VecDeque<Prepared>,
    asked: Vec<Asked>,
    tokens: Vec<String>,
    pulls: Vec<PullRequest>,
    /// Why nothing is merged now.
    refusal: Option<(u16, &'static str)>,
}

impl PullRequests {
    /// One that says only what is prepared.
    pub async fn prepared() -> Self {
        Self::start(None).await
    }

    /// One with a repository behind it, empty as yet.
    pub async fn with_repository() -> Self {
        let origin = tempfile::Builder::new().prefix("muster-origin-").tempdir().expect("a folder");
        git(origin.path(), &["init", "--quiet", "--bare", "--initial-branch", "main"]).expect("a repository");
        Self::start(Some(Arc::new(origin))).await
    }

    async fn start(origin: Option<Arc<TempDir>>) -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let stand = Self { port, shared: Arc::default(), origin };
        let routes = Router::new().fallback(answer).with_state(stand.clone());
        tokio::spawn(async move { axum::serve(listener, routes).await });
        stand
    }

    /// Where its API is.
    pub fn api(&self) -> String {
        format!("http://127.0.0.1:{}/api/v3/", self.port)
    }

    /// What a bench file says of it, with the variable that has the token.
    pub fn bench_entry(&self, token_variable: &str) -> String {
        format!(
            "{{ github = {{ repository = \"{REPOSITORY}\", token_variable = \"{token_variable}\", api_url = \"{}\" }} }}",
            self.api()
        )
    }

    /// The repository behind it.
    pub fn origin(&self) -> PathBuf {
        self.origin.as_ref().expect("this stand-in has a repository").path().to_owned()
    }

    /// Prepares the answer to the next question that has none yet.
    pub fn prepare(&self, status: u16, headers: &[(&'static str, &str)], body: Value) {
        let headers = headers.iter().map(|(name, value)| (*name, (*value).to_owned())).collect();
        self.inner().prepared.push_back((status, headers, body));
    }

    /// Merges nothing from now on.
    pub fn refuse_merges(&self, status: u16, why: &'static str) {
        self.inner().refusal = Some((status, why));
    }

    /// Merges again.
    pub fn allow_merges(&self) {
        self.inner().refusal = None;
    }

    /// Merges a pull request as somebody does who looks at it there.
    pub fn merge_there(&self, number: usize) -> String {
        let mut inner = self.inner();
        let pull = &mut inner.pulls[number - 1];
        let body = json!({ "sha": self.commit(&pull.head), "commit_title": pull.title });
        let (status, answer) = self.merge(pull, None, &body);
        assert_eq!(status, 200, "{answer}");
        text(&answer, "sha")
    }

    /// Closes a pull request without a merge, as somebody does who looks at it there.
    pub fn close_there(&self, number: usize) {
        self.inner().pulls[number - 1].is_given_up = true;
    }

    /// What was asked since this was asked last.
    pub fn asked(&self) -> Vec<Asked> {
        self.inner().asked.drain(..).collect()
    }

    /// By what the askers were let in since this was asked last.
    pub fn tokens(&self) -> Vec<String> {
        self.inner().tokens.drain(..).collect()
    }

    /// Every pull request that was opened.
    pub fn pulls(&self) -> Vec<PullRequest> {
        self.inner().pulls.clone()
    }

    /// Where people see a pull request.
    pub fn url_of(&self, number: usize) -> String {
        format!("http://127.0.0.1:{}/{REPOSITORY}/pull/{number}", self.port)
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn shown(&self, pull: &PullRequest) -> Value {
        let is_merged = pull.merged.is_some();
        let tip = pull.merged.as_ref().map(|it| it.0.clone()).or_else(|| self.commit(&pull.head));
        json!({
            "html_url": self.url_of(pull.number), "number": pull.number, "title": pull.title, "body": pull.body,
            "state": if pull.is_open() { "open" } else { "closed" }, "merged": is_merged,
            "merged_at": is_merged.then_some("2026-01-01T12:00:00Z"), "head": { "ref": pull.head, "sha": tip },
            // Before a merge GitHub names a trial there.
            "merge_commit_sha": pull.merge_commit().map_or_else(|| "0".repeat(40), str::to_owned),
        })
    }

    /// What GitHub would say.
    fn say(&self, method: &Method, uri: &Uri, body: &Value) -> (u16, Value) {
        let Some(path) = uri.path().strip_prefix(&format!("/api/v3/repos/{REPOSITORY}/pulls")) else {
            return (404, json!({ "message": "Not Found" }));
        };
        let parts: Vec<&str> = path.split('/').skip(1).collect();
        let mut inner = self.inner();
        match (method.as_str(), &parts[..]) {
            ("GET", []) => (200, self.listed(&inner, uri)),
            ("POST", []) => self.open(&mut inner, body),
            (_, [number, rest @ ..]) => {
                let refusal = inner.refusal;
                let found = number.parse::<usize>().ok().and_then(|it| inner.pulls.get_mut(it.checked_sub(1)?));
                let Some(pull) = found else { return (404, json!({ "message": "Not Found" })) };
                match (method.as_str(), rest) {
                    ("GET", []) => {}
                    ("PATCH", []) => (pull.title, pull.body) = (text(body, "title"), text(body, "body")),
                    ("GET", ["reviews"]) => return (200, json!([])),
                    ("PUT", ["merge"]) => return self.merge(pull, refusal, body),
                    _ => return (404, json!({ "message": "Not Found" })),
                }
                (200, self.shown(pull))
            }
            _ => (404, json!({ "message": "Not Found" })),
        }
    }

    fn listed(&self, inner: &Inner, uri: &Uri) -> Value {
        let asked = Query::<HashMap<String, String>>::try_from_uri(uri).map(|it| it.0).unwrap_or_default();
        let head = asked.get("head").and_then(|it| it.split_once(':')).map(|it| it.1);
        let base = asked.get("base").map(String::as_str);
        let is_open = asked.get("state").is_none_or(|it| it == "open");
        let found = inner.pulls.iter().filter(|it| it.is_open() == is_open);
        found.filter(|it| head == Some(&it.head) && base == Some(&it.base)).map(|it| self.shown(it)).collect()
    }

    fn open(&self, inner: &mut Inner, body: &Value) -> (u16, Value) {
        let refused = |why: &str| (422, json!({ "message": "Validation Failed", "errors": [{ "message": why }] }));
        let (head, base) = (text(body, "head"), text(body, "base"));
        let (Some(ours), Some(theirs)) = (self.commit(&head), self.commit(&base)) else {
            return refused("a branch is missing");
        };
        if git(&self.origin(), &["merge-base", "--is-ancestor", &ours, &theirs]).is_ok() {
            return refused("No commits between the branches");
        }
        if inner.pulls.iter().any(|it| it.is_open() && (&it.head, &it.base) == (&head, &base)) {
            return refused("A pull request already exists");
        }
        let (title, body) = (text(body, "title"), text(body, "body"));
        let number = inner.pulls.len() + 1;
        let pull = PullRequest { number, head, base, title, body, merged: None, is_given_up: false };
        let shown = self.shown(&pull);
        inner.pulls.push(pull);
        (201, shown)
    }

    /// Merges in the repository, as GitHub would: one commit, by nobody's worktree.
    fn merge(&self, pull: &mut PullRequest, refusal: Option<(u16, &'static str)>, body: &Value) -> (u16, Value) {
        if let Some((status, why)) = refusal {
            return (status, json!({ "message": why }));
        }
        if !pull.is_open() {
            return (405, json!({ "message": "Pull Request is not mergeable" }));
        }
        let (Some(head), Some(base)) = (self.commit(&pull.head), self.commit(&pull.base)) else {
            return (404, json!({ "message": "Not Found" }));
        };
        if text(body, "sha") != head {
            return (409, json!({ "message": "Head branch was modified. Review and try the merge again." }));
        }
        let origin = self.origin();
        let Ok(tree) = git(&origin, &["merge-tree", "--write-tree", &base, &head]) else {
            return (405, json!({ "message": "Pull Request is not mergeable" }));
        };
        let message = format!("{}\n\n{}", text(body, "commit_title"), text(body, "commit_message"));
        let commit = git(&origin, &["commit-tree", &tree, "-p", &base, "-p", &head, "-m", &message]);
        let commit = commit.expect("a tree can be committed");
        let reference = format!("refs/heads/{}", pull.base);
        git(&origin, &["update-ref", &reference, &commit, &base]).expect("a branch can be moved");
        pull.merged = Some((head, commit.clone()));
        (200, json!({ "sha": commit, "merged": true }))
    }

    /// The commit that a branch is at over there.
    pub fn commit(&self, branch: &str) -> Option<String> {
        git(&self.origin(), &["rev-parse", "--verify", "--quiet", &format!("refs/heads/{branch}")]).ok()
    }
}

async fn answer(
    State(stand): State<PullRequests>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: String,
) -> Response {
    let token = headers.get("authorization").and_then(|it| it.to_str().ok()).unwrap_or_default().to_owned();
    let body = serde_json::from_str(&body).unwrap_or(Value::Null);
    let is_known = token == format!("Bearer {TOKEN}");
    let prepared = {
        let mut inner = stand.inner();
        inner.tokens.push(token);
        inner.asked.push((format!("{method} {uri}"), body.clone()));
        inner.prepared.pop_front()
    };
    let (status, extra, body) = match prepared {
        Some(prepared) => prepared,
        None if stand.origin.is_none() => (418, vec![], json!({ "message": "nothing was prepared" })),
        None if !is_known => (401, vec![], json!({ "message": "Bad credentials" })),
        None => {
            let (status, body) = stand.say(&method, &uri, &body);
            (status, vec![], body)
        }
    };
    let status = StatusCode::from_u16(status).expect("a status");
    let mut response = (status, body.to_string()).into_response();
    for (name, value) in extra {
        response.headers_mut().insert(name, value.parse().expect("a header"));
    }
    response
}

fn text(body: &Value, field: &str) -> String {
    body[field].as_str().unwrap_or_default().to_owned()
}

/// Git in a folder; what it says, if it says yes.
fn git(folder: &Path, args: &[&str]) -> Result<String, Output> {
    let identity = ["-c", "user.name=GitHub", "-c", "user.email=noreply@localhost"];
    let output = Command::new("git").arg("-C").arg(folder).args(identity).args(args).output().expect("git");
    if !output.status.success() {
        return Err(output);
    }
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
