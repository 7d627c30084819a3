//! How GitHub is asked: bounded in time and size, politely again where that makes sense.

use std::fmt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, RETRY_AFTER};
use reqwest::{Method, Response, StatusCode, Url};
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::super::ForgeError;
use super::Github;

const MOST_BYTES: usize = 8 << 20;
/// No forge is waited for longer, whatever it asks for.
const LONGEST_WAIT: Duration = Duration::from_secs(60 * 60);
/// Clocks differ, and theirs is told in whole seconds.
const A_SECOND: Duration = Duration::from_secs(1);
/// A time, in seconds since 1970, that every clock can show.
const FAR: u64 = 1 << 33;
const FIRST_PAUSE: Duration = Duration::from_millis(200);

/// Where a repository is on GitHub, and how to ask.
#[derive(Clone)]
pub struct GithubSettings {
    /// `https://api.github.com`, or the address of another server's API.
    pub api: Url,
    /// Of the repository.
    pub owner: String,
    /// Of the repository.
    pub name: String,
    /// With the right to push and to write pull requests.
    pub token: String,
    /// For one request.
    pub timeout: Duration,
    /// How often a request is sent before the caller is told to come back.
    pub attempts: u32,
    /// The longest pause between two; a forge that asks for a longer one is left to the caller.
    pub longest_pause: Duration,
}

impl GithubSettings {
    /// With the usual patience.
    pub fn new(api: Url, owner: &str, name: &str, token: &str) -> Self {
        Self {
            api,
            owner: owner.to_owned(),
            name: name.to_owned(),
            token: token.to_owned(),
            timeout: Duration::from_secs(20),
            attempts: 3,
            longest_pause: Duration::from_secs(5),
        }
    }
}

impl fmt::Debug for GithubSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "GithubSettings({}, {}/{})", self.api, self.owner, self.name)
    }
}

/// One thing to ask.
pub(super) struct Question<'a> {
    pub(super) method: Method,
    /// Below the repository.
    pub(super) path: &'a [&'a str],
    pub(super) query: &'a [(&'a str, &'a str)],
    pub(super) body: Option<Value>,
}

/// What GitHub said: yes, or no for a reason that the caller may know how to take.
pub(super) struct Answer {
    pub(super) status: StatusCode,
    pub(super) body: Value,
}

impl Github {
    /// Gets ready to ask; asks nothing yet.
    pub fn new(settings: GithubSettings) -> Result<Self, ForgeError> {
        crate::tls::install();
        if settings.api.cannot_be_a_base() || settings.token.contains(char::is_control) {
            return Err(ForgeError::BadSettings("the address or the token".to_owned()));
        }
        let http = reqwest::Client::builder()
            .user_agent(concat!("muster/", env!("CARGO_PKG_VERSION")))
            .timeout(settings.timeout)
            // The token goes where the settings say and nowhere else.
            .redirect(reqwest::redirect::Policy::none())
            .build()
            .map_err(|error| ForgeError::BadSettings(error.to_string()))?;
        Ok(Self { settings: settings.into(), http })
    }

    pub(super) async fn ask(&self, question: &Question<'_>) -> Result<Answer, ForgeError> {
        let mut pause = FIRST_PAUSE;
        for attempt in 1.. {
            let error = match self.ask_once(question).await {
                Err(error) if error.is_transient() => error,
                other => return other,
            };
            let wait = error.retry_after().unwrap_or(pause);
            if attempt >= self.settings.attempts || wait > self.settings.longest_pause {
                return Err(error);
            }
            tracing::debug!(%error, attempt, "asking the forge again");
            tokio::time::sleep(wait).await;
            pause = (pause * 2).min(self.settings.longest_pause);
        }
        Err(ForgeError::Unreachable("never asked".to_owned()))
    }

    async fn ask_once(&self, question: &Question<'_>) -> Result<Answer, ForgeError> {
        let mut request = self
            .http
            .request(question.method.clone(), self.address(question)?)
            .bearer_auth(&self.settings.token)
            .header(ACCEPT, "application/vnd.github+json")
            .header("X-GitHub-Api-Version", "2022-11-28");
        if let Some(body) = &question.body {
            request = request.header(CONTENT_TYPE, "application/json").body(body.to_string());
        }
        let response = request.send().await.map_err(unreachable)?;
        let (status, headers) = (response.status(), response.headers().clone());
        let bytes = read(response).await?;
        let body: Value = serde_json::from_slice(&bytes).unwrap_or(Value::Null);
        judge(status, &headers, body)
    }

    fn address(&self, question: &Question<'_>) -> Result<Url, ForgeError> {
        let mut url = self.settings.api.clone();
        let path = ["repos", &self.settings.owner, &self.settings.name];
        url.path_segments_mut()
            .map_err(|()| ForgeError::BadSettings("the address".to_owned()))?
            .pop_if_empty()
            .extend(path)
            .extend(question.path);
        if !question.query.is_empty() {
            url.query_pairs_mut().extend_pairs(question.query);
        }
        Ok(url)
    }
}

impl Answer {
    /// The body of a yes.
    pub(super) fn expect<T: DeserializeOwned>(self) -> Result<T, ForgeError> {
        if !self.status.is_success() {
            return Err(self.refusal());
        }
        serde_json::from_value(self.body).map_err(|error| ForgeError::BadAnswer(error.to_string()))
    }

    pub(super) fn refusal(&self) -> ForgeError {
        ForgeError::Refused { status: self.status.as_u16(), message: message(&self.body) }
    }
}

fn judge(status: StatusCode, headers: &HeaderMap, body: Value) -> Result<Answer, ForgeError> {
    let header = |name: &str| headers.get(name).and_then(|it| it.to_str().ok());
    let number = |name: &str| header(name).and_then(|it| it.trim().parse::<u64>().ok());
    let asked = number(RETRY_AFTER.as_str()).map(Duration::from_secs);
    // GitHub also says 403 for too many requests, and when there may be more as a time.
    let is_spent = number("x-ratelimit-remaining") == Some(0);
    let reset =
        number("x-ratelimit-reset").filter(|_| is_spent).map(|it| UNIX_EPOCH + Duration::from_secs(it.min(FAR)));
    let until_reset = reset.map(|it| it.duration_since(SystemTime::now()).unwrap_or_default() + A_SECOND);
    let limit = asked.or(until_reset).map(|it| it.min(LONGEST_WAIT));
    let asked = asked.map(|it| it.min(LONGEST_WAIT));
    let message = message(&body);
    match status.as_u16() {
        429 => Err(ForgeError::Busy { status: 429, message, retry_after: limit }),
        403 if asked.is_some() || is_spent => Err(ForgeError::Busy { status: 403, message, retry_after: limit }),
        500..=599 => Err(ForgeError::Busy { status: status.as_u16(), message, retry_after: asked }),
        401 | 403 => Err(ForgeError::NotAllowed { status: status.as_u16(), message }),
        300..=399 => Err(ForgeError::BadAnswer(format!("a redirect ({status})"))),
        _ => Ok(Answer { status, body }),
    }
}

fn message(body: &Value) -> String {
    let said = body.get("message").and_then(Value::as_str).unwrap_or("no reason given");
    let details = body.get("errors").map(Value::to_string).unwrap_or_default();
    format!("{said} {details}").trim().chars().take(500).collect()
}

async fn read(mut response: Response) -> Result<Vec<u8>, ForgeError> {
    let mut bytes = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(unreachable)? {
        bytes.extend_from_slice(&chunk);
        if bytes.len() > MOST_BYTES {
            return Err(ForgeError::BadAnswer("too long".to_owned()));
        }
    }
    Ok(bytes)
}

/// The address stays out: it says nothing new.
fn unreachable(error: reqwest::Error) -> ForgeError {
    ForgeError::Unreachable(format!("{:?}", error.without_url()))
}
