//! The catalogue of events: every fact that Muster can record.

use crate::agent::AgentEvent;
use crate::project::ProjectEvent;
use crate::pull_request::PullRequestEvent;
use crate::repository::RepositoryEvent;
use crate::scorecard::ScorecardEvent;
use crate::session::SessionEvent;
use crate::task::TaskEvent;
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
    ]
    .concat()
}

/// Names the events of an aggregate once, for the log (`DomainEvent`) and for the catalogue (`KINDS`).
///
/// The list is complete by construction: the `match` in it has no wildcard.
macro_rules! event_kinds {
    ($event:ident of $aggregate:ident { $($name:ident $version:literal $meaning:literal)+ }) => {
        impl $event {
            /// Every type of event of this aggregate.
            pub const KINDS: &'static [$crate::EventKind] = &[$($crate::EventKind {
                aggregate: <$aggregate as cqrs_es::Aggregate>::TYPE,
                event: stringify!($name),
                version: $version,
                meaning: $meaning,
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
