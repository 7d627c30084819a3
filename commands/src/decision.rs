//! What a command is to the executor: something that can be decided, more than once if need be.

use std::fmt::Debug;

use cqrs_es::Aggregate;
use domain::Entity;
use serde::Serialize;
use serde::de::DeserializeOwned;
use uuid::Uuid;

use crate::{Desk, Refusal, Stop};

/// A command. It is decided again when another command came first, so it changes nothing but the desk.
pub trait Decision: Sync {
    /// What the caller needs to know of it, also when it is repeated: ids, never secrets.
    type Outcome: Serialize + DeserializeOwned + Send;

    /// Whether the caller answers with the events themselves, and so is told how they were recorded.
    const TELLS_EVENTS: bool = false;

    /// The operation it is, for metrics.
    fn name(&self) -> &'static str;

    /// Lays on the desk what is to be committed, or says why not.
    fn decide(&self, desk: &mut Desk<'_>) -> impl Future<Output = Result<Self::Outcome, Stop>> + Send;
}

/// A command that begins one stream, under an id made for it.
#[derive(Debug, Clone)]
pub struct New<A: Aggregate> {
    /// The operation it is.
    pub name: &'static str,
    /// The id of the new stream.
    pub id: Uuid,
    /// How it begins.
    pub command: A::Command,
}

/// A command on one stream, which needs nothing but its aggregate.
#[derive(Debug, Clone)]
pub struct On<A: Aggregate> {
    /// The operation it is.
    pub name: &'static str,
    /// Which stream.
    pub id: Uuid,
    /// What to do there.
    pub command: A::Command,
}

impl<A> Decision for On<A>
where
    A: Entity + Debug + 'static,
    A::Command: Clone + Send + Sync,
    A::Error: Into<Refusal>,
{
    type Outcome = Uuid;

    fn name(&self) -> &'static str {
        self.name
    }

    async fn decide(&self, desk: &mut Desk<'_>) -> Result<Uuid, Stop> {
        desk.run::<A>(self.id, self.command.clone()).await?;
        Ok(self.id)
    }
}

impl<A> Decision for New<A>
where
    A: Entity + Debug + 'static,
    A::Command: Clone + Send + Sync,
    A::Error: Into<Refusal>,
{
    type Outcome = Uuid;

    fn name(&self) -> &'static str {
        self.name
    }

    async fn decide(&self, desk: &mut Desk<'_>) -> Result<Uuid, Stop> {
        desk.begin::<A>(self.id, self.command.clone()).await?;
        Ok(self.id)
    }
}
