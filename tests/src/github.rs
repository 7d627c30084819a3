//! A stand-in for GitHub on loopback: the sign-in page, the exchange of codes with PKCE, and the two questions that Muster asks.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard};

use api::{Github, GithubSettings};
use axum::extract::{Query, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use reqwest::Url;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use tokio::task::JoinHandle;

/// What Muster is registered as.
pub const CLIENT_ID: &str = "Iv1.stand-in";
/// What it proves that with; must never be seen anywhere else.
pub const CLIENT_SECRET: &str = "stand-in-client-secret";
/// How every token of the stand-in begins; must never be seen anywhere else.
pub const TOKEN: &str = "gho_stand-in-token";

/// A person who has an account on GitHub.
#[derive(Debug, Clone)]
pub struct Person {
    /// GitHub's number.
    pub id: i64,
    /// What `/user` says of them beside the number.
    pub user: Value,
    /// What `/user/emails` says.
    pub emails: Value,
}

/// What goes wrong on GitHub's side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Broken {
    /// Nothing.
    No,
    /// It answers 500 to everything.
    Status,
    /// It answers with something else than JSON.
    Garbage,
    /// It answers without end.
    Endless,
    /// It sends whoever asks elsewhere.
    Redirect,
    /// It knows no such application.
    Credentials,
}

/// A running stand-in.
pub struct StandIn {
    address: String,
    shared: Arc<Mutex<Inner>>,
    serving: JoinHandle<()>,
}

struct Inner {
    /// Who sits in front of the browser; `None` refuses.
    person: Option<Person>,
    broken: Broken,
    codes: HashMap<String, Grant>,
    tokens: HashMap<String, Person>,
    exchanges: usize,
    requests: usize,
}

struct Grant {
    challenge: String,
    redirect_uri: String,
    person: Person,
}

type Shared = State<Arc<Mutex<Inner>>>;
type Params = Query<HashMap<String, String>>;

impl Person {
    /// Somebody with one address that GitHub has verified.
    pub fn new(id: i64, login: &str, email: &str) -> Self {
        let user = json!({ "login": login, "name": format!("{login} the person"),
            "avatar_url": format!("https://avatars.example/{id}"), "email": null, "site_admin": false });
        let emails = json!([
            { "email": format!("{id}+{login}@users.noreply.github.com"), "primary": false, "verified": true, "visibility": null },
            { "email": email, "primary": true, "verified": true, "visibility": "private" },
        ]);
        Self { id, user, emails }
    }
}

impl StandIn {
    /// A stand-in where this person is signed in.
    pub async fn start(person: Person) -> Self {
        let inner = Inner {
            person: Some(person),
            broken: Broken::No,
            codes: HashMap::new(),
            tokens: HashMap::new(),
            exchanges: 0,
            requests: 0,
        };
        let shared = Arc::new(Mutex::new(inner));
        let service = Router::new()
            .route("/login/oauth/authorize", get(authorize))
            .route("/login/oauth/access_token", post(exchange))
            .route("/api/v3/user", get(user))
            .route("/api/v3/user/emails", get(emails))
            .with_state(shared.clone());
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = format!("http://{}", listener.local_addr().expect("an address"));
        let serving = tokio::spawn(async move { axum::serve(listener, service).await.expect("the stand-in serves") });
        Self { address, shared, serving }
    }

    /// How Muster reaches it.
    pub fn github(&self) -> Github {
        let url = |text: &str| GithubSettings::parse_url(text).expect("a URL");
        let settings = GithubSettings {
            client_id: CLIENT_ID.to_owned(),
            client_secret: CLIENT_SECRET.to_owned(),
            web_url: url(&self.address),
            api_url: url(&format!("{}/api/v3/", self.address)),
            public_url: None,
        };
        Github::new(settings).expect("GitHub is set up")
    }

    /// Puts somebody else in front of the browser, or somebody who refuses.
    pub fn now_is(&self, person: Option<Person>) {
        self.inner().person = person;
    }

    /// Breaks it, or mends it.
    pub fn breaks(&self, broken: Broken) {
        self.inner().broken = broken;
    }

    /// How often a code was changed for a token.
    pub fn exchanges(&self) -> usize {
        self.inner().exchanges
    }

    /// How many requests of Muster came in.
    pub fn requests(&self) -> usize {
        self.inner().requests
    }

    /// Follows the link as a browser does, and returns where GitHub sends it back to.
    pub async fn visit(&self, redirect_url: &str) -> Url {
        let http = crate::http_client().build().expect("a client");
        let answer = http.get(redirect_url).send().await.expect("the stand-in answers");
        assert_eq!(answer.status(), StatusCode::FOUND, "{redirect_url}");
        let location = answer.headers()[header::LOCATION].to_str().expect("an address");
        location.parse().expect("a URL")
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.shared.lock().expect("no test panics with it")
    }
}

impl Drop for StandIn {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

/// The page where the person says yes or no.
async fn authorize(State(shared): Shared, Query(params): Params) -> Response {
    let mut inner = shared.lock().expect("no panic");
    assert_eq!(params["client_id"], CLIENT_ID);
    assert_eq!(params["scope"], "read:user user:email");
    assert_eq!(params["code_challenge_method"], "S256");
    let mut back: Url = params["redirect_uri"].parse().expect("a URL to go back to");
    match inner.person.clone() {
        Some(person) => {
            let code = format!("code-{}", inner.codes.len() + 1);
            let (challenge, redirect_uri) = (params["code_challenge"].clone(), params["redirect_uri"].clone());
            inner.codes.insert(code.clone(), Grant { challenge, redirect_uri, person });
            back.query_pairs_mut().append_pair("code", &code);
        }
        None => {
            back.query_pairs_mut().append_pair("error", "access_denied").append_pair("error_description", "Denied.");
        }
    }
    back.query_pairs_mut().append_pair("state", &params["state"]);
    (StatusCode::FOUND, [(header::LOCATION, back.to_string())]).into_response()
}

/// A code for a token: once, by the right application, with the right verifier.
async fn exchange(State(shared): Shared, body: String) -> Response {
    let mut inner = shared.lock().expect("no panic");
    inner.requests += 1;
    if let Some(broken) = broken(&inner) {
        return broken;
    }
    let url: Url = format!("http://form/?{body}").parse().expect("a form");
    let form: HashMap<String, String> = url.query_pairs().into_owned().collect();
    let error =
        |name: &str| Json(json!({ "error": name, "error_description": "No.", "error_uri": "x" })).into_response();
    if form["client_id"] != CLIENT_ID || form["client_secret"] != CLIENT_SECRET {
        return error("incorrect_client_credentials");
    }
    let Some(grant) = inner.codes.remove(&form["code"]) else { return error("bad_verification_code") };
    if challenge_of(&form["code_verifier"]) != grant.challenge || form["redirect_uri"] != grant.redirect_uri {
        return error("bad_verification_code");
    }
    inner.exchanges += 1;
    let token = format!("{TOKEN}-{}", inner.exchanges);
    inner.tokens.insert(token.clone(), grant.person);
    Json(json!({ "access_token": token, "token_type": "bearer", "scope": "read:user,user:email" })).into_response()
}

async fn user(State(shared): Shared, headers: HeaderMap) -> Response {
    answer(&shared, &headers, |person| {
        let mut user = person.user.clone();
        user["id"] = person.id.into();
        user
    })
}

async fn emails(State(shared): Shared, headers: HeaderMap) -> Response {
    answer(&shared, &headers, |person| person.emails.clone())
}

fn answer(shared: &Mutex<Inner>, headers: &HeaderMap, say: impl Fn(&Person) -> Value) -> Response {
    let mut inner = shared.lock().expect("no panic");
    inner.requests += 1;
    if let Some(broken) = broken(&inner) {
        return broken;
    }
    // GitHub turns away who does not say what asks.
    assert!(headers.contains_key(header::USER_AGENT) && headers.contains_key("X-GitHub-Api-Version"));
    let token = headers[header::AUTHORIZATION].to_str().expect("text").strip_prefix("Bearer ").expect("a token");
    match inner.tokens.get(token) {
        Some(person) => Json(say(person)).into_response(),
        None => (StatusCode::UNAUTHORIZED, Json(json!({ "message": "Bad credentials" }))).into_response(),
    }
}

fn broken(inner: &Inner) -> Option<Response> {
    let leak = format!("{TOKEN} and {CLIENT_SECRET}");
    Some(match inner.broken {
        Broken::No => return None,
        Broken::Status => (StatusCode::INTERNAL_SERVER_ERROR, leak).into_response(),
        Broken::Garbage => format!("<html>{leak}</html>").into_response(),
        Broken::Endless => " ".repeat(2 << 20).into_response(),
        Broken::Redirect => (StatusCode::FOUND, [(header::LOCATION, "http://127.0.0.1:1/")]).into_response(),
        Broken::Credentials => Json(json!({ "error": "incorrect_client_credentials" })).into_response(),
    })
}

/// What PKCE makes of a verifier, written anew so that the two sides check one another.
fn challenge_of(verifier: &str) -> String {
    const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let bits: String = Sha256::digest(verifier).iter().map(|byte| format!("{byte:08b}")).collect();
    let sextets = bits.as_bytes().chunks(6).map(|it| format!("{:0<6}", String::from_utf8_lossy(it)));
    sextets.map(|it| char::from(LETTERS[usize::from_str_radix(&it, 2).expect("six bits")])).collect()
}
