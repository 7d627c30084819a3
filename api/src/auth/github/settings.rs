//! How GitHub is reached, and as which of its applications Muster signs people in.

use std::net::IpAddr;

use reqwest::Url;

/// How GitHub is reached, and as which application.
#[derive(Clone)]
pub struct GithubSettings {
    /// The application's public name.
    pub client_id: String,
    /// What proves to GitHub that the application asks.
    pub client_secret: String,
    /// Where people sign in: <https://github.com>, or a GitHub Enterprise Server.
    pub web_url: Url,
    /// Where programs ask: <https://api.github.com>.
    pub api_url: Url,
    /// Where browsers reach Muster, when that is not the host that requests name.
    pub public_url: Option<Url>,
}

// By hand: the secret must not reach a log.
impl std::fmt::Debug for GithubSettings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("GithubSettings").field("client_id", &self.client_id).finish_non_exhaustive()
    }
}

impl GithubSettings {
    /// Reads an address that secrets may be sent to: HTTPS, or this machine.
    pub fn parse_url(text: &str) -> Result<Url, String> {
        let url: Url = text.parse().map_err(|e| format!("{text:?} is not a URL: {e}"))?;
        if url.query().is_some() || url.fragment().is_some() || !url.username().is_empty() || url.password().is_some() {
            return Err(format!("{text:?} must be no more than a scheme, a host and a path"));
        }
        match url.scheme() {
            "https" => Ok(url),
            "http" if is_loopback(&url) => Ok(url),
            _ => Err(format!("{text:?} must begin with https://, or with http:// on this machine")),
        }
    }

    /// Reads where browsers reach Muster; cookies and routes know no path before them.
    pub fn parse_origin(text: &str) -> Result<Url, String> {
        let url = Self::parse_url(text)?;
        if url.path() == "/" { Ok(url) } else { Err(format!("{text:?} must have no path")) }
    }
}

/// Whether the address is on this machine.
pub(super) fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
    host == "localhost" || host.parse::<IpAddr>().is_ok_and(|it| it.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_go_over_https_or_stay_on_this_machine() {
        for fine in ["https://github.com", "https://ghe.example/api/v3", "http://127.0.0.1:80", "http://[::1]:9"] {
            assert!(GithubSettings::parse_url(fine).is_ok(), "{fine}");
        }
        for refused in ["http://github.com", "github.com", "ftp://127.0.0.1", "https://a:b@github.com", "https://x?y"] {
            assert!(GithubSettings::parse_url(refused).is_err(), "{refused}");
        }
        assert!(GithubSettings::parse_origin("https://muster.example/").is_ok());
        assert!(GithubSettings::parse_origin("https://muster.example/app").is_err());
    }

    #[test]
    fn the_secret_is_not_shown() {
        let url = GithubSettings::parse_url("https://github.com").expect("a URL");
        let settings = GithubSettings {
            client_id: "Iv1".to_owned(),
            client_secret: "hush".to_owned(),
            web_url: url.clone(),
            api_url: url,
            public_url: None,
        };
        assert!(!format!("{settings:?}").contains("hush"));
    }
}
