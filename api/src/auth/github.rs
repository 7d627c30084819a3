//! Signing in with GitHub: `auth/github` sends a browser there, the callback takes it in when it comes back.
//!
//! The way through, by OAuth's code flow with PKCE:
//!
//! 1. `POST auth/github` begins a [`Flow`], gives it to the browser as a cookie and answers with GitHub's address.
//! 2. GitHub asks the person and sends the browser to `GET auth/github/callback` with a code and our `state`.
//! 3. The callback checks that this browser began the flow and that it was not finished before, changes the code for a
//!    token, asks GitHub who that is, and forgets the token.
//! 4. It signs the person in, opening an account for somebody new, and sends the browser on.
//!
//! **The callback is the one `GET` that commands**: OAuth brings the browser back by a link, and what the link does, it
//! does once. Nothing of a flow is kept in memory, so any node may take the browser in.

mod client;
mod flow;
mod settings;

use std::sync::Arc;

use aide::axum::ApiRouter;
use aide::axum::routing::{get_with, post_with};
use aide::generate::GenContext;
use aide::openapi::{Operation, ReferenceOr, Response as Documented, StatusCode as Status};
use aide::transform::TransformOperation;
use aide::{OperationInput, OperationOutput};
use axum::extract::{FromRequestParts, State};
use axum::http::request::Parts;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use commands::user::{SignUp, SignUpWithGithub};
use commands::{Actor, CommandError, Context, Idempotency, Refusal};
use domain::UserId;
use reqwest::Url;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use store::{Account, CommandKey, Commit, CommitError, GithubIdentity, Remember, RowChange};
use uuid::Uuid;

use super::{Knock, SESSION_DAYS, cookie, normal, open_session};
use crate::App;
use crate::answer::Answer;
use crate::code::Code;
use crate::error::{ApiError, BadField};
use crate::input::{read_params, without_nulls};
use crate::openapi::{document_codes, document_params, documented_position, route};
use client::{AccessToken, Person};
use flow::Flow;

pub use client::Github;
pub use settings::GithubSettings;

const CALLBACK: &str = "/api/auth/github/callback";
/// Where a flow leads that was begun for nowhere else.
const HOME: &str = "/";
/// Another callback may open or link the same account meanwhile; then the second look finds it.
const LOOKS: usize = 3;
/// The longest name an account may have.
const LONGEST_NAME: usize = 255;

#[derive(Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[schemars(transform = without_nulls)]
struct GithubSignInInput {
    /// The path of this site to go to afterwards.
    // One slash at first, never two, and no backslash: browsers take both for another host.
    #[schemars(
        length(max = 512),
        extend("pattern" = "^/(?:[A-Za-z0-9._~!$&'()*+,;=:@%?#-][A-Za-z0-9._~!$&'()*+,;=:@%?#/-]*)?$")
    )]
    return_to: Option<String>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct GithubSignIn {
    /// Where to send the browser.
    #[schemars(url)]
    redirect_url: String,
}

/// What GitHub's link says. It may say more, now or later.
#[derive(Deserialize, JsonSchema)]
#[schemars(transform = without_nulls)]
struct CallbackInput {
    /// What was handed to GitHub when the sign-in began.
    #[schemars(length(max = 255))]
    state: String,
    /// What GitHub gives a token for.
    #[schemars(length(min = 1, max = 1024))]
    code: Option<String>,
    /// Why there is no code.
    #[schemars(length(max = 255))]
    error: Option<String>,
}

/// A browser that comes back from GitHub.
struct Return {
    input: CallbackInput,
    parts: Parts,
}

/// A person who is in, with the session to tell the browser and the position that shows it.
struct Entered {
    token: String,
    position: i64,
}

/// The answer that signs a browser in and sends it on.
struct SentOn {
    location: HeaderValue,
    cookies: [HeaderValue; 2],
    position: i64,
}

pub(super) fn routes() -> ApiRouter<Arc<App>> {
    let callback_codes = &[
        Code::AuthGithubNotConfigured,
        Code::AuthGithubStateInvalid,
        Code::AuthGithubDenied,
        Code::AuthGithubEmailUnverified,
        Code::AuthGithubFailed,
        Code::AuthAccountSuspended,
        Code::ConcurrencyConflict,
    ];
    let callback_route =
        route("auth", "Where GitHub sends the browser back to; signs it in, and up if it is new", callback_codes);
    ApiRouter::new()
        .api_route("/auth/github", post_with(begin, begin_route))
        .api_route("/auth/github/callback", get_with(callback, callback_route))
}

fn begin_route(operation: TransformOperation<'_>) -> TransformOperation<'_> {
    let mut operation = route("auth", "Begin to sign in with GitHub", &[Code::AuthGithubNotConfigured])(operation);
    if let Some(ReferenceOr::Item(body)) = &mut operation.inner_mut().request_body {
        body.required = false;
    }
    operation
}

async fn begin(
    State(app): State<Arc<App>>,
    knock: Knock<Option<GithubSignInInput>>,
) -> Result<Answer<GithubSignIn>, ApiError> {
    let github = configured(&app)?;
    let return_to = knock.input.unwrap_or_default().return_to;
    let flow = Flow::begin(app.clock.now(), return_to.as_deref().unwrap_or(HOME));
    let (state, challenge) = (flow.state(&app.secrets), flow.challenge(&app.secrets));
    let redirect_url = github.authorize_url(&state, &challenge, &redirect_uri(github, &knock.parts)?).into();
    let position = app.log.head().await?.position;
    let answer = Answer::at(position, GithubSignIn { redirect_url });
    Ok(answer.with_header(header::SET_COOKIE, flow.set_cookie(&knock.parts)))
}

async fn callback(State(app): State<Arc<App>>, Return { input, parts }: Return) -> Result<SentOn, ApiError> {
    let github = configured(&app)?;
    let flow = Flow::of(&parts.headers).ok_or_else(state_invalid)?;
    let return_to = flow.leads_to(&app.secrets, &input.state, app.clock.now()).ok_or_else(state_invalid)?;
    let once = once(&input.state);
    // The commit below holds this too; here it saves a used code the way to GitHub.
    if app.log.remembered(&once.key).await?.is_some() {
        return Err(state_invalid());
    }
    let code = code_of(input)?;
    let verifier = flow.verifier(&app.secrets);
    let token = github.exchange(&code, &verifier, &redirect_uri(github, &parts)?).await?;
    let person = github.person(&token).await?;
    let entered = enter(&app, github, &token, &person, &once).await?;
    let session = cookie::set(&parts, &entered.token, SESSION_DAYS * 24 * 60 * 60);
    Ok(SentOn {
        location: HeaderValue::from_str(&return_to).map_err(ApiError::fault)?,
        cookies: [session, flow::clear_cookie(&parts)],
        position: entered.position,
    })
}

/// Signs the person in: by their GitHub identity if it is known, else by their address, else as somebody new.
async fn enter(
    app: &App,
    github: &Github,
    token: &AccessToken,
    person: &Person,
    once: &Idempotency,
) -> Result<Entered, ApiError> {
    for _ in 0..LOOKS {
        let entered = match app.log.accounts().by_github_id(person.id).await? {
            Some(account) => sign_in(app, &account, vec![], once).await?,
            None => {
                let email = github.verified_email(token).await?.ok_or_else(email_unverified)?;
                match app.log.accounts().by_email(&normal(&email)).await? {
                    // An account without a password is another GitHub identity's already: a recycled address opens nothing.
                    // Unless it was opened for this very person a moment ago: then the next look finds it.
                    Some(account) if account.password_hash.is_none() => {
                        app.log.accounts().by_github_id(person.id).await?.ok_or_else(linked_to_another)?;
                        None
                    }
                    Some(account) => sign_in(app, &account, take_over(app, &account, person), once).await?,
                    None => sign_up(app, person, &email, once).await?,
                }
            }
        };
        if let Some(entered) = entered {
            return Ok(entered);
        }
    }
    Err(ApiError::new(Code::ConcurrencyConflict, "the account changes all the time; sign in again"))
}

fn linked_to_another() -> ApiError {
    ApiError::new(Code::AuthGithubDenied, "the account with this address belongs to another GitHub identity")
}

/// What links an account to the person whose verified address it has.
///
/// Muster itself verifies no address. Whoever opened the account with a password may be somebody else, who waits for
/// the address's owner to come and fill it. GitHub has proof of whose address it is, so its person gets the account for
/// themselves: the unproven password stops working, and whoever is signed in is signed out. The other way round nobody
/// can take an account from its owner without reading the owner's mail. An address that GitHub has not verified, or
/// that is not the primary one, never gets here.
fn take_over(app: &App, account: &Account, person: &Person) -> Vec<RowChange> {
    let user_id = account.user_id;
    vec![
        RowChange::LinkGithub(identity(app, user_id, person)),
        RowChange::ForgetPassword { user_id },
        RowChange::RemoveSessionsOf { user_id },
    ]
}

/// Opens a session of an account, with other rows in the same commit; `None` if another callback came first.
async fn sign_in(
    app: &App,
    account: &Account,
    mut rows: Vec<RowChange>,
    once: &Idempotency,
) -> Result<Option<Entered>, ApiError> {
    if account.suspended {
        return Err(ApiError::new(Code::AuthAccountSuspended, "the account is suspended"));
    }
    let now = app.clock.now();
    let (token, session) = open_session(app, account.user_id, now);
    rows.push(RowChange::AddSession(session));
    let remember = Remember {
        key: once.key.clone(),
        fingerprint: once.fingerprint.clone(),
        outcome: "null".to_owned(),
        expires_at: once.lifetime.map(|it| now.timestamp_micros() + it.as_micros() as i64),
    };
    match app.log.commit(Commit { remember: Some(remember), ..Commit::of_rows(rows) }).await {
        Ok(receipt) => Ok(Some(Entered { token, position: receipt.last })),
        Err(CommitError::KeyUsed(_)) => Err(state_invalid()),
        Err(CommitError::GithubIdentityTaken) => Ok(None),
        Err(other) => Err(other.into()),
    }
}

/// Opens an account and signs its owner in; `None` if another callback came first.
async fn sign_up(app: &App, person: &Person, email: &str, once: &Idempotency) -> Result<Option<Entered>, ApiError> {
    let now = app.clock.now();
    let account = Account {
        user_id: Uuid::now_v7(),
        email: normal(email),
        name: person.shown_name(),
        avatar_url: person.picture(),
        password_hash: None,
        suspended: false,
        created_at: now.timestamp_micros(),
        updated_at: now.timestamp_micros(),
    };
    let (token, session) = open_session(app, account.user_id, now);
    let identity = identity(app, account.user_id, person);
    let mut context = Context::new(Actor::User(UserId(account.user_id)), now);
    context.idempotency = Some(once.clone());
    let command = SignUpWithGithub { sign_up: SignUp { account, session }, identity };
    match app.executor.run(&context, &command).await {
        Ok(done) if done.replayed => Err(state_invalid()),
        Ok(done) => Ok(Some(Entered { token, position: done.position })),
        Err(CommandError::Refused(Refusal::EmailTaken | Refusal::GithubIdentityTaken)) => Ok(None),
        Err(other) => Err(other.into()),
    }
}

fn identity(app: &App, user_id: Uuid, person: &Person) -> GithubIdentity {
    let linked_at = app.clock.now_micros();
    GithubIdentity { github_id: person.id, user_id, login: plain(&person.login), linked_at }
}

impl Person {
    /// What they are called, or else what GitHub calls them.
    fn shown_name(&self) -> String {
        let name = self.name.as_deref().map(plain).filter(|it| !it.is_empty());
        name.unwrap_or_else(|| plain(&self.login))
    }

    fn picture(&self) -> Option<String> {
        let url = self.avatar_url.as_deref()?.parse::<Url>().ok()?;
        (url.scheme() == "https" && url.as_str().len() <= 2048).then(|| url.into())
    }
}

/// A text from elsewhere as one of our names may be.
fn plain(text: &str) -> String {
    let kept: String = text.chars().filter(|it| !it.is_control()).take(LONGEST_NAME).collect();
    kept.trim().to_owned()
}

/// What a flow is remembered by once it has signed somebody in, for as long as it could be tried again.
fn once(state: &str) -> Idempotency {
    let fingerprint = Sha256::digest(state).to_vec();
    let key =
        CommandKey { principal: "github".to_owned(), route: format!("GET {CALLBACK}"), key: hex::encode(&fingerprint) };
    let lifetime = std::time::Duration::from_secs(flow::MINUTES.unsigned_abs() * 60);
    Idempotency { key, fingerprint, lifetime: Some(lifetime) }
}

fn code_of(input: CallbackInput) -> Result<String, ApiError> {
    match (input.error.as_deref(), input.code) {
        (Some("access_denied"), _) => Err(ApiError::new(Code::AuthGithubDenied, "the sign-in was refused on GitHub")),
        (Some(error), _) => Err(client::failed("ask the person", client::named(error))),
        (None, Some(code)) => Ok(code),
        (None, None) => Err(ApiError::validation(vec![BadField::new("code", "is required")])),
    }
}

/// Where GitHub sends the browser back to. GitHub holds this against what the application has registered, so a request
/// that names another host leads nowhere.
fn redirect_uri(github: &Github, parts: &Parts) -> Result<String, ApiError> {
    if let Some(origin) = &github.settings.public_url {
        return Ok(format!("{}{CALLBACK}", origin.as_str().trim_end_matches('/')));
    }
    let host = cookie::host(parts).unwrap_or_default();
    let scheme = if cookie::secure(parts).is_empty() { "http" } else { "https" };
    let url = format!("{scheme}://{host}{CALLBACK}").parse::<Url>().ok();
    let plain = url.filter(|it| it.path() == CALLBACK && it.username().is_empty() && it.password().is_none());
    let complaint = || ApiError::validation(vec![BadField::new("Host", "must be a host, with its port if any")]);
    plain.map(String::from).ok_or_else(complaint)
}

fn configured(app: &App) -> Result<&Github, ApiError> {
    let complaint = || ApiError::new(Code::AuthGithubNotConfigured, "this server offers no sign-in with GitHub");
    app.settings.github.as_ref().ok_or_else(complaint)
}

fn state_invalid() -> ApiError {
    let message = "the sign-in was not begun in this browser, took too long, or has been finished; begin again";
    ApiError::new(Code::AuthGithubStateInvalid, message)
}

fn email_unverified() -> ApiError {
    let message = "GitHub knows no verified primary e-mail address of yours; verify one there and sign in again";
    ApiError::new(Code::AuthGithubEmailUnverified, message)
}

impl FromRequestParts<Arc<App>> for Return {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &Arc<App>) -> Result<Self, ApiError> {
        Ok(Self { input: read_params(&parts.uri)?, parts: parts.clone() })
    }
}

impl OperationInput for Return {
    fn operation_input(_: &mut GenContext, operation: &mut Operation) {
        document_params::<CallbackInput>(operation, true);
        document_codes(operation, &[Code::ValidationError]);
    }
}

impl IntoResponse for SentOn {
    fn into_response(self) -> Response {
        let mut response = StatusCode::SEE_OTHER.into_response();
        let headers = response.headers_mut();
        headers.insert(header::LOCATION, self.location);
        headers.insert("X-Log-Position", HeaderValue::from(self.position));
        for cookie in self.cookies {
            headers.append(header::SET_COOKIE, cookie);
        }
        response
    }
}

impl OperationOutput for SentOn {
    type Inner = ();

    fn inferred_responses(_: &mut GenContext, _: &mut Operation) -> Vec<(Option<Status>, Documented)> {
        let description = "Signed in: the cookie is set, and `Location` is where to go on.".to_owned();
        let response = Documented { description, ..Documented::default() };
        vec![(Some(Status::Code(303)), documented_position(response))]
    }
}
