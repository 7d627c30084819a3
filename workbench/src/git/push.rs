//! Brings a branch to the repository's `origin` without overwriting anybody else's work.

use super::{Branch, CommitId, GitError, Repository};

/// What a remote is reached with.
#[derive(Clone, Default)]
pub struct RemoteAccess {
    /// The address for which the header is meant, such as `https://github.com/`.
    pub(crate) address: String,
    /// Sent with every request to that address. It travels in the environment, not in the arguments.
    pub(crate) header: Option<String>,
}

/// Where a branch is now on the remote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pushed {
    /// The commit.
    pub head: CommitId,
    /// Whether it was there already.
    pub already: bool,
}

impl Repository {
    /// Pushes a branch to `origin`, also one that was rebased. What the remote has must have come from here.
    pub async fn push(&self, branch: &Branch, access: &RemoteAccess) -> Result<Pushed, GitError> {
        let head = self.head(branch).await?;
        let remote = self.remote_head(branch, access).await?;
        if remote.as_ref() == Some(&head) {
            return Ok(Pushed { head, already: true });
        }
        if let Some(remote) = &remote
            && !self.came_from_here(branch, &head, remote).await?
        {
            return Err(GitError::RemoteMoved { branch: branch.to_string(), remote: remote.clone() });
        }
        let expected = remote.as_ref().map_or("", CommitId::as_str);
        let lease = format!("--force-with-lease={}:{expected}", branch.reference());
        let what = format!("{head}:{}", branch.reference());
        let args = ["push", "--porcelain", "--no-verify", "--no-follow-tags", &lease, "origin", &what];
        self.remote(args, access).await?;
        Ok(Pushed { head, already: false })
    }

    /// Pushes a branch that `origin` does not have yet; leaves it alone otherwise.
    pub async fn push_if_missing(&self, branch: &Branch, access: &RemoteAccess) -> Result<(), GitError> {
        match self.remote_head(branch, access).await? {
            Some(_) => Ok(()),
            None => self.push(branch, access).await.map(|_| ()),
        }
    }

    /// The address of `origin`.
    pub async fn origin(&self) -> Result<String, GitError> {
        self.git(["remote", "get-url", "--push", "origin"]).text().await
    }

    async fn remote_head(&self, branch: &Branch, access: &RemoteAccess) -> Result<Option<CommitId>, GitError> {
        let listed = self.remote(["ls-remote", "--quiet", "origin", &branch.reference()], access).await?;
        let reference = branch.reference();
        let line = listed.lines().filter_map(|it| it.split_once('\t')).find(|(_, name)| *name == reference);
        line.map(|(commit, _)| CommitId::new(commit)).transpose()
    }

    /// An earlier state of the branch, or what the remote was last known to have.
    async fn came_from_here(&self, branch: &Branch, head: &CommitId, remote: &CommitId) -> Result<bool, GitError> {
        if !self.has_commit(remote).await? {
            return Ok(false);
        }
        let tracked = self.resolve(&format!("refs/remotes/origin/{branch}")).await?;
        if tracked.as_ref() == Some(remote) || self.is_ancestor(remote, head).await? {
            return Ok(true);
        }
        let args = ["log", "--walk-reflogs", "--format=%H", &branch.reference(), "--"];
        Ok(self.git(args).text().await?.lines().any(|it| it == remote.as_str()))
    }

    /// A command that talks to the remote.
    pub(super) async fn remote<const N: usize>(
        &self,
        args: [&str; N],
        access: &RemoteAccess,
    ) -> Result<String, GitError> {
        let mut git = self.git(args).timeout(self.limits.remote_timeout);
        if let Some(header) = &access.header {
            git = git
                .env("GIT_CONFIG_COUNT", "1")
                .env("GIT_CONFIG_KEY_0", &format!("http.{}.extraHeader", access.address))
                .env("GIT_CONFIG_VALUE_0", header);
        }
        match git.text().await {
            Err(GitError::Failed { stderr, .. }) if is_network(&stderr) => Err(GitError::Unreachable(stderr)),
            other => other,
        }
    }
}

/// What git and curl say when the line is bad rather than the request.
fn is_network(stderr: &str) -> bool {
    const SIGNS: [&str; 11] = [
        "Could not resolve host",
        "Failed to connect",
        "Connection refused",
        "Connection reset",
        "Connection timed out",
        "Operation timed out",
        "hung up unexpectedly",
        "early EOF",
        "returned error: 5",
        "returned error: 429",
        "Network is unreachable",
    ];
    SIGNS.iter().any(|it| stderr.contains(it))
}
