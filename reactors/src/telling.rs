//! Telling a person by the channels of this node. Every channel is bounded by a timeout, and they are tried side by side.

use std::path::PathBuf;
use std::time::Duration;

use chrono::{DateTime, Utc};
use commands::CommandError;
use commands::notification::addresses_of;
use domain::notification::{Channel, NotificationKind};
use domain::notification_settings::{Addresses, Manner};
use domain::{NotificationId, UserId, WorkspaceId};
use futures_util::future::join_all;
use projections::notifications;
use serde_json::{Value, json};
use store::EventLog;
use store::sql::Database;
use workbench::alert::{Alerts, Reach, Webhooks};

/// The longest that a webhook may take, unless the node says otherwise.
const PATIENCE: Duration = Duration::from_secs(5);

/// How this node tells people.
#[derive(Debug, Clone)]
pub struct Telling {
    /// What this node is called.
    pub node: String,
    /// How people are told who have not said how.
    pub everybody: Manner,
    /// Where programs that show and play are looked for.
    pub alerts: Alerts,
    /// How far webhooks may reach.
    pub reach: Reach,
    /// The longest that a webhook may take: less than the lease on what it tells.
    pub patience: Duration,
}

impl Default for Telling {
    fn default() -> Self {
        let (everybody, alerts, reach) = (Manner::default(), Alerts::default(), Reach::default());
        Self { node: "main".to_owned(), everybody, alerts, reach, patience: PATIENCE }
    }
}

/// Tells people, by what this node has.
#[derive(Debug, Clone)]
pub(crate) struct Teller {
    pub(crate) node: String,
    everybody: Addresses,
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

/// What became of a channel: why it did not work, if it did not.
pub(crate) type Told = (Channel, Option<String>);

impl Teller {
    pub(crate) fn new(telling: Telling) -> Self {
        let Telling { node, everybody, alerts, reach, patience } = telling;
        let webhooks = Webhooks::new(reach, patience).map_err(|error| error.to_string());
        Self { node, everybody: everybody.addresses, alerts, webhooks }
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
        let told = channels.into_iter().zip(told.into_iter().map(Result::err));
        Ok(told.inspect(|(channel, error)| warn(news.notification_id, *channel, error.as_deref())).collect())
    }

    async fn tell_by(&self, channel: Channel, news: &News<'_>, to: &Addresses) -> Result<(), String> {
        match channel {
            Channel::Desktop => self.alerts.desktop(news.title, news.message).await.map_err(|error| error.to_string()),
            Channel::Sound => {
                let file = to.sound_file.as_ref().ok_or("there is no sound file any more")?;
                self.alerts.sound(&PathBuf::from(file)).await.map_err(|error| error.to_string())
            }
            Channel::Webhook => {
                let url = to.webhook_url.as_ref().ok_or("there is no address any more")?;
                let webhooks = self.webhooks.as_ref().map_err(Clone::clone)?;
                webhooks.send(url, &news.document()).await.map_err(|error| error.to_string())
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

fn warn(notification_id: NotificationId, channel: Channel, error: Option<&str>) {
    if let Some(error) = error {
        tracing::warn!(%notification_id, ?channel, error, "a person could not be told");
    }
}
