//! When a session of some substance stops, the KPIs of its agent are calculated anew.

use std::pin::Pin;

use commands::CommandError;
use domain::SessionId;
use domain::session::SessionEvent;
use projections::{Fact, FactOf, score_facts};

use crate::recalculation::recalculate;
use crate::{Reaction, Reactor};

/// A session that lasted longer than this counts even if it names no task.
const SUBSTANTIAL_SECONDS: i64 = 5 * 60;

/// Measures an agent when it ends its work.
#[derive(Debug, Clone, Copy)]
pub struct RecalculateKpisOnSessionStopped;

impl Reactor for RecalculateKpisOnSessionStopped {
    fn name(&self) -> &'static str {
        "recalculate_kpis_on_session_stopped"
    }

    fn cares_about(&self, fact: &Fact) -> bool {
        let FactOf::Session(SessionEvent::SessionStopped { duration_seconds, tasks_worked_on, .. }) = &fact.of else {
            return false;
        };
        *duration_seconds > SUBSTANTIAL_SECONDS || !tasks_worked_on.is_empty()
    }

    fn reads(&self) -> &'static [&'static str] {
        &[score_facts::NAME]
    }

    fn react<'a>(
        &'a self,
        reaction: Reaction<'a>,
    ) -> Pin<Box<dyn Future<Output = Result<(), CommandError>> + Send + 'a>> {
        Box::pin(async move {
            let session = SessionId(reaction.fact.subject);
            if let Some(agent) = score_facts::agent_of_session(reaction.views, session).await? {
                recalculate(&reaction, agent, "Session stopped").await?;
            }
            Ok(())
        })
    }
}
