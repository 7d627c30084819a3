//! The OpenAPI document: made from the handlers, so that it cannot say what they do not do.

use std::sync::{Arc, LazyLock};

use aide::OperationOutput;
use aide::axum::ApiRouter;
use aide::generate::{GenContext, in_context};
use aide::openapi::{
    ApiKeyLocation, HeaderStyle, Info, MediaType, OpenApi, Operation, Parameter, ParameterData,
    ParameterSchemaOrContent, QueryStyle, ReferenceOr, RequestBody, Response, SchemaObject, SecurityScheme, StatusCode,
};
use aide::transform::TransformOperation;
use axum::http::header;
use axum::response::IntoResponse;
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::{Value, json};

use crate::App;
use crate::code::Code;
use crate::error::ErrorBody;
use crate::input::{Input, Shape};

/// The document as it is served; the same for every application of this binary.
static DOCUMENT: LazyLock<String> = LazyLock::new(|| crate::openapi().to_string());

const ABOUT: &str = "The system of record and control plane for fleets of AI coding agents. \
    `GET` asks, every other method commands; GitHub's callback is the one exception. A command answers with \
    `X-Log-Position`; a query that sends it as `X-Min-Position` sees what the command did. \
    An error is `{\"error\": {code, message, details, timestamp}}`.";

/// The document itself, as an answer.
pub(crate) struct Document;

/// Serves the document.
pub(crate) async fn serve() -> Document {
    Document
}

impl IntoResponse for Document {
    fn into_response(self) -> axum::response::Response {
        ([(header::CONTENT_TYPE, "application/json")], DOCUMENT.as_str()).into_response()
    }
}

impl OperationOutput for Document {
    type Inner = ();

    fn inferred_responses(_: &mut GenContext, _: &mut Operation) -> Vec<(Option<StatusCode>, Response)> {
        let content = [("application/json".to_owned(), media(schema_from(json!({ "type": "object" }))))];
        let description = "OpenAPI 3.1.".to_owned();
        let response = Response { description, content: content.into_iter().collect(), ..Response::default() };
        vec![(Some(StatusCode::Code(200)), response)]
    }
}

/// Makes the schemas of OpenAPI 3.1, which are those of JSON Schema 2020-12.
pub(crate) fn prepare() {
    let settings = SchemaSettings::draft2020_12().with(|it| it.definitions_path = "/components/schemas".into());
    in_context(|context| context.schema = SchemaGenerator::new(settings));
}

/// The document of all routes.
pub(crate) fn document_of(routes: ApiRouter<Arc<App>>) -> Value {
    let mut api = OpenApi {
        info: Info {
            title: "Muster".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            description: Some(ABOUT.to_owned()),
            ..Info::default()
        },
        ..OpenApi::default()
    };
    let _ = routes.finish_api_with(&mut api, |api| {
        let key = |location, name: &str| SecurityScheme::ApiKey {
            location,
            name: name.to_owned(),
            description: None,
            extensions: Default::default(),
        };
        api.security_scheme("session", key(ApiKeyLocation::Cookie, "__session"))
            .security_scheme("agentId", key(ApiKeyLocation::Header, "X-Agent-ID"))
            .security_scheme("agentKey", key(ApiKeyLocation::Header, "X-Agent-Key"))
    });
    let mut document = serde_json::to_value(api).expect("an OpenAPI document is always JSON");
    document["components"]["schemas"]["Error"] = schema_of_answer::<ErrorBody>().to_value();
    name_operations(&mut document);
    document
}

/// An operation is called what its path is called.
fn name_operations(document: &mut Value) {
    let Some(paths) = document["paths"].as_object_mut() else { return };
    for (path, item) in paths {
        let name = path.trim_start_matches("/api").trim_start_matches('/').replace('/', ".");
        for operation in item.as_object_mut().into_iter().flat_map(|it| it.values_mut()).filter(|it| it.is_object()) {
            operation["operationId"] = name.as_str().into();
        }
    }
}

/// Documents a route of the API: its tag, what it does, and the errors of its own.
pub(crate) fn route<'a>(
    tag: &'a str,
    summary: &'a str,
    codes: &'a [Code],
) -> impl FnOnce(TransformOperation<'_>) -> TransformOperation<'_> + 'a {
    move |operation| {
        let mut operation = plain_route(tag, summary)(operation);
        document_codes(operation.inner_mut(), codes);
        document_codes(operation.inner_mut(), &[Code::RateLimited, Code::InternalError, Code::Unavailable]);
        operation
    }
}

/// Documents a route that has no errors of its own.
pub(crate) fn plain_route<'a>(
    tag: &'a str,
    summary: &'a str,
) -> impl FnOnce(TransformOperation<'_>) -> TransformOperation<'_> + 'a {
    move |operation| operation.tag(tag).summary(summary)
}

/// Documents codes that a route can answer with.
pub(crate) fn document_codes(operation: &mut Operation, codes: &[Code]) {
    let responses = operation.responses.get_or_insert_default();
    for code in codes {
        let status = StatusCode::Code(code.status().as_u16());
        let text = format!("`{}`", code.text());
        let entry = responses.responses.entry(status).or_insert_with(|| ReferenceOr::Item(error_response()));
        let ReferenceOr::Item(response) = entry else { continue };
        if !response.description.contains(&text) {
            let comma = if response.description.is_empty() { "" } else { ", " };
            response.description = format!("{}{comma}{text}", response.description);
        }
    }
}

/// Documents who is let in: any of the given sets of credentials.
pub(crate) fn document_security(operation: &mut Operation, any_of: &[&[&str]]) {
    for all_of in any_of {
        operation.security.push(all_of.iter().map(|name| ((*name).to_owned(), vec![])).collect());
    }
}

/// Documents a header that may be sent.
pub(crate) fn document_header(operation: &mut Operation, name: &str, description: &str, schema: Value) {
    let parameter_data = parameter(name, Some(description.to_owned()), false, schema);
    operation.parameters.push(ReferenceOr::Item(Parameter::Header { parameter_data, style: HeaderStyle::Simple }));
}

/// Documents a query parameter that may be sent beside those of the request type.
pub(crate) fn document_query(operation: &mut Operation, name: &str, description: &str, schema: Value) {
    let parameter_data = parameter(name, Some(description.to_owned()), false, schema);
    operation.parameters.push(ReferenceOr::Item(Parameter::Query {
        parameter_data,
        allow_reserved: false,
        style: QueryStyle::Form,
        allow_empty_value: None,
    }));
}

/// Documents the fields of a request type as query parameters; not as required where they may come in a body instead.
pub(crate) fn document_params<T: Input>(operation: &mut Operation, only_here: bool) {
    let shape = Shape::of::<T>();
    for (name, schema) in shape.fields().into_iter().flatten() {
        let description = schema.get("description").and_then(Value::as_str).map(str::to_owned);
        let parameter_data = parameter(name, description, only_here && shape.requires(name), schema.clone());
        operation.parameters.push(ReferenceOr::Item(Parameter::Query {
            parameter_data,
            allow_reserved: false,
            style: QueryStyle::Form,
            allow_empty_value: None,
        }));
    }
}

/// Documents a request type as a JSON body.
pub(crate) fn document_body<T: Input>(context: &mut GenContext, operation: &mut Operation, required: bool) {
    let schema = context.schema.subschema_for::<T>();
    operation.request_body = Some(ReferenceOr::Item(RequestBody {
        description: None,
        content: [("application/json".to_owned(), media(schema))].into_iter().collect(),
        required,
        extensions: Default::default(),
    }));
}

/// A JSON answer of a type.
pub(crate) fn documented_json<T: JsonSchema>(description: &str) -> Response {
    let content = [("application/json".to_owned(), media(schema_of_answer::<T>()))].into_iter().collect();
    Response { description: description.to_owned(), content, ..Response::default() }
}

/// An answer that goes on: each event's data is a timeline entry.
pub(crate) fn documented_stream() -> Response {
    let schema = schema_from(json!({ "type": "string" }));
    let content = [("text/event-stream".to_owned(), media(schema))].into_iter().collect();
    let description = "One event per timeline entry: its type, its JSON, and `epoch-position` as id.".to_owned();
    Response { description, content, ..Response::default() }
}

/// The answer also says where the log is.
pub(crate) fn documented_position(response: Response) -> Response {
    with_header(response, "X-Log-Position", "A position that covers everything the command did.", true)
}

/// The answer also says which past it is of.
pub(crate) fn documented_as_of(response: Response) -> Response {
    with_header(response, "X-As-Of-Position", "The last position that counts, if the answer is of the past.", false)
}

fn with_header(mut response: Response, name: &str, description: &str, required: bool) -> Response {
    let header = aide::openapi::Header {
        description: Some(description.to_owned()),
        style: HeaderStyle::Simple,
        required,
        deprecated: None,
        format: ParameterSchemaOrContent::Schema(object(schema_from(json!({ "type": "integer" })))),
        example: None,
        examples: Default::default(),
        extensions: Default::default(),
    };
    response.headers.insert(name.to_owned(), ReferenceOr::Item(header));
    response
}

fn error_response() -> Response {
    let schema = schema_from(json!({ "$ref": "#/components/schemas/Error" }));
    Response { content: [("application/json".to_owned(), media(schema))].into_iter().collect(), ..Response::default() }
}

/// Answers say what is always there, which is another schema than what may be left out of a request.
fn schema_of_answer<T: JsonSchema>() -> Schema {
    let settings = SchemaSettings::draft2020_12().for_serialize().with(|it| {
        it.inline_subschemas = true;
        it.meta_schema = None;
    });
    settings.into_generator().into_root_schema_for::<T>()
}

fn parameter(name: &str, description: Option<String>, required: bool, schema: Value) -> ParameterData {
    ParameterData {
        name: name.to_owned(),
        description,
        required,
        deprecated: None,
        format: ParameterSchemaOrContent::Schema(object(schema_from(schema))),
        example: None,
        examples: Default::default(),
        explode: None,
        extensions: Default::default(),
    }
}

fn media(schema: Schema) -> MediaType {
    MediaType { schema: Some(object(schema)), ..MediaType::default() }
}

fn object(json_schema: Schema) -> SchemaObject {
    SchemaObject { json_schema, external_docs: None, example: None }
}

fn schema_from(value: Value) -> Schema {
    Schema::try_from(value).expect("an object is a schema")
}
