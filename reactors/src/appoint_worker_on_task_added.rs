//! When a task is added to an epic, or begins anew after its supervisor's death, it gets a worker.

use std::pin::Pin;

use commands::CommandError;
use commands::factory::AppointWorker;
use domain::TaskId;
use domain::post::Profiles;
use domain::task::TaskEvent;
use projections::{Fact, FactOf};

use crate::{Reaction, Reactor};

/// Gives every task of an epic somebody who does it.
#[derive(Debug, Clone)]
pub struct AppointWorkerOnTaskAdded {
    /// How agents of each kind are run.
    pub profiles: Profiles,
}

impl Reactor for AppointWorkerOnTaskAdded {
    fn name(&self) -> &'static str {
        "appoint_worker_on_task_added"
    }

    fn cares_about(&self, fact: &Fact) -> bool {
        matches!(fact.of, FactOf::Task(TaskEvent::TaskAddedToEpic { .. } | TaskEvent::TaskReset { .. }))
    }

    fn reads(&self) -> &'static [&'static str] {
        &[]
    }

    fn react<'a>(
        &'a self,
        reaction: Reaction<'a>,
    ) -> Pin<Box<dyn Future<Output = Result<(), CommandError>> + Send + 'a>> {
        Box::pin(async move {
            let task_id = TaskId(reaction.fact.subject);
            reaction.run(task_id.0, &AppointWorker { task_id, profiles: self.profiles.clone() }).await?;
            Ok(())
        })
    }
}
