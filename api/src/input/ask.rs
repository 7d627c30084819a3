//! An ask: a command with who gives it, what it says and what surrounds it, all checked.

use std::sync::Arc;
use std::time::Duration;

use aide::OperationInput;
use aide::generate::GenContext;
use aide::openapi::Operation;
use axum::extract::{FromRequest, OriginalUri, Request};
use axum::http::request::Parts;
use commands::{Context, Idempotency};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use store::CommandKey;

use super::params::params_value;
use super::{Input, canonical, headers, read, read_json, visible};
use crate::App;
use crate::auth::{Principal, check_same_origin};
use crate::code::Code;
use crate::error::{ApiError, BadField};
use crate::openapi::{document_body, document_codes, document_header, document_params};

/// How long a repeat of a command is answered like the command.
const REMEMBERED: Duration = Duration::from_secs(24 * 60 * 60);

/// A command whose input is a JSON body.
pub(crate) struct Ask<P, T> {
    /// Who gives it.
    pub(crate) by: P,
    /// What it says.
    pub(crate) input: T,
    /// What surrounds it.
    pub(crate) context: Context,
}

/// A command whose input is in the query string or in a JSON body: a DELETE.
pub(crate) struct AskByQuery<P, T>(pub(crate) Ask<P, T>);

impl<P: Principal, T: Input> FromRequest<Arc<App>> for Ask<P, T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, app: &Arc<App>) -> Result<Self, ApiError> {
        let (parts, body) = request.into_parts();
        let by = admit::<P>(&parts)?;
        let value = read_json(&parts.headers, body, app.settings.body_limit_bytes).await?;
        // A client that forgot the body is told which fields it must have.
        assemble(app, by, &parts, value.unwrap_or_else(|| Value::Object(Map::new())))
    }
}

impl<P: Principal, T: Input> FromRequest<Arc<App>> for AskByQuery<P, T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, app: &Arc<App>) -> Result<Self, ApiError> {
        let (parts, body) = request.into_parts();
        let by = admit::<P>(&parts)?;
        let query = params_value::<T>(&parts.uri)?;
        let body = read_json(&parts.headers, body, app.settings.body_limit_bytes).await?;
        assemble(app, by, &parts, merge(query, body)?).map(Self)
    }
}

/// What the query string and the body say together; where both say something, they must say the same.
fn merge(query: Value, body: Option<Value>) -> Result<Value, ApiError> {
    let (mut fields, body) = match (query, body) {
        (query, None) => return Ok(query),
        (Value::Object(query), Some(Value::Object(body))) => (query, body),
        (_, Some(body)) => return Ok(body),
    };
    let mut twice = Vec::new();
    for (name, value) in body {
        if fields.get(&name).is_some_and(|given| *given != value) {
            twice.push(BadField::new(name, "is one thing in the query string and another in the body"));
        } else {
            fields.insert(name, value);
        }
    }
    if twice.is_empty() { Ok(Value::Object(fields)) } else { Err(ApiError::validation(twice)) }
}

fn admit<P: Principal>(parts: &Parts) -> Result<P, ApiError> {
    let by = P::of(parts)?;
    check_same_origin(parts)?;
    Ok(by)
}

fn assemble<P: Principal, T: Input>(app: &App, by: P, parts: &Parts, value: Value) -> Result<Ask<P, T>, ApiError> {
    let mut context = Context::new(by.actor(), app.clock.now());
    context.correlation_id = headers::correlation_id(&parts.headers).unwrap_or(context.command_id);
    context.trace_id = headers::trace_id(&parts.headers);
    context.idempotency = idempotency(&by, parts, &value)?;
    Ok(Ask { by, input: read(value)?, context })
}

fn idempotency<P: Principal>(by: &P, parts: &Parts, value: &Value) -> Result<Option<Idempotency>, ApiError> {
    let Some(key) = visible(&parts.headers, "Idempotency-Key")? else { return Ok(None) };
    let path = parts.extensions.get::<OriginalUri>().map_or_else(|| parts.uri.path(), |it| it.0.path());
    let route = format!("{} {path}", parts.method);
    let fingerprint = Sha256::digest(format!("{route}\n{}", canonical(value))).to_vec();
    let key = CommandKey { principal: by.name(), route, key: key.to_owned() };
    Ok(Some(Idempotency { key, fingerprint, lifetime: Some(REMEMBERED) }))
}

impl<P: Principal, T: Input> OperationInput for Ask<P, T> {
    fn operation_input(context: &mut GenContext, operation: &mut Operation) {
        document_ask::<P>(operation);
        document_body::<T>(context, operation, true);
    }
}

impl<P: Principal, T: Input> OperationInput for AskByQuery<P, T> {
    fn operation_input(context: &mut GenContext, operation: &mut Operation) {
        document_ask::<P>(operation);
        document_params::<T>(operation, false);
        document_body::<T>(context, operation, false);
    }
}

fn document_ask<P: Principal>(operation: &mut Operation) {
    P::document(operation);
    let key = json!({ "type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[!-~]([ -~]*[!-~])?$" });
    document_header(operation, "Idempotency-Key", "Makes a repeat of this request harmless for 24 hours.", key);
    let id = json!({ "type": "string", "format": "uuid" });
    document_header(operation, "X-Correlation-ID", "Ties this command to others.", id);
    let codes = [
        Code::ValidationError,
        Code::CrossSiteRequest,
        Code::ConcurrencyConflict,
        Code::PayloadTooLarge,
        Code::UnsupportedMediaType,
        Code::IdempotencyKeyReused,
    ];
    document_codes(operation, &codes);
}
