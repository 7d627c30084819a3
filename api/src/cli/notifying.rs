//! How this node tells people, from options and environment.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use domain::notification_settings::{Addresses, Manner, Preferences};
use reactors::Telling;
use workbench::alert::{Alerts, Reach};

/// How people are told who have not said how, and how far that may reach.
#[derive(Debug, Args)]
pub(super) struct NotifyingArgs {
    /// What this node is called; nodes on one log need names of their own
    #[arg(long, env = "MUSTER_NODE", value_name = "MUSTER_NODE", default_value = "main")]
    node: String,
    /// Show notifications on this machine's desktop (notify-send), unless a person says otherwise
    #[arg(long, env = "NOTIFICATION_PUSH_ENABLED", value_name = "BOOL", num_args = 0..=1, default_value = "false", default_missing_value = "true", value_parser = clap::builder::BoolishValueParser::new())]
    notification_push: bool,
    /// Play a sound on this machine (paplay or aplay), unless a person says otherwise
    #[arg(long, env = "NOTIFICATION_SOUND_ENABLED", value_name = "BOOL", num_args = 0..=1, default_value = "false", default_missing_value = "true", value_parser = clap::builder::BoolishValueParser::new())]
    notification_sound: bool,
    /// The sound to play
    #[arg(long, env = "NOTIFICATION_SOUND_FILE", value_name = "FILE")]
    notification_sound_file: Option<PathBuf>,
    /// Where webhooks may lead: public addresses by https; those and this machine; or anywhere
    #[arg(long, env = "MUSTER_WEBHOOK_REACH", value_name = "MUSTER_WEBHOOK_REACH", default_value = "loopback")]
    webhook_reach: WebhookReach,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum WebhookReach {
    Public,
    Loopback,
    Anywhere,
}

impl NotifyingArgs {
    /// How this node tells people.
    pub(super) fn telling(&self) -> Telling {
        let sound_file = self.notification_sound_file.as_ref().map(|it| it.display().to_string());
        let preferences = Preferences {
            push_enabled: self.notification_push,
            sound_enabled: self.notification_sound && sound_file.is_some(),
            ..Preferences::default()
        };
        let everybody = Manner::new(preferences, Addresses { sound_file, webhook_url: None });
        let reach = match self.webhook_reach {
            WebhookReach::Public => Reach::Public,
            WebhookReach::Loopback => Reach::PublicAndLoopback,
            WebhookReach::Anywhere => Reach::Anywhere,
        };
        Telling { node: self.node.clone(), everybody, alerts: Alerts::new(), reach, ..Telling::default() }
    }
}
