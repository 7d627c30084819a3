//! Change a project's details.

use chrono::{DateTime, Utc};

use super::create::check_installation;
use super::{Project, ProjectError, ProjectEvent};
use crate::difference::differing;
use crate::{RepositoryUrl, Slug};

/// Gives a project new details; what is not given stays.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangeProject {
    /// The name wanted.
    pub name: Option<String>,
    /// The slug wanted; no other project of the workspace has it.
    pub slug: Option<Slug>,
    /// The description wanted.
    pub description: Option<String>,
    /// The repository wanted; no other project has it.
    pub repository_url: Option<RepositoryUrl>,
    /// The GitHub App installation wanted.
    pub github_installation_id: Option<i64>,
    /// The place wanted for the MVP document.
    pub mvp_document_url: Option<String>,
    /// Whether it is to be worked on.
    pub is_active: Option<bool>,
    /// When this is asked.
    pub now: DateTime<Utc>,
}

pub(crate) fn decide(project: &Project, command: ChangeProject) -> Result<Vec<ProjectEvent>, ProjectError> {
    let live = project.live()?;
    check_installation(command.github_installation_id)?;

    let name = differing(command.name, &live.name);
    let slug = differing(command.slug, &live.slug);
    let description = differing(command.description, &live.description);
    let repository_url = differing(command.repository_url, &live.repository_url);
    let github_installation_id = differing(command.github_installation_id, &live.github_installation_id);
    let mvp_document_url = differing(command.mvp_document_url, &live.mvp_document_url);
    let is_active = differing(command.is_active, &live.is_active);
    if name.is_none()
        && slug.is_none()
        && description.is_none()
        && repository_url.is_none()
        && github_installation_id.is_none()
        && mvp_document_url.is_none()
        && is_active.is_none()
    {
        return Ok(vec![]);
    }
    Ok(vec![ProjectEvent::ProjectDetailsChanged {
        name,
        slug,
        description,
        repository_url,
        github_installation_id,
        mvp_document_url,
        is_active,
        changed_at: command.now,
    }])
}

#[cfg(test)]
mod tests {
    use super::super::examples::{REPOSITORY, change, create, created, deleted};
    use super::*;
    use crate::examples::{after, given, id, slug};
    use crate::project::ProjectCommand;
    use crate::{Demand, Entity, Scope};

    /// The one event that a change of the example makes.
    fn changed(command: ChangeProject) -> ProjectEvent {
        let mut events = decide(&after([created()]), command).expect("a change");
        assert_eq!(events.len(), 1);
        events.remove(0)
    }

    #[test]
    fn only_what_differs_is_in_the_event() {
        let wanted = ChangeProject {
            name: Some(create().name),
            repository_url: create().repository_url,
            is_active: Some(false),
            ..change()
        };
        assert_eq!(changed(wanted), changed(ChangeProject { is_active: Some(false), ..change() }));
    }

    #[test]
    fn each_detail_changes_on_its_own_and_only_once() {
        for command in [
            ChangeProject { name: Some("Store".to_owned()), ..change() },
            ChangeProject { slug: Some(slug("store")), ..change() },
            ChangeProject { description: Some("Sells anvils".to_owned()), ..change() },
            ChangeProject { repository_url: Some(RepositoryUrl::new("https://x.y/z")), ..change() },
            ChangeProject { github_installation_id: Some(8), ..change() },
            ChangeProject { mvp_document_url: Some("https://x.y/mvp".to_owned()), ..change() },
            ChangeProject { is_active: Some(false), ..change() },
        ] {
            given::<Project>([created(), changed(command.clone())])
                .when(ProjectCommand::Change(command))
                .then_expect_events(vec![]);
        }
    }

    #[test]
    fn asking_for_no_change_changes_nothing() {
        given::<Project>([created()]).when(ProjectCommand::Change(change())).then_expect_events(vec![]);
    }

    #[test]
    fn a_deleted_project_does_not_change() {
        given::<Project>([created(), deleted()])
            .when(ProjectCommand::Change(change()))
            .then_expect_error(ProjectError::NotFound);
    }

    #[test]
    fn a_change_cannot_name_an_impossible_installation() {
        let command = ChangeProject { github_installation_id: Some(0), ..change() };
        given::<Project>([created()])
            .when(ProjectCommand::Change(command))
            .then_expect_error(ProjectError::InvalidGithubInstallation(0));
    }

    #[test]
    fn a_new_slug_frees_the_old_one() {
        let event = changed(ChangeProject { slug: Some(slug("store")), ..change() });
        let scope = Scope::project_slugs(id(10));
        let take = Demand::Take { claim: scope.clone().claim("store"), or: ProjectError::SlugTaken(slug("store")) };
        let demands = after::<Project>([created()]).demands(&event);
        assert_eq!(demands, [Demand::Release(scope.claim("shop")), take]);
    }

    #[test]
    fn a_new_repository_frees_the_old_one() {
        let url = RepositoryUrl::new("https://github.com/acme/store");
        let event = changed(ChangeProject { repository_url: Some(url.clone()), ..change() });
        let release = Demand::Release(Scope::repositories().claim("github.com/acme/shop"));
        let take = Demand::Take {
            claim: Scope::repositories().claim("github.com/acme/store"),
            or: ProjectError::RepositoryLinked(url),
        };
        assert_eq!(after::<Project>([created()]).demands(&event), [release, take]);
    }

    #[test]
    fn the_same_repository_written_in_another_way_is_still_held() {
        let url = Some(RepositoryUrl::new(format!("{REPOSITORY}.git")));
        let event = changed(ChangeProject { repository_url: url, ..change() });
        assert_eq!(after::<Project>([created()]).demands(&event), []);
    }
}
