//! Opens a pull request, or finds the one that is open, or the one by which all of it was merged.

use std::borrow::Cow;

use reqwest::{Method, StatusCode};
use serde::Deserialize;
use serde_json::json;

use super::super::{ForgeError, Opened, Pull};
use super::Github;
use super::client::Question;
use crate::git::{CommitId, Repository};

/// The most characters that GitHub takes.
const LONGEST_TITLE: usize = 256;
const LONGEST_BODY: usize = 65_536;

#[derive(Deserialize)]
struct Listed {
    html_url: String,
    merged_at: Option<String>,
    head: Option<Tip>,
}

#[derive(Deserialize)]
struct Tip {
    sha: String,
}

impl Github {
    pub(in super::super) async fn open(&self, repository: &Repository, pull: &Pull<'_>) -> Result<Opened, ForgeError> {
        let access = self.access(repository).await?;
        repository.push_if_missing(pull.into, &access).await?;
        let proposed = repository.push(pull.from, &access).await?.head;
        if let Some(url) = self.find_open(pull).await? {
            self.update(&url, pull.title, pull.description).await?;
            return Ok(Opened { url, existed: true });
        }
        let body = json!({
            "title": shortened(pull.title, LONGEST_TITLE), "body": shortened(pull.description, LONGEST_BODY),
            "head": pull.from.as_str(), "base": pull.into.as_str(),
        });
        let question = Question { method: Method::POST, path: &["pulls"], query: &[], body: Some(body) };
        let answer = self.ask(&question).await?;
        if answer.status == StatusCode::UNPROCESSABLE_ENTITY {
            // An attempt that seemed lost, or somebody else, was first.
            if let Some(url) = self.find_open(pull).await? {
                self.update(&url, pull.title, pull.description).await?;
                return Ok(Opened { url, existed: true });
            }
            // There is nothing left to propose after a merge that was not put on record.
            if let Some(url) = self.find_merged(pull, &proposed).await? {
                return Ok(Opened { url, existed: true });
            }
        }
        let made: Listed = answer.expect()?;
        Ok(Opened { url: made.html_url, existed: false })
    }

    pub(in super::super) async fn update(&self, url: &str, title: &str, description: &str) -> Result<(), ForgeError> {
        let number = self.number(url)?.to_string();
        let (title, description) = (shortened(title, LONGEST_TITLE), shortened(description, LONGEST_BODY));
        let body = Some(json!({ "title": title, "body": description }));
        let question = Question { method: Method::PATCH, path: &["pulls", &number], query: &[], body };
        self.ask(&question).await?.expect::<Listed>().map(|_| ())
    }

    async fn find_open(&self, pull: &Pull<'_>) -> Result<Option<String>, ForgeError> {
        Ok(self.list(pull, "open").await?.into_iter().next().map(|it| it.html_url))
    }

    /// The pull request by which this very commit was merged.
    async fn find_merged(&self, pull: &Pull<'_>, proposed: &CommitId) -> Result<Option<String>, ForgeError> {
        let is_it =
            |it: &Listed| it.merged_at.is_some() && it.head.as_ref().is_some_and(|head| head.sha == proposed.as_str());
        Ok(self.list(pull, "closed").await?.into_iter().find(is_it).map(|it| it.html_url))
    }

    /// The pull requests for the same two branches.
    async fn list(&self, pull: &Pull<'_>, state: &str) -> Result<Vec<Listed>, ForgeError> {
        let head = format!("{}:{}", self.settings.owner, pull.from);
        let query = [("state", state), ("head", head.as_str()), ("base", pull.into.as_str())];
        let question = Question { method: Method::GET, path: &["pulls"], query: &query, body: None };
        self.ask(&question).await?.expect()
    }
}

/// A text of at most so many characters; one that was longer ends in an ellipsis.
fn shortened(text: &str, most: usize) -> Cow<'_, str> {
    match text.char_indices().nth(most) {
        Some(_) => text.chars().take(most - 1).chain(['…']).collect(),
        None => text.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_github_cannot_hold_is_shortened() {
        assert_eq!(shortened("äöü", 3), "äöü");
        assert_eq!(shortened("äöüß", 3), "äö…");
        assert_eq!(shortened(&"L".repeat(300), LONGEST_TITLE).chars().count(), LONGEST_TITLE);
    }
}
