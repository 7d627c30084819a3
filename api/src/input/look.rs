//! A look: a query with who asks, what for, and how new the answer must be.

use std::sync::Arc;

use aide::OperationInput;
use aide::generate::GenContext;
use aide::openapi::Operation;
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use serde_json::json;

use super::params::read_params;
use super::{Input, headers};
use crate::App;
use crate::auth::Principal;
use crate::code::Code;
use crate::error::ApiError;
use crate::openapi::{document_codes, document_header, document_params};

/// A query whose input is in the query string.
pub(crate) struct Look<P, T> {
    /// Who asks.
    pub(crate) by: P,
    /// What for.
    pub(crate) input: T,
    /// The position that the answer must cover, if the client said one.
    pub(crate) min_position: Option<i64>,
}

impl<P: Principal, T: Input> FromRequestParts<Arc<App>> for Look<P, T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &Arc<App>) -> Result<Self, ApiError> {
        let by = P::of(parts)?;
        let min_position = headers::min_position(&parts.headers)?;
        Ok(Self { by, input: read_params(&parts.uri)?, min_position })
    }
}

impl<P: Principal, T: Input> OperationInput for Look<P, T> {
    fn operation_input(_: &mut GenContext, operation: &mut Operation) {
        P::document(operation);
        document_params::<T>(operation, true);
        let about = "Answers only from read models that have seen this position.";
        document_header(
            operation,
            "X-Min-Position",
            about,
            json!({ "type": "integer", "minimum": 0, "maximum": i64::MAX }),
        );
        document_codes(operation, &[Code::ValidationError]);
    }
}
