//! Signing up, in and out, and who is calling.

mod cookie;
mod github;
mod identity;
pub mod keys;
mod let_in;
pub mod passwords;
mod throttle;

use std::sync::Arc;

use aide::OperationInput;
use aide::axum::ApiRouter;
use aide::axum::routing::{get_with, post_with};
use aide::generate::GenContext;
use aide::openapi::Operation;
use axum::extract::{FromRequest, FromRequestParts, Request, State};
use axum::http::header;
use axum::http::request::Parts;
use chrono::{DateTime, Duration, Utc};
use commands::user::SignUp;
use commands::{Actor, Context};
use domain::UserId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::{Account, Commit, KnownSession, RowChange, SignInSession, from_micros};
use uuid::Uuid;

pub(crate) use cookie::check_same_origin;
pub use github::{Github, GithubSettings};
use identity::known_session;
pub(crate) use identity::{AgentCaller, Caller, Identity, Owner, Principal, address_of, identify, identify_in_time};
pub(crate) use keys::{Secrets, new_token};
pub(crate) use let_in::LetIn;
pub(crate) use throttle::Throttle;

use crate::App;
use crate::answer::{Answer, Shown};
use crate::code::Code;
use crate::error::ApiError;
use crate::input::{Input, Shape, read_json, without_nulls};
use crate::openapi::{document_body, document_codes, route};

/// How long a session lasts.
const SESSION_DAYS: i64 = 7;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[schemars(transform = without_nulls)]
struct SignUpInput {
    #[schemars(email, length(max = 254))]
    email: String,
    #[schemars(length(min = 8, max = 100), extend("x-codes" = {"minLength": "AUTH_WEAK_PASSWORD"}))]
    password: String,
    #[schemars(length(min = 1, max = 255))]
    name: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[schemars(transform = without_nulls)]
struct LogInInput {
    #[schemars(email, length(max = 254))]
    email: String,
    password: String,
}

/// A person.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct User {
    id: Uuid,
    email: String,
    name: String,
    avatar_url: Option<String>,
    created_at: DateTime<Utc>,
    updated_at: DateTime<Utc>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Session {
    id: Uuid,
    user_id: Uuid,
    expires_at: DateTime<Utc>,
}

#[derive(Serialize, JsonSchema)]
struct SignedIn {
    user: User,
    session: Session,
}

#[derive(Serialize, JsonSchema)]
struct CurrentSession {
    user: Option<User>,
    session: Option<Session>,
}

/// That it is done.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Success {
    pub(crate) success: bool,
}

/// A request to a door that anybody may knock at.
struct Knock<T> {
    input: T,
    parts: Parts,
}

pub(crate) fn routes() -> ApiRouter<Arc<App>> {
    let sign_up_codes = &[Code::AuthEmailAlreadyExists, Code::AuthWeakPassword];
    let log_in_codes = &[Code::AuthInvalidCredentials, Code::AuthAccountSuspended, Code::RateLimited];
    ApiRouter::new()
        .api_route("/auth/signup", post_with(sign_up, route("auth", "Open an account and sign in", sign_up_codes)))
        .api_route("/auth/login", post_with(log_in, route("auth", "Sign in", log_in_codes)))
        .api_route("/auth/logout", post_with(log_out, route("auth", "Sign out", &[Code::CrossSiteRequest])))
        .api_route("/auth/session", get_with(session, route("auth", "Who is signed in", &[])))
        .merge(github::routes())
}

async fn sign_up(State(app): State<Arc<App>>, knock: Knock<SignUpInput>) -> Result<Answer<SignedIn>, ApiError> {
    let SignUpInput { email, password, name } = knock.input;
    let now = app.clock.now();
    let account = Account {
        user_id: Uuid::now_v7(),
        email: normal(&email),
        name,
        avatar_url: None,
        password_hash: Some(passwords::hash(password).await?),
        suspended: false,
        created_at: now.timestamp_micros(),
        updated_at: now.timestamp_micros(),
    };
    let (token, session) = open_session(&app, account.user_id, now);
    let context = Context::new(Actor::User(UserId(account.user_id)), now);
    let done = app.run(&context, &SignUp { account: account.clone(), session: session.clone() }).await?;
    let answer = Answer::at(done.position, SignedIn { user: account.into(), session: session.into() });
    Ok(answer.with_header(header::SET_COOKIE, cookie::set(&knock.parts, &token, SESSION_DAYS * 24 * 60 * 60)))
}

async fn log_in(State(app): State<Arc<App>>, knock: Knock<LogInInput>) -> Result<Answer<SignedIn>, ApiError> {
    let (email, now) = (normal(&knock.input.email), app.clock.now());
    let address = address_of(&knock.parts.extensions);
    app.throttle.attempt(&email, address, now.timestamp_micros()).map_err(ApiError::rate_limited)?;
    let account = app.log.accounts().by_email(&email).await?;
    let stored = account.as_ref().and_then(|it| it.password_hash.clone());
    let right = passwords::is_password(knock.input.password, stored).await?;
    let wrong = || ApiError::new(Code::AuthInvalidCredentials, "the e-mail address or the password is wrong");
    let account = account.filter(|_| right).ok_or_else(wrong)?;
    app.throttle.succeeded(&email, address);
    if account.suspended {
        return Err(ApiError::new(Code::AuthAccountSuspended, "the account is suspended"));
    }
    let (token, session) = open_session(&app, account.user_id, now);
    let position = add_session(&app, &session).await?;
    keep_if_unchanged(&app, &account, &session).await?;
    let answer = Answer::at(position, SignedIn { user: account.into(), session: session.into() });
    Ok(answer.with_header(header::SET_COOKIE, cookie::set(&knock.parts, &token, SESSION_DAYS * 24 * 60 * 60)))
}

/// Takes a new session back when the account changed while its password was being checked: whoever changed it has
/// ended the sessions they knew of, and this one came after.
async fn keep_if_unchanged(app: &App, checked: &Account, session: &SignInSession) -> Result<(), ApiError> {
    let now = app.log.accounts().by_id(checked.user_id).await?;
    let same = |it: &Account| it.password_hash == checked.password_hash && it.suspended == checked.suspended;
    if now.as_ref().is_some_and(same) {
        return Ok(());
    }
    remove_session(app, session).await?;
    Err(ApiError::new(Code::AuthInvalidCredentials, "the account has changed; sign in again"))
}

async fn log_out(State(app): State<Arc<App>>, Bare(parts): Bare) -> Result<Answer<Success>, ApiError> {
    check_same_origin(&parts)?;
    let clear = cookie::clear(&parts);
    let known = match cookie::token(&parts.headers) {
        Some(token) => known_session(&app, &app.secrets.hash_token(&token)).await?,
        None => None,
    };
    let position = match known {
        Some(KnownSession { session, .. }) => remove_session(&app, &session).await?,
        None => app.log.head().await?.position,
    };
    Ok(Answer::at(position, Success { success: true }).with_header(header::SET_COOKIE, clear))
}

async fn session(Bare(parts): Bare) -> Shown<CurrentSession> {
    let known = match parts.extensions.get::<Identity>() {
        Some(Identity::Known(Caller::Owner(owner))) => Some(owner.session.as_ref().clone()),
        Some(Identity::Known(Caller::Agent(_)) | Identity::Refused(_) | Identity::Nobody) | None => None,
    };
    let (user, session) = known.map(|it| (it.account.into(), it.session.into())).unzip();
    Shown(CurrentSession { user, session })
}

/// Keeps a session, and says where the log is. A server of the past writes nothing, and keeps it in memory.
async fn add_session(app: &App, session: &SignInSession) -> Result<i64, ApiError> {
    if let Some(past) = &app.past {
        past.add(session);
        return Ok(past.position);
    }
    Ok(app.log.commit(Commit::of_rows(vec![RowChange::AddSession(session.clone())])).await?.last)
}

/// Ends a session, and says where the log is. On a server of the past, one that began elsewhere goes on there.
async fn remove_session(app: &App, session: &SignInSession) -> Result<i64, ApiError> {
    if let Some(past) = &app.past {
        past.remove(session);
        return Ok(past.position);
    }
    let remove = RowChange::RemoveSession { session_id: session.session_id };
    Ok(app.log.commit(Commit::of_rows(vec![remove])).await?.last)
}

fn open_session(app: &App, user_id: Uuid, now: DateTime<Utc>) -> (String, SignInSession) {
    let token = keys::new_token();
    let session = SignInSession {
        session_id: Uuid::now_v7(),
        user_id,
        token_hash: app.secrets.hash_token(&token).to_vec(),
        created_at: now.timestamp_micros(),
        expires_at: (now + Duration::days(SESSION_DAYS)).timestamp_micros(),
    };
    (token, session)
}

/// One address, one account, however it is typed.
fn normal(email: &str) -> String {
    email.trim().to_lowercase()
}

impl From<Account> for User {
    fn from(it: Account) -> Self {
        Self {
            id: it.user_id,
            email: it.email,
            name: it.name,
            avatar_url: it.avatar_url,
            created_at: from_micros(it.created_at),
            updated_at: from_micros(it.updated_at),
        }
    }
}

impl From<SignInSession> for Session {
    fn from(it: SignInSession) -> Self {
        Self { id: it.session_id, user_id: it.user_id, expires_at: from_micros(it.expires_at) }
    }
}

impl<T: Input> FromRequest<Arc<App>> for Knock<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, app: &Arc<App>) -> Result<Self, ApiError> {
        let (parts, body) = request.into_parts();
        // Signing somebody in from another site's page is an attack too.
        check_same_origin(&parts)?;
        let value = read_json(&parts.headers, body, app.settings.body_limit_bytes).await?;
        let value = value.unwrap_or_else(|| serde_json::json!({}));
        Shape::of::<T>().check(&value)?;
        let input = serde_json::from_value(value).map_err(ApiError::fault)?;
        Ok(Self { input, parts })
    }
}

impl<T: Input> OperationInput for Knock<T> {
    fn operation_input(context: &mut GenContext, operation: &mut Operation) {
        document_body::<T>(context, operation, true);
        let codes = [Code::ValidationError, Code::CrossSiteRequest, Code::PayloadTooLarge, Code::UnsupportedMediaType];
        document_codes(operation, &codes);
    }
}

/// A request's head, for handlers that look at headers themselves.
struct Bare(Parts);

impl<S: Sync> FromRequestParts<S> for Bare {
    type Rejection = std::convert::Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Self::Rejection> {
        Ok(Self(parts.clone()))
    }
}

impl OperationInput for Bare {}
