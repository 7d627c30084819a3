//! The catalogue of events: every fact that Muster can record.

use std::collections::HashMap;
use std::sync::OnceLock;

use crate::agent::AgentEvent;
use crate::decision::DecisionEvent;
use crate::epic::EpicEvent;
use crate::errand::ErrandEvent;
use crate::mail::MailEvent;
use crate::notification::NotificationEvent;
use crate::notification_settings::NotificationSettingsEvent;
use crate::post::PostEvent;
use crate::project::ProjectEvent;
use crate::pull_request::PullRequestEvent;
use crate::repository::RepositoryEvent;
use crate::scorecard::ScorecardEvent;
use crate::session::SessionEvent;
use crate::task::TaskEvent;
use crate::tool_call::ToolCallEvent;
use crate::user::UserEvent;
use crate::wiki::WikiEvent;
use crate::workspace::WorkspaceEvent;

/// One type of event, at the version that is written today.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventKind {
    /// The type of the aggregate whose fact it is.
    pub aggregate: &'static str,
    /// The event's stored name.
    pub event: &'static str,
    /// The version that is written today.
    pub version: &'static str,
    /// What happened, in one sentence.
    pub meaning: &'static str,
    /// The fields that hold what people and agents wrote, as dotted paths; lists in between are not counted. A
    /// workspace may keep them under a key of its own.
    pub text: &'static [&'static str],
    /// The other fields that hold strings: codes, slugs, words of the rules. Within an object that is text, a string
    /// that stays readable.
    pub plain: &'static [&'static str],
}

/// Every type of event, aggregate by aggregate.
pub fn catalogue() -> Vec<EventKind> {
    [
        UserEvent::KINDS,
        WorkspaceEvent::KINDS,
        ProjectEvent::KINDS,
        AgentEvent::KINDS,
        SessionEvent::KINDS,
        TaskEvent::KINDS,
        WikiEvent::KINDS,
        PullRequestEvent::KINDS,
        RepositoryEvent::KINDS,
        ScorecardEvent::KINDS,
        EpicEvent::KINDS,
        PostEvent::KINDS,
        ErrandEvent::KINDS,
        MailEvent::KINDS,
        ToolCallEvent::KINDS,
        DecisionEvent::KINDS,
        NotificationEvent::KINDS,
        NotificationSettingsEvent::KINDS,
    ]
    .concat()
}

/// The type of event that has this stored name.
pub fn kind_of(event: &str) -> Option<&'static EventKind> {
    static BY_NAME: OnceLock<HashMap<&'static str, EventKind>> = OnceLock::new();
    BY_NAME.get_or_init(|| catalogue().into_iter().map(|kind| (kind.event, kind)).collect()).get(event)
}

/// Names the events of an aggregate once, for the log (`DomainEvent`) and for the catalogue (`KINDS`).
///
/// The list is complete by construction: the `match` in it has no wildcard. An event with strings in it also says which
/// of them are text (`tests/text.rs` holds it to that): `{ text["title"] plain["priority"] }`.
macro_rules! event_kinds {
    ($event:ident of $aggregate:ident { $(
        $name:ident $version:literal $meaning:literal
        $({ text[$($text:literal),*] plain[$($plain:literal),*] })?
    )+ }) => {
        impl $event {
            /// Every type of event of this aggregate.
            pub const KINDS: &'static [$crate::EventKind] = &[$($crate::EventKind {
                aggregate: <$aggregate as cqrs_es::Aggregate>::TYPE,
                event: stringify!($name),
                version: $version,
                meaning: $meaning,
                text: &[$($($text),*)?],
                plain: &[$($($plain),*)?],
            }),+];
        }

        impl cqrs_es::DomainEvent for $event {
            fn event_type(&self) -> String {
                match self {
                    $(Self::$name { .. } => stringify!($name).to_owned(),)+
                }
            }

            fn event_version(&self) -> String {
                match self {
                    $(Self::$name { .. } => $version.to_owned(),)+
                }
            }
        }
    };
}
pub(crate) use event_kinds;

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn no_two_events_share_a_name() {
        let kinds = catalogue();
        let names: BTreeSet<_> = kinds.iter().map(|kind| kind.event).collect();
        assert_eq!(names.len(), kinds.len());
    }

    #[test]
    fn every_event_has_a_meaning() {
        for kind in catalogue() {
            assert!(kind.meaning.ends_with('.'), "{} needs a sentence", kind.event);
        }
    }
}
