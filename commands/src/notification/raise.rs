//! Raises news for the owner of a workspace.

use domain::notification::{self, Notification, NotificationCommand};
use domain::notification_settings::{NotificationSettings, Preferences};
use domain::user::User;
use domain::workspace::Workspace;
use domain::{NotificationId, WorkspaceId};

use super::News;
use crate::{Decision, Desk, Stop};

/// News for the owner of a workspace.
#[derive(Debug, Clone)]
pub struct RaiseNotification {
    /// The workspace it comes from.
    pub workspace_id: WorkspaceId,
    /// What happened.
    pub news: News,
    /// What holds for owners who have set nothing.
    pub everybody: Preferences,
}

impl Decision for RaiseNotification {
    /// The notification, if it was news.
    type Outcome = Option<NotificationId>;

    fn name(&self) -> &'static str {
        "notification.raise"
    }

    async fn decide(&self, desk: &mut Desk<'_>) -> Result<Option<NotificationId>, Stop> {
        let workspace = desk.load::<Workspace>(self.workspace_id.0).await?;
        let user_id = workspace.state.live()?.owner_id;
        let Some(told) = self.news.told(desk).await? else { return Ok(None) };
        // Not relied on: whoever changes settings at this very moment may be told once more as before.
        let settings = desk.load::<NotificationSettings>(user_id.0).await?;
        let preferences = match &*desk.load::<User>(user_id.0).await?.state {
            // Nobody is there any more to be told.
            User::Deleted => Preferences::default(),
            User::Absent | User::Active | User::Suspended => settings.state.or_else(&self.everybody),
        };
        let notification_id = NotificationId(desk.new_id());
        let raise = notification::RaiseNotification {
            notification_id,
            workspace_id: self.workspace_id,
            user_id,
            kind: told.kind,
            title: told.title,
            message: told.message,
            preferences,
            now: desk.now(),
        };
        desk.begin::<Notification>(notification_id.0, NotificationCommand::Raise(Box::new(raise))).await?;
        Ok(Some(notification_id))
    }
}
