//! Changes how a person is told.

use domain::UserId;
use domain::notification_settings::{
    ChangeNotificationSettings, NotificationSettings, NotificationSettingsCommand, Preferences, QuietHours,
};

use crate::{Decision, Desk, Stop};

/// Changes to a person's settings; what is not given stays.
#[derive(Debug, Clone)]
pub struct ChangeSettings {
    /// Whose.
    pub user_id: UserId,
    /// What holds for people who have set nothing.
    pub everybody: Preferences,
    /// What is to be different.
    pub changes: PreferenceChanges,
}

/// What is to be different.
#[derive(Debug, Clone, Default)]
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
    fn made_to(&self, mut it: Preferences) -> Preferences {
        fn set<T: Clone>(place: &mut T, wanted: &Option<T>) {
            if let Some(wanted) = wanted {
                place.clone_from(wanted);
            }
        }
        set(&mut it.push_enabled, &self.push_enabled);
        set(&mut it.sound_enabled, &self.sound_enabled);
        set(&mut it.sound_file, &self.sound_file);
        set(&mut it.webhook_enabled, &self.webhook_enabled);
        set(&mut it.webhook_url, &self.webhook_url);
        set(&mut it.notify_on_task_complete, &self.notify_on_task_complete);
        set(&mut it.notify_on_epic_complete, &self.notify_on_epic_complete);
        set(&mut it.notify_on_errors, &self.notify_on_errors);
        set(&mut it.quiet_hours, &self.quiet_hours);
        set(&mut it.utc_offset_minutes, &self.utc_offset_minutes);
        it
    }
}

impl Decision for ChangeSettings {
    type Outcome = UserId;

    fn name(&self) -> &'static str {
        "notification.updateSettings"
    }

    async fn decide(&self, desk: &mut Desk<'_>) -> Result<UserId, Stop> {
        let settings = desk.load::<NotificationSettings>(self.user_id.0).await?;
        let preferences = self.changes.made_to(settings.state.or_else(&self.everybody));
        let change = ChangeNotificationSettings { user_id: self.user_id, preferences, now: desk.now() };
        desk.run::<NotificationSettings>(self.user_id.0, NotificationSettingsCommand::Change(change)).await?;
        Ok(self.user_id)
    }
}
