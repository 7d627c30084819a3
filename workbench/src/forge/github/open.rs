//! Opens a pull request, or finds the one that is open.

use reqwest::{Method, StatusCode};
use serde::Deserialize;
use serde_json::json;

use super::super::{ForgeError, Opened, Pull};
use super::Github;
use super::client::Question;
use crate::git::Repository;

#[derive(Deserialize)]
struct Listed {
    html_url: String,
}

impl Github {
    pub(in super::super) async fn open(&self, repository: &Repository, pull: &Pull<'_>) -> Result<Opened, ForgeError> {
        let access = self.access(repository).await?;
        repository.push_if_missing(pull.into, &access).await?;
        repository.push(pull.from, &access).await?;
        if let Some(url) = self.find_open(pull).await? {
            self.update(&url, pull.title, pull.description).await?;
            return Ok(Opened { url, existed: true });
        }
        let body = json!({
            "title": pull.title, "body": pull.description, "head": pull.from.as_str(), "base": pull.into.as_str(),
        });
        let question = Question { method: Method::POST, path: &["pulls"], query: &[], body: Some(body) };
        let answer = self.ask(&question).await?;
        // An attempt that seemed lost, or somebody else, was first.
        if answer.status == StatusCode::UNPROCESSABLE_ENTITY
            && let Some(url) = self.find_open(pull).await?
        {
            self.update(&url, pull.title, pull.description).await?;
            return Ok(Opened { url, existed: true });
        }
        let made: Listed = answer.expect()?;
        Ok(Opened { url: made.html_url, existed: false })
    }

    pub(in super::super) async fn update(&self, url: &str, title: &str, description: &str) -> Result<(), ForgeError> {
        let number = self.number(url)?.to_string();
        let body = Some(json!({ "title": title, "body": description }));
        let question = Question { method: Method::PATCH, path: &["pulls", &number], query: &[], body };
        self.ask(&question).await?.expect::<Listed>().map(|_| ())
    }

    async fn find_open(&self, pull: &Pull<'_>) -> Result<Option<String>, ForgeError> {
        let head = format!("{}:{}", self.settings.owner, pull.from);
        let query = [("state", "open"), ("head", head.as_str()), ("base", pull.into.as_str())];
        let question = Question { method: Method::GET, path: &["pulls"], query: &query, body: None };
        let listed: Vec<Listed> = self.ask(&question).await?.expect()?;
        Ok(listed.into_iter().next().map(|it| it.html_url))
    }
}
