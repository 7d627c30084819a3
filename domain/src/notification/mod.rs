//! A notification: one piece of news for one person, and what became of telling it. One stream each.

mod deliver;
#[cfg(test)]
mod examples;
mod raise;
mod take;

use chrono::{DateTime, Utc};
use cqrs_es::{Aggregate, event_sink::EventSink};
use serde::{Deserialize, Serialize};
use thiserror::Error;

pub use deliver::{Outcome, ReportDelivery};
pub use raise::RaiseNotification;
pub use take::TakeNotification;

use crate::catalogue::event_kinds;
use crate::{Demand, Entity, NotificationId, UserId, WorkspaceId};

/// What a person may want to know.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NotificationKind {
    /// A worker did its part of a task.
    TaskDone,
    /// A task failed for good.
    TaskFailed,
    /// An epic waits for a person's review.
    EpicDone,
    /// Something is wrong that nobody but a person can put right.
    CriticalError,
}

/// How a person is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Channel {
    /// The desktop of the node.
    Desktop,
    /// A sound on the node.
    Sound,
    /// A post to an address that the person chose.
    Webhook,
}

/// Why a person is not told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WithheldReason {
    /// It is the time of day at which they want their peace.
    QuietHours,
    /// They do not want to be told of it, or by nothing.
    Disabled,
}

/// The life of a notification.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Notification {
    /// Not raised yet.
    #[default]
    Absent,
    /// Raised.
    Raised(Box<RaisedNotification>),
}

/// What later decisions need to know of a notification.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RaisedNotification {
    /// The workspace it comes from.
    pub workspace_id: WorkspaceId,
    /// By which channels it is to be told, and nobody has said what became of that.
    pub pending: Vec<Channel>,
    /// Who was last to take it.
    pub lease: Option<Lease>,
}

/// The right to tell a notification.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lease {
    /// The node that has it.
    pub node: String,
    /// When it ends, told or not.
    pub until: DateTime<Utc>,
}

/// What is asked of a notification.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotificationCommand {
    /// See [`RaiseNotification`].
    Raise(Box<RaiseNotification>),
    /// See [`TakeNotification`].
    Take(TakeNotification),
    /// See [`ReportDelivery`].
    Report(ReportDelivery),
}

/// What happened to a notification.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum NotificationEvent {
    /// There is news for a person.
    NotificationRaised {
        /// Which notification it is.
        notification_id: NotificationId,
        /// The workspace it comes from.
        workspace_id: WorkspaceId,
        /// Who is to be told.
        user_id: UserId,
        /// What sort of news it is.
        kind: NotificationKind,
        /// What it is about.
        title: String,
        /// What it says.
        message: String,
        /// By what it is to be told; by nothing, if it is withheld.
        channels: Vec<Channel>,
        /// When it happened.
        raised_at: DateTime<Utc>,
    },
    /// The person is not told, but may look it up.
    NotificationWithheld {
        /// Why.
        reason: WithheldReason,
        /// When it happened.
        withheld_at: DateTime<Utc>,
    },
    /// A node is about to tell it, so that no other does for the time being.
    NotificationTaken {
        /// Which node.
        node: String,
        /// When it happened.
        taken_at: DateTime<Utc>,
        /// When another may take it, if nobody has said what became of it.
        until: DateTime<Utc>,
    },
    /// The person was told by a channel.
    NotificationDelivered {
        /// By which.
        channel: Channel,
        /// When it happened.
        delivered_at: DateTime<Utc>,
    },
    /// A channel did not work.
    NotificationFailed {
        /// Which.
        channel: Channel,
        /// Why.
        error: String,
        /// When it happened.
        failed_at: DateTime<Utc>,
    },
    /// A channel was not tried, because the operator of the node does not allow it.
    NotificationDisallowed {
        /// Which.
        channel: Channel,
        /// The rule that says so.
        reason: String,
        /// When it happened.
        disallowed_at: DateTime<Utc>,
    },
}

event_kinds! { NotificationEvent of Notification {
    NotificationRaised "1" "There is news that a person may want to be told of." {
        text["title", "message"]
        plain["kind", "channels"]
    }
    NotificationWithheld "1" "A person is not told of some news, because they do not want to be, or not now." {
        text[]
        plain["reason"]
    }
    NotificationTaken "2" "A node is about to tell a person some news, and has until some moment for it." {
        text[]
        plain["node"]
    }
    NotificationDelivered "1" "A person was told some news." {
        text[]
        plain["channel"]
    }
    NotificationFailed "1" "A person could not be told some news, for a reason that is given." {
        text["error"]
        plain["channel"]
    }
    NotificationDisallowed "1" "A person is not told some news by a channel that the operator of the node does not allow." {
        text[]
        plain["channel", "reason"]
    }
}}

/// Why a command on a notification is refused.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum NotificationError {
    /// It was never raised.
    #[error("the notification does not exist")]
    NotFound,
    /// A stream with this id has begun already.
    #[error("the notification exists already")]
    AlreadyRaised,
    /// Another node tells it.
    #[error("the notification is told by the node {0}")]
    TakenBy(String),
}

impl Notification {
    /// The notification, if it was raised.
    pub fn raised(&self) -> Result<&RaisedNotification, NotificationError> {
        match self {
            Self::Absent => Err(NotificationError::NotFound),
            Self::Raised(it) => Ok(it),
        }
    }

    fn decide(&self, command: NotificationCommand) -> Result<Vec<NotificationEvent>, NotificationError> {
        match command {
            NotificationCommand::Raise(it) => raise::decide(self, *it),
            NotificationCommand::Take(it) => take::decide(self, it),
            NotificationCommand::Report(it) => deliver::decide(self, it),
        }
    }
}

impl Aggregate for Notification {
    const TYPE: &'static str = "notification";
    type Command = NotificationCommand;
    type Event = NotificationEvent;
    type Error = NotificationError;
    type Services = ();

    async fn handle(
        &mut self,
        command: NotificationCommand,
        (): &(),
        sink: &EventSink<Self>,
    ) -> Result<(), NotificationError> {
        for event in self.decide(command)? {
            sink.write(event, self).await;
        }
        Ok(())
    }

    fn apply(&mut self, event: NotificationEvent) {
        match (&mut *self, event) {
            (_, NotificationEvent::NotificationRaised { workspace_id, channels: pending, .. }) => {
                *self = Self::Raised(Box::new(RaisedNotification { workspace_id, pending, lease: None }));
            }
            (Self::Raised(it), NotificationEvent::NotificationWithheld { .. }) => it.pending.clear(),
            (Self::Raised(it), NotificationEvent::NotificationTaken { node, until, .. }) => {
                it.lease = Some(Lease { node, until });
            }
            (
                Self::Raised(it),
                NotificationEvent::NotificationDelivered { channel, .. }
                | NotificationEvent::NotificationFailed { channel, .. }
                | NotificationEvent::NotificationDisallowed { channel, .. },
            ) => it.pending.retain(|pending| *pending != channel),
            (
                Self::Absent,
                NotificationEvent::NotificationWithheld { .. }
                | NotificationEvent::NotificationTaken { .. }
                | NotificationEvent::NotificationDelivered { .. }
                | NotificationEvent::NotificationFailed { .. }
                | NotificationEvent::NotificationDisallowed { .. },
            ) => {}
        }
    }
}

impl Entity for Notification {
    fn workspace(&self) -> Option<WorkspaceId> {
        self.raised().ok().map(|it| it.workspace_id)
    }

    fn demands(&self, event: &NotificationEvent) -> Vec<Demand<NotificationError>> {
        match event {
            NotificationEvent::NotificationRaised { .. }
            | NotificationEvent::NotificationWithheld { .. }
            | NotificationEvent::NotificationTaken { .. }
            | NotificationEvent::NotificationDelivered { .. }
            | NotificationEvent::NotificationFailed { .. }
            | NotificationEvent::NotificationDisallowed { .. } => vec![],
        }
    }
}
