//! Who is calling: found once per request, before the handler, from a cookie or from an agent's headers.

use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::sync::Arc;

use aide::openapi::Operation;
use axum::extract::{ConnectInfo, Request, State};
use axum::http::request::Parts;
use axum::http::{Extensions, HeaderMap};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use commands::Actor;
use domain::agent::AgentStatus;
use domain::{AgentId, ProjectId, UserId, WorkspaceId};
use serde::Deserialize;
use serde::de::IntoDeserializer;
use store::KnownSession;
use uuid::Uuid;

use super::cookie;
use super::keys::is_same;
use super::let_in::{Hash, Moment};
use crate::App;
use crate::code::Code;
use crate::error::ApiError;
use crate::layers::in_time;
use crate::openapi::{document_codes, document_security};

/// Who a request says it comes from. Routes decide whom they let in.
#[derive(Clone)]
pub(crate) enum Identity {
    /// Neither a cookie nor an agent's headers.
    Nobody,
    /// Credentials that are no good, and why.
    Refused(ApiError),
    /// Somebody we know.
    Known(Caller),
}

/// A person or an agent.
#[derive(Clone)]
pub(crate) enum Caller {
    /// A person with a session.
    Owner(Owner),
    /// An agent with its key.
    Agent(AgentCaller),
}

/// A person with a session: the documents' CEO.
#[derive(Clone)]
pub(crate) struct Owner {
    pub(crate) user_id: UserId,
    pub(super) session: Arc<KnownSession>,
    /// What let them in.
    token: Hash,
}

/// An agent with its key, and how far it reaches.
#[derive(Clone)]
pub(crate) struct AgentCaller {
    pub(crate) agent_id: AgentId,
    pub(crate) workspace_id: WorkspaceId,
    /// The one project that it may see; without, all of its workspace.
    pub(crate) project_id: Option<ProjectId>,
    /// What let it in.
    key: Hash,
}

/// Whom a route lets in.
pub(crate) trait Principal: Sized + Send {
    /// The caller, if the route lets it in.
    fn of(parts: &Parts) -> Result<Self, ApiError>;
    /// As whom it acts.
    fn actor(&self) -> Actor;
    /// Who it is, whomever the route lets in.
    fn caller(&self) -> Caller;
    /// Says in the OpenAPI document who is let in.
    fn document(operation: &mut Operation);

    /// The caller's name, for keys and limits.
    fn name(&self) -> String {
        name_of(self.actor())
    }
}

pub(crate) fn name_of(actor: Actor) -> String {
    match actor {
        Actor::User(id) => format!("user:{id}"),
        Actor::Agent(id) => format!("agent:{id}"),
        Actor::System(name) => format!("system:{name}"),
    }
}

impl Principal for Caller {
    fn of(parts: &Parts) -> Result<Self, ApiError> {
        match parts.extensions.get::<Identity>() {
            Some(Identity::Known(caller)) => Ok(caller.clone()),
            Some(Identity::Refused(why)) => Err(why.clone()),
            Some(Identity::Nobody) | None => Err(ApiError::new(Code::AuthInvalidToken, "sign in first")),
        }
    }

    fn actor(&self) -> Actor {
        match self {
            Self::Owner(it) => it.actor(),
            Self::Agent(it) => Actor::Agent(it.agent_id),
        }
    }

    fn caller(&self) -> Caller {
        self.clone()
    }

    fn document(operation: &mut Operation) {
        document_security(operation, &[&["session"], &["agentId", "agentKey"]]);
        document_codes(operation, &[Code::AuthInvalidToken, Code::AuthSessionExpired, Code::AgentInactive]);
    }
}

impl Principal for Owner {
    fn of(parts: &Parts) -> Result<Self, ApiError> {
        match Caller::of(parts)? {
            Caller::Owner(owner) => Ok(owner),
            Caller::Agent(_) => Err(ApiError::new(Code::NotCeo, "only the owner of the workspace may do this")),
        }
    }

    fn actor(&self) -> Actor {
        Actor::User(self.user_id)
    }

    fn caller(&self) -> Caller {
        Caller::Owner(self.clone())
    }

    fn document(operation: &mut Operation) {
        document_security(operation, &[&["session"]]);
        document_codes(operation, &[Code::AuthInvalidToken, Code::AuthSessionExpired, Code::NotCeo]);
    }
}

impl Principal for AgentCaller {
    fn of(parts: &Parts) -> Result<Self, ApiError> {
        match Caller::of(parts)? {
            Caller::Agent(agent) => Ok(agent),
            Caller::Owner(_) => Err(ApiError::new(Code::AuthInvalidToken, "this is for agents: send its id and key")),
        }
    }

    fn actor(&self) -> Actor {
        Actor::Agent(self.agent_id)
    }

    fn caller(&self) -> Caller {
        Caller::Agent(self.clone())
    }

    fn document(operation: &mut Operation) {
        document_security(operation, &[&["agentId", "agentKey"]]);
        document_codes(operation, &[Code::AuthInvalidToken, Code::AuthSessionExpired, Code::AgentInactive]);
    }
}

impl Caller {
    /// Whether what let this caller in would let it in again.
    pub(crate) async fn is_still_let_in(&self, app: &App) -> Result<bool, ApiError> {
        let refused = match self {
            Self::Owner(owner) => owner_with(app, owner.token).await.err(),
            Self::Agent(agent) => agent_with(app, agent.agent_id.0, agent.key).await.err(),
        };
        match refused {
            Some(fault) if fault.is_ours() => Err(fault),
            Some(_) => Ok(false),
            None => Ok(true),
        }
    }
}

/// Finds out who is calling, holds them to their limit, and says in the answer how much of it is left.
pub(crate) async fn identify(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    known(&app, request, |request| next.run(request)).await
}

/// The same for requests that have to end in time. One layer and not two: each costs every request a copy of all that is
/// below it.
pub(crate) async fn identify_in_time(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    known(&app, request, |request| in_time(&app, next.run(request))).await
}

async fn known<F: Future<Output = Response>>(
    app: &App,
    mut request: Request,
    answer: impl FnOnce(Request) -> F,
) -> Response {
    let identity = match identity_of(app, request.headers()).await {
        Ok(identity) => identity,
        // Not the caller's doing: nobody is signed out by it, and nobody is held to account for it.
        Err(fault) if fault.is_ours() => return fault.into_response(),
        Err(refusal) => Identity::Refused(refusal),
    };
    let quota = match &identity {
        Identity::Known(caller) => app.limiter.of_caller(caller),
        // Bad credentials count against the address: there is nobody else to hold to account.
        Identity::Nobody | Identity::Refused(_) => app.limiter.of_address(address_of(request.extensions())),
    };
    request.extensions_mut().insert(identity);
    let mut response = match quota.refusal() {
        Some(refusal) => refusal.into_response(),
        None => answer(request).await,
    };
    quota.show(response.headers_mut());
    response
}

async fn identity_of(app: &App, headers: &HeaderMap) -> Result<Identity, ApiError> {
    // An agent's headers are there on purpose; a cookie rides along with whatever a browser sends.
    if headers.contains_key("X-Agent-ID") || headers.contains_key("X-Agent-Key") {
        return agent_of(app, headers).await.map(|it| Identity::Known(Caller::Agent(it)));
    }
    let Some(token) = cookie::token(headers) else { return Ok(Identity::Nobody) };
    owner_with(app, app.secrets.hash_token(&token)).await.map(|it| Identity::Known(Caller::Owner(it)))
}

/// The person whose cookie has this hash.
async fn owner_with(app: &App, token: Hash) -> Result<Owner, ApiError> {
    let now = Moment::now(&app.log);
    // A server of the past has no count of what changes in memory, and time to look.
    if let Some(owner) = app.let_in.owner(&token, now).filter(|_| app.past.is_none()) {
        // Kept or not, a session runs out on time.
        is_open(&owner.session, app.clock.now_micros())?;
        return Ok(owner);
    }
    let known = known_session(app, &token).await?;
    let known =
        known.ok_or_else(|| ApiError::new(Code::AuthInvalidToken, "the session is not known; sign in again"))?;
    is_open(&known, app.clock.now_micros())?;
    let owner = Owner { user_id: UserId(known.account.user_id), session: Arc::new(known), token };
    app.let_in.keep_owner(&token, now, &owner);
    Ok(owner)
}

/// The session whose cookie has this hash; on a server of the past also one that began there.
pub(super) async fn known_session(app: &App, token: &Hash) -> Result<Option<KnownSession>, ApiError> {
    let Some(session) = app.past.as_ref().and_then(|it| it.session(token)) else {
        return Ok(app.log.accounts().session(token).await?);
    };
    let account = app.log.accounts().by_id(session.user_id).await?;
    Ok(account.map(|account| KnownSession { session, account }))
}

async fn agent_of(app: &App, headers: &HeaderMap) -> Result<AgentCaller, ApiError> {
    let text = |name: &str| headers.get(name).and_then(|it| it.to_str().ok()).unwrap_or_default();
    // A malformed id is looked up like any other, so that every refusal takes the same work.
    let agent_id = text("X-Agent-ID").parse().unwrap_or(Uuid::nil());
    agent_with(app, agent_id, app.secrets.hash_key(text("X-Agent-Key"))).await
}

/// The agent with this id whose key has this hash.
async fn agent_with(app: &App, agent_id: Uuid, key: Hash) -> Result<AgentCaller, ApiError> {
    let now = Moment::now(&app.log);
    if let Some(agent) = app.let_in.agent(agent_id, &key, now) {
        return Ok(agent);
    }
    let credential = app.log.accounts().credential(agent_id).await?;
    let is_key = is_same(&key, credential.as_ref().map(|it| it.key_hash.as_slice()));
    let Some(credential) = credential.filter(|_| is_key) else {
        return Err(ApiError::new(Code::AuthInvalidToken, "the agent's id or key is not right"));
    };
    if !may_work(&credential.standing) {
        return Err(ApiError::new(Code::AgentInactive, format!("the agent is {}", credential.standing)));
    }
    let agent = AgentCaller {
        agent_id: credential.agent_id.into(),
        workspace_id: credential.workspace_id.into(),
        project_id: credential.project_id.map(ProjectId),
        key,
    };
    app.let_in.keep_agent(&key, now, &agent);
    Ok(agent)
}

fn is_open(known: &KnownSession, now_micros: i64) -> Result<(), ApiError> {
    if known.account.suspended {
        return Err(ApiError::new(Code::AuthAccountSuspended, "the account is suspended"));
    }
    if known.session.expires_at <= now_micros {
        return Err(ApiError::new(Code::AuthSessionExpired, "the session has run out; sign in again"));
    }
    Ok(())
}

fn may_work(standing: &str) -> bool {
    let status = AgentStatus::deserialize(IntoDeserializer::<serde::de::value::Error>::into_deserializer(standing));
    status.is_ok_and(AgentStatus::may_work)
}

/// The address of a request, as far as limits tell addresses apart.
pub(crate) fn address_of(extensions: &Extensions) -> IpAddr {
    let address = extensions.get::<ConnectInfo<SocketAddr>>().map_or(IpAddr::from([0, 0, 0, 0]), |it| it.0.ip());
    match address.to_canonical() {
        // Whoever has one IPv6 address has 2^64 of them.
        IpAddr::V6(v6) => IpAddr::V6(Ipv6Addr::from_bits(v6.to_bits() & !(u64::MAX as u128))),
        v4 @ IpAddr::V4(_) => v4,
    }
}
