//! Reads a text file of a worktree or a commit, and nothing outside it.

use std::fs::{self, File};
use std::io::{self, Read};
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Component, Path, PathBuf};

use super::{CommitId, Folder, GitError, Repository};

/// `O_NONBLOCK | O_NOCTTY`: a pipe or a terminal must not hold us up before it is refused.
const FLAGS: i32 = 0o4000 | 0o400;
const ELOOP: i32 = 40;
/// What git says of a file before the file itself: its hash, its kind and its size.
const LONGEST_HEADER: usize = 100;

/// A file as it lies in a worktree, committed or not, or as a commit has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorktreeFile {
    /// As it was asked for.
    pub path: String,
    /// The text, up to the limit.
    pub content: String,
    /// Whether there is more.
    pub truncated: bool,
    /// Bytes of the whole file.
    pub size: u64,
}

impl Repository {
    /// Reads a file by its path from the top of a worktree.
    pub async fn read_file(&self, folder: &Folder, path: &str) -> Result<WorktreeFile, GitError> {
        let (root, most, asked) = (self.path_of(folder), self.limits.file_bytes, path.to_owned());
        let reading = tokio::task::spawn_blocking(move || read(&root, &asked, most));
        reading.await.unwrap_or_else(|panic| {
            Err(GitError::Io { path: PathBuf::from(path), source: io::Error::other(panic.to_string()) })
        })
    }
}

impl Repository {
    /// Reads a file as a commit has it. Links are followed as long as they stay within it.
    pub async fn read_file_at(&self, commit: &CommitId, path: &str) -> Result<WorktreeFile, GitError> {
        if !is_plain(Path::new(path)) || path.contains('\0') {
            return Err(GitError::PathRefused(path.to_owned()));
        }
        if !self.has_commit(commit).await? {
            return Err(GitError::NoSuchCommit(commit.to_string()));
        }
        let most = self.limits.file_bytes;
        let show = ["cat-file", "--batch", "--follow-symlinks", "-z"];
        let shown =
            self.git(show).stdin(format!("{commit}:{path}\0")).most_stdout(most + LONGEST_HEADER).output().await?;
        let (header, rest) = shown
            .stdout
            .iter()
            .position(|it| *it == b'\n')
            .map_or((&shown.stdout[..], &[][..]), |end| (&shown.stdout[..end], &shown.stdout[end + 1..]));
        let header = String::from_utf8_lossy(header);
        let size = match header.split(' ').collect::<Vec<&str>>().as_slice() {
            [_, "blob", size] => size.parse::<u64>().ok(),
            // Out of the commit, or in a circle.
            ["symlink" | "loop", _] => return Err(GitError::PathRefused(path.to_owned())),
            _ => None,
        };
        let size = size.ok_or_else(|| GitError::NoSuchFile(path.to_owned()))?;
        // After the file comes a line end that is none of its own.
        let whole = usize::try_from(size).unwrap_or(usize::MAX);
        let bytes = rest[..rest.len().min(whole).min(most)].to_vec();
        let truncated = whole > most;
        let content = text(bytes, truncated).ok_or_else(|| GitError::Binary(path.to_owned()))?;
        Ok(WorktreeFile { path: path.to_owned(), content, truncated, size })
    }
}

fn read(root: &Path, asked: &str, most: usize) -> Result<WorktreeFile, GitError> {
    let root = root.canonicalize().map_err(|_| GitError::NoSuchWorktree(root.to_path_buf()))?;
    if !is_plain(Path::new(asked)) || asked.contains('\0') {
        return Err(GitError::PathRefused(asked.to_owned()));
    }
    let failed = |source: io::Error| match source.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => GitError::NoSuchFile(asked.to_owned()),
        // Links in a circle.
        _ if source.raw_os_error() == Some(ELOOP) => GitError::PathRefused(asked.to_owned()),
        _ => GitError::Io { path: PathBuf::from(asked), source },
    };
    let file = File::options().read(true).custom_flags(FLAGS).open(root.join(asked)).map_err(failed)?;
    // What was opened is what is judged: a link that is changed now changes nothing.
    let opened = fs::read_link(format!("/proc/self/fd/{}", file.as_raw_fd())).map_err(failed)?;
    if !opened.strip_prefix(&root).is_ok_and(is_plain) {
        return Err(GitError::PathRefused(asked.to_owned()));
    }
    let about = file.metadata().map_err(failed)?;
    if !about.is_file() {
        return Err(GitError::NoSuchFile(asked.to_owned()));
    }
    let mut bytes = Vec::new();
    let limit = u64::try_from(most).unwrap_or(u64::MAX).saturating_add(1);
    file.take(limit).read_to_end(&mut bytes).map_err(failed)?;
    let truncated = bytes.len() > most;
    bytes.truncate(most);
    let content = text(bytes, truncated).ok_or_else(|| GitError::Binary(asked.to_owned()))?;
    Ok(WorktreeFile { path: asked.to_owned(), content, truncated, size: about.len() })
}

/// Only names, at least one, and none of them git's.
fn is_plain(path: &Path) -> bool {
    let plain = |it: Component<'_>| match it {
        Component::Normal(name) => !name.eq_ignore_ascii_case(".git"),
        _ => false,
    };
    path.components().next().is_some() && path.components().all(plain)
}

fn text(bytes: Vec<u8>, truncated: bool) -> Option<String> {
    if bytes.contains(&0) {
        return None;
    }
    match String::from_utf8(bytes) {
        Ok(text) => Some(text),
        // The cut may have gone through a letter.
        Err(error) if truncated && error.utf8_error().error_len().is_none() => {
            let whole = error.utf8_error().valid_up_to();
            String::from_utf8(error.into_bytes()[..whole].to_vec()).ok()
        }
        Err(_) => None,
    }
}
