//! A look back: a query that can also be asked of a moment in the past.

use std::sync::Arc;

use aide::OperationInput;
use aide::generate::GenContext;
use aide::openapi::Operation;
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use serde_json::json;
use store::Moment;

use super::params::{AS_OF, read_params_as_of};
use super::{Input, Look, headers};
use crate::App;
use crate::auth::Principal;
use crate::code::Code;
use crate::error::{ApiError, BadField};
use crate::openapi::{document_codes, document_query};

/// A query whose input is in the query string, beside the moment that it is asked of.
pub(crate) struct LookBack<P, T> {
    /// Who asks.
    pub(crate) by: P,
    /// What for.
    pub(crate) input: T,
    /// The position that the answer must cover, if the client said one.
    pub(crate) min_position: Option<i64>,
    /// The moment whose answer is wanted; today's without.
    pub(crate) as_of: Option<Moment>,
}

impl<P: Principal, T: Input> FromRequestParts<Arc<App>> for LookBack<P, T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &Arc<App>) -> Result<Self, ApiError> {
        let by = P::of(parts)?;
        let min_position = headers::min_position(&parts.headers)?;
        let (input, as_of) = read_params_as_of(&parts.uri)?;
        let moment =
            |text: String| text.parse().map_err(|e| ApiError::validation(vec![BadField::new(AS_OF, format!("{e}"))]));
        Ok(Self { by, input, min_position, as_of: as_of.map(moment).transpose()? })
    }
}

impl<P: Principal, T: Input> OperationInput for LookBack<P, T> {
    fn operation_input(context: &mut GenContext, operation: &mut Operation) {
        Look::<P, T>::operation_input(context, operation);
        let about = "Answers what the same query would have said then: a position of the log, or an RFC 3339 time. \
            Who may ask, and what people are called, is as of today. `X-As-Of-Position` says the position.";
        document_query(
            operation,
            AS_OF,
            about,
            json!({ "type": "string", "examples": ["1200", "2026-03-01T09:30:00Z"] }),
        );
        document_codes(operation, &[Code::PastTooLong]);
    }
}
