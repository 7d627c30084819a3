//! How git is called: with nothing of the user's or the machine's configuration, no hooks, no prompts, no pager.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::lock::{self, Patience};
use super::{CommitId, GitError, Repository};
use crate::child::{Child, Finished};

/// The repository's own configuration can still name programs; these are the ones it could name for what we call.
const SETTINGS: [&str; 16] = [
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.editor=true",
    "core.pager=cat",
    "core.excludesFile=/dev/null",
    "core.attributesFile=/dev/null",
    "core.quotePath=false",
    // Bare repositories keep no reflogs by default, and a merge that was cut short is recognised by them.
    "core.logAllRefUpdates=true",
    "commit.gpgSign=false",
    "gpg.program=false",
    "credential.helper=",
    "protocol.ext.allow=never",
    "rerere.enabled=false",
    // Tidying up in the background would meet our locks.
    "gc.auto=0",
    "maintenance.auto=false",
    "advice.detachedHead=false",
];

/// One git command, to be run in a folder.
pub(super) struct Git<'a> {
    repository: &'a Repository,
    folder: PathBuf,
    args: Vec<OsString>,
    environment: Vec<(OsString, OsString)>,
    stdin: Vec<u8>,
    timeout: Duration,
    most_stdout: Option<usize>,
}

impl Repository {
    /// A command for the base repository.
    pub(super) fn git<A: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = A>) -> Git<'_> {
        self.git_in(&self.base, args)
    }

    /// A command for a worktree.
    pub(super) fn git_in<A: AsRef<OsStr>>(&self, folder: &Path, args: impl IntoIterator<Item = A>) -> Git<'_> {
        Git {
            repository: self,
            folder: folder.to_path_buf(),
            args: args.into_iter().map(|it| it.as_ref().to_owned()).collect(),
            environment: Vec::new(),
            stdin: Vec::new(),
            timeout: self.limits.timeout,
            most_stdout: None,
        }
    }
}

impl Git<'_> {
    pub(super) fn arg(mut self, arg: impl AsRef<OsStr>) -> Self {
        self.args.push(arg.as_ref().to_owned());
        self
    }

    pub(super) fn args<A: AsRef<OsStr>>(mut self, args: impl IntoIterator<Item = A>) -> Self {
        self.args.extend(args.into_iter().map(|it| it.as_ref().to_owned()));
        self
    }

    pub(super) fn env(mut self, name: &str, value: &str) -> Self {
        self.environment.push((name.into(), value.into()));
        self
    }

    pub(super) fn stdin(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.stdin = bytes.into();
        self
    }

    pub(super) fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// More than this is cut off, and not an error.
    pub(super) fn most_stdout(mut self, bytes: usize) -> Self {
        self.most_stdout = Some(bytes);
        self
    }

    /// What a command says that must succeed.
    pub(super) async fn text(self) -> Result<String, GitError> {
        Ok(self.output().await?.text())
    }

    /// The commit that a command names.
    pub(super) async fn commit(self) -> Result<CommitId, GitError> {
        CommitId::new(&self.text().await?)
    }

    /// The paths that a command lists with `-z`.
    pub(super) async fn paths(self) -> Result<Vec<String>, GitError> {
        Ok(split_paths(&self.output().await?.stdout))
    }

    /// The output of a command that must succeed.
    pub(super) async fn output(self) -> Result<Finished, GitError> {
        let command = self.name();
        let finished = self.run().await?;
        if finished.succeeded() || finished.truncated { Ok(finished) } else { Err(failed(command, finished)) }
    }

    /// Whether a command that answers with 0 or 1 says yes.
    pub(super) async fn says_yes(self) -> Result<bool, GitError> {
        let command = self.name();
        let finished = self.run().await?;
        match finished.code {
            Some(0) => Ok(true),
            Some(1) => Ok(false),
            _ => Err(failed(command, finished)),
        }
    }

    /// However it ends. Waits, bounded, for lock files of others and removes those that nobody holds any more.
    pub(super) async fn run(self) -> Result<Finished, GitError> {
        let patience = Patience::begin(self.repository.limits.lock_patience);
        loop {
            let finished = self.once().await?;
            let Some(file) = lock::in_the_way(&finished) else { return Ok(finished) };
            patience.outlast(file).await?;
        }
    }

    /// However it ends, also at a lock file: for what cannot simply be repeated.
    pub(super) async fn once(&self) -> Result<Finished, GitError> {
        let who = &self.repository.identity;
        let mut child = Child::new("git")
            .args(SETTINGS.iter().flat_map(|it| ["-c", it]))
            .args([OsStr::new("-C"), self.folder.as_os_str()])
            .args(&self.args)
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_TERMINAL_PROMPT", "0")
            .env("GIT_ASKPASS", "false")
            .env("GIT_SSH_COMMAND", "ssh -o BatchMode=yes")
            .env("GIT_EDITOR", "true")
            .env("GIT_SEQUENCE_EDITOR", "true")
            .env("GIT_OPTIONAL_LOCKS", "0")
            .env("GIT_LITERAL_PATHSPECS", "1")
            .env("GIT_AUTHOR_NAME", &who.name)
            .env("GIT_AUTHOR_EMAIL", &who.email)
            .env("GIT_COMMITTER_NAME", &who.name)
            .env("GIT_COMMITTER_EMAIL", &who.email)
            .env("LC_ALL", "C")
            .env(lock::MARK, &self.repository.worktrees)
            .stdin(self.stdin.clone())
            .timeout(self.timeout);
        if let Some(most) = self.most_stdout {
            child = child.most_stdout(most);
        }
        for (name, value) in &self.environment {
            child = child.env(name, value);
        }
        let finished = child.run().await?;
        if finished.truncated && self.most_stdout.is_none() {
            return Err(crate::ChildError::TooMuchOutput(format!("git {}", self.name())).into());
        }
        Ok(finished)
    }

    fn name(&self) -> String {
        self.args.first().map(|it| it.to_string_lossy().into_owned()).unwrap_or_default()
    }
}

pub(super) fn failed(command: String, finished: Finished) -> GitError {
    // Some commands complain on their standard output.
    let said = if finished.stderr.is_empty() { finished.text() } else { finished.stderr };
    GitError::Failed { command, code: finished.code, stderr: without_credentials(&said) }
}

pub(super) fn split_paths(bytes: &[u8]) -> Vec<String> {
    bytes.split(|it| *it == 0).filter(|it| !it.is_empty()).map(|it| String::from_utf8_lossy(it).into_owned()).collect()
}

/// A remote's address may hold a password.
fn without_credentials(text: &str) -> String {
    let mut words = Vec::new();
    for word in text.chars().take(2000).collect::<String>().split(' ') {
        words.push(match (word.find("://"), word.rfind('@')) {
            (Some(scheme), Some(at)) if scheme + 3 <= at => format!("{}***{}", &word[..scheme + 3], &word[at..]),
            _ => word.to_owned(),
        });
    }
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_shows_no_credentials() {
        let said = "fatal: unable to access 'https://me:secret@git.example/a.git/': no";
        assert_eq!(without_credentials(said), "fatal: unable to access 'https://***@git.example/a.git/': no");
    }
}
