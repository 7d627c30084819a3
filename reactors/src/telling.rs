//! Telling a person by the channels of this node. Every channel is bounded by a timeout, and they are tried side by side.

use std::path::PathBuf;
use std::time::Duration;

use chrono::{DateTime, Utc};
use commands::CommandError;
use commands::notification::addresses_of;
use domain::notification::{Channel, NotificationKind, Outcome};
use domain::notification_settings::{Addresses, Allowed, Manner};
use domain::{NotificationId, UserId, WorkspaceId};
use futures_util::future::join_all;
use projections::notifications;
use serde_json::{Value, json};
use store::EventLog;
use store::sql::Database;
use workbench::alert::{AlertError, Alerts, Reach, Webhooks};

/// The longest that a webhook may take, unless the node says otherwise.
const PATIENCE: Duration = Duration::from_secs(5);

/// How this node tells people.
#[derive(Debug, Clone)]
pub struct Telling {
    /// What this node is called.
    pub node: String,
    /// How people are told who have not said how.
    pub everybody: Manner,
    /// What may be shown and played on this node, whatever people prefer.
    pub allowed: Allowed,
    /// Where programs that show and play are looked for.
    pub alerts: Alerts,
    /// How far webhooks may reach.
    pub reach: Reach,
    /// The longest that a webhook may take: less than the lease on what it tells.
    pub patience: Duration,
}

impl Default for Telling {
    fn default() -> Self {
        let (everybody, allowed) = (Manner::default(), Allowed::default());
        let (alerts, reach) = (Alerts::default(), Reach::default());
        Self { node: "main".to_owned(), everybody, allowed, alerts, reach, patience: PATIENCE }
    }
}

/// Tells people, by what this node has.
#[derive(Debug, Clone)]
pub(crate) struct Teller {
    pub(crate) node: String,
    everybody: Addresses,
    allowed: Allowed,
    alerts: Alerts,
    /// How to post, or why that is not possible here.
    webhooks: Result<Webhooks, String>,
}

/// What is told, and whom.
pub(crate) struct News<'a> {
    pub(crate) notification_id: NotificationId,
    pub(crate) workspace_id: WorkspaceId,
    pub(crate) user_id: UserId,
    pub(crate) kind: NotificationKind,
    pub(crate) title: &'a str,
    pub(crate) message: &'a str,
    pub(crate) raised_at: DateTime<Utc>,
}

/// What became of a channel.
pub(crate) type Told = (Channel, Outcome);

impl Teller {
    pub(crate) fn new(telling: Telling) -> Self {
        let Telling { node, everybody, allowed, alerts, reach, patience } = telling;
        let webhooks = Webhooks::new(reach, patience).map_err(|error| error.to_string());
        Self { node, everybody: everybody.addresses, allowed, alerts, webhooks }
    }

    /// Tells by all of these channels, and says for the record what became of each.
    pub(crate) async fn tell(
        &self,
        log: &EventLog,
        views: &Database,
        news: &News<'_>,
        channels: Vec<Channel>,
    ) -> Result<Vec<Told>, CommandError> {
        let to = self.addresses(log, views, news.user_id).await?;
        let told = join_all(channels.iter().map(|channel| self.tell_by(*channel, news, &to))).await;
        let told = told.into_iter().map(|it| it.err().unwrap_or(Outcome::Delivered));
        let told = channels.into_iter().zip(told);
        Ok(told.inspect(|(channel, outcome)| warn(news.notification_id, *channel, outcome)).collect())
    }

    async fn tell_by(&self, channel: Channel, news: &News<'_>, to: &Addresses) -> Result<(), Outcome> {
        let failed = |why: &str| Outcome::Failed(why.to_owned());
        let disallowed = |rule: &str| Outcome::Disallowed(rule.to_owned());
        match channel {
            Channel::Desktop => {
                self.allowed.to_show().map_err(disallowed)?;
                self.alerts.desktop(news.title, news.message).await.map_err(untold)
            }
            Channel::Sound => {
                let file = to.sound_file.as_ref().ok_or_else(|| failed("there is no sound file any more"))?;
                self.allowed.to_play(file).map_err(disallowed)?;
                self.alerts.sound(&PathBuf::from(file)).await.map_err(untold)
            }
            Channel::Webhook => {
                let url = to.webhook_url.as_ref().ok_or_else(|| failed("there is no address any more"))?;
                let webhooks = self.webhooks.as_ref().map_err(|why| failed(why))?;
                webhooks.send(url, &news.document()).await.map_err(untold)
            }
        }
    }

    /// Where a person is told by now.
    async fn addresses(&self, log: &EventLog, views: &Database, user: UserId) -> Result<Addresses, CommandError> {
        match notifications::preferences(views, user).await? {
            Some(_) => Ok(addresses_of(log, user).await?),
            None => Ok(self.everybody.clone()),
        }
    }
}

impl News<'_> {
    /// All of it, for programs.
    fn document(&self) -> Value {
        json!({
            "id": self.notification_id, "workspaceId": self.workspace_id, "kind": self.kind, "title": self.title,
            "message": self.message, "createdAt": self.raised_at,
        })
    }
}

fn untold(error: AlertError) -> Outcome {
    match error {
        AlertError::NotAllowed(_) => Outcome::Disallowed(error.to_string()),
        AlertError::Missing(_)
        | AlertError::NoSuchFile
        | AlertError::Failed { .. }
        | AlertError::Child(_)
        | AlertError::Unreachable(_)
        | AlertError::Refused(_)
        | AlertError::BadSettings(_) => Outcome::Failed(error.to_string()),
    }
}

fn warn(notification_id: NotificationId, channel: Channel, outcome: &Outcome) {
    match outcome {
        Outcome::Delivered => {}
        Outcome::Failed(error) => tracing::warn!(%notification_id, ?channel, error, "a person could not be told"),
        // As the operator wants it.
        Outcome::Disallowed(rule) => tracing::debug!(%notification_id, ?channel, rule, "a person may not be told"),
    }
}
