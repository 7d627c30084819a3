//! What follows when an agent is dead, by its kind.

use domain::AgentId;
use domain::post::{AgentKind, Evidence, LivePost, Profiles};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{letters, recover_supervisor, recover_worker, staff};
use crate::{Desk, Stop};

/// Why an agent is relieved that was declared dead.
pub(super) const DEAD: &str = "it was declared dead";

/// What came of a look at an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Nothing is to be done.
    Healthy,
    /// It was silent for too long, and was asked.
    Asked,
    /// It is silent, but its process lives or nobody has started it; people were told.
    Reported,
    /// It is dead, and another has its place.
    Recovered {
        /// Who.
        successor: AgentId,
    },
    /// It is dead, and nobody takes its place.
    GivenUp,
}

/// Puts a successor in a dead agent's place, or gives up.
pub(super) async fn recover(
    desk: &mut Desk<'_>,
    post: &LivePost,
    evidence: &Evidence,
    profiles: &Profiles,
) -> Result<Verdict, Stop> {
    let note = found(desk, evidence, "recover");
    letters::note(desk, post, "agent_declared_dead", note).await?;
    match post.kind {
        AgentKind::Worker => recover_worker::recover(desk, post, evidence, profiles).await,
        AgentKind::Supervisor => recover_supervisor::recover(desk, post, evidence, profiles).await,
        AgentKind::Orchestrator => {
            let successor = staff::succeed(desk, post, None, profiles).await?.agent_id;
            staff::relieve(desk, post.agent_id, DEAD, Some(successor)).await?;
            letters::recovered(desk, post, None).await?;
            let note = found(desk, evidence, "recreate");
            letters::note(desk, post, "orchestrator_crash_detected", note).await?;
            Ok(Verdict::Recovered { successor })
        }
    }
}

/// The body of a note: what was found, and what was done.
pub(super) fn found(desk: &Desk<'_>, evidence: &Evidence, action: &str) -> serde_json::Value {
    let minutes = (desk.now() - evidence.last_heartbeat).num_minutes().max(0);
    json!({
        "reason": "heartbeat_timeout", "evidence": evidence, "minutesSinceHeartbeat": minutes, "action": action,
    })
}
