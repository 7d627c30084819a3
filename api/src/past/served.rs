//! A server of the past: read models that do not move, a log that is only read, and sign-ins that end with the process.
//!
//! Cookies and keys of the live server are honoured here, because the rows beside the log are read. Nothing is written
//! there: who signs in here is remembered in memory alone, so a live server on the same store is not disturbed.

use std::sync::Arc;

use axum::extract::Request;
use axum::http::{HeaderValue, Method, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use commands::Executor;
use projections::{Engine, ProjectionStatus};
use quick_cache::sync::Cache;
use reactors::Runner;
use store::sql::Database;
use store::{EventLog, SignInSession, StoreError};

use crate::code::Code;
use crate::error::ApiError;
use crate::{App, HttpSettings, Parts};

/// How many sign-ins are remembered.
const SIGN_INS: usize = 10_000;

/// What a server of the past knows beyond its read models.
pub(crate) struct Served {
    /// The last position that is shown.
    pub(crate) position: i64,
    sessions: Cache<[u8; 32], SignInSession>,
}

impl Served {
    /// Somebody who signed in here.
    pub(crate) fn session(&self, token: &[u8; 32]) -> Option<SignInSession> {
        self.sessions.get(token)
    }

    /// Remembers who signed in here.
    pub(crate) fn add(&self, session: &SignInSession) {
        if let Ok(token) = session.token_hash.as_slice().try_into() {
            self.sessions.insert(token, session.clone());
        }
    }

    /// Forgets who signed in here.
    pub(crate) fn remove(&self, session: &SignInSession) {
        if let Ok(token) = <[u8; 32]>::try_from(session.token_hash.as_slice()) {
            self.sessions.remove(&token);
        }
    }
}

impl App {
    /// An application that answers queries from read models that are as they were at a position, and takes no command.
    /// No engine moves them and no reactor runs. The log is read for accounts, keys and sessions, and never written.
    pub async fn of_the_past(
        log: Arc<EventLog>,
        views: Database,
        position: i64,
        settings: HttpSettings,
    ) -> Result<Arc<Self>, StoreError> {
        let engine = Arc::new(Engine::start(log.clone(), views.clone(), vec![], Default::default()));
        let executor = Arc::new(Executor::new(log.clone()));
        let reactors = Arc::new(Runner::start(vec![], executor.clone(), views.clone(), engine.clone()));
        let parts = Parts { log, views, executor, engine, reactors };
        // A sign-in with GitHub may open an account, which is an event.
        let settings = HttpSettings { github: None, github_webhook_secret: None, ..settings };
        Self::assemble(parts, settings, Some(Served { position, sessions: Cache::new(SIGN_INS) })).await
    }

    /// How far each read model is.
    pub(crate) async fn read_models(&self) -> Result<Vec<ProjectionStatus>, StoreError> {
        if self.past.is_none() {
            return self.engine.status().await;
        }
        let mut all = projections::status(&self.log, &self.views, &projections::all()).await?;
        for it in &mut all {
            // What came later is no part of what is served.
            (it.lag_events, it.lag_seconds) = (0, 0.0);
        }
        Ok(all)
    }
}

/// Refuses everything that is neither a query nor a sign-in.
pub(crate) async fn refuse_commands(request: Request, next: Next) -> Response {
    let asks = matches!(*request.method(), Method::GET | Method::HEAD | Method::OPTIONS);
    if asks || matches!(request.uri().path(), "/api/auth/login" | "/api/auth/logout") {
        return next.run(request).await;
    }
    let text = "this server shows the past and takes no commands; send them to one that serves today";
    let mut refusal = ApiError::new(Code::ServingThePast, text).into_response();
    refusal.headers_mut().insert(header::ALLOW, HeaderValue::from_static("GET, HEAD"));
    refusal
}
