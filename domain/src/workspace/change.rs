//! Change a workspace's details.

use chrono::{DateTime, Utc};

use super::{Workspace, WorkspaceError, WorkspaceEvent};
use crate::difference::differing;
use crate::{Settings, Slug, UserId};

/// Gives a workspace new details; what is not given stays.
#[derive(Clone, Debug, PartialEq)]
pub struct ChangeWorkspace {
    /// Who asks.
    pub by: UserId,
    /// The name wanted.
    pub name: Option<String>,
    /// The slug wanted; no other workspace has it.
    pub slug: Option<Slug>,
    /// The description wanted.
    pub description: Option<String>,
    /// The settings wanted, all of them.
    pub settings: Option<Settings>,
    /// When this is asked.
    pub now: DateTime<Utc>,
}

pub(crate) fn decide(workspace: &Workspace, command: ChangeWorkspace) -> Result<Vec<WorkspaceEvent>, WorkspaceError> {
    let live = workspace.owned_by(command.by)?;
    let name = differing(command.name, &live.name);
    let slug = differing(command.slug, &live.slug);
    let description = differing(command.description, &live.description);
    let settings = differing(command.settings, &live.settings);
    if name.is_none() && slug.is_none() && description.is_none() && settings.is_none() {
        return Ok(vec![]);
    }
    Ok(vec![WorkspaceEvent::WorkspaceDetailsChanged { name, slug, description, settings, changed_at: command.now }])
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::examples::{bob, change, created, deleted};
    use super::*;
    use crate::examples::{after, at, given, slug};
    use crate::workspace::WorkspaceCommand;
    use crate::{Demand, Entity, Scope};

    fn slug_changed(to: &str) -> WorkspaceEvent {
        WorkspaceEvent::WorkspaceDetailsChanged {
            name: None,
            slug: Some(slug(to)),
            description: None,
            settings: None,
            changed_at: at(1),
        }
    }

    #[test]
    fn only_what_differs_is_in_the_event() {
        let command = ChangeWorkspace { name: Some("Acme".to_owned()), slug: Some(slug("acme-2")), ..change() };
        given::<Workspace>([created()])
            .when(WorkspaceCommand::Change(command))
            .then_expect_events(vec![slug_changed("acme-2")]);
    }

    #[test]
    fn each_detail_changes_on_its_own_and_only_once() {
        let settings = json!({ "theme": "dark" }).as_object().cloned();
        for command in [
            ChangeWorkspace { name: Some("Acme Ltd".to_owned()), ..change() },
            ChangeWorkspace { slug: Some(slug("acme-2")), ..change() },
            ChangeWorkspace { description: Some("Anvils".to_owned()), ..change() },
            ChangeWorkspace { settings, ..change() },
        ] {
            let events = decide(&after([created()]), command.clone()).expect("a change");
            assert_eq!(events.len(), 1, "{command:?}");
            let again = decide(&after([vec![created()], events].concat()), command);
            assert_eq!(again, Ok(vec![]));
        }
    }

    #[test]
    fn asking_for_no_change_changes_nothing() {
        given::<Workspace>([created()]).when(WorkspaceCommand::Change(change())).then_expect_events(vec![]);
    }

    #[test]
    fn only_the_owner_changes_a_workspace() {
        given::<Workspace>([created()])
            .when(WorkspaceCommand::Change(ChangeWorkspace { by: bob(), ..change() }))
            .then_expect_error(WorkspaceError::AccessDenied);
    }

    #[test]
    fn a_deleted_workspace_does_not_change() {
        given::<Workspace>([created(), deleted()])
            .when(WorkspaceCommand::Change(change()))
            .then_expect_error(WorkspaceError::NotFound);
    }

    #[test]
    fn a_new_slug_frees_the_old_one() {
        let demands = after::<Workspace>([created()]).demands(&slug_changed("acme-2"));
        let release = Demand::Release(Scope::workspace_slugs().claim("acme"));
        let take = Demand::Take {
            claim: Scope::workspace_slugs().claim("acme-2"),
            or: WorkspaceError::SlugTaken(slug("acme-2")),
        };
        assert_eq!(demands, [release, take]);
    }
}
