//! When a notification is raised, its person is told: on the desktop, by a sound, by a webhook.
//!
//! One node tells it, the first that says so in the log. If that node dies before it has said what came of it,
//! [`tell_again`](crate::tell_again) tells it once more: a person is told at least once and, but for a crash, at most
//! once. A channel that does not work is on record. Each person has a lane: they are told in order, and nobody waits for
//! another's channels.

use std::pin::Pin;

use commands::CommandError;
use commands::notification::{ReportDelivery, TakeNotification};
use domain::notification::NotificationEvent;
use projections::{Fact, FactOf, notifications};
use uuid::Uuid;

use crate::telling::{News, Teller};
use crate::{LaneOf, Reaction, Reactor, Telling};

/// Tells people, by what this node has.
#[derive(Debug, Clone)]
pub struct TellOnNotificationRaised {
    teller: Teller,
}

impl TellOnNotificationRaised {
    /// Tells people from this node.
    pub fn new(telling: Telling) -> Self {
        Self { teller: Teller::new(telling) }
    }
}

impl Reactor for TellOnNotificationRaised {
    fn name(&self) -> &'static str {
        "tell_on_notification_raised"
    }

    fn cares_about(&self, fact: &Fact) -> bool {
        matches!(&fact.of, FactOf::Notification(NotificationEvent::NotificationRaised { channels, .. }) if !channels.is_empty())
    }

    fn reads(&self) -> &'static [&'static str] {
        &[notifications::NAME]
    }

    fn lanes(&self) -> Option<LaneOf> {
        Some(person)
    }

    fn react<'a>(
        &'a self,
        reaction: Reaction<'a>,
    ) -> Pin<Box<dyn Future<Output = Result<(), CommandError>> + Send + 'a>> {
        Box::pin(async move {
            let FactOf::Notification(NotificationEvent::NotificationRaised {
                notification_id,
                workspace_id,
                user_id,
                kind,
                title,
                message,
                channels: _,
                raised_at,
            }) = &reaction.fact.of
            else {
                return Ok(());
            };
            let notification_id = *notification_id;
            let take = TakeNotification { notification_id, node: self.teller.node.clone() };
            // All nodes ask under the same key. Whoever comes later leaves it to who was first, even a node that was it
            // and came back: what was told then, nobody knows before the lease has ended.
            let taken = reaction.run_outside(notification_id.0, &take).await?;
            if taken.replayed {
                return Ok(());
            }
            let news = News {
                notification_id,
                workspace_id: *workspace_id,
                user_id: *user_id,
                kind: *kind,
                title,
                message,
                raised_at: *raised_at,
            };
            let told = self.teller.tell(reaction.executor.log(), reaction.views, &news, taken.outcome).await?;
            for (channel, outcome) in told {
                // One command per channel.
                let subject = Uuid::new_v5(&notification_id.0, format!("{channel:?}").as_bytes());
                reaction.run_outside(subject, &ReportDelivery { notification_id, channel, outcome }).await?;
            }
            Ok(())
        })
    }
}

/// Who is told.
fn person(fact: &Fact) -> Uuid {
    match &fact.of {
        FactOf::Notification(NotificationEvent::NotificationRaised { user_id, .. }) => user_id.0,
        // Nobody is told of anything else.
        _ => Uuid::nil(),
    }
}
