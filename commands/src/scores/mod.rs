//! Commands on scorecards: who may give them is for the agent's workspace to say, and an agent's status follows.

mod recalculate;
mod record_trust;

pub use recalculate::RecalculateKpis;
pub use record_trust::RecordTrust;
