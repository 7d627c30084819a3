//! Answers to commands: the entity as it became, with the position that shows it.

use std::borrow::Cow;
use std::marker::PhantomData;

use aide::OperationOutput;
use aide::generate::GenContext;
use aide::openapi::{Operation, Response as Documented, StatusCode as Status};
use axum::body::Bytes;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use commands::Done;
use domain::Slug;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use crate::error::ApiError;
use crate::openapi::{documented_as_of, documented_json, documented_position};
use crate::past::Scene;

const JSON: HeaderValue = HeaderValue::from_static("application/json");

/// What a command came to.
pub(crate) struct Answer<T> {
    status: StatusCode,
    position: i64,
    replayed: bool,
    /// JSON.
    body: Bytes,
    header: Option<(HeaderName, HeaderValue)>,
    of: PhantomData<T>,
}

/// A command that stands, though the read model has not shown it yet.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Accepted {
    /// A query that sends this as `X-Min-Position` sees what the command did.
    position: i64,
}

/// Something that the caller should know of a command that was done all the same.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct Warning {
    /// What it is, for programs.
    code: &'static str,
    /// What it is, for people.
    message: Cow<'static, str>,
}

impl Warning {
    /// The bench that the command counts on is not on this node: it may be on another, or nowhere.
    pub(crate) fn of_bench(bench: &Slug, is_here: bool) -> Vec<Self> {
        let message = format!("this node has no bench {bench}; nothing is done there until a node that has it is up");
        if is_here { vec![] } else { vec![Self { code: "BENCH_NOT_HERE", message: message.into() }] }
    }

    /// Something that a person asked for is not done on this node, by this rule of its operator.
    pub(crate) fn not_allowed(code: &'static str, rule: &str) -> Self {
        Self { code, message: format!("this is set, and not done on this node: {rule}").into() }
    }

    /// The agent that the command is about is on probation.
    pub(crate) fn of_probation(on_probation: bool) -> Vec<Self> {
        let warning = Self { code: "AGENT_ON_PROBATION", message: "the agent is on probation".into() };
        if on_probation { vec![warning] } else { vec![] }
    }
}

impl<T: Serialize> Answer<T> {
    /// An answer that needs no read model.
    pub(crate) fn at(position: i64, body: T) -> Self {
        Self { status: StatusCode::OK, position, replayed: false, body: json_of(&body), header: None, of: PhantomData }
    }

    /// What a command came to, if its read model shows it already; 202 with the position if not.
    pub(crate) fn of<O>(done: &Done<O>, shown: Option<T>) -> Self {
        Self::of_or(done, shown, json!({}))
    }

    /// Like `of`, where something must be told even if the entity cannot be shown yet.
    pub(crate) fn of_or<O>(done: &Done<O>, shown: Option<T>, mut otherwise: Value) -> Self {
        let replayed = done.replayed;
        match shown {
            Some(body) => Self { replayed, ..Self::at(done.position, body) },
            None => {
                otherwise["position"] = done.position.into();
                let (status, position) = (StatusCode::ACCEPTED, done.position);
                Self { status, position, replayed, body: json_of(&otherwise), header: None, of: PhantomData }
            }
        }
    }

    pub(crate) fn with_header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.header = Some((name, value));
        self
    }
}

impl<T> IntoResponse for Answer<T> {
    fn into_response(self) -> Response {
        let mut response = (self.status, self.body).into_response();
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, JSON);
        headers.insert("X-Log-Position", HeaderValue::from(self.position));
        if self.replayed {
            headers.insert("Idempotent-Replayed", HeaderValue::from_static("true"));
        }
        if let Some((name, value)) = self.header {
            headers.insert(name, value);
        }
        response
    }
}

impl<T: JsonSchema> OperationOutput for Answer<T> {
    type Inner = T;

    fn operation_response(_: &mut GenContext, _: &mut Operation) -> Option<Documented> {
        Some(documented_position(documented_json::<T>("The command is done.")))
    }

    fn inferred_responses(_: &mut GenContext, _: &mut Operation) -> Vec<(Option<Status>, Documented)> {
        let done = documented_position(documented_json::<T>("The command is done."));
        let accepted = documented_json::<Accepted>("The command is done, and its read model is not there yet.");
        vec![(Some(Status::Code(200)), done), (Some(Status::Code(202)), documented_position(accepted))]
    }
}

/// The answer to a query.
pub(crate) struct Shown<T>(pub(crate) T);

impl<T: Serialize> IntoResponse for Shown<T> {
    fn into_response(self) -> Response {
        ([(header::CONTENT_TYPE, JSON)], json_of(&self.0)).into_response()
    }
}

impl<T: JsonSchema> OperationOutput for Shown<T> {
    type Inner = T;

    fn inferred_responses(_: &mut GenContext, _: &mut Operation) -> Vec<(Option<Status>, Documented)> {
        vec![(Some(Status::Code(200)), documented_json::<T>("What was asked for."))]
    }
}

/// The answer to a query that can be asked of the past, with the position that it is as of.
pub(crate) struct ShownAt<T> {
    json: Bytes,
    as_of: Option<i64>,
    of: PhantomData<T>,
}

impl<T> ShownAt<T> {
    /// What a query read.
    pub(crate) fn new(scene: &Scene<'_>, body: &T) -> Self
    where
        T: Serialize,
    {
        Self::text(scene, json_of(body))
    }

    /// The same, whose JSON is there already.
    pub(crate) fn text(scene: &Scene<'_>, json: Bytes) -> Self {
        Self { json, as_of: scene.as_of, of: PhantomData }
    }
}

impl<T> IntoResponse for ShownAt<T> {
    fn into_response(self) -> Response {
        let mut response = ([(header::CONTENT_TYPE, JSON)], self.json).into_response();
        if let Some(position) = self.as_of {
            response.headers_mut().insert("X-As-Of-Position", HeaderValue::from(position));
        }
        response
    }
}

impl<T: JsonSchema> OperationOutput for ShownAt<T> {
    type Inner = T;

    fn inferred_responses(_: &mut GenContext, _: &mut Operation) -> Vec<(Option<Status>, Documented)> {
        vec![(Some(Status::Code(200)), documented_as_of(documented_json::<T>("What was asked for.")))]
    }
}

pub(crate) fn json_of(it: &impl Serialize) -> Bytes {
    serde_json::to_vec(it).expect("an answer is always JSON").into()
}

/// What a query's handler returns.
pub(crate) type Seen<T> = Result<Shown<T>, ApiError>;

/// What the handler of a query that can be asked of the past returns.
pub(crate) type SeenAt<T> = Result<ShownAt<T>, ApiError>;
