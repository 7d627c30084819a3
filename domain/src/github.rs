//! GitHub: how its texts name issues and people.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::distinct::each_once;
use crate::{AgentCode, AgentId, Settings};

/// The setting that names an agent's GitHub account.
const USERNAME_SETTING: &str = "githubUsername";

/// The name of a GitHub account, kept as it was given.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Login(String);

impl Login {
    /// Takes the name as it is.
    pub fn new(name: impl Into<String>) -> Self {
        Self(name.into())
    }

    /// What all ways to write the same account have in common: GitHub does not tell cases apart.
    pub fn key(&self) -> String {
        let name = self.0.trim();
        name.strip_prefix('@').unwrap_or(name).to_lowercase()
    }
}

impl AsRef<str> for Login {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Login {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The key of the GitHub account that an agent's settings name, if they name one.
pub fn username_in(settings: &Settings) -> Option<String> {
    let name = settings.get(USERNAME_SETTING)?.as_str()?;
    Some(Login::new(name).key()).filter(|key| !key.is_empty())
}

/// The agent whose account this is: by the username in its settings, else by its code.
pub fn agent_of<'a>(
    login: &Login,
    agents: impl IntoIterator<Item = (AgentId, &'a AgentCode, &'a Settings)> + Clone,
) -> Option<AgentId> {
    let key = login.key();
    let by_username = agents.clone().into_iter().find(|(_, _, settings)| username_in(settings).as_ref() == Some(&key));
    let found = by_username.or_else(|| agents.into_iter().find(|(_, code, _)| code.as_ref() == key));
    found.map(|(agent, _, _)| agent)
}

/// The issues of the same repository that a title and a body name as `#123`: the title's first, each once.
pub fn issue_references(title: &str, body: &str) -> Vec<i64> {
    each_once(references_in(title).chain(references_in(body)))
}

fn references_in(text: &str) -> impl Iterator<Item = i64> {
    text.match_indices('#').filter_map(|(at, _)| {
        // `acme/shop#1` is another repository's, `&#1;` is a character, `##1` a heading.
        let before = text[..at].chars().next_back();
        if before.is_some_and(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | '&' | '#')) {
            return None;
        }
        let rest = &text[at + 1..];
        let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let (digits, after) = rest.split_at(end);
        if after.starts_with(|c: char| c.is_alphanumeric() || c == '_') {
            return None;
        }
        digits.parse().ok().filter(|number| *number > 0)
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::examples::id;

    #[test]
    fn an_issue_is_named_by_its_number() {
        for text in ["#12", "Fix #12", "(#12)", "Closes: #12.", "fixes #12, really", "see\n#12", "„#12“"] {
            assert_eq!(issue_references(text, ""), [12], "{text}");
        }
    }

    #[test]
    fn not_everything_with_a_number_sign_is_an_issue_of_this_repository() {
        for text in ["acme/shop#12", "a#12", "&#12;", "##12", "#12a", "#", "#x", "#0", "# 12", "#99999999999999999999"]
        {
            assert_eq!(issue_references(text, ""), [0_i64; 0], "{text}");
        }
    }

    #[test]
    fn the_title_comes_before_the_body_and_no_issue_twice() {
        assert_eq!(issue_references("Fix #3 and #2", "Closes #1, #3"), [3, 2, 1]);
    }

    #[test]
    fn an_account_has_many_ways_to_be_written() {
        for name in ["Dev-Uno", "@dev-uno", " dev-uno "] {
            assert_eq!(Login::new(name).key(), "dev-uno");
        }
    }

    #[test]
    fn an_account_is_an_agents_by_username_before_code() {
        let code = |text: &str| AgentCode::parse(text).expect("a code");
        let named = json!({ "githubUsername": "@Octo" }).as_object().cloned().expect("settings");
        let (octo, dev, plain) = (code("octo"), code("dev-1"), Settings::new());
        let agents = [(id(30), &octo, &plain), (id(31), &dev, &named)];
        assert_eq!(agent_of(&Login::new("OCTO"), agents), Some(id(31)));
        assert_eq!(agent_of(&Login::new("Dev-1"), agents), Some(id(31)));
        assert_eq!(agent_of(&Login::new("octo"), [agents[0]]), Some(id(30)));
        assert_eq!(agent_of(&Login::new("stranger"), agents), None);
    }
}
