//! The header that authorizes, where it or its value stands in quotes.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::Regex;

use super::REDACTED;

/// The header, and the schemes that may be told.
pub(super) const HEADER: &str = r"(?:[\w-]*-)?authorization";
pub(super) const SCHEME: &str = "(?:bearer|basic|token|digest|apikey|negotiate)";

/// Up to where the value begins: the quote is the value's, or that of the whole header. It may be escaped, however often.
const BEGIN: &str =
    r#"(?i)(?:{header}\\*["']?\s*[:=]\s*(?<value>\\*["'])|(?<whole>\\*["']){header}\s*[:=]\s*)(?:{scheme}\s+)?"#;

static COMPILED: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(&BEGIN.replace("{header}", HEADER).replace("{scheme}", SCHEME)).expect("a pattern"));

/// A text with what every such header says replaced, whatever its scheme: to the quote that ends it, or to the end of
/// the line.
pub(super) fn replace_all(text: Cow<'_, str>) -> Cow<'_, str> {
    if !COMPILED.is_match(&text) {
        return text;
    }
    let mut left = String::with_capacity(text.len());
    let mut at = 0;
    while let Some(found) = COMPILED.captures_at(&text, at) {
        let begin = found.get_match().end();
        let open = found.name("value").or(found.name("whole")).map_or("", |it| it.as_str());
        left.push_str(&text[at..begin]);
        at = begin + end_of_quoted(&text[begin..], open);
        if at > begin {
            left.push_str(REDACTED);
        }
    }
    left.push_str(&text[at..]);
    Cow::Owned(left)
}

/// Where a text ends that began with a quote: at the same one, if it is not escaped more often than that was.
fn end_of_quoted(text: &str, open: &str) -> usize {
    let (escapes, quote) = open.split_at(open.len().saturating_sub(1));
    let mut backslashes = 0;
    for (at, it) in text.bytes().enumerate() {
        match it {
            b'\r' | b'\n' => return at,
            b'\\' => backslashes += 1,
            _ if quote.as_bytes() == [it] && backslashes <= escapes.len() => return at - backslashes,
            _ => backslashes = 0,
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_goes_to_the_quote_that_ends_it_not_to_one_that_is_escaped() {
        for (given, left) in [
            (r#"-H "Authorization: Hawk id=\"x\", mac=\"y\"" url"#, r#"-H "Authorization: [redacted]" url"#),
            (r#"{"authorization":"Hawk id=\"x\", mac=\"y\"","id":7}"#, r#"{"authorization":"[redacted]","id":7}"#),
            (
                r#"{\"authorization\":\"Hawk id=\\\"x\\\", mac=\\\"y\\\"\",\"id\":7}"#,
                r#"{\"authorization\":\"[redacted]\",\"id\":7}"#,
            ),
            (r#"\"Authorization: Hawk id=\\\"x\\\", mac=\\\"y\\\"\" url"#, r#"\"Authorization: [redacted]\" url"#),
            (r"-H 'Authorization: Own it\'s' url", "-H 'Authorization: [redacted]' url"),
            (r#""authorization": "", "id": 7"#, r#""authorization": "", "id": 7"#),
            ("\"Authorization: Own abc\nAccept: x", "\"Authorization: [redacted]\nAccept: x"),
        ] {
            assert_eq!(replace_all(given.into()), left);
            assert_eq!(replace_all(left.into()), left, "what was taken out once stays out, and nothing more");
        }
    }
}
