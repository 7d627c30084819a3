//! The payload that every library stores: a log entry of about 300 bytes of JSON.

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Entry {
    kind: String,
    author: String,
    logged_at: String,
    minutes: u32,
    text: String,
}

impl Entry {
    pub(crate) fn sample() -> Self {
        Self {
            kind: "progress".into(),
            author: "0198f2a4-6c1e-7d35-9b1f-3c5d7e9f1a2b".into(),
            logged_at: "2026-01-15T10:30:00.000000Z".into(),
            minutes: fastrand::u32(10..99),
            text: "The parser now keeps the position of every token, so an error names its line and column; the two \
                   failing cases pass, and the next step is the final report page by noon."
                .into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Entry;

    #[test]
    fn an_entry_is_about_300_bytes_of_json() {
        let bytes = serde_json::to_string(&Entry::sample()).expect("plain data").len();
        assert!((295..=305).contains(&bytes), "{bytes}");
    }
}
