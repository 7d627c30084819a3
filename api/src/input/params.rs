//! Query strings: texts that become what the schema says they are.

use axum::extract::Query;
use axum::http::Uri;
use serde_json::{Map, Value};

use super::{Input, Shape};
use crate::error::{ApiError, BadField};

/// The moment in the past that a query is asked of.
pub(super) const AS_OF: &str = "asOf";

/// The query string as a request type; every bad parameter is named at once.
pub(crate) fn read_params<T: Input>(uri: &Uri) -> Result<T, ApiError> {
    match read_params_as_of(uri)? {
        (input, None) => Ok(input),
        (_, Some(_)) => Err(ApiError::validation(vec![BadField::new(AS_OF, "cannot be asked of this route")])),
    }
}

/// The same, beside the moment that the query is asked of.
pub(super) fn read_params_as_of<T: Input>(uri: &Uri) -> Result<(T, Option<String>), ApiError> {
    let (value, as_of) = values::<T>(uri)?;
    Ok((super::read(value)?, as_of))
}

/// The query string as the JSON that the schema of `T` asks for.
pub(super) fn params_value<T: Input>(uri: &Uri) -> Result<Value, ApiError> {
    match values::<T>(uri)? {
        (value, None) => Ok(value),
        (_, Some(_)) => Err(ApiError::validation(vec![BadField::new(AS_OF, "is for queries")])),
    }
}

fn values<T: Input>(uri: &Uri) -> Result<(Value, Option<String>), ApiError> {
    let pairs = Query::<Vec<(String, String)>>::try_from_uri(uri)
        .map_err(|e| ApiError::validation(vec![BadField::new("query", e.to_string())]))?;
    let shape = Shape::of::<T>();
    let mut value = Map::new();
    let (mut repeated, mut as_of) = (Vec::new(), None);
    for (name, text) in pairs.0 {
        if name == AS_OF {
            if as_of.replace(text).is_some() {
                repeated.push(BadField::new(name, "must be given once"));
            }
            continue;
        }
        let field = shape.fields().and_then(|fields| fields.get(&name));
        if is_list(field) {
            let item = coerce(field.and_then(|it| it.get("items")), text);
            if let Value::Array(items) = value.entry(name).or_insert_with(|| Value::Array(Vec::new())) {
                items.push(item);
            }
        } else if value.contains_key(&name) {
            repeated.push(BadField::new(name, "must be given once"));
        } else {
            value.insert(name, coerce(field, text));
        }
    }
    if repeated.is_empty() { Ok((Value::Object(value), as_of)) } else { Err(ApiError::validation(repeated)) }
}

fn is_list(field: Option<&Value>) -> bool {
    field.and_then(|it| it.get("type")).is_some_and(|it| it == "array")
}

/// What cannot become what is asked for stays a text, and the schema says what is wrong with it.
fn coerce(field: Option<&Value>, text: String) -> Value {
    let parsed = match field.and_then(|it| it.get("type")).and_then(Value::as_str) {
        Some("integer") => text.parse::<i64>().ok().map(Value::from),
        Some("number") => text.parse::<f64>().ok().map(Value::from),
        Some("boolean") => text.parse::<bool>().ok().map(Value::from),
        _ => None,
    };
    parsed.unwrap_or(Value::String(text))
}

#[cfg(test)]
mod tests {
    use schemars::JsonSchema;
    use serde::Deserialize;

    use super::*;
    use crate::input::without_nulls;

    #[derive(Debug, PartialEq, Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields)]
    #[schemars(transform = without_nulls)]
    struct Wanted {
        #[serde(default)]
        all: bool,
        #[schemars(range(min = 1, max = 100))]
        limit: Option<i64>,
        #[serde(default)]
        tags: Vec<String>,
    }

    fn read(query: &str) -> Result<Wanted, ApiError> {
        read_params(&format!("/x?{query}").parse().expect("a URI"))
    }

    #[test]
    fn texts_become_what_the_schema_asks_for() {
        let wanted = Wanted { all: true, limit: Some(7), tags: vec!["a b".to_owned(), "c".to_owned()] };
        assert_eq!(read("all=true&limit=7&tags=a%20b&tags=c").expect("good"), wanted);
        assert_eq!(read("").expect("good"), Wanted { all: false, limit: None, tags: vec![] });
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        for bad in ["all=maybe", "limit=many", "limit=0", "limit=101", "limit=1&limit=2", "unknown=1", "limit="] {
            assert!(read(bad).is_err(), "{bad}");
        }
    }
}
