//! What actors are called today: names are joined when a question is answered, and stored nowhere else.

use std::collections::HashMap;

use domain::AgentId;
use projections::{ActorType, Metadata, agents};
use store::sql::Database;
use store::{EventLog, StoreError};
use uuid::Uuid;

/// The names of some people and agents.
#[derive(Debug, Default)]
pub(crate) struct Names {
    users: HashMap<Uuid, String>,
    agents: HashMap<AgentId, String>,
}

impl Names {
    /// The names of everybody who acted.
    pub(crate) async fn of_actors<'a>(
        log: &EventLog,
        views: &Database,
        acted: impl IntoIterator<Item = &'a Metadata>,
    ) -> Result<Self, StoreError> {
        let (mut users, mut acting_agents) = (Vec::new(), Vec::new());
        for metadata in acted {
            match (metadata.author(), metadata.actor_type) {
                (Some(id), ActorType::User) => users.push(id),
                (Some(id), ActorType::Agent) => acting_agents.push(AgentId(id)),
                (_, ActorType::System) | (None, ActorType::User | ActorType::Agent) => {}
            }
        }
        users.sort_unstable();
        users.dedup();
        acting_agents.sort_unstable_by_key(|it| it.0);
        acting_agents.dedup();
        let users = log.accounts().names(&users).await?;
        // Where read models are not built yet, agents go without their names.
        let agents = agents::names(views, &acting_agents).await.unwrap_or_default();
        Ok(Self { users, agents })
    }

    /// What an actor is called; nothing for one whose account is gone.
    pub(super) fn of(&self, metadata: &Metadata) -> Option<String> {
        let id = metadata.author()?;
        match metadata.actor_type {
            ActorType::User => self.users.get(&id).cloned(),
            ActorType::Agent => self.agents.get(&AgentId(id)).cloned(),
            ActorType::System => None,
        }
    }
}
