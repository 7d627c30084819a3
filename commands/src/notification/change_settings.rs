//! Changes how a person is told: what they prefer is an event, where to is a row beside the log.

use std::fmt;

use domain::UserId;
use domain::notification_settings::{
    Addresses, ChangeNotificationSettings, Manner, NotificationSettings, NotificationSettingsCommand, Preferences,
    QuietHours,
};
use domain::user::{User, UserError};
use store::{NotificationAddresses, RowChange};

use crate::{Decision, Desk, Stop};

/// Changes to a person's settings; what is not given stays.
#[derive(Debug, Clone)]
pub struct ChangeSettings {
    /// Whose.
    pub user_id: UserId,
    /// What holds for people who have set nothing.
    pub everybody: Manner,
    /// What is to be different.
    pub changes: PreferenceChanges,
}

/// What is to be different.
#[derive(Clone, Default)]
pub struct PreferenceChanges {
    /// Whether the desktop shows news.
    pub push_enabled: Option<bool>,
    /// Whether a sound is played.
    pub sound_enabled: Option<bool>,
    /// Which sound; none for none.
    pub sound_file: Option<Option<String>>,
    /// Whether news is posted.
    pub webhook_enabled: Option<bool>,
    /// Where to; none for nowhere.
    pub webhook_url: Option<Option<String>>,
    /// Whether to tell of tasks that are ready for review.
    pub notify_on_task_complete: Option<bool>,
    /// Whether to tell of epics that are ready for review.
    pub notify_on_epic_complete: Option<bool>,
    /// Whether to tell of errors.
    pub notify_on_errors: Option<bool>,
    /// When not to; none for never.
    pub quiet_hours: Option<Option<QuietHours>>,
    /// How far the person's clock is ahead of UTC.
    pub utc_offset_minutes: Option<i32>,
}

impl PreferenceChanges {
    /// What holds after them.
    fn made_to(&self, mut it: Preferences, mut addresses: Addresses) -> Manner {
        fn set<T: Clone>(place: &mut T, wanted: &Option<T>) {
            if let Some(wanted) = wanted {
                place.clone_from(wanted);
            }
        }
        set(&mut it.push_enabled, &self.push_enabled);
        set(&mut it.sound_enabled, &self.sound_enabled);
        set(&mut it.webhook_enabled, &self.webhook_enabled);
        set(&mut it.notify_on_task_complete, &self.notify_on_task_complete);
        set(&mut it.notify_on_epic_complete, &self.notify_on_epic_complete);
        set(&mut it.notify_on_errors, &self.notify_on_errors);
        set(&mut it.quiet_hours, &self.quiet_hours);
        set(&mut it.utc_offset_minutes, &self.utc_offset_minutes);
        set(&mut addresses.sound_file, &self.sound_file);
        set(&mut addresses.webhook_url, &self.webhook_url);
        Manner::new(it, addresses)
    }
}

// Written by hand so that no log line can ever carry an address.
impl fmt::Debug for PreferenceChanges {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PreferenceChanges").finish_non_exhaustive()
    }
}

impl Decision for ChangeSettings {
    type Outcome = UserId;

    fn name(&self) -> &'static str {
        "notification.updateSettings"
    }

    async fn decide(&self, desk: &mut Desk<'_>) -> Result<UserId, Stop> {
        // No address is left behind by whoever is deleted at this very moment.
        let user = desk.load::<User>(self.user_id.0).await?;
        desk.rely_on(&user);
        if *user.state == User::Deleted {
            return Err(Stop::Refused(UserError::NotFound.into()));
        }
        let settings = desk.load::<NotificationSettings>(self.user_id.0).await?;
        let kept = desk.notification_addresses(self.user_id).await?;
        let Manner { preferences, addresses } = match &*settings.state {
            // Whoever says anything keeps the rest as everybody has it.
            NotificationSettings::Unset => {
                self.changes.made_to(self.everybody.preferences.clone(), self.everybody.addresses.clone())
            }
            NotificationSettings::Set(own) => self.changes.made_to(Preferences::clone(own), kept.clone()),
        };
        let addresses_changed = addresses.changed_from(&kept);
        let is_moved = !addresses_changed.is_empty();
        let change =
            ChangeNotificationSettings { user_id: self.user_id, preferences, addresses_changed, now: desk.now() };
        desk.run::<NotificationSettings>(self.user_id.0, NotificationSettingsCommand::Change(change)).await?;
        if is_moved {
            let Addresses { sound_file, webhook_url } = addresses;
            let (user_id, changed_at) = (self.user_id.0, desk.now().timestamp_micros());
            let row = NotificationAddresses { user_id, sound_file, webhook_url, changed_at };
            desk.write(RowChange::SetNotificationAddresses(row));
        }
        Ok(self.user_id)
    }
}
