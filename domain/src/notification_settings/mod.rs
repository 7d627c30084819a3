//! How a person wants to be told: which news, by which channels, and when not. One stream per user, under the user's id.

mod addresses;
mod allowed;
mod change;
mod clock_time;
mod preferences;

use chrono::{DateTime, Utc};
use cqrs_es::{Aggregate, event_sink::EventSink};
use serde::{Deserialize, Serialize};
use thiserror::Error;

pub use addresses::{Addresses, Manner};
pub use allowed::{Allowed, Sounds};
pub use change::ChangeNotificationSettings;
pub use clock_time::{ClockTime, NotAClockTime};
pub use preferences::{Preferences, QuietHours};

use crate::catalogue::event_kinds;
use crate::notification::Channel;
use crate::{Demand, Entity, UserId, WorkspaceId};

/// The life of a person's settings.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum NotificationSettings {
    /// Never set: what the node has for everybody holds.
    #[default]
    Unset,
    /// Set.
    Set(Box<Preferences>),
}

/// What is asked of settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotificationSettingsCommand {
    /// See [`ChangeNotificationSettings`].
    Change(ChangeNotificationSettings),
}

/// What happened to settings.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum NotificationSettingsEvent {
    /// They are these from now on, all of them.
    NotificationSettingsChanged {
        /// Whose they are.
        user_id: UserId,
        /// The settings.
        preferences: Preferences,
        /// The channels that lead elsewhere from now on, or nowhere any more. Where to is beside the log.
        addresses_changed: Vec<Channel>,
        /// When it happened.
        changed_at: DateTime<Utc>,
    },
}

event_kinds! { NotificationSettingsEvent of NotificationSettings {
    NotificationSettingsChanged "2" "A person said of what, how and when they want to be told, or changed where to, which stays beside the log." {
        text[]
        plain["preferences.quiet_hours.start", "preferences.quiet_hours.end", "addresses_changed"]
    }
}}

/// Why a command on settings is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum NotificationSettingsError {
    /// A channel is on that leads nowhere.
    #[error("the webhook has no address")]
    WebhookMissing,
    /// A channel is on that plays nothing.
    #[error("the sound has no file")]
    SoundMissing,
    /// No place on earth is that far from Greenwich.
    #[error("the offset from UTC is out of range")]
    OffsetOutOfRange,
}

impl NotificationSettings {
    /// What holds: the person's own, or what everybody has.
    pub fn or_else(&self, everybody: &Preferences) -> Preferences {
        match self {
            Self::Unset => everybody.clone(),
            Self::Set(own) => Preferences::clone(own),
        }
    }

    fn decide(
        &self,
        command: NotificationSettingsCommand,
    ) -> Result<Vec<NotificationSettingsEvent>, NotificationSettingsError> {
        match command {
            NotificationSettingsCommand::Change(it) => change::decide(self, it),
        }
    }
}

impl Aggregate for NotificationSettings {
    const TYPE: &'static str = "notification_settings";
    type Command = NotificationSettingsCommand;
    type Event = NotificationSettingsEvent;
    type Error = NotificationSettingsError;
    type Services = ();

    async fn handle(
        &mut self,
        command: NotificationSettingsCommand,
        (): &(),
        sink: &EventSink<Self>,
    ) -> Result<(), NotificationSettingsError> {
        for event in self.decide(command)? {
            sink.write(event, self).await;
        }
        Ok(())
    }

    fn apply(&mut self, event: NotificationSettingsEvent) {
        match event {
            NotificationSettingsEvent::NotificationSettingsChanged { preferences, .. } => {
                *self = Self::Set(Box::new(preferences));
            }
        }
    }
}

impl Entity for NotificationSettings {
    // They are a person's, and a person belongs to no tenant.
    fn workspace(&self) -> Option<WorkspaceId> {
        None
    }

    fn demands(&self, event: &NotificationSettingsEvent) -> Vec<Demand<NotificationSettingsError>> {
        match event {
            NotificationSettingsEvent::NotificationSettingsChanged { .. } => vec![],
        }
    }
}
