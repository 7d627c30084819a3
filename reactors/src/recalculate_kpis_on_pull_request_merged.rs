//! When a pull request is merged, the KPIs of its author are calculated anew.

use std::pin::Pin;

use commands::CommandError;
use domain::pull_request::PullRequestEvent;
use projections::{Fact, FactOf, score_facts};

use crate::recalculation::recalculate;
use crate::{Reaction, Reactor};

/// Measures an agent when its pull request is merged.
#[derive(Debug, Clone, Copy)]
pub struct RecalculateKpisOnPullRequestMerged;

impl Reactor for RecalculateKpisOnPullRequestMerged {
    fn name(&self) -> &'static str {
        "recalculate_kpis_on_pull_request_merged"
    }

    fn cares_about(&self, fact: &Fact) -> bool {
        matches!(fact.of, FactOf::PullRequest(PullRequestEvent::PullRequestMerged { agent_id: Some(_), .. }))
    }

    fn reads(&self) -> &'static [&'static str] {
        &[score_facts::NAME]
    }

    fn react<'a>(
        &'a self,
        reaction: Reaction<'a>,
    ) -> Pin<Box<dyn Future<Output = Result<(), CommandError>> + Send + 'a>> {
        Box::pin(async move {
            if let FactOf::PullRequest(PullRequestEvent::PullRequestMerged { agent_id: Some(agent), .. }) =
                &reaction.fact.of
            {
                recalculate(&reaction, *agent, "Pull request merged").await?;
            }
            Ok(())
        })
    }
}
