//! Event in, command out: what follows from what happened.
//!
//! A [`Reactor`] looks at one event and issues commands. The [`Runner`] feeds it every event, in order or in lanes side
//! by side, keeps its place beside the log, and gives each command an id that follows from the event, so that a crash,
//! a second delivery or a second node does nothing twice. One file per reactor, named event to intent.

// An errand goes through drivers and decisions that await one another; a release build looks at all of that as one type.
#![recursion_limit = "256"]

pub mod bench;
pub mod health;
pub mod overdue;
pub mod perform_errands;
pub mod tell_again;

mod appoint_supervisor_on_epic_created;
mod appoint_worker_on_task_added;
mod free_reports_on_agent_deleted;
mod hand_on_reports_on_agent_relieved;
mod judge_trust_on_kpi_recalculated;
mod raise_notifications_on_news;
mod reaction;
mod recalculate_kpis_on_pull_request_merged;
mod recalculate_kpis_on_session_stopped;
mod recalculate_kpis_on_task_assigned;
mod recalculate_kpis_on_task_completed;
mod recalculation;
mod runner;
mod tell_on_notification_raised;
mod telling;

use std::sync::Arc;

use domain::post::Profiles;

pub use appoint_supervisor_on_epic_created::AppointSupervisorOnEpicCreated;
pub use appoint_worker_on_task_added::AppointWorkerOnTaskAdded;
pub use free_reports_on_agent_deleted::FreeReportsOnAgentDeleted;
pub use hand_on_reports_on_agent_relieved::HandOnReportsOnAgentRelieved;
pub use judge_trust_on_kpi_recalculated::JudgeTrustOnKpiRecalculated;
pub use raise_notifications_on_news::RaiseNotificationsOnNews;
pub use reaction::{LaneOf, Reaction, Reactor};
pub use recalculate_kpis_on_pull_request_merged::RecalculateKpisOnPullRequestMerged;
pub use recalculate_kpis_on_session_stopped::RecalculateKpisOnSessionStopped;
pub use recalculate_kpis_on_task_assigned::RecalculateKpisOnTaskAssigned;
pub use recalculate_kpis_on_task_completed::RecalculateKpisOnTaskCompleted;
pub use recalculation::kpi_id;
pub use runner::{ReactorStatus, Runner};
pub use tell_on_notification_raised::TellOnNotificationRaised;
pub use telling::Telling;

/// Every reactor of Muster, on a node that is set up no further.
pub fn all() -> Vec<Arc<dyn Reactor>> {
    with(Telling::default())
}

/// Every reactor of Muster, on a node that tells people in its own way.
pub fn with(telling: Telling) -> Vec<Arc<dyn Reactor>> {
    with_profiles(telling, &Profiles::default())
}

/// Every reactor of Muster.
pub fn with_profiles(telling: Telling, profiles: &Profiles) -> Vec<Arc<dyn Reactor>> {
    vec![
        Arc::new(RaiseNotificationsOnNews { everybody: telling.everybody.preferences.clone() }),
        Arc::new(TellOnNotificationRaised::new(telling)),
        Arc::new(AppointSupervisorOnEpicCreated { profiles: profiles.clone() }),
        Arc::new(AppointWorkerOnTaskAdded { profiles: profiles.clone() }),
        Arc::new(FreeReportsOnAgentDeleted),
        Arc::new(HandOnReportsOnAgentRelieved),
        Arc::new(JudgeTrustOnKpiRecalculated),
        Arc::new(RecalculateKpisOnPullRequestMerged),
        Arc::new(RecalculateKpisOnSessionStopped),
        Arc::new(RecalculateKpisOnTaskAssigned),
        Arc::new(RecalculateKpisOnTaskCompleted),
    ]
}
