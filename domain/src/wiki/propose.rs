//! Propose a wiki entry.

use chrono::{DateTime, Utc};

use super::{Author, WikiEntry, WikiError, WikiEvent};
use crate::agent::AgentLevel;
use crate::distinct::each_once;
use crate::{ProjectId, Slug, WikiEntryId, WorkspaceId};

/// Proposes the first version of an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProposeEntry {
    /// The id it gets.
    pub entry_id: WikiEntryId,
    /// The workspace it belongs to.
    pub workspace_id: WorkspaceId,
    /// The project whose wiki it is for; none for that of the whole workspace.
    pub project_id: Option<ProjectId>,
    /// Who asks.
    pub by: Author,
    /// How far that agent reaches; none for the owner.
    pub level: Option<AgentLevel>,
    /// What it is called.
    pub title: String,
    /// What URLs call it; no other entry of this wiki has it.
    pub slug: Slug,
    /// What it says.
    pub content: String,
    /// What it is about.
    pub tags: Vec<String>,
    /// When this is asked.
    pub now: DateTime<Utc>,
}

pub(crate) fn decide(entry: &WikiEntry, command: ProposeEntry) -> Result<Vec<WikiEvent>, WikiError> {
    absent(entry)?;
    match command.level {
        Some(AgentLevel::Project) => return Err(WikiError::NotOrganizationLevel),
        Some(AgentLevel::Organization) | None => {}
    }
    Ok(vec![WikiEvent::WikiEntryProposed {
        entry_id: command.entry_id,
        workspace_id: command.workspace_id,
        project_id: command.project_id,
        proposed_by: command.by,
        title: command.title,
        slug: command.slug,
        content: command.content,
        tags: each_once(command.tags),
        version: 1,
        parent_entry_id: None,
        proposed_at: command.now,
    }])
}

pub(super) fn absent(entry: &WikiEntry) -> Result<(), WikiError> {
    match entry {
        WikiEntry::Absent => Ok(()),
        WikiEntry::Pending(_) | WikiEntry::Approved(_) | WikiEntry::Superseded(_) | WikiEntry::Rejected(_) => {
            Err(WikiError::AlreadyExists)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::examples::{approved, propose, proposed, rejected, slug_claim};
    use super::*;
    use crate::examples::{after, given, id, slug};
    use crate::wiki::{WikiCommand, WikiEntryStatus};
    use crate::{Demand, Entity};

    #[test]
    fn a_proposed_entry_waits_for_a_decision() {
        given::<WikiEntry>([]).when(WikiCommand::Propose(propose())).then_expect_events(vec![proposed()]);
        assert_eq!(after::<WikiEntry>([proposed()]).status(), Ok(WikiEntryStatus::PendingApproval));
    }

    #[test]
    fn the_owner_proposes_too() {
        let command = ProposeEntry { by: Author::User(id(1)), level: None, ..propose() };
        assert_eq!(decide(&WikiEntry::Absent, command).map(|events| events.len()), Ok(1));
    }

    #[test]
    fn a_project_agent_proposes_no_entry() {
        given::<WikiEntry>([])
            .when(WikiCommand::Propose(ProposeEntry { level: Some(AgentLevel::Project), ..propose() }))
            .then_expect_error(WikiError::NotOrganizationLevel);
    }

    #[test]
    fn an_entry_is_proposed_once() {
        for history in [vec![proposed()], vec![proposed(), approved()], vec![proposed(), rejected()]] {
            given::<WikiEntry>(history)
                .when(WikiCommand::Propose(propose()))
                .then_expect_error(WikiError::AlreadyExists);
        }
    }

    #[test]
    fn a_slug_is_one_entrys_from_its_proposal_on() {
        let take = Demand::Take { claim: slug_claim(), or: WikiError::SlugTaken(slug("locks")) };
        assert_eq!(WikiEntry::Absent.demands(&proposed()), [take]);
    }

    #[test]
    fn an_entry_belongs_to_its_workspace_for_ever() {
        assert_eq!(WikiEntry::Absent.workspace(), None);
        for history in [vec![proposed()], vec![proposed(), rejected()]] {
            assert_eq!(after::<WikiEntry>(history).workspace(), Some(id(10)));
        }
    }
}
