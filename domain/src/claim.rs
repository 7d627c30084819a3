//! Claims: what only one stream may hold at a time.

use std::fmt;

use crate::post::AgentKind;
use crate::{AgentId, ProjectId, WorkspaceId};

/// A key within a scope; at most one stream holds it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Claim {
    /// Where the key is unique.
    pub scope: Scope,
    /// What is unique there.
    pub key: String,
}

/// A space of keys that are unique among themselves.
///
/// The texts are stored with the log: to change one is a data migration.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Scope(String);

impl Scope {
    /// The slugs of all workspaces.
    pub fn workspace_slugs() -> Self {
        Self("workspace-slug".to_owned())
    }

    /// The slugs of a workspace's projects.
    pub fn project_slugs(workspace: WorkspaceId) -> Self {
        Self(format!("project-slug:{workspace}"))
    }

    /// The codes of a workspace's agents.
    pub fn agent_codes(workspace: WorkspaceId) -> Self {
        Self(format!("agent-code:{workspace}"))
    }

    /// The agents that may work in a project; their keys are agent ids.
    pub fn project_agents(project: ProjectId) -> Self {
        Self(format!("project-agent:{project}"))
    }

    /// The repositories of all projects; their keys come from [`RepositoryUrl::key`](crate::RepositoryUrl::key).
    pub fn repositories() -> Self {
        Self("repository".to_owned())
    }

    /// An agent's one session that is not stopped.
    pub fn active_session(agent: AgentId) -> Self {
        Self(format!("active-session:{agent}"))
    }

    /// The GitHub issues that a project's tasks are linked to, by id and by number.
    pub fn github_issues(project: ProjectId) -> Self {
        Self(format!("github-issue:{project}"))
    }

    /// A project's tasks that are not over; their keys are task ids.
    pub fn project_tasks(project: ProjectId) -> Self {
        Self(format!("project-task:{project}"))
    }

    /// An agent's tasks that are not over; their keys are task ids.
    pub fn agent_tasks(agent: AgentId) -> Self {
        Self(format!("agent-task:{agent}"))
    }

    /// The slugs of a project's wiki, or of the wiki that belongs to the whole workspace.
    pub fn wiki_slugs(workspace: WorkspaceId, project: Option<ProjectId>) -> Self {
        match project {
            Some(project) => Self(format!("wiki-slug:{workspace}:{project}")),
            None => Self(format!("wiki-slug:{workspace}:org")),
        }
    }

    /// The worktrees of all epics and tasks, which are branches too.
    pub fn worktrees() -> Self {
        Self("worktree".to_owned())
    }

    /// The seats of the factory's agents of one kind; their keys are ids of workspaces, epics or tasks.
    pub fn seats(kind: AgentKind) -> Self {
        Self(format!("seat:{kind}"))
    }

    /// What errands are under way for; their keys come from [`Work::claim`](crate::errand::Work::claim).
    pub fn errands() -> Self {
        Self("errand".to_owned())
    }

    /// An agent's open calls of tools that make something; their keys come from what was called with what.
    pub fn open_calls(agent: AgentId) -> Self {
        Self(format!("open-call:{agent}"))
    }

    /// What an agent made with its last call.
    pub fn last_call(agent: AgentId) -> Self {
        Self(format!("last-call:{agent}"))
    }

    /// The claim to a key of this scope.
    pub fn claim(self, key: impl fmt::Display) -> Claim {
        Claim { scope: self, key: key.to_string() }
    }
}

impl AsRef<str> for Scope {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl From<Scope> for String {
    fn from(scope: Scope) -> Self {
        scope.0
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    #[test]
    fn the_stored_texts_of_scopes_do_not_change() {
        let nil = Uuid::nil();
        let scopes = [
            (Scope::workspace_slugs(), "workspace-slug"),
            (Scope::project_slugs(nil.into()), "project-slug:00000000-0000-0000-0000-000000000000"),
            (Scope::agent_codes(nil.into()), "agent-code:00000000-0000-0000-0000-000000000000"),
            (Scope::project_agents(nil.into()), "project-agent:00000000-0000-0000-0000-000000000000"),
            (Scope::repositories(), "repository"),
            (Scope::active_session(nil.into()), "active-session:00000000-0000-0000-0000-000000000000"),
            (Scope::github_issues(nil.into()), "github-issue:00000000-0000-0000-0000-000000000000"),
            (Scope::project_tasks(nil.into()), "project-task:00000000-0000-0000-0000-000000000000"),
            (Scope::agent_tasks(nil.into()), "agent-task:00000000-0000-0000-0000-000000000000"),
            (Scope::worktrees(), "worktree"),
            (Scope::seats(AgentKind::Worker), "seat:WORKER"),
            (Scope::errands(), "errand"),
            (Scope::open_calls(nil.into()), "open-call:00000000-0000-0000-0000-000000000000"),
            (Scope::last_call(nil.into()), "last-call:00000000-0000-0000-0000-000000000000"),
            (Scope::wiki_slugs(nil.into(), None), "wiki-slug:00000000-0000-0000-0000-000000000000:org"),
            (
                Scope::wiki_slugs(nil.into(), Some(nil.into())),
                "wiki-slug:00000000-0000-0000-0000-000000000000:00000000-0000-0000-0000-000000000000",
            ),
        ];
        for (scope, stored) in scopes {
            assert_eq!(scope.as_ref(), stored);
        }
    }
}
