//! What a person prefers, and what follows from it for one piece of news.

use chrono::{DateTime, TimeDelta, Timelike, Utc};
use serde::{Deserialize, Serialize};

use super::ClockTime;
use crate::notification::{Channel, NotificationKind, WithheldReason};

/// Of what, how and when a person wants to be told.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Preferences {
    /// Whether the desktop of the node shows it.
    pub push_enabled: bool,
    /// Whether the node plays a sound.
    pub sound_enabled: bool,
    /// Whether there is one to play. Which is a matter of its [`Addresses`](super::Addresses).
    pub has_sound_file: bool,
    /// Whether it is posted somewhere.
    pub webhook_enabled: bool,
    /// Whether there is an address to post to.
    pub has_webhook_url: bool,
    /// Whether to tell of tasks that are ready for review.
    pub notify_on_task_complete: bool,
    /// Whether to tell of epics that are ready for review.
    pub notify_on_epic_complete: bool,
    /// Whether to tell of tasks that failed and of critical errors.
    pub notify_on_errors: bool,
    /// When not to.
    pub quiet_hours: Option<QuietHours>,
    /// How far the person's clock is ahead of UTC, in minutes.
    pub utc_offset_minutes: i32,
}

/// Hours of every day in which nobody is told anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuietHours {
    /// From this minute on.
    pub start: ClockTime,
    /// Up to this minute; before `start` it is one of the next day.
    pub end: ClockTime,
}

impl Default for Preferences {
    /// Of everything, but by no channel: which there are is for the node to say.
    fn default() -> Self {
        Self {
            push_enabled: false,
            sound_enabled: false,
            has_sound_file: false,
            webhook_enabled: false,
            has_webhook_url: false,
            notify_on_task_complete: true,
            notify_on_epic_complete: true,
            notify_on_errors: true,
            quiet_hours: None,
            utc_offset_minutes: 0,
        }
    }
}

impl Preferences {
    /// The channels by which to tell of something now, or why not to.
    pub fn channels_for(&self, kind: NotificationKind, now: DateTime<Utc>) -> Result<Vec<Channel>, WithheldReason> {
        let channels = self.channels();
        if !self.wants(kind) || channels.is_empty() {
            return Err(WithheldReason::Disabled);
        }
        if self.is_quiet(now) { Err(WithheldReason::QuietHours) } else { Ok(channels) }
    }

    fn channels(&self) -> Vec<Channel> {
        let all = [
            (Channel::Desktop, self.push_enabled),
            (Channel::Sound, self.sound_enabled && self.has_sound_file),
            (Channel::Webhook, self.webhook_enabled && self.has_webhook_url),
        ];
        all.into_iter().filter(|(_, is_on)| *is_on).map(|(channel, _)| channel).collect()
    }

    fn wants(&self, kind: NotificationKind) -> bool {
        match kind {
            NotificationKind::TaskDone => self.notify_on_task_complete,
            NotificationKind::EpicDone => self.notify_on_epic_complete,
            NotificationKind::TaskFailed | NotificationKind::CriticalError => self.notify_on_errors,
        }
    }

    fn is_quiet(&self, now: DateTime<Utc>) -> bool {
        let Some(QuietHours { start, end }) = self.quiet_hours else { return false };
        let local = now + TimeDelta::minutes(self.utc_offset_minutes.into());
        let minute = (local.hour() * 60 + local.minute()) as u16;
        if start <= end {
            (start.minutes()..end.minutes()).contains(&minute)
        } else {
            minute >= start.minutes() || minute < end.minutes()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::examples::at;

    fn told() -> Preferences {
        Preferences { push_enabled: true, ..Preferences::default() }
    }

    fn quiet(start: &str, end: &str) -> Preferences {
        let time = |text| ClockTime::parse(text).expect("a time");
        Preferences { quiet_hours: Some(QuietHours { start: time(start), end: time(end) }), ..told() }
    }

    fn hour(preferences: &Preferences, hour: i64) -> Result<Vec<Channel>, WithheldReason> {
        preferences.channels_for(NotificationKind::EpicDone, at(hour * 60))
    }

    #[test]
    fn news_goes_to_every_channel_that_is_on_and_leads_somewhere() {
        assert_eq!(hour(&told(), 12), Ok(vec![Channel::Desktop]));
        let all = Preferences {
            sound_enabled: true,
            has_sound_file: true,
            webhook_enabled: true,
            has_webhook_url: true,
            ..told()
        };
        assert_eq!(hour(&all, 12), Ok(vec![Channel::Desktop, Channel::Sound, Channel::Webhook]));
        let nowhere = Preferences { has_webhook_url: false, has_sound_file: false, ..all };
        assert_eq!(hour(&nowhere, 12), Ok(vec![Channel::Desktop]));
    }

    #[test]
    fn unwanted_news_is_withheld() {
        assert_eq!(hour(&Preferences::default(), 12), Err(WithheldReason::Disabled));
        let no_errors = Preferences { notify_on_errors: false, ..told() };
        for (kind, is_told) in [
            (NotificationKind::TaskDone, true),
            (NotificationKind::EpicDone, true),
            (NotificationKind::TaskFailed, false),
            (NotificationKind::CriticalError, false),
        ] {
            assert_eq!(no_errors.channels_for(kind, at(0)).is_ok(), is_told);
        }
    }

    #[test]
    fn quiet_hours_may_span_midnight() {
        let night = quiet("22:00", "08:00");
        for (at_hour, is_told) in [(21, true), (22, false), (23, false), (0, false), (7, false), (8, true)] {
            assert_eq!(hour(&night, at_hour).is_ok(), is_told, "{at_hour}");
        }
        let noon = quiet("12:00", "13:00");
        assert_eq!([11, 12, 13].map(|it| hour(&noon, it).is_ok()), [true, false, true]);
    }

    #[test]
    fn quiet_hours_that_end_as_they_begin_are_none() {
        assert!((0..24).all(|it| hour(&quiet("08:00", "08:00"), it).is_ok()));
    }

    #[test]
    fn quiet_hours_are_those_of_the_persons_clock() {
        let in_berlin = Preferences { utc_offset_minutes: 60, ..quiet("22:00", "08:00") };
        assert_eq!([20, 21, 6, 7].map(|it| hour(&in_berlin, it).is_ok()), [true, false, false, true]);
    }
}
