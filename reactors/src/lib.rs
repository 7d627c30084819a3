//! Event in, command out: what follows from what happened.
//!
//! A [`Reactor`] looks at one event and issues commands. The [`Runner`] feeds it every event in order, keeps its
//! place beside the log, and gives each command an id that follows from the event, so that a crash, a second
//! delivery or a second node does nothing twice. One file per reactor, named event to intent.

mod free_reports_on_agent_deleted;
mod judge_trust_on_kpi_recalculated;
mod reaction;
mod recalculate_kpis_on_pull_request_merged;
mod recalculate_kpis_on_session_stopped;
mod recalculate_kpis_on_task_assigned;
mod recalculate_kpis_on_task_completed;
mod recalculation;
mod runner;

use std::sync::Arc;

pub use free_reports_on_agent_deleted::FreeReportsOnAgentDeleted;
pub use judge_trust_on_kpi_recalculated::JudgeTrustOnKpiRecalculated;
pub use reaction::{Reaction, Reactor};
pub use recalculate_kpis_on_pull_request_merged::RecalculateKpisOnPullRequestMerged;
pub use recalculate_kpis_on_session_stopped::RecalculateKpisOnSessionStopped;
pub use recalculate_kpis_on_task_assigned::RecalculateKpisOnTaskAssigned;
pub use recalculate_kpis_on_task_completed::RecalculateKpisOnTaskCompleted;
pub use recalculation::kpi_id;
pub use runner::{ReactorStatus, Runner};

/// Every reactor of Muster.
pub fn all() -> Vec<Arc<dyn Reactor>> {
    vec![
        Arc::new(FreeReportsOnAgentDeleted),
        Arc::new(JudgeTrustOnKpiRecalculated),
        Arc::new(RecalculateKpisOnPullRequestMerged),
        Arc::new(RecalculateKpisOnSessionStopped),
        Arc::new(RecalculateKpisOnTaskAssigned),
        Arc::new(RecalculateKpisOnTaskCompleted),
    ]
}
