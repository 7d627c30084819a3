//! The bench file as an operator writes it: TOML, every key checked, what is unknown refused.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::Deserialize;

/// Everything in the file.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct BenchFile {
    /// The bench's name, unless `MUSTER_BENCH` says otherwise.
    pub(super) name: Option<String>,
    /// Where agents reach this server.
    pub(super) url: Option<String>,
    /// Where missions, logs and the terminals' socket are kept.
    pub(super) folder: Option<PathBuf>,
    pub(super) tmux_socket: Option<PathBuf>,
    pub(super) health_interval_seconds: Option<f64>,
    /// How many errands may be under way at once.
    pub(super) side_by_side: Option<usize>,
    /// Who is named in the commits that the bench makes.
    pub(super) committer: Option<CommitterEntry>,
    #[serde(default)]
    pub(super) agents: AgentEntries,
    /// By id, or by `workspace/project`.
    #[serde(default)]
    pub(super) projects: BTreeMap<String, ProjectEntry>,
}

/// Who is named in the commits that the bench makes.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CommitterEntry {
    pub(super) name: String,
    pub(super) email: String,
}

/// How agents are started, by kind.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AgentEntries {
    pub(super) orchestrator: Option<AgentEntry>,
    pub(super) supervisor: Option<AgentEntry>,
    pub(super) worker: Option<AgentEntry>,
}

/// How agents of one kind are started.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AgentEntry {
    /// A program and its arguments, taken as they are: no shell reads them and nothing in them is replaced.
    pub(super) command: Option<Vec<String>>,
    pub(super) model: Option<String>,
    pub(super) permissions: Option<String>,
}

/// Where a project's repository is.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ProjectEntry {
    pub(super) repository: Option<PathBuf>,
    pub(super) worktrees: Option<PathBuf>,
    pub(super) main_branch: Option<String>,
    pub(super) forge: Option<ForgeEntry>,
    #[serde(default)]
    pub(super) agents: CommandEntries,
}

/// What a project starts instead of what the bench starts.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CommandEntries {
    pub(super) supervisor: Option<CommandEntry>,
    pub(super) worker: Option<CommandEntry>,
}

/// One command line of a project's own.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CommandEntry {
    pub(super) command: Vec<String>,
}

/// Where pull requests live: `forge = "local"`, or `forge = { github = { .. } }`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum ForgeEntry {
    Local,
    Github(GithubEntry),
}

/// A repository on GitHub.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct GithubEntry {
    /// `owner/name`.
    pub(super) repository: String,
    /// The environment variable that holds the token: no secret stands in the file.
    pub(super) token_variable: String,
    pub(super) api_url: Option<String>,
}
