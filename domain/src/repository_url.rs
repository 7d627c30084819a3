//! Repositories: one repository has many URLs, and belongs to one project.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The URL of a repository, kept as it was given.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RepositoryUrl(String);

impl RepositoryUrl {
    /// Takes the URL as it is; whether it is one was checked where it came in.
    pub fn new(url: impl Into<String>) -> Self {
        Self(url.into())
    }

    /// What all URLs of the same repository have in common: host and path in lower case.
    ///
    /// Scheme, user, query, fragment, a `.git` and trailing slashes do not tell repositories apart.
    pub fn key(&self) -> String {
        let url = self.0.trim().to_lowercase();
        let address = url.split_once("://").map_or(url.as_str(), |(_scheme, address)| address);
        let address = address.split(['?', '#']).next().unwrap_or_default();
        let (authority, path) = address.split_once('/').unwrap_or((address, ""));
        let host = authority.rsplit_once('@').map_or(authority, |(_user, host)| host);
        let path = path.trim_end_matches('/');
        let path = path.strip_suffix(".git").unwrap_or(path).trim_end_matches('/');
        format!("{host}/{path}")
    }
}

impl AsRef<str> for RepositoryUrl {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for RepositoryUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(url: &str) -> String {
        RepositoryUrl::new(url).key()
    }

    #[test]
    fn every_way_to_write_a_repository_has_one_key() {
        for url in [
            "https://github.com/acme/shop",
            "http://github.com/acme/shop/",
            "https://GitHub.com/Acme/Shop.git",
            "https://github.com/acme/shop.git/",
            "https://token@github.com/acme/shop",
            "ssh://git@github.com/acme/shop.git",
            "https://github.com/acme/shop?tab=readme#top",
            "github.com/acme/shop",
        ] {
            assert_eq!(key(url), "github.com/acme/shop", "{url}");
        }
    }

    #[test]
    fn two_repositories_have_two_keys() {
        assert_ne!(key("https://github.com/acme/shop"), key("https://github.com/acme/shop2"));
        assert_ne!(key("https://github.com/acme/shop"), key("https://gitlab.com/acme/shop"));
    }

    #[test]
    fn the_url_stays_as_it_was_given() {
        assert_eq!(RepositoryUrl::new("https://GitHub.com/A/b.git").to_string(), "https://GitHub.com/A/b.git");
    }
}
