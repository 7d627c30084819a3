//! When a notification is raised, its person is told: on the desktop, by a sound, by a webhook.
//!
//! One node tells it, the first that says so in the log; after a crash the same node tells it again, so a person is told
//! at least once and, but for a crash, at most once. A channel that does not work is on record and holds nothing up:
//! every one is bounded by a timeout, and they are tried side by side.

use std::path::PathBuf;
use std::pin::Pin;
use std::time::Duration;

use commands::CommandError;
use commands::notification::{ReportDelivery, TakeNotification};
use domain::notification::{Channel, NotificationEvent};
use domain::notification_settings::Preferences;
use domain::{NotificationId, UserId};
use futures_util::future::join_all;
use projections::{Fact, FactOf, notifications};
use serde_json::{Value, json};
use uuid::Uuid;
use workbench::alert::{Alerts, Reach, Webhooks};

use crate::{Reaction, Reactor};

/// The longest that a webhook may take.
const PATIENCE: Duration = Duration::from_secs(5);

/// Tells people, by what this node has.
#[derive(Debug, Clone)]
pub struct TellOnNotificationRaised {
    node: String,
    everybody: Preferences,
    alerts: Alerts,
    /// How to post, or why that is not possible here.
    webhooks: Result<Webhooks, String>,
}

impl TellOnNotificationRaised {
    /// Tells people from this node; `alerts` says where programs are looked for.
    pub fn new(node: impl Into<String>, everybody: Preferences, alerts: Alerts, reach: Reach) -> Self {
        let webhooks = Webhooks::new(reach, PATIENCE).map_err(|error| error.to_string());
        Self { node: node.into(), everybody, alerts, webhooks }
    }

    /// Tells by one channel; the error is for the record.
    async fn tell(&self, channel: Channel, news: &News<'_>, preferences: &Preferences) -> Result<(), String> {
        match channel {
            Channel::Desktop => self.alerts.desktop(news.title, news.message).await.map_err(|error| error.to_string()),
            Channel::Sound => {
                let file = preferences.sound_file.as_ref().ok_or("there is no sound file any more")?;
                self.alerts.sound(&PathBuf::from(file)).await.map_err(|error| error.to_string())
            }
            Channel::Webhook => {
                let url = preferences.webhook_url.as_ref().ok_or("there is no address any more")?;
                let webhooks = self.webhooks.as_ref().map_err(Clone::clone)?;
                webhooks.send(url, &news.document).await.map_err(|error| error.to_string())
            }
        }
    }
}

/// What is told.
struct News<'a> {
    title: &'a str,
    message: &'a str,
    /// All of it, for programs.
    document: Value,
}

impl Reactor for TellOnNotificationRaised {
    fn name(&self) -> &'static str {
        "tell_on_notification_raised"
    }

    fn cares_about(&self, fact: &Fact) -> bool {
        matches!(&fact.of, FactOf::Notification(NotificationEvent::NotificationRaised { channels, .. }) if !channels.is_empty())
    }

    fn reads(&self) -> &'static [&'static str] {
        &[notifications::NAME]
    }

    fn react<'a>(
        &'a self,
        reaction: Reaction<'a>,
    ) -> Pin<Box<dyn Future<Output = Result<(), CommandError>> + Send + 'a>> {
        Box::pin(async move {
            let FactOf::Notification(NotificationEvent::NotificationRaised {
                notification_id,
                workspace_id,
                user_id,
                kind,
                title,
                message,
                channels,
                raised_at,
            }) = &reaction.fact.of
            else {
                return Ok(());
            };
            if !self.takes(&reaction, *notification_id).await? {
                return Ok(());
            }
            let preferences = self.preferences(&reaction, *user_id).await?;
            let document = json!({
                "id": notification_id, "workspaceId": workspace_id, "kind": kind, "title": title, "message": message,
                "createdAt": raised_at,
            });
            let news = News { title, message, document };
            let told = join_all(channels.iter().map(|channel| self.tell(*channel, &news, &preferences))).await;
            for (channel, told) in channels.iter().zip(told) {
                report(&reaction, *notification_id, *channel, told.err()).await?;
            }
            Ok(())
        })
    }
}

impl TellOnNotificationRaised {
    /// Whether this node is the one that tells it.
    async fn takes(&self, reaction: &Reaction<'_>, notification_id: NotificationId) -> Result<bool, CommandError> {
        let take = TakeNotification { notification_id, node: self.node.clone() };
        // All nodes ask under the same key, so whoever comes later is told who was first.
        Ok(reaction.run(notification_id.0, &take).await?.outcome == self.node)
    }

    /// What the person prefers by now.
    async fn preferences(&self, reaction: &Reaction<'_>, user: UserId) -> Result<Preferences, CommandError> {
        let set = notifications::preferences(reaction.views, user).await?;
        Ok(set.unwrap_or_else(|| self.everybody.clone()))
    }
}

async fn report(
    reaction: &Reaction<'_>,
    notification_id: NotificationId,
    channel: Channel,
    error: Option<String>,
) -> Result<(), CommandError> {
    if let Some(error) = &error {
        tracing::warn!(%notification_id, ?channel, error, "a person could not be told");
    }
    // One command per channel.
    let subject = Uuid::new_v5(&notification_id.0, format!("{channel:?}").as_bytes());
    reaction.run(subject, &ReportDelivery { notification_id, channel, error }).await.map(drop)
}
