//! What Muster asks of GitHub: where to send a browser, who came back, and which address GitHub has verified.
//!
//! GitHub's token lives as long as one request of ours: it is never stored, logged or shown.

use std::time::Duration;

use reqwest::header::ACCEPT;
use reqwest::{RequestBuilder, Response, Url};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::settings::{GithubSettings, is_loopback};
use crate::code::Code;
use crate::error::ApiError;

/// Three requests must fit into the time that one of ours may take.
const TIMEOUT: Duration = Duration::from_secs(8);
const CONNECT_TIMEOUT: Duration = Duration::from_secs(4);
/// Far more than GitHub ever sends.
const MOST_BYTES: usize = 1 << 20;
/// To read who somebody is and which addresses are theirs; nothing of their repositories.
const SCOPE: &str = "read:user user:email";

/// GitHub, as the server reaches it.
#[derive(Debug, Clone)]
pub struct Github {
    pub(super) settings: GithubSettings,
    http: reqwest::Client,
}

/// What GitHub lets us ask with, once.
pub(super) struct AccessToken(String);

/// Somebody, as GitHub knows them.
#[derive(Deserialize)]
pub(super) struct Person {
    pub(super) id: i64,
    pub(super) login: String,
    pub(super) name: Option<String>,
    pub(super) avatar_url: Option<String>,
}

#[derive(Deserialize)]
struct Exchanged {
    access_token: Option<String>,
    error: Option<String>,
}

#[derive(Deserialize)]
struct Email {
    email: String,
    primary: bool,
    verified: bool,
}

impl Github {
    /// Gets ready to ask; asks nothing yet. Fails where the system has no certificates to trust.
    pub fn new(settings: GithubSettings) -> Result<Self, reqwest::Error> {
        crate::install_tls();
        let mut http = reqwest::Client::builder()
            .user_agent(concat!("muster/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(CONNECT_TIMEOUT)
            .timeout(TIMEOUT)
            // Secrets go where the settings say and nowhere else.
            .redirect(reqwest::redirect::Policy::none());
        if is_loopback(&settings.web_url) {
            http = http.no_proxy();
        }
        Ok(Self { http: http.build()?, settings })
    }

    /// Where the browser asks its person.
    pub(super) fn authorize_url(&self, state: &str, challenge: &str, redirect_uri: &str) -> Url {
        let mut url = under(&self.settings.web_url, "login/oauth/authorize");
        url.query_pairs_mut()
            .append_pair("client_id", &self.settings.client_id)
            .append_pair("redirect_uri", redirect_uri)
            .append_pair("scope", SCOPE)
            .append_pair("state", state)
            .append_pair("code_challenge", challenge)
            .append_pair("code_challenge_method", "S256");
        url
    }

    /// Changes the code that the browser brought for a token.
    pub(super) async fn exchange(
        &self,
        code: &str,
        verifier: &str,
        redirect_uri: &str,
    ) -> Result<AccessToken, ApiError> {
        let form = [
            ("client_id", self.settings.client_id.as_str()),
            ("client_secret", &self.settings.client_secret),
            ("code", code),
            ("code_verifier", verifier),
            ("redirect_uri", redirect_uri),
        ];
        let url = under(&self.settings.web_url, "login/oauth/access_token");
        let request = self.http.post(url).header(ACCEPT, "application/json").form(&form);
        let answer: Exchanged = ask("exchange a code", request).await?;
        match (answer.access_token, answer.error.as_deref()) {
            (Some(token), None) if !token.is_empty() => Ok(AccessToken(token)),
            // The code was used, is too old or was made up: nothing is wrong with us or with GitHub.
            (_, Some("bad_verification_code")) => {
                Err(ApiError::new(Code::AuthGithubDenied, "GitHub did not take the code; sign in again"))
            }
            (_, error) => Err(failed("exchange a code", named(error.unwrap_or("no token")))),
        }
    }

    /// Who the token's person is.
    pub(super) async fn person(&self, token: &AccessToken) -> Result<Person, ApiError> {
        ask("read the user", self.api("user", token)).await
    }

    /// The person's primary address, if GitHub has verified that it is theirs.
    pub(super) async fn verified_email(&self, token: &AccessToken) -> Result<Option<String>, ApiError> {
        let all: Vec<Email> = ask("read the e-mail addresses", self.api("user/emails?per_page=100", token)).await?;
        let usable = |it: &Email| {
            // Beyond ASCII two addresses can look or be lower-cased alike and still be two people's.
            it.primary && it.verified && it.email.is_ascii() && it.email.len() <= 254 && it.email.contains('@')
        };
        Ok(all.into_iter().find(usable).map(|it| it.email))
    }

    fn api(&self, path: &str, token: &AccessToken) -> RequestBuilder {
        self.http
            .get(under(&self.settings.api_url, path))
            .header(ACCEPT, "application/vnd.github+json")
            .header("X-GitHub-Api-Version", "2022-11-28")
            .bearer_auth(&token.0)
    }
}

fn under(base: &Url, path: &str) -> Url {
    let text = format!("{}/{path}", base.as_str().trim_end_matches('/'));
    text.parse().expect("a path after an address is an address")
}

async fn ask<T: DeserializeOwned>(what: &str, request: RequestBuilder) -> Result<T, ApiError> {
    let response = request.send().await.map_err(|error| failed(what, error.without_url()))?;
    if !response.status().is_success() {
        return Err(failed(what, response.status()));
    }
    let body = read(response).await.map_err(|error| failed(what, error))?;
    // The cause stays untold: it could quote what GitHub sent.
    serde_json::from_slice(&body).map_err(|_| failed(what, "the answer is not as documented"))
}

async fn read(mut response: Response) -> Result<Vec<u8>, String> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(|error| error.without_url().to_string())? {
        if body.len() + chunk.len() > MOST_BYTES {
            return Err(format!("the answer has more than {MOST_BYTES} bytes"));
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

pub(super) fn failed(what: &str, cause: impl std::fmt::Display) -> ApiError {
    tracing::warn!(what, %cause, "GitHub did not do what it was asked");
    ApiError::new(Code::AuthGithubFailed, "GitHub did not answer as it should; try again later")
}

/// An error's name as it may stand in our log: names have only such letters, anything else is not one.
pub(super) fn named(error: &str) -> &str {
    let is_name = error.len() <= 64 && error.bytes().all(|it| it.is_ascii_lowercase() || it == b'_' || it == b' ');
    if is_name { error } else { "an unnamed error" }
}
