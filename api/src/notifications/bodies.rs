//! What goes in and out of the routes of notifications.

use chrono::{DateTime, Utc};
use commands::notification::PreferenceChanges;
use domain::notification::{Channel, NotificationKind, WithheldReason};
use domain::notification_settings::{ClockTime, Manner, QuietHours};
use projections::notifications::{Delivery, NotificationView};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use uuid::Uuid;

use crate::answer::Warning;
use crate::error::{ApiError, BadField};
use crate::input::without_nulls;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[schemars(transform = without_nulls)]
pub(super) struct ListNotifications {
    /// Only of one workspace.
    pub(super) workspace_id: Option<Uuid>,
    /// Only those before this position of the log: the `nextBefore` of the page before.
    #[schemars(range(min = 0))]
    pub(super) before: Option<i64>,
    #[schemars(range(min = 1, max = 100), extend("default" = 50))]
    pub(super) limit: Option<i64>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[schemars(transform = without_nulls)]
pub(super) struct NoInput {}

/// What is not given stays; null takes away.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct ChangeSettingsInput {
    push_enabled: Option<bool>,
    sound_enabled: Option<bool>,
    /// An absolute path on the node that tells you. Its operator may allow none.
    #[serde(default, deserialize_with = "given")]
    #[schemars(length(max = 1000), regex(pattern = r"^/[^\x00]*$"))]
    sound_file: Option<Option<String>>,
    webhook_enabled: Option<bool>,
    /// Gets a POST with JSON. Only public addresses over https, unless the operator allows more.
    #[serde(default, deserialize_with = "given")]
    #[schemars(length(max = 2000), regex(pattern = r"^https?://[^\s/?#@]+([/?#]\S*)?$"))]
    webhook_url: Option<Option<String>>,
    notify_on_task_complete: Option<bool>,
    notify_on_epic_complete: Option<bool>,
    notify_on_errors: Option<bool>,
    /// Like 22:00; with `quietHoursEnd` only.
    #[serde(default, deserialize_with = "given")]
    #[schemars(regex(pattern = r"^([01][0-9]|2[0-3]):[0-5][0-9]$"))]
    quiet_hours_start: Option<Option<String>>,
    /// Like 08:00; before the start it is one of the next day.
    #[serde(default, deserialize_with = "given")]
    #[schemars(regex(pattern = r"^([01][0-9]|2[0-3]):[0-5][0-9]$"))]
    quiet_hours_end: Option<Option<String>>,
    /// How far your clock is ahead of UTC.
    #[schemars(range(min = -720, max = 840))]
    utc_offset_minutes: Option<i32>,
}

impl ChangeSettingsInput {
    pub(super) fn changes(self) -> Result<PreferenceChanges, ApiError> {
        let together = || {
            let text = "must be given, or taken away, together with quietHoursEnd";
            ApiError::validation(vec![BadField::new("quietHoursStart", text)])
        };
        let time = |field: &str, text: &str| {
            ClockTime::parse(text).map_err(|e| ApiError::validation(vec![BadField::new(field, e.to_string())]))
        };
        let quiet_hours = match (self.quiet_hours_start, self.quiet_hours_end) {
            (None, None) => None,
            (Some(None), Some(None)) => Some(None),
            (Some(Some(start)), Some(Some(end))) => {
                Some(Some(QuietHours { start: time("quietHoursStart", &start)?, end: time("quietHoursEnd", &end)? }))
            }
            (_, _) => return Err(together()),
        };
        Ok(PreferenceChanges {
            push_enabled: self.push_enabled,
            sound_enabled: self.sound_enabled,
            sound_file: self.sound_file,
            webhook_enabled: self.webhook_enabled,
            webhook_url: self.webhook_url,
            notify_on_task_complete: self.notify_on_task_complete,
            notify_on_epic_complete: self.notify_on_epic_complete,
            notify_on_errors: self.notify_on_errors,
            quiet_hours,
            utc_offset_minutes: self.utc_offset_minutes,
        })
    }
}

/// A field that is there, null or not.
fn given<'de, D: Deserializer<'de>>(field: D) -> Result<Option<Option<String>>, D::Error> {
    Option::deserialize(field).map(Some)
}

/// How a person is told.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "NotificationSettings")]
pub(super) struct SettingsBody {
    push_enabled: bool,
    sound_enabled: bool,
    sound_file: Option<String>,
    webhook_enabled: bool,
    webhook_url: Option<String>,
    notify_on_task_complete: bool,
    notify_on_epic_complete: bool,
    notify_on_errors: bool,
    quiet_hours_start: Option<String>,
    quiet_hours_end: Option<String>,
    utc_offset_minutes: i32,
    /// Only when something is on that this node does not do: `DESKTOP_NOT_ALLOWED`, `SOUND_NOT_ALLOWED` or
    /// `WEBHOOK_NOT_ALLOWED`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<Warning>,
}

impl SettingsBody {
    pub(super) fn new(Manner { preferences: it, addresses }: Manner, warnings: Vec<Warning>) -> Self {
        Self {
            push_enabled: it.push_enabled,
            sound_enabled: it.sound_enabled,
            sound_file: addresses.sound_file,
            webhook_enabled: it.webhook_enabled,
            webhook_url: addresses.webhook_url,
            notify_on_task_complete: it.notify_on_task_complete,
            notify_on_epic_complete: it.notify_on_epic_complete,
            notify_on_errors: it.notify_on_errors,
            quiet_hours_start: it.quiet_hours.map(|hours| hours.start.to_string()),
            quiet_hours_end: it.quiet_hours.map(|hours| hours.end.to_string()),
            utc_offset_minutes: it.utc_offset_minutes,
            warnings,
        }
    }
}

/// What sort of news it is.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
enum Kind {
    TaskDone,
    TaskFailed,
    EpicDone,
    CriticalError,
}

/// How a person is told.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
enum By {
    Desktop,
    Sound,
    Webhook,
}

/// What became of it.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
enum Outcome {
    Pending,
    Delivered,
    Failed,
    Disallowed,
}

/// Why a person is not told.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
enum Withheld {
    QuietHours,
    Disabled,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
struct DeliveryBody {
    channel: By,
    status: Outcome,
    /// Why it did not work.
    error: Option<String>,
    /// Why the operator of the node does not allow it.
    reason: Option<String>,
    /// When something became of it.
    at: Option<DateTime<Utc>>,
}

/// One piece of news.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Notification")]
pub(super) struct NotificationBody {
    id: Uuid,
    workspace_id: Uuid,
    kind: Kind,
    title: String,
    message: String,
    /// Why nobody was told; null when somebody was, or is about to be.
    withheld: Option<Withheld>,
    deliveries: Vec<DeliveryBody>,
    created_at: DateTime<Utc>,
    position: i64,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct ManyNotifications {
    pub(super) notifications: Vec<NotificationBody>,
    /// What to ask for as `before` to go on; null when there is no more.
    pub(super) next_before: Option<i64>,
}

impl From<Delivery> for DeliveryBody {
    fn from(it: Delivery) -> Self {
        let channel = match it.channel {
            Channel::Desktop => By::Desktop,
            Channel::Sound => By::Sound,
            Channel::Webhook => By::Webhook,
        };
        let status = match (it.at, &it.error, &it.disallowed) {
            (None, _, _) => Outcome::Pending,
            (Some(_), None, None) => Outcome::Delivered,
            (Some(_), Some(_), _) => Outcome::Failed,
            (Some(_), None, Some(_)) => Outcome::Disallowed,
        };
        Self { channel, status, error: it.error, reason: it.disallowed, at: it.at }
    }
}

impl From<NotificationView> for NotificationBody {
    fn from(it: NotificationView) -> Self {
        Self {
            id: it.id.0,
            workspace_id: it.workspace_id.0,
            kind: match it.kind {
                NotificationKind::TaskDone => Kind::TaskDone,
                NotificationKind::TaskFailed => Kind::TaskFailed,
                NotificationKind::EpicDone => Kind::EpicDone,
                NotificationKind::CriticalError => Kind::CriticalError,
            },
            title: it.title,
            message: it.message,
            withheld: it.withheld.map(|reason| match reason {
                WithheldReason::QuietHours => Withheld::QuietHours,
                WithheldReason::Disabled => Withheld::Disabled,
            }),
            deliveries: it.deliveries.into_iter().map(DeliveryBody::from).collect(),
            created_at: it.created_at,
            position: it.position,
        }
    }
}
