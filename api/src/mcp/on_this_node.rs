//! The bench of this node, as tools look at it.

use std::sync::Arc;

use reactors::bench::{self, Looked, Whereabouts};
use store::sql::Database;
use workbench::forge::PullState;
use workbench::git::GitError;

use super::bench::{Bench, BenchError, Diff, Looking, PullRequestState, Workplace};

/// The bench of this node.
pub(crate) struct OnThisNode {
    /// The bench.
    pub(crate) bench: Arc<bench::Bench>,
    /// Where its projects are looked up.
    pub(crate) views: Database,
}

impl Bench for OnThisNode {
    fn has(&self, bench: &str) -> bool {
        // A node that stands by has worktrees that nobody works in.
        self.bench.name().as_ref() == bench && self.bench.is_held()
    }

    fn diff<'a>(&'a self, of: &'a Workplace) -> Looking<'a, Diff> {
        Box::pin(async move {
            let diff = self.bench.diff(&self.views, &whereabouts(of)).await.map_err(told)?;
            Ok(Diff {
                text: diff.diff,
                is_cut: diff.truncated,
                files_changed: diff.files_changed,
                insertions: diff.insertions,
                deletions: diff.deletions,
            })
        })
    }

    fn read_file<'a>(&'a self, of: &'a Workplace, path: &'a str) -> Looking<'a, String> {
        Box::pin(async move { self.bench.read_file(&self.views, &whereabouts(of), path).await.map_err(told) })
    }

    fn pull_request<'a>(&'a self, of: &'a Workplace, url: &'a str) -> Looking<'a, PullRequestState> {
        Box::pin(async move {
            let state = self.bench.pull_request(&self.views, &whereabouts(of), url).await.map_err(told)?;
            Ok(match state {
                PullState::Open => PullRequestState::Open,
                PullState::Merged => PullRequestState::Merged,
                PullState::Closed => PullRequestState::Closed,
            })
        })
    }
}

fn whereabouts(of: &Workplace) -> Whereabouts {
    Whereabouts {
        project_id: of.project_id,
        epic_branch: of.epic_branch.clone(),
        task_id: of.task_id,
        task_branch: of.task_branch.clone(),
        reviewed: of.reviewed.clone(),
    }
}

/// What an agent asked for wrongly it is told; what is wrong here is for our log.
fn told(error: Looked) -> BenchError {
    match &error {
        Looked::NotSetUp => BenchError::Refused(error.to_string()),
        Looked::Git(git) if git.is_transient() => BenchError::Busy("the repository is busy".to_owned()),
        Looked::Git(
            GitError::PathRefused(_)
            | GitError::NoSuchFile(_)
            | GitError::Binary(_)
            | GitError::NoSuchBranch(_)
            | GitError::NoSuchCommit(_),
        ) => BenchError::Refused(error.to_string()),
        Looked::Git(GitError::NoSuchWorktree(_)) => BenchError::Refused("the task has no worktree yet".to_owned()),
        Looked::Forge(forge) if forge.is_transient() => BenchError::Busy("the forge is busy".to_owned()),
        Looked::Git(_) | Looked::Forge(_) | Looked::Store(_) => BenchError::Broken(error.to_string()),
    }
}
