//! A policy of scores in a file: read, checked and told in what it is otherwise than the default.

use std::path::Path;

use domain::scores::ScorePolicy;
use serde_json::Value;

use crate::cli::Failure;

/// The default, with a word about each number.
pub(super) const DEFAULT: &str = include_str!("policy.toml");

/// Reads a policy; one that cannot be used is refused with everything that is wrong about it.
pub(super) fn read(file: &Path) -> Result<ScorePolicy, Failure> {
    let wrong = |what: String| Failure::Setting(format!("{}: {what}", file.display()));
    let text = std::fs::read_to_string(file).map_err(|error| wrong(error.to_string()))?;
    parse(&text).map_err(wrong)
}

fn parse(text: &str) -> Result<ScorePolicy, String> {
    let policy: ScorePolicy = toml::from_str(text).map_err(|error| error.to_string().trim_end().to_owned())?;
    policy.check().map_err(|wrong| {
        let each: Vec<String> = wrong.iter().map(|it| format!("\n  {it}")).collect();
        format!("this policy makes no sense:{}", each.concat())
    })?;
    Ok(policy)
}

/// The numbers that are otherwise than the default: which, what they are by default, what they are.
pub(super) fn changed(policy: &ScorePolicy) -> Vec<(String, f64, f64)> {
    let numbers = |policy: &ScorePolicy| {
        let mut found = vec![];
        collect("", &serde_json::to_value(policy).unwrap_or_default(), &mut found);
        found
    };
    let pairs = numbers(&ScorePolicy::default()).into_iter().zip(numbers(policy));
    pairs
        .filter(|((_, default), (_, now))| default != now)
        .map(|((key, default), (_, now))| (key, default, now))
        .collect()
}

fn collect(key: &str, value: &Value, found: &mut Vec<(String, f64)>) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                let key = if key.is_empty() { name.clone() } else { format!("{key}.{name}") };
                collect(&key, value, found);
            }
        }
        other => found.extend(other.as_f64().map(|number| (key.to_owned(), number))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_printed_is_the_default_with_every_number() {
        assert_eq!(parse(DEFAULT), Ok(ScorePolicy::default()));
        let printed: Value = toml::from_str(DEFAULT).expect("TOML");
        assert_eq!(printed, serde_json::to_value(ScorePolicy::default()).expect("JSON"));
    }

    #[test]
    fn what_is_left_out_is_as_by_default() {
        let policy = parse("history = 5\n[probation]\nrejections = 2").expect("a policy");
        let expected = [("history".to_owned(), 10.0, 5.0), ("probation.rejections".to_owned(), 3.0, 2.0)];
        assert_eq!(changed(&policy), expected);
        assert_eq!(changed(&ScorePolicy::default()), []);
        assert_eq!(parse(""), Ok(ScorePolicy::default()));
    }

    #[test]
    fn a_policy_that_cannot_be_used_is_refused_with_the_reason() {
        for (text, says) in [
            ("[probation]\nrejection = 2", "unknown field `rejection`"),
            ("formula_version = 2", "unknown field `formula_version`"),
            ("history = \"ten\"", "line 1"),
            ("history = -1", "-1"),
            ("[base]\nquality = 50", "make 110 together, but must make 100"),
            ("[trend]\ntasks = -1", "trend.tasks is -1, but must be from 0 to 100"),
            ("initial_trust = nan", "initial_trust is NaN"),
            ("churn_days = inf", "line 1"),
            ("what?", "line 1"),
        ] {
            let error = parse(text).expect_err(text);
            assert!(error.contains(says), "{text}: {error}");
        }
    }
}
