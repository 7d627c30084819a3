//! Reads a stream of Muster's own PostgreSQL log with postgres-es as it comes: same table, same columns, no adapter.

use std::convert::Infallible;
use std::str::FromStr;

use anyhow::{Context, Result, bail, ensure};
use cqrs_es::event_sink::EventSink;
use cqrs_es::persist::{PersistedEventRepository, PersistedEventStore};
use cqrs_es::{Aggregate, DomainEvent, EventStore};
use postgres_es::PostgresEventRepository;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sqlx::postgres::{PgConnectOptions, PgPool};

use crate::peer::Connections;
use crate::postgres;

/// Whatever Muster stored; its meaning is Muster's business.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Recorded(Value);

impl DomainEvent for Recorded {
    fn event_type(&self) -> String {
        String::new()
    }

    fn event_version(&self) -> String {
        String::new()
    }
}

// cqrs-es takes the type of an aggregate as a constant, so each one that Muster has needs a Rust type of its own.
macro_rules! load_as_one_of {
    ($pool:ident, $aggregate_type:ident, $aggregate_id:ident: $($name:literal)*) => {
        match $aggregate_type {
            $($name => {
                #[derive(Default, Serialize, Deserialize)]
                struct Stored;

                impl Aggregate for Stored {
                    const TYPE: &'static str = $name;
                    type Command = ();
                    type Event = Recorded;
                    type Error = Infallible;
                    type Services = ();

                    async fn handle(&mut self, (): (), (): &(), _: &EventSink<Self>) -> Result<(), Infallible> {
                        Ok(())
                    }

                    fn apply(&mut self, _: Recorded) {}
                }

                load::<Stored>($pool, $aggregate_id).await
            })*
            _ => bail!("{}: Muster has no such aggregate", $aggregate_type),
        }
    };
}

/// Loads one stream and says what was in it.
pub(crate) async fn read(at: &str, schema: &str, aggregate_type: &str, aggregate_id: &str) -> Result<Value> {
    let pool = postgres::pool(PgConnectOptions::from_str(at)?, schema, Connections::tuned(1)).await?;
    load_as_one_of!(pool, aggregate_type, aggregate_id:
        "agent" "project" "pull_request" "repository" "scorecard" "session" "task" "user" "wiki" "workspace")
}

async fn load<A: Aggregate<Error = Infallible>>(pool: PgPool, aggregate_id: &str) -> Result<Value> {
    let rows = PostgresEventRepository::new(pool.clone()).get_events::<A>(aggregate_id).await?;
    let first = rows.first().context("there is no such stream")?;

    // The way an aggregate is loaded: this one also parses every payload and the metadata.
    let store = PersistedEventStore::<_, A>::new_event_store(PostgresEventRepository::new(pool));
    let events = store.load_events(aggregate_id).await?;
    ensure!(events.len() == rows.len(), "the repository has {} events, the store {}", rows.len(), events.len());

    let last_sequence = events.last().map(|event| event.sequence);
    Ok(json!({ "events": events.len(), "lastSequence": last_sequence, "firstType": first.event_type }))
}
