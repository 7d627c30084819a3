//! What comes in: one schema per request type says what is allowed, checks it, and documents it.
//!
//! A request type derives `JsonSchema` with its limits. [`Shape`] compiles that schema once and lists every bad field of
//! a value at once; `body.rs` and `params.rs` turn a JSON body and a query string into such a value. The same schema
//! goes into the OpenAPI document, so what is documented is what is checked.

mod ask;
mod body;
mod headers;
mod look;
mod look_back;
mod params;
mod shape;

pub(crate) use ask::{Ask, AskByQuery};
pub(crate) use body::{read_bytes, read_json};
pub(crate) use headers::visible;
pub(crate) use look::Look;
pub(crate) use look_back::LookBack;
pub(crate) use params::read_params;
pub(crate) use shape::{Shape, without_nulls};

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::error::{ApiError, BadField};

/// A type that a request can be read into.
pub(crate) trait Input: DeserializeOwned + JsonSchema + Send + 'static {}
impl<T: DeserializeOwned + JsonSchema + Send + 'static> Input for T {}

/// The value as the request type, if it is one.
pub(crate) fn read<T: Input>(value: Value) -> Result<T, ApiError> {
    Shape::of::<T>().check(&value)?;
    // Whatever the schema lets through and serde does not is a gap in the schema; the client still gets an answer.
    serde_json::from_value(value).map_err(|e| ApiError::validation(vec![BadField::new("body", e.to_string())]))
}

/// The value with its keys in order, so that the same request always reads the same.
pub(crate) fn canonical(value: &Value) -> String {
    match value {
        Value::Object(map) => {
            let mut entries: Vec<_> = map.iter().collect();
            entries.sort_by_key(|(key, _)| *key);
            let entries: Vec<String> = entries
                .into_iter()
                .map(|(key, value)| format!("{}:{}", Value::from(key.as_str()), canonical(value)))
                .collect();
            format!("{{{}}}", entries.join(","))
        }
        Value::Array(items) => format!("[{}]", items.iter().map(canonical).collect::<Vec<_>>().join(",")),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_order_of_keys_does_not_tell_requests_apart() {
        let one: Value = serde_json::from_str(r#"{"b":[1,{"y":2,"x":"\"q\""}],"a":null}"#).expect("JSON");
        let two = json!({"a": null, "b": [1, {"x": "\"q\"", "y": 2}]});
        assert_eq!(canonical(&one), canonical(&two));
        assert_eq!(canonical(&one), r#"{"a":null,"b":[1,{"x":"\"q\"","y":2}]}"#);
    }
}
