//! What a task claims: its GitHub issue for ever, its place in the project and with its agent until it is over.

use super::{GithubIssue, LiveTask, TaskError, TaskEvent};
use crate::session::lease;
use crate::{Claim, Demand, ProjectId, Scope};

impl LiveTask {
    /// The claims that it holds on its project and on its agent while it is not over.
    pub(super) fn places(&self) -> Vec<Claim> {
        // One that failed in its epic is blocked for AgentFlow, and yet nothing more will come of it.
        if self.status.is_over() || self.factory.as_ref().is_some_and(|it| it.state.is_over()) {
            return vec![];
        }
        let agent = self.assigned_agent_id.map(|agent| Scope::agent_tasks(agent).claim(self.task_id));
        [Scope::project_tasks(self.project_id).claim(self.task_id)].into_iter().chain(agent).collect()
    }
}

impl GithubIssue {
    /// What makes an issue one task's in a project; either would do, and a wrong pair shows.
    fn claims(self, project: ProjectId) -> [Claim; 2] {
        let scope = || Scope::github_issues(project);
        [scope().claim(format!("id:{}", self.id)), Self::claim_by_number(project, self.number)]
    }

    /// The claim by which the task of an issue is found.
    pub fn claim_by_number(project: ProjectId, number: i64) -> Claim {
        Scope::github_issues(project).claim(format!("number:{number}"))
    }
}

/// A GitHub issue is one task's for ever, also when that task is over.
pub(super) fn linked(event: &TaskEvent) -> Vec<Demand<TaskError>> {
    let TaskEvent::TaskCreated { project_id, github_issue: Some(issue), .. } = event else { return vec![] };
    let take = |claim| Demand::Take { claim, or: TaskError::AlreadyLinked(*issue) };
    issue.claims(*project_id).map(take).into()
}

/// A worktree is one epic's or one task's for ever.
pub(super) fn worktree(event: &TaskEvent) -> Option<Demand<TaskError>> {
    let TaskEvent::TaskAddedToEpic { worktree_name, .. } = event else { return None };
    Some(Demand::Take { claim: worktree_name.claim(), or: TaskError::WorktreeTaken(worktree_name.clone()) })
}

/// What an agent does under a session counts only while it has that session.
pub(super) fn leased(event: &TaskEvent) -> Option<Demand<TaskError>> {
    match event {
        TaskEvent::TaskStarted { agent_id, session_id, .. }
        | TaskEvent::TaskBlocked { agent_id, session_id, .. }
        | TaskEvent::TaskCompleted { agent_id, session_id, .. } => {
            let (agent, session) = agent_id.zip(*session_id)?;
            Some(lease(agent, session, TaskError::SessionOver(session)))
        }
        TaskEvent::TaskCreated { .. }
        | TaskEvent::TaskDetailsChanged { .. }
        | TaskEvent::TaskAssigned { .. }
        | TaskEvent::TaskReturned { .. }
        | TaskEvent::TaskPaused { .. }
        | TaskEvent::TaskCancelled { .. }
        | TaskEvent::TaskAddedToEpic { .. }
        | TaskEvent::TaskSubmitted { .. }
        | TaskEvent::TaskChangesRequested { .. }
        | TaskEvent::TaskRebaseRequested { .. }
        | TaskEvent::TaskRebased { .. }
        | TaskEvent::TaskApproved { .. }
        | TaskEvent::TaskMergeFailed { .. }
        | TaskEvent::TaskHandedOver { .. }
        | TaskEvent::TaskReset { .. }
        | TaskEvent::TaskFailed { .. } => None,
    }
}
