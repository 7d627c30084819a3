//! How this node tells people, from options and environment.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use domain::notification_settings::{Addresses, Allowed, Manner, Preferences, Sounds};
use reactors::Telling;
use workbench::alert::{Alerts, Reach};

/// How people are told who have not said how, what of this machine they may use, and how far webhooks may reach.
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
    /// Let people who ask for it be told on this machine's desktop; --notification-push lets them too
    #[arg(long, env = "MUSTER_ALLOW_DESKTOP", value_name = "BOOL", num_args = 0..=1, default_value = "false", default_missing_value = "true", value_parser = clap::builder::BoolishValueParser::new())]
    allow_desktop: bool,
    /// Let people who ask for it have any file played on this machine; without, no more than the sound of --notification-sound
    #[arg(long, env = "MUSTER_ALLOW_SOUNDS", value_name = "BOOL", num_args = 0..=1, default_value = "false", default_missing_value = "true", value_parser = clap::builder::BoolishValueParser::new())]
    allow_sounds: bool,
    /// Where webhooks may lead: public addresses by https; those and this machine; or anywhere
    #[arg(long, env = "MUSTER_WEBHOOK_REACH", value_name = "MUSTER_WEBHOOK_REACH", default_value = "public")]
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
        let own_sound = sound_file.clone().filter(|_| preferences.sound_enabled);
        let sounds = match (self.allow_sounds, own_sound) {
            (true, _) => Sounds::Any,
            (false, Some(own)) => Sounds::Only(own),
            (false, None) => Sounds::None,
        };
        // What the operator does to everybody, anybody may ask for.
        let allowed = Allowed { desktop: self.allow_desktop || self.notification_push, sounds };
        let everybody = Manner::new(preferences, Addresses { sound_file, webhook_url: None });
        let reach = match self.webhook_reach {
            WebhookReach::Public => Reach::Public,
            WebhookReach::Loopback => Reach::PublicAndLoopback,
            WebhookReach::Anywhere => Reach::Anywhere,
        };
        let (node, alerts) = (self.node.clone(), Alerts::new());
        Telling { node, everybody, allowed, alerts, reach, ..Telling::default() }
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Options {
        #[command(flatten)]
        notifying: NotifyingArgs,
    }

    fn telling(options: &[&str]) -> Telling {
        Options::parse_from(["muster"].iter().chain(options)).notifying.telling()
    }

    #[test]
    fn a_node_allows_nothing_of_its_own_unless_it_is_told_to() {
        let plain = telling(&[]);
        assert_eq!((plain.allowed, plain.reach), (Allowed::default(), Reach::Public));
        let open = telling(&["--allow-desktop", "--allow-sounds=yes", "--webhook-reach", "loopback"]);
        let all = Allowed { desktop: true, sounds: Sounds::Any };
        assert_eq!((open.allowed, open.reach), (all, Reach::PublicAndLoopback));
        assert_eq!(open.everybody, Manner::default(), "nobody asked for it yet");
    }

    #[test]
    fn what_is_on_for_everybody_anybody_may_ask_for() {
        let on = telling(&["--notification-push", "--notification-sound", "--notification-sound-file", "/bell.wav"]);
        assert_eq!(on.allowed, Allowed { desktop: true, sounds: Sounds::Only("/bell.wav".to_owned()) });
        let off = telling(&["--notification-sound-file", "/bell.wav"]);
        assert_eq!(off.allowed, Allowed::default());
    }
}
