//! The forms that give secrets away.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::{Captures, Regex};

use super::REDACTED;

/// A form, and how it looks. What its group `keep` matches stays, everything else of it goes.
///
/// The order matters: blocks and headers first, so that nothing of them is left for a narrower form.
const FORMS: &[(&str, &str)] = &[
    (
        "a private key in PEM",
        r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----[\s\S]*?(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|\z)",
    ),
    ("a key of age", r"AGE-SECRET-KEY-1[A-Z0-9]{20,}"),
    (
        "an Authorization header",
        r#"(?i)(?<keep>\b(?:proxy-)?authorization["']?\s*[:=]\s*["']?(?:(?:bearer|basic|token|digest|apikey)\s+)?)[^\s"',;]+"#,
    ),
    ("a bearer token", r"(?i)(?<keep>\bbearer\s+)[A-Za-z0-9._~+/=-]{12,}"),
    ("a cookie", r"(?i)(?<keep>\b(?:set-)?cookie\s*:\s*)[^\r\n]+"),
    ("a password in a URL", r"(?<keep>[A-Za-z][A-Za-z0-9+.-]{1,20}://[^\s/?#:@]{0,256}:)[^\s/?#@]+(?<also>@)"),
    ("a token as the user of a URL", r"(?<keep>https?://)[A-Za-z0-9_-]{20,}(?<also>@)"),
    ("a key of a Muster agent", r"\baf_agent_[A-Za-z0-9_-]{16,}"),
    ("a key of Anthropic, OpenAI and others", r"\bsk-[A-Za-z0-9_-]{16,}"),
    ("a key of Stripe", r"\b(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{10,}"),
    ("a webhook secret", r"\bwhsec_[A-Za-z0-9+/=]{16,}"),
    ("a token of GitHub", r"\b(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,})"),
    ("a token of GitLab", r"\bgl(?:pat|ptt|dt|rt|soat|cbt|ft)-[A-Za-z0-9_-]{16,}"),
    ("a token of Slack", r"\bx(?:ox[abeoprs]|app)-[A-Za-z0-9-]{10,}"),
    (
        "a webhook of Slack or Discord",
        r"(?<keep>https://(?:hooks\.slack\.com/(?:services|workflows)|(?:ptb\.|canary\.)?discord(?:app)?\.com/api/webhooks)/)[A-Za-z0-9/_-]+",
    ),
    ("a key of AWS", r"\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}\b"),
    ("a key of Google", r"\bAIza[A-Za-z0-9_-]{35}"),
    ("a token of Google", r"\bya29\.[A-Za-z0-9_-]{20,}"),
    ("a token of npm", r"\bnpm_[A-Za-z0-9]{30,}"),
    ("a token of PyPI", r"\bpypi-[A-Za-z0-9_-]{30,}"),
    ("a token of Hugging Face", r"\bhf_[A-Za-z0-9]{30,}"),
    ("a token of DigitalOcean", r"\bdo[opr]_v1_[a-f0-9]{40,}"),
    ("a token of Docker", r"\bdckr_(?:pat|oat)_[A-Za-z0-9_-]{20,}"),
    ("a key of SendGrid", r"\bSG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}"),
    ("a key of Twilio", r"\bSK[a-f0-9]{32}\b"),
    ("a JSON web token", r"\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*"),
    (
        "a secret with its name before it",
        r#"(?i)(?<keep>\b[A-Za-z0-9_.-]*(?:password|passwd|passphrase|pwd|secret|token|api[_-]?key|access[_-]?key|private[_-]?key|agent[_-]key|credential)["']?\s*(?:=>|:=|[=:])\s*["']?)(?:[^\s"',;&]*[^\s"',;&.])"#,
    ),
    ("a secret in an option", r#"(?i)(?<keep>--(?:password|passwd|token|secret|api-key)\s+)[^\s"']+"#),
];

/// Names that only secrets have, without case, `-`, `_`, `.` and blanks.
const NAMES: &[&str] = &[
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
    "signingkey",
    "encryptionkey",
    "agentkey",
    "xagentkey",
    "authorization",
    "proxyauthorization",
    "cookie",
    "setcookie",
    "credential",
    "credentials",
    "sessionid",
    "connectionstring",
];
/// Endings of such names: `githubToken`, `DB_PASSWORD`.
const ENDINGS: &[&str] =
    &["password", "passwd", "passphrase", "secret", "token", "apikey", "accesskey", "secretkey", "privatekey"];

static COMPILED: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    let compile = |(name, form): &(&str, &str)| Regex::new(form).unwrap_or_else(|e| panic!("{name}: {e}"));
    FORMS.iter().map(compile).collect()
});

/// A text with every form in it replaced.
pub(super) fn replace_all(text: &str) -> String {
    let mut left = Cow::Borrowed(text);
    for form in COMPILED.iter() {
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
            assert_eq!(replace_all(&format!("before {secret} ")), format!("before {REDACTED} "), "{secret}");
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
            ("X-Agent-Key: some-key-here", "X-Agent-Key: [redacted]"),
            ("Cookie: __session=abc; theme=dark", "Cookie: [redacted]"),
            ("export DB_PASSWORD='hunter2'", "export DB_PASSWORD='[redacted]'"),
            (r#"{"clientSecret": "abc", "id": 7}"#, r#"{"clientSecret": "[redacted]", "id": 7}"#),
            ("?access_token=abc&page=2", "?access_token=[redacted]&page=2"),
            ("deploy --token abc --dry-run", "deploy --token [redacted] --dry-run"),
            ("https://hooks.slack.com/services/T0/B0/xyz now", "https://hooks.slack.com/services/[redacted] now"),
        ] {
            assert_eq!(replace_all(given), left);
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
            "0199a0b0-0000-7000-8000-000000000001",
        ] {
            assert_eq!(replace_all(kept), kept);
        }
    }

    #[test]
    fn a_text_without_secrets_in_it_is_left_alone_when_it_is_read_again() {
        let once = replace_all("password=hunter2 and postgres://a:b@c");
        assert_eq!(replace_all(&once), once);
    }

    #[test]
    fn names_of_secrets_are_known_in_every_spelling() {
        for name in ["password", "API_KEY", "apiKey", "X-Agent-Key", "githubToken", "DB_PASSWORD", "client.secret"] {
            assert!(names_a_secret(name), "{name}");
        }
        for name in ["tokens", "keyboard", "title", "secretary", "passwordHint", "key"] {
            assert!(!names_a_secret(name), "{name}");
        }
    }
}
