//! Which worktrees a repository has, and what is half done in them.

use std::fs;
use std::path::{Path, PathBuf};

use super::{Branch, Folder, GitError, Repository};

/// A worktree that git knows of; the folder itself may be gone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Registered {
    pub(super) path: PathBuf,
    /// The branch, also while a rebase has taken `HEAD` off it.
    pub(super) branch: Option<String>,
    pub(super) rebasing: bool,
    pub(super) bare: bool,
    pub(super) locked: Option<String>,
}

impl Repository {
    /// All of them, the base first.
    pub(super) async fn registered(&self) -> Result<Vec<Registered>, GitError> {
        let listed = self.git(["worktree", "list", "--porcelain", "-z"]).output().await?;
        Ok(parse(&String::from_utf8_lossy(&listed.stdout)))
    }

    /// The one at a path.
    pub(super) async fn registered_at(&self, path: &Path) -> Result<Option<Registered>, GitError> {
        Ok(self.registered().await?.into_iter().find(|it| same_place(&it.path, path)))
    }

    /// The one that has a branch, if its folder is there.
    pub(super) async fn checked_out(&self, branch: &Branch) -> Result<Option<Registered>, GitError> {
        let all = self.registered().await?;
        let mine = |it: &Registered| !it.bare && it.branch.as_deref() == Some(branch.as_str()) && it.path.is_dir();
        match all.into_iter().find(mine) {
            // Its files cannot follow; git would take them for those of another repository around it.
            Some(it) if git_dir(&it.path).is_none() => Err(GitError::NoSuchWorktree(it.path)),
            found => Ok(found),
        }
    }

    /// Where a worktree is that can be worked in.
    pub(super) async fn at_work(&self, folder: &Folder) -> Result<PathBuf, GitError> {
        let path = self.path_of(folder);
        if self.registered_at(&path).await?.is_some() && self.is_whole(&path).await? {
            Ok(path)
        } else {
            Err(GitError::NoSuchWorktree(path))
        }
    }

    /// The files of a worktree that are not as they were committed, new ones included.
    pub(super) async fn uncommitted(&self, folder: &Path) -> Result<Vec<String>, GitError> {
        let args = ["status", "--porcelain", "-z", "--untracked-files=all", "--no-renames"];
        let entries = self.git_in(folder, args).paths().await?;
        Ok(entries.into_iter().filter_map(|it| it.get(3..).map(str::to_owned)).collect())
    }
}

/// The folder in which git keeps a worktree's own state.
pub(super) fn git_dir(folder: &Path) -> Option<PathBuf> {
    let dot_git = folder.join(".git");
    if dot_git.is_dir() {
        return Some(dot_git);
    }
    let link = fs::read_to_string(dot_git).ok()?;
    let target = folder.join(link.strip_prefix("gitdir: ")?.trim_end());
    target.is_dir().then_some(target)
}

/// The folder in which a repository keeps what its worktrees share.
pub(super) fn common_git_dir(folder: &Path) -> Option<PathBuf> {
    let own = if folder.join("HEAD").is_file() && folder.join("objects").is_dir() {
        folder.to_path_buf()
    } else {
        git_dir(folder)?
    };
    let common = match fs::read_to_string(own.join("commondir")) {
        Ok(relative) => own.join(relative.trim_end()),
        Err(_) => own,
    };
    common.canonicalize().ok()
}

/// What somebody began in a worktree and has not finished.
pub(super) fn unfinished(folder: &Path) -> Option<&'static str> {
    let state = git_dir(folder)?;
    let begun = |file: &str| state.join(file).exists();
    match () {
        () if begun("rebase-merge") || begun("rebase-apply") => Some("rebase"),
        () if begun("MERGE_HEAD") => Some("merge"),
        () if begun("CHERRY_PICK_HEAD") => Some("cherry-pick"),
        () if begun("REVERT_HEAD") => Some("revert"),
        () => None,
    }
}

pub(super) fn same_place(one: &Path, other: &Path) -> bool {
    one == other || real(one) == real(other)
}

/// The real path also of what is gone: its parent is usually still there.
fn real(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| match (path.parent(), path.file_name()) {
        (Some(parent), Some(name)) => parent.canonicalize().unwrap_or_else(|_| parent.to_path_buf()).join(name),
        _ => path.to_path_buf(),
    })
}

fn parse(listed: &str) -> Vec<Registered> {
    let mut all: Vec<Registered> = Vec::new();
    for attribute in listed.split('\0') {
        let (key, value) = attribute.split_once(' ').unwrap_or((attribute, ""));
        if key == "worktree" {
            let path = PathBuf::from(value);
            all.push(Registered { path, branch: None, rebasing: false, bare: false, locked: None });
        }
        let Some(last) = all.last_mut() else { continue };
        match key {
            "branch" => last.branch = value.strip_prefix("refs/heads/").map(str::to_owned),
            "bare" => last.bare = true,
            "locked" => last.locked = Some(value.to_owned()),
            "detached" => {
                last.branch = branch_being_rebased(&last.path);
                last.rebasing = last.branch.is_some();
            }
            _ => {}
        }
    }
    all
}

fn branch_being_rebased(folder: &Path) -> Option<String> {
    let state = git_dir(folder)?;
    let name = ["rebase-merge/head-name", "rebase-apply/head-name"]
        .iter()
        .find_map(|it| fs::read_to_string(state.join(it)).ok())?;
    name.trim().strip_prefix("refs/heads/").map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_of_worktrees_is_read_with_odd_names() {
        let listed = "worktree /a b/\"c\"\nd\0HEAD 12\0branch refs/heads/epic/1/ä\0\0worktree /e\0bare\0\0worktree /f\0HEAD \
                      34\0detached\0locked initializing\0\0";
        let read = parse(listed);
        assert_eq!(read.len(), 3);
        assert_eq!(read[0].path, PathBuf::from("/a b/\"c\"\nd"));
        assert_eq!(read[0].branch.as_deref(), Some("epic/1/ä"));
        assert!(read[1].bare);
        assert_eq!((read[2].branch.as_deref(), read[2].locked.as_deref()), (None, Some("initializing")));
    }
}
