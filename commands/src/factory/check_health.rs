//! Looks after an agent: asks it, reports it, or declares it dead and puts a successor in its place.

use chrono::{DateTime, Utc};
use domain::AgentId;
use domain::epic::{EpicState, LiveEpic};
use domain::post::{self, AgentKind, HealthRules, LivePost, Post, PostCommand, PostEvent, PostState, Profiles};
use serde_json::json;

use super::letters;
use super::recover::{self, Verdict};
use crate::{Decision, Desk, Stop};

/// One look at an agent, with everything that follows from it in one commit.
#[derive(Debug, Clone)]
pub struct CheckHealth {
    /// Which agent.
    pub agent_id: AgentId,
    /// When it was last heard of.
    pub last_heartbeat: DateTime<Utc>,
    /// Whether that was a word of its own, and not only its posting or its start.
    pub heard_of: bool,
    /// Whether its process lives; not known of agents that started themselves.
    pub process_alive: Option<bool>,
    /// When its process last said something on its terminal.
    pub last_output_at: Option<DateTime<Utc>>,
    /// When it is silent for too long.
    pub rules: HealthRules,
    /// How the node runs agents.
    pub profiles: Profiles,
}

impl Decision for CheckHealth {
    type Outcome = Verdict;

    fn name(&self) -> &'static str {
        "factory.checkHealth"
    }

    async fn decide(&self, desk: &mut Desk<'_>) -> Result<Verdict, Stop> {
        let post = desk.load::<Post>(self.agent_id.0).await?.state.live()?.clone();
        let epic = supervised(desk, &post).await?;
        // A supervisor waits while a human reviews its epic, however long that takes.
        let rests = epic.as_ref().is_some_and(|it| it.state == EpicState::AwaitingHumanReview);
        if post.state != PostState::InProgress || rests {
            return Ok(Verdict::Healthy);
        }
        let check = post::CheckHealth {
            last_heartbeat: self.last_heartbeat,
            heard_of: self.heard_of,
            expected_since: epic.and_then(|it| it.sent_back_at),
            process_alive: self.process_alive,
            last_output_at: self.last_output_at,
            rules: self.rules,
            now: desk.now(),
        };
        let mut verdict = Verdict::Healthy;
        for event in desk.run::<Post>(self.agent_id.0, PostCommand::CheckHealth(check)).await? {
            verdict = match event {
                PostEvent::AgentHealthChecked { last_heartbeat, checks_missed: 1, .. } => {
                    letters::health_check(desk, &post).await?;
                    let silent = json!({ "lastHeartbeat": last_heartbeat, "action": "ask" });
                    letters::note(desk, &post, "health_check_sent", silent).await?;
                    Verdict::Asked
                }
                PostEvent::AgentHealthChecked { .. } => Verdict::Asked,
                PostEvent::AgentReportedSilent { evidence, .. } => {
                    letters::silent(desk, &post, &evidence).await?;
                    let note = recover::found(desk, &evidence, "report_and_leave_running");
                    letters::note(desk, &post, "agent_reported_silent", note).await?;
                    Verdict::Reported
                }
                PostEvent::AgentDeclaredDead { evidence, .. } => {
                    recover::recover(desk, &post, &evidence, &self.profiles).await?
                }
                // A check does none of these.
                PostEvent::AgentPosted { .. }
                | PostEvent::AgentLaunched { .. }
                | PostEvent::AgentLaunchFailed { .. }
                | PostEvent::AgentLaunchOrdered { .. }
                | PostEvent::AgentRelieved { .. }
                | PostEvent::AgentDischarged { .. } => verdict,
            };
        }
        Ok(verdict)
    }
}

/// The epic that an agent supervises.
async fn supervised(desk: &mut Desk<'_>, post: &LivePost) -> Result<Option<LiveEpic>, Stop> {
    let (AgentKind::Supervisor, Some(epic_id)) = (post.kind, post.epic_id) else { return Ok(None) };
    super::epic(desk, epic_id).await.map(Some)
}
