//! The timeline: every change of a workspace as one public event, in the order of the log.

mod content;
mod entry;
mod mapping;
mod queries;
mod subjects;
#[cfg(test)]
mod tests;

use store::sql::{Holds, Table};

use self::entry::Mention;
use self::subjects::Subject;
use crate::{Describe, Fact, FoldError, Poison, Projection, Record, RowKey, Rows, fold_stream};

pub use entry::{Entry, EntryActor, EntryAggregate, EntryMetadata};
pub use mapping::TYPES;
pub use queries::{Counted, Doc, Filter, Found, Page, about_task, after, find, list, list_knowing, mentioning};

/// The projection's name.
pub const NAME: &str = "timeline";

/// Folds every event of a workspace into an entry.
#[derive(Debug, Clone, Copy)]
pub struct Timeline;

impl Projection for Timeline {
    fn name(&self) -> &str {
        NAME
    }

    fn version(&self) -> i64 {
        2
    }

    fn tables(&self) -> Vec<Table> {
        let entries = Describe::table(Entry::TABLE)
            .key("position", Holds::Int)
            .required("id", Holds::Id)
            .required("workspace_id", Holds::Id)
            .optional("project_id", Holds::Id)
            .optional("agent_id", Holds::Id)
            .optional("session_id", Holds::Id)
            .optional("task_id", Holds::Id)
            .optional("named_user_id", Holds::Id)
            .required("type", Holds::Text)
            .written_once()
            .apart()
            .index(&["id"])
            .index(&["workspace_id", "position"])
            .index(&["workspace_id", "type", "position"])
            .index(&["project_id", "position"])
            .index(&["agent_id", "position"])
            .index(&["session_id", "position"])
            .index(&["task_id", "position"]);
        let mentions =
            Describe::table(Mention::TABLE).key("agent_id", Holds::Text).key("position", Holds::Int).written_once();
        let subjects = Describe::table(Subject::TABLE).key("id", Holds::Text);
        vec![entries.finish(), mentions.finish(), subjects.finish()]
    }

    fn touches(&self, fact: &Fact) -> Vec<RowKey> {
        subjects::touched(fact)
    }

    fn apply(&self, fact: &Fact, rows: &mut Rows) -> Result<(), FoldError> {
        let subject = subjects::introduce(fact, rows)?;
        let Some(kind) = mapping::type_of(&fact.of) else { return Ok(()) };
        let Some(said) = content::said(fact, subject.as_ref(), rows)? else { return Ok(()) };
        let workspace_id = fact.workspace_id.ok_or(FoldError::Senseless("it belongs to no workspace".into()))?;
        for agent_id in &said.agents {
            rows.put(Mention { agent_id: *agent_id, position: fact.position });
        }
        rows.add(Entry::of(fact, kind, workspace_id, said));
        Ok(())
    }
}

/// The entry of the last of these facts, told with nothing but what these facts say.
///
/// For what happens in a session this is everything: its first fact says where it belongs.
pub fn entry_of(facts: &[Fact]) -> Result<Option<Entry>, Poison> {
    let Some(last) = facts.last() else { return Ok(None) };
    let mut rows = fold_stream(&Timeline, facts)?;
    Ok(rows.take::<Entry>().pop().filter(|entry| entry.metadata.position == last.position))
}
