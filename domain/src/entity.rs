//! What an aggregate of Muster is, beyond a cqrs-es `Aggregate`.

use cqrs_es::Aggregate;
use uuid::Uuid;

use crate::{Claim, Scope, WorkspaceId};

/// An aggregate that lives in a tenant and may make demands of the rest of the log.
pub trait Entity: Aggregate<Services = ()> + Clone {
    /// The tenant whose stream this is; none before it is created, and none for users.
    fn workspace(&self) -> Option<WorkspaceId>;

    /// What an event demands beyond its own stream; `self` is the state before the event.
    fn demands(&self, event: &Self::Event) -> Vec<Demand<Self::Error>>;
}

/// What a decision demands of the rest of the log, checked inside the commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Demand<E> {
    /// This stream takes the claim, or the command is refused.
    Take {
        /// What it takes.
        claim: Claim,
        /// The refusal when another stream holds it.
        or: E,
    },
    /// This stream gives the claim back.
    Release(Claim),
    /// No stream holds a claim in this scope, or the command is refused.
    Empty {
        /// What must hold no claim.
        scope: Scope,
        /// The refusal when it does.
        or: E,
    },
    /// That stream holds the claim before this event, or the command is refused.
    Held {
        /// What must be held.
        claim: Claim,
        /// Who must hold it: the type of an aggregate, and its id.
        holder: (&'static str, Uuid),
        /// The refusal when another stream holds it, or none.
        or: E,
    },
}

impl<E> Demand<E> {
    /// Gives `held` back and takes `wanted`; nothing when they are the same claim.
    pub(crate) fn replace(held: Option<Claim>, wanted: Claim, or: E) -> Vec<Self> {
        if held.as_ref() == Some(&wanted) {
            return vec![];
        }
        let release = held.map(Self::Release);
        release.into_iter().chain([Self::Take { claim: wanted, or }]).collect()
    }
}
