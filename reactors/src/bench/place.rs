//! Where work is: the repository, the branches and the worktrees of an epic and of its tasks.

use domain::epic::{Epic, LiveEpic};
use domain::task::{FactoryTask, LiveTask, Task};
use domain::{Entity, EpicId, ProjectId, TaskId, WorkspaceId};
use store::sql::Database;
use store::{EventLog, StoreError, StreamId};
use uuid::Uuid;
use workbench::git::{Branch, Folder, GitError, Trailer};

use super::{Bench, BenchProject};

/// Under which merges name the task that they are of.
pub(crate) const TASK_TRAILER: &str = "Muster-Task";

/// Where a task's work is, for whoever only looks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Whereabouts {
    /// The project whose repository it is.
    pub project_id: ProjectId,
    /// The epic's branch.
    pub epic_branch: String,
    /// The task.
    pub task_id: TaskId,
    /// Its branch.
    pub task_branch: String,
    /// The commit that is reviewed, while one is: that is what is looked at, wherever the branch goes meanwhile.
    pub reviewed: Option<String>,
}

/// Why there is no such place here.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NoPlace {
    /// It is not there, or no longer.
    #[error("{0}")]
    Gone(&'static str),
    /// The operator named no repository for the project.
    #[error("the bench has no repository for project {0}: its operator must add it to the bench file")]
    NotSetUp(ProjectId),
    /// The operator named no project of the workspace.
    #[error("the bench has no project of workspace {0}: its operator must add one to the bench file")]
    NotServed(WorkspaceId),
    /// A name that git would not take.
    #[error(transparent)]
    Name(#[from] GitError),
    /// The store cannot be asked.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Where an epic is built.
pub(crate) struct EpicPlace<'a> {
    pub(crate) epic: LiveEpic,
    pub(crate) project: &'a BenchProject,
    pub(crate) branch: Branch,
    pub(crate) folder: Folder,
    pub(crate) trailer: Trailer,
}

/// Where a task of an epic is done.
pub(crate) struct TaskPlace<'a> {
    pub(crate) task: LiveTask,
    pub(crate) factory: FactoryTask,
    pub(crate) epic: EpicPlace<'a>,
    pub(crate) branch: Branch,
    pub(crate) folder: Folder,
    pub(crate) trailer: Trailer,
}

impl Bench {
    pub(crate) async fn epic_place(
        &self,
        log: &EventLog,
        views: &Database,
        id: EpicId,
    ) -> Result<EpicPlace<'_>, NoPlace> {
        let epic: Epic = state_of(log, id.0).await?;
        let epic = epic.live().map_err(|_| NoPlace::Gone("the epic does not exist"))?.clone();
        let project = self.project(views, epic.project_id).await?.ok_or(NoPlace::NotSetUp(epic.project_id))?;
        Ok(EpicPlace {
            branch: Branch::new(epic.worktree_name.as_ref())?,
            folder: Folder::of_epic(&id.to_string())?,
            trailer: Trailer::new("Muster-Epic", &id.to_string())?,
            epic,
            project,
        })
    }

    pub(crate) async fn task_place(
        &self,
        log: &EventLog,
        views: &Database,
        id: TaskId,
    ) -> Result<TaskPlace<'_>, NoPlace> {
        let task: Task = state_of(log, id.0).await?;
        let task = task.live().map_err(|_| NoPlace::Gone("the task does not exist"))?.clone();
        let factory = task.factory.clone().ok_or(NoPlace::Gone("the task is in no epic"))?;
        let epic = self.epic_place(log, views, factory.epic_id).await?;
        Ok(TaskPlace {
            branch: Branch::new(factory.worktree_name.as_ref())?,
            folder: Folder::of_task(&id.to_string())?,
            trailer: Trailer::new(TASK_TRAILER, &id.to_string())?,
            task,
            factory,
            epic,
        })
    }
}

impl EpicPlace<'_> {
    /// Sees to the worktree, which begins at the main branch.
    pub(crate) async fn ensure(&self) -> Result<std::path::PathBuf, GitError> {
        let (repository, main) = (&self.project.repository, self.project.main_branch());
        Ok(repository.ensure_worktree(&self.branch, &self.folder, main).await?.path)
    }
}

impl TaskPlace<'_> {
    /// Sees to the worktree, which begins at the epic's branch; what a predecessor left in it stays.
    pub(crate) async fn ensure(&self) -> Result<std::path::PathBuf, GitError> {
        self.epic.ensure().await?;
        let repository = &self.epic.project.repository;
        Ok(repository.ensure_worktree(&self.branch, &self.folder, &self.epic.branch).await?.path)
    }
}

/// An aggregate as the log has it now.
pub(crate) async fn state_of<A: Entity>(log: &EventLog, id: Uuid) -> Result<A, StoreError> {
    let mut state = A::default();
    for event in log.read_stream(&StreamId::new(A::TYPE, id), 1, None).await? {
        let decoded = domain::decode::<A::Event>(&event.event_type, &event.event_version, &event.payload);
        state.apply(decoded.map_err(|error| StoreError::Damaged(format!("position {}: {error}", event.position)))?);
    }
    Ok(state)
}
