//! The forms that give secrets away.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::{Captures, Regex};

use super::headers::{self, HEADER, SCHEME};
use super::{REDACTED, urls};

/// Names that come before a secret in text. `pass` is too common a word to be one by itself: it must belong to something.
const NAMED: &str = r"\b[A-Za-z0-9_.-]*(?:password|passwd|passphrase|pwd|secret|token|api[_-]?key|access[_-]?key|private[_-]?key|agent[_-]?key|credentials?|_pass|(?:db|user|smtp|ftp|admin|root|mysql|pg|redis)-?pass|(?-i:[a-z0-9]Pass))";

/// What gives a secret away.
#[derive(Clone, Copy, PartialEq, Eq)]
enum By {
    /// How it looks: nothing else looks so.
    Itself,
    /// What stands before it. Talk about code has the same words in it: `token: Token`.
    Words,
}
use By::{Itself, Words};

/// A form, what gives it away, and how it looks. What its groups `keep` and `also` match stays, everything else of it
/// goes; `{named}`, `{header}` and `{scheme}` are what they are called after.
///
/// The order matters: blocks and headers first, so that nothing of them is left for a narrower form.
const FORMS: &[(&str, By, &str)] = &[
    (
        "a private key in PEM",
        Itself,
        r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----[\s\S]*?(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|\z)",
    ),
    ("a key of age", Itself, r"AGE-SECRET-KEY-1[A-Z0-9]{20,}"),
    // Those in quotes are gone by then.
    (
        "an Authorization header",
        Words,
        r#"(?im)(?<keep>(?:^|[^"'\w-]){header}\s*[:=]\s*(?:{scheme}\s+)?)[^\s"'\\][^\r\n]*"#,
    ),
    ("a bearer token", Words, r"(?i)(?<keep>\bbearer\s+)[A-Za-z0-9._~+/=-]{12,}"),
    ("a cookie", Words, r"(?i)(?<keep>\b(?:set-)?cookie\s*:\s*)[^\r\n]+"),
    ("a token as the user of a URL", Itself, r"(?<keep>https?://)[A-Za-z0-9_-]{20,}(?<also>@)"),
    ("a key of a Muster agent", Itself, r"\baf_agent_[A-Za-z0-9_-]{16,}"),
    ("a key of Anthropic, OpenAI and others", Itself, r"\bsk-[A-Za-z0-9_-]{16,}"),
    ("a key of Stripe", Itself, r"\b(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{10,}"),
    ("a webhook secret", Itself, r"\bwhsec_[A-Za-z0-9+/=]{16,}"),
    ("a token of GitHub", Itself, r"\b(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,})"),
    ("a token of GitLab", Itself, r"\bgl(?:pat|ptt|dt|rt|soat|cbt|ft)-[A-Za-z0-9_-]{16,}"),
    ("a token of Slack", Itself, r"\bx(?:ox[abeoprs]|app)-[A-Za-z0-9-]{10,}"),
    (
        "a webhook of Slack or Discord",
        Itself,
        r"(?<keep>https://(?:hooks\.slack\.com/(?:services|workflows)|(?:ptb\.|canary\.)?discord(?:app)?\.com/api/webhooks)/)[A-Za-z0-9/_-]+",
    ),
    ("a key of AWS", Itself, r"\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}\b"),
    ("a key of Google", Itself, r"\bAIza[A-Za-z0-9_-]{35}"),
    ("a token of Google", Itself, r"\bya29\.[A-Za-z0-9_-]{20,}"),
    ("a token of npm", Itself, r"\bnpm_[A-Za-z0-9]{30,}"),
    ("a token of PyPI", Itself, r"\bpypi-[A-Za-z0-9_-]{30,}"),
    ("a token of Hugging Face", Itself, r"\bhf_[A-Za-z0-9]{30,}"),
    ("a token of DigitalOcean", Itself, r"\bdo[opr]_v1_[a-f0-9]{40,}"),
    ("a token of Docker", Itself, r"\bdckr_(?:pat|oat)_[A-Za-z0-9_-]{20,}"),
    ("a key of SendGrid", Itself, r"\bSG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}"),
    ("a key of Twilio", Itself, r"\bSK[a-f0-9]{32}\b"),
    ("a JSON web token", Itself, r"\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*"),
    (
        "a named secret in JSON that is a string itself",
        Words,
        r#"(?i)(?<keep>(?:{named})\\+["']\s*[=:]\s*\\+["'])[^"'\\]*(?:\\+[^"'\\][^"'\\]*)*(?<also>\\+["']|\z)"#,
    ),
    (
        "a named secret in double quotes",
        Words,
        r#"(?i)(?<keep>(?:{named})["']?\s*(?:=>|:=|[=:])\s*")(?:[^"\\\r\n]|\\.)+(?<also>")"#,
    ),
    (
        "a named secret in single quotes",
        Words,
        r#"(?i)(?<keep>(?:{named})["']?\s*(?:=>|:=|[=:])\s*')(?:[^'\\\r\n]|\\.)+(?<also>')"#,
    ),
    (
        "a secret with its name before it",
        Words,
        r#"(?i)(?<keep>(?:{named})["']?\s*(?:=>|:=|[=:])\s*["']?)(?:[^\s"',;&]*[^\s"',;&.])"#,
    ),
    (
        "a secret in an option",
        Words,
        r#"(?i)(?<keep>--(?:password|passwd|pass|token|secret|api-key)\s+)(?:"[^"\r\n]*"|'[^'\r\n]*'|[^\s"']+)"#,
    ),
];

/// Names that only secrets have, without case, `-`, `_`, `.` and blanks.
const NAMES: &[&str] = &[
    "signingkey",
    "encryptionkey",
    "authorization",
    "proxyauthorization",
    "cookie",
    "setcookie",
    "sessionid",
    "connectionstring",
];
/// Such names that also end others: `token`, `githubToken`, `DB_PASSWORD`.
const ENDINGS: &[&str] = &[
    "password",
    "passwd",
    "passphrase",
    "pwd",
    "secret",
    "token",
    "apikey",
    "accesskey",
    "secretkey",
    "privatekey",
    "agentkey",
    "credential",
    "credentials",
];

static COMPILED: LazyLock<Vec<(By, Regex)>> = LazyLock::new(|| {
    let compile = |(name, by, form): &(&str, By, &str)| {
        let form = form.replace("{named}", NAMED).replace("{header}", HEADER).replace("{scheme}", SCHEME);
        (*by, Regex::new(&form).unwrap_or_else(|e| panic!("{name}: {e}")))
    };
    FORMS.iter().map(compile).collect()
});

/// A text with every form in it replaced.
pub(super) fn replace_all(text: &str) -> String {
    replace(headers::replace_all(urls::replace_all(text)), |_| true)
}

/// A text with only those forms in it replaced that give themselves away.
pub(super) fn replace_unmistakable(text: &str) -> String {
    replace(urls::replace_all(text), |by| by == Itself)
}

fn replace(mut left: Cow<'_, str>, is_meant: impl Fn(By) -> bool) -> String {
    for (_, form) in COMPILED.iter().filter(|(by, _)| is_meant(*by)) {
        let replaced = form.replace_all(&left, |found: &Captures<'_>| {
            let part = |name| found.name(name).map_or("", |it| it.as_str());
            format!("{}{REDACTED}{}", part("keep"), part("also"))
        });
        if let Cow::Owned(replaced) = replaced {
            left = Cow::Owned(replaced);
        }
    }
    left.into_owned()
}

/// Whether a text under this name may be a secret: `dbPass`, `SMTP_PASS`. A number is rather a count of tests.
pub(super) fn may_name_a_secret(name: &str) -> bool {
    let plain = name.to_ascii_lowercase();
    let Some(before) = plain.strip_suffix("pass") else { return false };
    let begins_a_word = name.as_bytes().get(before.len()).is_some_and(u8::is_ascii_uppercase)
        && name.as_bytes().get(before.len().wrapping_sub(1)).is_some_and(u8::is_ascii_lowercase);
    before.is_empty() || before.ends_with(|it: char| !it.is_ascii_alphanumeric()) || begins_a_word
}

/// Whether whatever stands under this name is a secret.
pub(super) fn names_a_secret(name: &str) -> bool {
    let plain: String = name.chars().filter(char::is_ascii_alphanumeric).map(|it| it.to_ascii_lowercase()).collect();
    NAMES.contains(&plain.as_str()) || ENDINGS.iter().any(|it| plain.ends_with(it))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn random(length: usize) -> String {
        "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8".chars().cycle().take(length).collect()
    }

    #[test]
    fn every_form_is_found_in_the_middle_of_a_text() {
        let secrets = [
            format!("-----BEGIN OPENSSH PRIVATE KEY-----\n{}\n-----END OPENSSH PRIVATE KEY-----", random(60)),
            format!("AGE-SECRET-KEY-1{}", random(40).to_uppercase()),
            format!("af_agent_0199a0b0-0000-7000-8000-000000000001_dev-1_{}", random(32)),
            format!("sk-ant-api03-{}", random(40)),
            format!("sk_live_{}", random(24)),
            format!("whsec_{}", random(32)),
            format!("ghp_{}", random(36)),
            format!("github_pat_{}", random(60)),
            format!("glpat-{}", random(20)),
            format!("xoxb-1234567890-{}", random(24)),
            "AKIAIOSFODNN7EXAMPLE".to_owned(),
            format!("AIza{}", random(35)),
            format!("ya29.{}", random(40)),
            format!("npm_{}", random(36)),
            format!("pypi-{}", random(60)),
            format!("hf_{}", random(34)),
            format!("dop_v1_{}", "0a1b".repeat(16)),
            format!("dckr_pat_{}", random(27)),
            format!("SG.{}.{}", random(22), random(43)),
            format!("SK{}", "0a".repeat(16)),
            format!("eyJhbGciOiJI.{}.{}", random(40), random(40)),
        ];
        for secret in secrets {
            let (text, left) = (format!("before {secret} "), format!("before {REDACTED} "));
            assert_eq!((replace_all(&text), replace_unmistakable(&text)), (left.clone(), left), "{secret}");
        }
    }

    #[test]
    fn a_private_key_that_was_cut_off_is_gone_to_its_end() {
        let cut = format!("before -----BEGIN RSA PRIVATE KEY-----\n{}\n", random(60));
        assert_eq!(replace_all(&cut), format!("before {REDACTED}"));
    }

    #[test]
    fn of_what_stands_around_a_secret_everything_is_kept() {
        for (given, left) in [
            ("postgres://muster:hunter2@db:5432/log", "postgres://muster:[redacted]@db:5432/log"),
            ("git clone https://oauth2:abc@gitlab.com/a/b", "git clone https://oauth2:[redacted]@gitlab.com/a/b"),
            ("Authorization: Bearer abc.def\nAccept: */*", "Authorization: Bearer [redacted]\nAccept: */*"),
            (r#"-H "authorization: Basic dXNlcjpwYXNz""#, r#"-H "authorization: Basic [redacted]""#),
            ("Authorization: Negotiate YIIB abc==\nAccept: x", "Authorization: Negotiate [redacted]\nAccept: x"),
            ("curl -H 'Authorization: Hawk id=\"x\", mac=\"y\"' url", "curl -H 'Authorization: [redacted]' url"),
            ("Authorization: AWS4-HMAC-SHA256 Credential=A/b, Signature=c", "Authorization: [redacted]"),
            (r#"Authorization: Digest username="ada", response="0a1b""#, "Authorization: Digest [redacted]"),
            (r#"{"authorization": "Own abc def", "id": 7}"#, r#"{"authorization": "[redacted]", "id": 7}"#),
            (r#"{\"password\":\"hunter2\",\"id\":7}"#, r#"{\"password\":\"[redacted]\",\"id\":7}"#),
            (r#"{\\\"api_key\\\": \\\"two words\\\"}"#, r#"{\\\"api_key\\\": \\\"[redacted]\\\"}"#),
            (r#"\"token\":\"a\\nb\" and on"#, r#"\"token\":\"[redacted]\" and on"#),
            (r#"{\"authorization\":\"Bearer abc\"}"#, r#"{\"authorization\":\"Bearer [redacted]\"}"#),
            ("DB_PASS=hunter2 DB_USER=ada", "DB_PASS=[redacted] DB_USER=ada"),
            ("smtpPass: hunter2", "smtpPass: [redacted]"),
            ("MYSQL_PWD=hunter2", "MYSQL_PWD=[redacted]"),
            ("aws_credentials: AbC", "aws_credentials: [redacted]"),
            ("agentKey=abc", "agentKey=[redacted]"),
            (r#"password="two words" user=ada"#, r#"password="[redacted]" user=ada"#),
            ("secret: 'two words, and more' # why", "secret: '[redacted]' # why"),
            (r#"token = "a \" b" next"#, r#"token = "[redacted]" next"#),
            (r#"login --password "two words" --now"#, "login --password [redacted] --now"),
            ("postgres://ada:pa/ss@db:5432/log", "postgres://ada:[redacted]@db:5432/log"),
            ("postgres://ada:p@ss@db/log", "postgres://ada:[redacted]@db/log"),
            ("amqp://ada:p@/s#s@mq/x", "amqp://ada:[redacted]@mq/x"),
            ("https://ada:pw@host/@scope/pkg@1.2 ok", "https://ada:[redacted]@host/@scope/pkg@1.2 ok"),
            ("X-Agent-Key: some-key-here", "X-Agent-Key: [redacted]"),
            ("Cookie: __session=abc; theme=dark", "Cookie: [redacted]"),
            ("export DB_PASSWORD='hunter2'", "export DB_PASSWORD='[redacted]'"),
            (r#"{"clientSecret": "abc", "id": 7}"#, r#"{"clientSecret": "[redacted]", "id": 7}"#),
            ("?access_token=abc&page=2", "?access_token=[redacted]&page=2"),
            ("deploy --token abc --dry-run", "deploy --token [redacted] --dry-run"),
            ("https://hooks.slack.com/services/T0/B0/xyz now", "https://hooks.slack.com/services/[redacted] now"),
        ] {
            assert_eq!(replace_all(given), left);
            assert_eq!(replace_all(left), left, "what was taken out once stays out, and nothing more");
        }
    }

    #[test]
    fn ordinary_text_stays_as_it_is() {
        for kept in [
            "Fixed the token bucket, see https://github.com/acme/shop/pull/45",
            "Rebase conflict in src/auth/password.rs",
            "git@github.com:acme/shop.git",
            "commit 5f1d7a84db00d2fce00b31a7fc73224f123f5a1b",
            "The secret of good tests is that they are short.",
            "http://localhost:3001/api/mail.inbox",
            "ratio 3:4, time 12:30, a ? b : c",
            "Tests pass: 12, fail: 0; compass=north, bypass=true, first-pass: done",
            "npm install http://localhost:4873/@scope/pkg and https://host:8080/a@b",
            r#"{\"title\":\"Add a password form\"}"#,
            "The authorization is checked twice",
            "0199a0b0-0000-7000-8000-000000000001",
        ] {
            assert_eq!(replace_all(kept), kept);
        }
    }

    #[test]
    fn talk_of_secrets_is_not_mistaken_for_one() {
        for kept in [
            "let token = lexer.next(); password: String, api_key: Option<&str>",
            "Authorization: every route must check the owner",
            "Use bearer authentication, and set Cookie: httpOnly",
            "login --password prompts for it",
        ] {
            assert_eq!(replace_unmistakable(kept), kept);
        }
        assert_eq!(replace_unmistakable("postgres://ada:hunter2@db"), "postgres://ada:[redacted]@db");
    }

    #[test]
    fn a_text_without_secrets_in_it_is_left_alone_when_it_is_read_again() {
        let once = replace_all("password=hunter2 and postgres://a:b@c");
        assert_eq!(replace_all(&once), once);
    }

    #[test]
    fn names_of_secrets_are_known_in_every_spelling() {
        for name in [
            "password",
            "API_KEY",
            "apiKey",
            "X-Agent-Key",
            "githubToken",
            "DB_PASSWORD",
            "client.secret",
            "MYSQL_PWD",
            "awsCredentials",
            "MUSTER_AGENT_KEY",
        ] {
            assert!(names_a_secret(name), "{name}");
        }
        for name in ["tokens", "keyboard", "title", "secretary", "passwordHint", "key"] {
            assert!(!names_a_secret(name), "{name}");
        }
        for name in ["pass", "DB_PASS", "dbPass", "smtp-pass", "SMTP.Pass"] {
            assert!(may_name_a_secret(name), "{name}");
        }
        for name in ["bypass", "compass", "passes", "BYPASS"] {
            assert!(!may_name_a_secret(name), "{name}");
        }
    }
}
