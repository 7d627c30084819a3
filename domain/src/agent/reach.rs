//! Reach: the projects that an agent may work in.

use super::LiveAgent;
use crate::{ProjectId, WorkspaceId};

impl LiveAgent {
    /// Whether the agent works in this project, which belongs to this workspace.
    pub fn reaches(&self, project: ProjectId, workspace: WorkspaceId) -> bool {
        self.workspace_id == workspace && self.project_id.is_none_or(|own| own == project)
    }

    /// Whether it works in every project of its workspace.
    pub fn is_organization_level(&self) -> bool {
        self.project_id.is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::super::examples::{create, create_lead, created_by};
    use super::*;
    use crate::agent::{Agent, CreateAgent};
    use crate::examples::{after, id};

    fn live(command: CreateAgent) -> LiveAgent {
        after::<Agent>([created_by(command)]).live().expect("an agent").clone()
    }

    #[test]
    fn a_project_agent_reaches_its_project_alone() {
        let dev = live(create());
        assert!(dev.reaches(id(20), id(10)));
        assert!(!dev.reaches(id(21), id(10)));
    }

    #[test]
    fn an_organization_agent_reaches_every_project_of_its_workspace() {
        let lead = live(create_lead());
        assert!(lead.reaches(id(20), id(10)) && lead.reaches(id(21), id(10)));
        assert!(!lead.reaches(id(22), id(11)));
    }
}
