//! The options of signing in with GitHub.

use clap::Args;
use reqwest::Url;

use super::Failure;
use crate::{Github, GithubSettings};

#[derive(Debug, Args)]
pub(super) struct GithubArgs {
    /// The client id of the GitHub OAuth app that people sign in with; no such sign-in without
    #[arg(long = "github-client-id", env = "GITHUB_CLIENT_ID", value_name = "GITHUB_CLIENT_ID")]
    client_id: Option<String>,
    /// The client secret of that app
    #[arg(
        long = "github-client-secret",
        env = "GITHUB_CLIENT_SECRET",
        value_name = "GITHUB_CLIENT_SECRET",
        hide_env_values = true
    )]
    client_secret: Option<Secret>,
    /// Where people sign in to GitHub; the address of a GitHub Enterprise Server, if it is one
    #[arg(
        long = "github-url",
        env = "MUSTER_GITHUB_URL",
        value_name = "MUSTER_GITHUB_URL",
        default_value = "https://github.com",
        value_parser = GithubSettings::parse_url
    )]
    web_url: Url,
    /// Where GitHub answers programs; on a GitHub Enterprise Server its address with /api/v3
    #[arg(
        long = "github-api-url",
        env = "MUSTER_GITHUB_API_URL",
        value_name = "MUSTER_GITHUB_API_URL",
        default_value = "https://api.github.com",
        value_parser = GithubSettings::parse_url
    )]
    api_url: Url,
    /// Where browsers reach this server, if a proxy does not pass their Host on: https://muster.example.com
    #[arg(
        long,
        env = "MUSTER_PUBLIC_URL",
        value_name = "MUSTER_PUBLIC_URL",
        value_parser = GithubSettings::parse_origin
    )]
    public_url: Option<Url>,
}

/// A text that is not shown.
#[derive(Clone)]
struct Secret(String);

impl GithubArgs {
    /// GitHub, if it is set up. A variable that is set to nothing counts as not set.
    pub(super) fn github(self) -> Result<Option<Github>, Failure> {
        let given = |text: String| Some(text.trim().to_owned()).filter(|it| !it.is_empty());
        let client_id = self.client_id.and_then(given);
        let client_secret = self.client_secret.and_then(|it| given(it.0));
        let (client_id, client_secret) = match (client_id, client_secret) {
            (Some(client_id), Some(client_secret)) => (client_id, client_secret),
            (None, None) => return Ok(None),
            (Some(_), None) => return Err(Failure::Setting("GITHUB_CLIENT_ID needs GITHUB_CLIENT_SECRET".to_owned())),
            (None, Some(_)) => return Err(Failure::Setting("GITHUB_CLIENT_SECRET needs GITHUB_CLIENT_ID".to_owned())),
        };
        let Self { web_url, api_url, public_url, .. } = self;
        let settings = GithubSettings { client_id, client_secret, web_url, api_url, public_url };
        let github = Github::new(settings).map_err(|e| anyhow::anyhow!("GitHub cannot be asked over TLS: {e}"))?;
        Ok(Some(github))
    }
}

impl From<&str> for Secret {
    fn from(text: &str) -> Self {
        Self(text.to_owned())
    }
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret(..)")
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Debug, Parser)]
    struct Line {
        #[command(flatten)]
        github: GithubArgs,
    }

    fn read(line: &[&str]) -> GithubArgs {
        let line = ["muster"].iter().chain(line);
        Line::try_parse_from(line).expect("options").github
    }

    #[test]
    fn github_is_there_when_both_its_name_and_its_secret_are() {
        let both = read(&["--github-client-id", "Iv1", "--github-client-secret", "hush"]);
        assert!(!format!("{both:?}").contains("hush"));
        assert!(both.github().expect("GitHub").is_some());
        assert!(read(&["--github-client-id", "", "--github-client-secret", " "]).github().expect("none").is_none());
    }

    #[test]
    fn one_without_the_other_is_a_wrong_setting_that_names_both() {
        for half in [&["--github-client-id", "Iv1"], &["--github-client-secret", "hush"]] {
            let refused = read(half).github().expect_err("half a setting");
            assert!(
                matches!(&refused, Failure::Setting(it) if it.contains("_ID") && it.contains("_SECRET")),
                "{refused}"
            );
            assert!(!refused.to_string().contains("hush"));
        }
    }
}
