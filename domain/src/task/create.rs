//! Create a task.

use chrono::{DateTime, Utc};

use super::{GithubIssue, Priority, Task, TaskError, TaskEvent};
use crate::{ProjectId, Settings, TaskId, WorkspaceId};

/// Adds a task to a project's backlog.
#[derive(Clone, Debug, PartialEq)]
pub struct CreateTask {
    /// The id it gets.
    pub task_id: TaskId,
    /// The workspace it belongs to.
    pub workspace_id: WorkspaceId,
    /// The project it is part of.
    pub project_id: ProjectId,
    /// The GitHub issue that it is; no other task of the project is.
    pub github_issue: Option<GithubIssue>,
    /// What it is called.
    pub title: String,
    /// What is to be done.
    pub description: Option<String>,
    /// What comes first; `P2` without.
    pub priority: Option<Priority>,
    /// When it is due.
    pub deadline: Option<DateTime<Utc>>,
    /// How to tell that it is done.
    pub success_criteria: Vec<String>,
    /// What else its maker noted.
    pub metadata: Settings,
    /// When this is asked.
    pub now: DateTime<Utc>,
}

pub(crate) fn decide(task: &Task, command: CreateTask) -> Result<Vec<TaskEvent>, TaskError> {
    match task {
        Task::Absent => Ok(vec![TaskEvent::TaskCreated {
            task_id: command.task_id,
            workspace_id: command.workspace_id,
            project_id: command.project_id,
            github_issue: command.github_issue,
            title: command.title,
            description: command.description,
            priority: command.priority.unwrap_or_default(),
            deadline: command.deadline,
            success_criteria: command.success_criteria,
            metadata: command.metadata,
            created_at: command.now,
        }]),
        Task::Live(_) => Err(TaskError::AlreadyExists),
    }
}

#[cfg(test)]
mod tests {
    use super::super::examples::{create, created, created_by};
    use super::*;
    use crate::examples::{after, given, id};
    use crate::task::TaskCommand;
    use crate::{Demand, Entity, Scope};

    #[test]
    fn a_new_task_is_in_the_backlog_with_priority_p2() {
        given::<Task>([]).when(TaskCommand::Create(create())).then_expect_events(vec![created()]);
        let task = after::<Task>([created()]).live().expect("a task").clone();
        assert_eq!((task.status.to_string(), task.priority), ("backlog".to_owned(), Priority::P2));
    }

    #[test]
    fn a_task_is_created_once() {
        given::<Task>([created()]).when(TaskCommand::Create(create())).then_expect_error(TaskError::AlreadyExists);
    }

    #[test]
    fn an_issue_is_one_tasks_in_its_project_and_the_project_has_the_task() {
        let issue = GithubIssue { id: 9001, number: 12 };
        let issues = |key: &str| Demand::Take {
            claim: Scope::github_issues(id(20)).claim(key),
            or: TaskError::AlreadyLinked(issue),
        };
        let place = Scope::project_tasks(id(20)).claim(create().task_id);
        let place = Demand::Take { claim: place, or: TaskError::AlreadyExists };
        assert_eq!(Task::Absent.demands(&created()), [issues("id:9001"), issues("number:12"), place]);
    }

    #[test]
    fn a_task_needs_no_issue() {
        let event = created_by(CreateTask { github_issue: None, ..create() });
        assert_eq!(Task::Absent.demands(&event).len(), 1);
    }

    #[test]
    fn a_task_belongs_to_its_workspace() {
        assert_eq!(Task::Absent.workspace(), None);
        assert_eq!(after::<Task>([created()]).workspace(), Some(id(10)));
    }
}
