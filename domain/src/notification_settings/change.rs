//! Change how a person is told.

use chrono::{DateTime, Utc};

use super::{NotificationSettings, NotificationSettingsError, NotificationSettingsEvent, Preferences};
use crate::UserId;

/// The furthest that a clock is from UTC, in minutes.
const FURTHEST: std::ops::RangeInclusive<i32> = -12 * 60..=14 * 60;

/// Sets all of a person's settings at once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangeNotificationSettings {
    /// Whose they are.
    pub user_id: UserId,
    /// The settings wanted.
    pub preferences: Preferences,
    /// When this is asked.
    pub now: DateTime<Utc>,
}

pub(crate) fn decide(
    settings: &NotificationSettings,
    command: ChangeNotificationSettings,
) -> Result<Vec<NotificationSettingsEvent>, NotificationSettingsError> {
    let ChangeNotificationSettings { user_id, preferences, now: changed_at } = command;
    if preferences.webhook_enabled && preferences.webhook_url.is_none() {
        return Err(NotificationSettingsError::WebhookMissing);
    }
    if preferences.sound_enabled && preferences.sound_file.is_none() {
        return Err(NotificationSettingsError::SoundMissing);
    }
    if !FURTHEST.contains(&preferences.utc_offset_minutes) {
        return Err(NotificationSettingsError::OffsetOutOfRange);
    }
    match settings {
        NotificationSettings::Set(now) if **now == preferences => Ok(vec![]),
        NotificationSettings::Set(_) | NotificationSettings::Unset => {
            Ok(vec![NotificationSettingsEvent::NotificationSettingsChanged { user_id, preferences, changed_at }])
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::examples::{after, at, given, id};
    use crate::notification_settings::NotificationSettingsCommand;

    fn change(preferences: Preferences) -> NotificationSettingsCommand {
        NotificationSettingsCommand::Change(ChangeNotificationSettings { user_id: id(1), preferences, now: at(0) })
    }

    fn changed(preferences: Preferences) -> NotificationSettingsEvent {
        NotificationSettingsEvent::NotificationSettingsChanged { user_id: id(1), preferences, changed_at: at(0) }
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
