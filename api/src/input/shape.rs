//! Shapes: a request type's schema, compiled once, and the sentences for what does not fit it.

use std::any::TypeId;
use std::collections::HashMap;
use std::sync::{LazyLock, PoisonError, RwLock};

use jsonschema::error::{TypeKind, ValidationErrorKind};
use jsonschema::{ValidationError, Validator};
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema};
use serde_json::{Map, Value};

use crate::code::Code;
use crate::error::{ApiError, BadField};

/// Where a property's schema names the error code of its own: a map from the broken keyword to the code.
const OWN_CODES: &str = "x-codes";

/// What a request type allows.
pub(crate) struct Shape {
    schema: Value,
    validator: Validator,
}

impl Shape {
    /// The shape of a type; made on first use and kept for good.
    pub(crate) fn of<T: JsonSchema + 'static>() -> &'static Self {
        static SHAPES: LazyLock<RwLock<HashMap<TypeId, &'static Shape>>> = LazyLock::new(RwLock::default);
        let id = TypeId::of::<T>();
        if let Some(shape) = SHAPES.read().unwrap_or_else(PoisonError::into_inner).get(&id) {
            return shape;
        }
        let made = Self::compile::<T>();
        SHAPES.write().unwrap_or_else(PoisonError::into_inner).entry(id).or_insert_with(|| Box::leak(Box::new(made)))
    }

    fn compile<T: JsonSchema>() -> Self {
        let settings = SchemaSettings::draft2020_12().with(|it| it.inline_subschemas = true);
        let schema = settings.into_generator().into_root_schema_for::<T>().to_value();
        let validator =
            jsonschema::options().should_validate_formats(true).build(&schema).expect("a derived schema is a schema");
        Self { schema, validator }
    }

    /// The schema itself.
    pub(crate) fn schema(&self) -> &Value {
        &self.schema
    }

    /// The schemas of the fields, by name.
    pub(crate) fn fields(&self) -> Option<&Map<String, Value>> {
        self.schema.get("properties")?.as_object()
    }

    /// Whether a field must be given.
    pub(crate) fn requires(&self, field: &str) -> bool {
        self.schema["required"].as_array().is_some_and(|it| it.iter().any(|name| name == field))
    }

    /// Names every field that does not fit, or none.
    pub(crate) fn check(&self, value: &Value) -> Result<(), ApiError> {
        // Nearly every request is good, and to find that out takes a tenth of the time of naming what is bad.
        if self.validator.is_valid(value) && !has_nul(value) {
            return Ok(());
        }
        let errors: Vec<ValidationError<'_>> = self.validator.iter_errors(value).collect();
        let mut bad: Vec<BadField> = errors.iter().flat_map(bad_fields).collect();
        // PostgreSQL keeps no NUL in text, so neither store does.
        find_nuls(value, &mut String::new(), &mut bad);
        let Some(first) = bad.first().cloned() else { return Ok(()) };
        let alone = bad.iter().all(|it| it.field == first.field);
        let own_codes: Option<Vec<Code>> = errors.iter().map(|error| self.own_code(error)).collect();
        match own_codes.as_deref() {
            Some([code, ..]) if alone => {
                Err(ApiError::bad_fields(*code, &format!("{} {}", first.field, first.message), bad))
            }
            _ => Err(ApiError::validation(bad)),
        }
    }

    /// The code that a field has for the way in which it is wrong.
    fn own_code(&self, error: &ValidationError<'_>) -> Option<Code> {
        let field = error.instance_path().as_str().strip_prefix('/')?;
        let text = self.fields()?.get(field)?.get(OWN_CODES)?.get(error.kind().keyword())?.as_str()?;
        Code::ALL.iter().copied().find(|code| code.text() == text)
    }
}

fn bad_fields(error: &ValidationError<'_>) -> Vec<BadField> {
    let path = dotted(error.instance_path().as_str());
    let within = |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
    match error.kind() {
        ValidationErrorKind::Required { property } => {
            vec![BadField::new(within(property.as_str().unwrap_or_default()), "is required")]
        }
        ValidationErrorKind::AdditionalProperties { unexpected } => {
            unexpected.iter().map(|name| BadField::new(within(name), "is not a known field")).collect()
        }
        _ => vec![BadField::new(if path.is_empty() { "body".to_owned() } else { path }, complaint(error))],
    }
}

/// What is wrong, without repeating the value: it may be a password.
fn complaint(error: &ValidationError<'_>) -> String {
    match error.kind() {
        ValidationErrorKind::Type { kind } => format!("must be {}", expected_type(kind)),
        ValidationErrorKind::Enum { options } => format!("must be one of {}", list(options)),
        ValidationErrorKind::Format { format } => format!("must be {}", expected_format(format)),
        ValidationErrorKind::MinLength { limit: 1 } => "must not be empty".to_owned(),
        ValidationErrorKind::MinLength { limit } => format!("must have at least {limit} characters"),
        ValidationErrorKind::MaxLength { limit } => format!("must have at most {limit} characters"),
        ValidationErrorKind::Minimum { limit } => format!("must be at least {limit}"),
        ValidationErrorKind::Maximum { limit } => format!("must be at most {limit}"),
        ValidationErrorKind::MaxItems { limit } => format!("must have at most {limit} items"),
        ValidationErrorKind::Pattern { pattern } => format!("must match {pattern}"),
        _ => error.masked().to_string(),
    }
}

fn expected_type(kind: &TypeKind) -> String {
    match kind {
        TypeKind::Single(one) => match one.to_string().as_str() {
            "integer" => "a whole number".to_owned(),
            "boolean" => "true or false".to_owned(),
            "array" => "a list".to_owned(),
            "object" => "an object".to_owned(),
            other => format!("a {other}"),
        },
        TypeKind::Multiple(many) => {
            many.iter().map(|one| expected_type(&TypeKind::Single(one))).collect::<Vec<_>>().join(" or ")
        }
    }
}

fn expected_format(format: &str) -> &str {
    match format {
        "uuid" => "a UUID",
        "email" => "an e-mail address",
        "uri" => "an absolute URL",
        "date-time" => "an RFC 3339 time",
        other => other,
    }
}

fn list(options: &Value) -> String {
    let options = options.as_array().map(Vec::as_slice).unwrap_or_default();
    options.iter().map(|it| it.as_str().map_or_else(|| it.to_string(), str::to_owned)).collect::<Vec<_>>().join(", ")
}

/// `/settings/a~1b` as `settings.a/b`.
fn dotted(pointer: &str) -> String {
    let parts = pointer.split('/').skip(1).map(|part| part.replace("~1", "/").replace("~0", "~"));
    parts.collect::<Vec<_>>().join(".")
}

fn has_nul(value: &Value) -> bool {
    match value {
        Value::String(text) => text.contains('\0'),
        Value::Array(items) => items.iter().any(has_nul),
        Value::Object(map) => map.iter().any(|(name, inner)| name.contains('\0') || has_nul(inner)),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

fn find_nuls(value: &Value, path: &mut String, bad: &mut Vec<BadField>) {
    const COMPLAINT: &str = "must not contain the character NUL";
    let mut within = |name: &str, inner: &Value| {
        let length = path.len();
        if !path.is_empty() {
            path.push('.');
        }
        path.push_str(name);
        if name.contains('\0') {
            bad.push(BadField::new(path.replace('\0', "\u{fffd}"), COMPLAINT));
        }
        find_nuls(inner, path, bad);
        path.truncate(length);
    };
    match value {
        Value::String(text) if text.contains('\0') => bad.push(BadField::new(path.as_str(), COMPLAINT)),
        Value::Array(items) => items.iter().enumerate().for_each(|(at, inner)| within(&at.to_string(), inner)),
        Value::Object(map) => map.iter().for_each(|(name, inner)| within(name, inner)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// For request types: a field that need not be given still must not be null, because null would promise to clear it.
pub(crate) fn without_nulls(schema: &mut Schema) {
    let Some(Value::Object(fields)) = schema.get_mut("properties") else { return };
    for field in fields.values_mut().filter_map(Value::as_object_mut) {
        if let Some(Value::Array(types)) = field.get_mut("type") {
            types.retain(|it| it != "null");
            if let [only] = types.as_slice() {
                let only = only.clone();
                field.insert("type".to_owned(), only);
            }
        }
        if let Some(Value::Array(options)) = field.get_mut("enum") {
            options.retain(|it| !it.is_null());
        }
        if field.get("default").is_some_and(Value::is_null) {
            field.remove("default");
        }
    }
}

#[cfg(test)]
mod tests {
    use axum::response::IntoResponse;
    use serde::Deserialize;
    use serde_json::json;

    use super::*;

    #[derive(Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields, rename_all = "camelCase")]
    #[schemars(transform = without_nulls)]
    #[allow(dead_code, reason = "only its schema is looked at")]
    struct Parcel {
        id: uuid::Uuid,
        #[schemars(length(min = 2, max = 4), extend("x-codes" = {"minLength": "AUTH_WEAK_PASSWORD"}))]
        label: String,
        weight: Option<u32>,
        extra: Option<Map<String, Value>>,
    }

    fn complaints(value: Value) -> Vec<(String, String)> {
        let error = Shape::of::<Parcel>().check(&value).expect_err("a bad parcel");
        let body = format!("{error:?}");
        let details = body_of(error)["error"]["details"].clone();
        let fields = details.as_array().unwrap_or_else(|| panic!("no details in {body}"));
        fields
            .iter()
            .map(|it| {
                (it["field"].as_str().expect("a name").to_owned(), it["message"].as_str().expect("a text").to_owned())
            })
            .collect()
    }

    fn body_of(error: ApiError) -> Value {
        let body = error.into_response().into_body();
        let bytes = futures_util::FutureExt::now_or_never(axum::body::to_bytes(body, usize::MAX));
        serde_json::from_slice(&bytes.expect("a body in memory").expect("a body")).expect("JSON")
    }

    fn id() -> &'static str {
        "0198c5a0-0000-7000-8000-000000000001"
    }

    #[test]
    fn every_bad_field_is_named_at_once() {
        let bad = complaints(json!({"id": "no", "label": "12345", "weight": 1.5, "colour": 1, "extra": {"a": "\0"}}));
        let fields: Vec<&str> = bad.iter().map(|(field, _)| field.as_str()).collect();
        for field in ["id", "label", "weight", "colour", "extra.a"] {
            assert!(fields.contains(&field), "{field} in {bad:?}");
        }
        assert_eq!(bad.len(), 5);
    }

    #[test]
    fn what_is_missing_is_named() {
        assert_eq!(complaints(json!({"id": id()})), [("label".to_owned(), "is required".to_owned())]);
    }

    #[test]
    fn null_is_not_the_same_as_not_given() {
        let parcel = json!({"id": id(), "label": "ab", "weight": null});
        assert_eq!(complaints(parcel), [("weight".to_owned(), "must be a whole number".to_owned())]);
    }

    #[test]
    fn a_field_that_is_alone_in_being_wrong_may_have_its_own_code() {
        let code = |value| body_of(Shape::of::<Parcel>().check(&value).expect_err("bad"))["error"]["code"].clone();
        assert_eq!(code(json!({"id": id(), "label": "a"})), "AUTH_WEAK_PASSWORD");
        assert_eq!(code(json!({"id": id(), "label": "abcde"})), "VALIDATION_ERROR");
        assert_eq!(code(json!({"id": "x", "label": "a"})), "VALIDATION_ERROR");
    }

    #[test]
    fn only_a_plain_hyphenated_uuid_is_an_id() {
        for odd in [
            "{0198c5a0-0000-7000-8000-000000000001}",
            "urn:uuid:0198c5a0-0000-7000-8000-000000000001",
            "0198c5a000007000800000000000001a",
        ] {
            assert_eq!(complaints(json!({"id": odd, "label": "ab"})), [("id".to_owned(), "must be a UUID".to_owned())]);
        }
        assert!(Shape::of::<Parcel>().check(&json!({"id": id().to_uppercase(), "label": "ab"})).is_ok());
    }
}
