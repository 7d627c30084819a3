//! Looks at a worktree or a pull request, and changes nothing.

use store::StoreError;
use store::sql::Database;
use workbench::forge::{ForgeError, PullState};
use workbench::git::{Branch, CommitId, Diff, Folder, GitError, Trailer};

use super::{Bench, BenchProject, Whereabouts};

/// What became of a pull request.
pub type PullRequestLook = PullState;

/// Why there is nothing to see.
#[derive(Debug, thiserror::Error)]
pub enum Looked {
    /// The operator named no repository for the project.
    #[error("this bench has no repository for the project")]
    NotSetUp,
    /// Git said no.
    #[error(transparent)]
    Git(#[from] GitError),
    /// The forge said no.
    #[error(transparent)]
    Forge(#[from] ForgeError),
    /// The store cannot be asked.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Bench {
    /// What a task changes of its epic's branch: as it was submitted while it is reviewed, else as its branch is.
    pub async fn diff(&self, views: &Database, of: &Whereabouts) -> Result<Diff, Looked> {
        let repository = &self.look_at(views, of).await?.repository;
        let epic = Branch::new(&of.epic_branch)?;
        Ok(match &of.reviewed {
            Some(commit) => repository.diff_of_commit(&epic, &CommitId::new(commit)?).await?,
            None => repository.diff(&epic, &Branch::new(&of.task_branch)?).await?,
        })
    }

    /// The text of a file, from its beginning: as it was submitted while it is reviewed, else as it is in the task's
    /// worktree.
    pub async fn read_file(&self, views: &Database, of: &Whereabouts, path: &str) -> Result<String, Looked> {
        let repository = &self.look_at(views, of).await?.repository;
        let file = match &of.reviewed {
            Some(commit) => repository.read_file_at(&CommitId::new(commit)?, path).await?,
            None => repository.read_file(&Folder::of_task(&of.task_id.to_string())?, path).await?,
        };
        Ok(file.content)
    }

    /// What became of a task's pull request.
    pub async fn pull_request(&self, views: &Database, of: &Whereabouts, url: &str) -> Result<PullRequestLook, Looked> {
        let project = self.look_at(views, of).await?;
        let epic = Branch::new(&of.epic_branch)?;
        let trailer = Trailer::new("Muster-Task", &of.task_id.to_string())?;
        Ok(project.forge().status(&project.repository, url, &epic, &trailer).await?.state)
    }

    async fn look_at(&self, views: &Database, of: &Whereabouts) -> Result<&BenchProject, Looked> {
        self.project(views, of.project_id).await?.ok_or(Looked::NotSetUp)
    }
}
