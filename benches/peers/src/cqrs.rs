//! The aggregate that both cqrs-es stores run: it counts its entries and refuses nothing.

use std::convert::Infallible;

use anyhow::Result;
use cqrs_es::event_sink::EventSink;
use cqrs_es::{Aggregate, AggregateError, CqrsFramework, DomainEvent, EventStore};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::entry::Entry;
use crate::peer::Outcome;

#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Journal {
    entries: usize,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) enum JournalEvent {
    EntryLogged(Entry),
}

pub(crate) struct LogEntries(Vec<Entry>);

impl DomainEvent for JournalEvent {
    fn event_type(&self) -> String {
        "EntryLogged".into()
    }

    fn event_version(&self) -> String {
        "1.0".into()
    }
}

impl Aggregate for Journal {
    const TYPE: &'static str = "journal";
    type Command = LogEntries;
    type Event = JournalEvent;
    type Error = Infallible;
    type Services = ();

    async fn handle(&mut self, command: LogEntries, (): &(), sink: &EventSink<Self>) -> Result<(), Infallible> {
        for entry in command.0 {
            sink.write(JournalEvent::EntryLogged(entry), self).await;
        }
        Ok(())
    }

    fn apply(&mut self, event: JournalEvent) {
        match event {
            JournalEvent::EntryLogged(_) => self.entries += 1,
        }
    }
}

pub(crate) async fn execute<S: EventStore<Journal>>(
    framework: &CqrsFramework<Journal, S>,
    stream: Uuid,
    entries: &[Entry],
) -> Result<Outcome> {
    match framework.execute(&stream.to_string(), LogEntries(entries.to_vec())).await {
        Ok(()) => Ok(Outcome::Committed),
        Err(AggregateError::AggregateConflict) => Ok(Outcome::Conflict),
        Err(e) => Err(e.into()),
    }
}
