//! Pull requests on GitHub, through its REST API and a push to `origin`.

mod client;
mod merge;
mod open;
mod status;

pub use client::GithubSettings;

use std::sync::Arc;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use reqwest::Url;

use super::ForgeError;
use crate::git::{RemoteAccess, Repository};

/// One repository on GitHub.
#[derive(Debug, Clone)]
pub struct Github {
    settings: Arc<GithubSettings>,
    http: reqwest::Client,
}

impl Github {
    /// Number of a pull request of this repository.
    fn number(&self, url: &str) -> Result<u64, ForgeError> {
        let not_ours = || ForgeError::NotOurs(url.to_owned());
        let parsed = Url::parse(url).map_err(|_| not_ours())?;
        let parts: Vec<&str> = parsed.path_segments().map(Iterator::collect).unwrap_or_default();
        match parts.as_slice() {
            [owner, name, "pull", number]
                if owner.eq_ignore_ascii_case(&self.settings.owner)
                    && name.eq_ignore_ascii_case(&self.settings.name) =>
            {
                number.parse().map_err(|_| not_ours())
            }
            _ => Err(not_ours()),
        }
    }

    /// The token goes along with a push only to the host that gave it.
    async fn access(&self, repository: &Repository) -> Result<RemoteAccess, ForgeError> {
        let origin = repository.origin().await?;
        let Ok(origin) = Url::parse(&origin) else { return Ok(RemoteAccess::default()) };
        let api_host = self.settings.api.host_str().unwrap_or_default();
        let web_host = api_host.strip_prefix("api.").unwrap_or(api_host);
        let host = origin.host_str().unwrap_or_default();
        let safe = origin.scheme() == "https" || (origin.scheme() == "http" && self.settings.api.scheme() == "http");
        if !safe || host.is_empty() || (host != web_host && host != api_host) {
            return Ok(RemoteAccess::default());
        }
        let credentials = BASE64_STANDARD.encode(format!("x-access-token:{}", self.settings.token));
        Ok(RemoteAccess {
            address: format!("{}/", origin.origin().ascii_serialization()),
            header: Some(format!("Authorization: Basic {credentials}")),
        })
    }
}
