//! When a task is assigned, the KPIs of the agent that got it are calculated anew.

use std::pin::Pin;

use commands::CommandError;
use domain::task::TaskEvent;
use projections::{Fact, FactOf, score_facts};

use crate::recalculation::recalculate;
use crate::{Reaction, Reactor};

/// Measures an agent when it is given a task.
#[derive(Debug, Clone, Copy)]
pub struct RecalculateKpisOnTaskAssigned;

impl Reactor for RecalculateKpisOnTaskAssigned {
    fn name(&self) -> &'static str {
        "recalculate_kpis_on_task_assigned"
    }

    fn cares_about(&self, fact: &Fact) -> bool {
        matches!(fact.of, FactOf::Task(TaskEvent::TaskAssigned { .. }))
    }

    fn reads(&self) -> &'static [&'static str] {
        &[score_facts::NAME]
    }

    fn react<'a>(
        &'a self,
        reaction: Reaction<'a>,
    ) -> Pin<Box<dyn Future<Output = Result<(), CommandError>> + Send + 'a>> {
        Box::pin(async move {
            if let FactOf::Task(TaskEvent::TaskAssigned { agent_id, .. }) = &reaction.fact.of {
                recalculate(&reaction, *agent_id, "Task assigned").await?;
            }
            Ok(())
        })
    }
}
