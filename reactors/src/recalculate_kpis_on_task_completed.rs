//! When a task is completed, the KPIs of the agent that had it are calculated anew.

use std::pin::Pin;

use commands::CommandError;
use domain::task::TaskEvent;
use projections::{Fact, FactOf, score_facts};

use crate::recalculation::recalculate;
use crate::{Reaction, Reactor};

/// Measures an agent when it has done a task.
#[derive(Debug, Clone, Copy)]
pub struct RecalculateKpisOnTaskCompleted;

impl Reactor for RecalculateKpisOnTaskCompleted {
    fn name(&self) -> &'static str {
        "recalculate_kpis_on_task_completed"
    }

    fn cares_about(&self, fact: &Fact) -> bool {
        matches!(fact.of, FactOf::Task(TaskEvent::TaskCompleted { agent_id: Some(_), .. }))
    }

    fn reads(&self) -> &'static [&'static str] {
        &[score_facts::NAME]
    }

    fn react<'a>(
        &'a self,
        reaction: Reaction<'a>,
    ) -> Pin<Box<dyn Future<Output = Result<(), CommandError>> + Send + 'a>> {
        Box::pin(async move {
            if let FactOf::Task(TaskEvent::TaskCompleted { agent_id: Some(agent), .. }) = &reaction.fact.of {
                recalculate(&reaction, *agent, "Task completed").await?;
            }
            Ok(())
        })
    }
}
