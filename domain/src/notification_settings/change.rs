//! Change how a person is told.

use chrono::{DateTime, Utc};

use super::{NotificationSettings, NotificationSettingsError, NotificationSettingsEvent, Preferences};
use crate::UserId;
use crate::notification::Channel;

/// The furthest that a clock is from UTC, in minutes.
const FURTHEST: std::ops::RangeInclusive<i32> = -12 * 60..=14 * 60;

/// Sets all of a person's settings at once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangeNotificationSettings {
    /// Whose they are.
    pub user_id: UserId,
    /// The settings wanted.
    pub preferences: Preferences,
    /// The channels that lead elsewhere than before, or nowhere any more.
    pub addresses_changed: Vec<Channel>,
    /// When this is asked.
    pub now: DateTime<Utc>,
}

pub(crate) fn decide(
    settings: &NotificationSettings,
    command: ChangeNotificationSettings,
) -> Result<Vec<NotificationSettingsEvent>, NotificationSettingsError> {
    let ChangeNotificationSettings { user_id, preferences, addresses_changed, now: changed_at } = command;
    if preferences.webhook_enabled && !preferences.has_webhook_url {
        return Err(NotificationSettingsError::WebhookMissing);
    }
    if preferences.sound_enabled && !preferences.has_sound_file {
        return Err(NotificationSettingsError::SoundMissing);
    }
    if !FURTHEST.contains(&preferences.utc_offset_minutes) {
        return Err(NotificationSettingsError::OffsetOutOfRange);
    }
    match settings {
        NotificationSettings::Set(now) if **now == preferences && addresses_changed.is_empty() => Ok(vec![]),
        NotificationSettings::Set(_) | NotificationSettings::Unset => {
            let changed = NotificationSettingsEvent::NotificationSettingsChanged {
                user_id,
                preferences,
                addresses_changed,
                changed_at,
            };
            Ok(vec![changed])
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::examples::{after, at, given, id};
    use crate::notification_settings::NotificationSettingsCommand;

    fn change(preferences: Preferences) -> NotificationSettingsCommand {
        lead_elsewhere(preferences, vec![])
    }

    fn lead_elsewhere(preferences: Preferences, addresses_changed: Vec<Channel>) -> NotificationSettingsCommand {
        let (user_id, now) = (id(1), at(0));
        let change = ChangeNotificationSettings { user_id, preferences, addresses_changed, now };
        NotificationSettingsCommand::Change(change)
    }

    fn changed(preferences: Preferences) -> NotificationSettingsEvent {
        let (user_id, addresses_changed, changed_at) = (id(1), vec![], at(0));
        NotificationSettingsEvent::NotificationSettingsChanged { user_id, preferences, addresses_changed, changed_at }
    }

    fn pushed() -> Preferences {
        Preferences { push_enabled: true, ..Preferences::default() }
    }

    #[test]
    fn settings_are_what_they_were_last_set_to() {
        given::<NotificationSettings>([]).when(change(pushed())).then_expect_events(vec![changed(pushed())]);
        given::<NotificationSettings>([changed(pushed())]).when(change(pushed())).then_expect_events(vec![]);
        let settings = after::<NotificationSettings>([changed(pushed())]);
        assert_eq!(settings.or_else(&Preferences::default()), pushed());
        assert_eq!(NotificationSettings::Unset.or_else(&pushed()), pushed());
    }

    #[test]
    fn another_address_is_a_change_even_if_nothing_else_is() {
        let posted = Preferences { webhook_enabled: true, has_webhook_url: true, ..pushed() };
        let changed_event = NotificationSettingsEvent::NotificationSettingsChanged {
            user_id: id(1),
            preferences: posted.clone(),
            addresses_changed: vec![Channel::Webhook],
            changed_at: at(0),
        };
        given::<NotificationSettings>([changed(posted.clone())])
            .when(lead_elsewhere(posted, vec![Channel::Webhook]))
            .then_expect_events(vec![changed_event]);
    }

    #[test]
    fn a_channel_that_is_on_leads_somewhere() {
        for (wrong, refusal) in [
            (Preferences { webhook_enabled: true, ..pushed() }, NotificationSettingsError::WebhookMissing),
            (Preferences { sound_enabled: true, ..pushed() }, NotificationSettingsError::SoundMissing),
            (Preferences { utc_offset_minutes: 900, ..pushed() }, NotificationSettingsError::OffsetOutOfRange),
        ] {
            given::<NotificationSettings>([]).when(change(wrong)).then_expect_error(refusal);
        }
    }
}
