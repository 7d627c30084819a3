//! Passwords in URLs, of which there may be several in one word.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::{Captures, Regex};

use super::REDACTED;

/// What has no blank in it may be a URL, or many.
const WORD: &str = r"\S*://\S*@";
/// Where a password may begin. A quote belongs to a user's name only in the middle of it.
const USER: &str = r#"[A-Za-z][A-Za-z0-9+.-]{1,20}://(?:[^\s/?#:@"'<>]|'[A-Za-z0-9]){0,256}:"#;
const SCHEME: &str = "[A-Za-z][A-Za-z0-9+.-]{1,20}://";
/// What no URL has in it, or what ends one where it is quoted.
const QUOTES: [char; 4] = ['"', '\'', '<', '>'];

static WORDS: LazyLock<Regex> = LazyLock::new(|| Regex::new(WORD).expect("a pattern"));
static USERS: LazyLock<Regex> = LazyLock::new(|| Regex::new(USER).expect("a pattern"));
static SCHEMES: LazyLock<Regex> = LazyLock::new(|| Regex::new(SCHEME).expect("a pattern"));

/// A text with the password of every URL in it replaced.
pub(super) fn replace_all(text: &str) -> Cow<'_, str> {
    WORDS.replace_all(text, |found: &Captures<'_>| without_passwords(&found[0]))
}

/// The same for a word, which ends with its last `@`: behind that there is no password.
fn without_passwords(word: &str) -> String {
    let mut left = String::with_capacity(word.len());
    let mut at = 0;
    while let Some(user) = USERS.find_at(word, at) {
        left.push_str(&word[at..user.end()]);
        at = user.end();
        if let Some(end) = end_of_password(&word[at..]) {
            left.push_str(REDACTED);
            at += end;
        }
    }
    left.push_str(&word[at..]);
    left
}

/// Where the password ends that what follows a user's name and a colon begins with; none if it is a port.
///
/// A password may have any character in it, though it should not. So it ends at the last `@` before the host's end, or
/// at the very last one where there is none. What comes behind the next scheme, or behind a quote after an `@`, is not
/// this URL's.
fn end_of_password(rest: &str) -> Option<usize> {
    let next = SCHEMES.find(rest).map_or(rest.len(), |it| it.start());
    let has_at = rest[..next].contains('@');
    if begins_with_port(rest, has_at) {
        return None;
    }
    let own = if has_at { &rest[..next] } else { rest };
    let first = own.find('@')?;
    let own = own[first..].find(QUOTES).map_or(own, |quote| &own[..first + quote]);
    let host = own.find(['/', '?', '#']).and_then(|slash| own[..slash].rfind('@').filter(|at| at + 1 < slash));
    host.or_else(|| own.rfind('@'))
}

/// Whether a port stands here. Of what has its own `@` behind it only what ends a port for certain is believed.
fn begins_with_port(rest: &str, has_at: bool) -> bool {
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let mut behind = rest[digits..].chars();
    (1..=5).contains(&digits)
        && match behind.next() {
            Some('/' | '?' | '#') => true,
            Some(it) if QUOTES.contains(&it) => !behind.next().is_some_and(char::is_alphanumeric),
            Some(it) => !has_at && !it.is_alphanumeric(),
            None => true,
        }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_url_of_a_word_loses_its_password() {
        for (given, left) in [
            ("amqp://u:p1@h1/,amqp://u:p2@h2/", "amqp://u:[redacted]@h1/,amqp://u:[redacted]@h2/"),
            ("amqp://u:p1@h1,amqp://u:p2@h2", "amqp://u:[redacted]@h1,amqp://u:[redacted]@h2"),
            ("https://u:p@h/?next=https://v:q@o/", "https://u:[redacted]@h/?next=https://v:[redacted]@o/"),
            ("http://h:8080/?next=https://v:q@o/", "http://h:8080/?next=https://v:[redacted]@o/"),
            ("http://h:3000,https://v:q@o", "http://h:3000,https://v:[redacted]@o"),
            ("http://h:3000;https://v:1234@o", "http://h:3000;https://v:[redacted]@o"),
            ("mongodb://u:p@h1:27017,h2:27017/a@b", "mongodb://u:[redacted]@h1:27017,h2:27017/a@b"),
            (r#"["https://u:p@h","https://v:q@o"]"#, r#"["https://u:[redacted]@h","https://v:[redacted]@o"]"#),
        ] {
            assert_eq!(replace_all(given), left);
            assert_eq!(replace_all(left), left, "what was taken out once stays out, and nothing more");
        }
    }

    #[test]
    fn a_password_may_have_quotes_in_it_and_a_url_may_stand_in_them() {
        for (given, left) in [
            ("postgres://ada:it's@db", "postgres://ada:[redacted]@db"),
            ("postgres://ada:a\"b<c@db/log", "postgres://ada:[redacted]@db/log"),
            ("postgres://ada:12'34@db", "postgres://ada:[redacted]@db"),
            ("postgres://o'brien:pw@db", "postgres://o'brien:[redacted]@db"),
            ("postgres://ada:a://b@db", "postgres://ada:[redacted]@db"),
            (r#"{"url":"https://u:p@h","to":"me@x"}"#, r#"{"url":"https://u:[redacted]@h","to":"me@x"}"#),
            (
                r#"{\"url\":\"https://u:p@h\",\"to\":\"me@x\"}"#,
                r#"{\"url\":\"https://u:[redacted]@h\",\"to\":\"me@x\"}"#,
            ),
            ("['https://u:p@h','me@x']", "['https://u:[redacted]@h','me@x']"),
            ("<https://u:p@h>,<me@x>", "<https://u:[redacted]@h>,<me@x>"),
        ] {
            assert_eq!(replace_all(given), left);
            assert_eq!(replace_all(left), left, "what was taken out once stays out, and nothing more");
        }
    }

    #[test]
    fn a_port_is_no_password() {
        for kept in [
            "http://localhost:4873/@scope/pkg",
            "https://host:8080?to=a@b",
            "['http://localhost:3000','me@x.org']",
            r#"{"url":"http://localhost:3000","to":"me@x.org"}"#,
            r#"{"url":"https://host","at":"12:30","to":"me@x.org"}"#,
            "{'url':'https://host','to':'me@x.org'}",
            "<http://localhost:3000>,<me@x.org>",
        ] {
            assert_eq!(replace_all(kept), kept);
        }
    }

    #[test]
    fn a_long_word_of_urls_is_read_in_one_go() {
        for piece in ["ab://c:", "ab://c:1/", "ab://c:d@", "ab://c:'"] {
            let word = format!("{}@h", piece.repeat(100_000));
            assert!(replace_all(&word).ends_with("@h"), "{piece}");
        }
    }
}
