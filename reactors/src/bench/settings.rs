//! A bench's settings, checked before anything starts: from the operator's file and the document's variables.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use chrono::TimeDelta;
use domain::post::{AgentKind, HealthRules, Profiles};
use domain::{ProjectId, Slug};
use reqwest::Url;
use thiserror::Error;
use uuid::Uuid;
use workbench::forge::{Forge, Github, GithubSettings, Local};
use workbench::git::{Branch, Identity};

use super::file::{AgentEntries, AgentEntry, BenchFile, ForgeEntry, GithubEntry, ProjectEntry};

/// The document's: two minutes.
const HEALTH_INTERVAL_SECONDS: f64 = 120.0;
const SIDE_BY_SIDE: usize = 8;
const NAME: &str = "main";

/// Why a bench cannot be set up.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct BadSetting(pub(super) String);

/// A bench as its operator set it up.
#[derive(Debug, Clone)]
pub struct BenchSettings {
    /// What epics call it.
    pub name: Slug,
    /// Where agents reach this server; the address it listens on without.
    pub url: Option<String>,
    /// Missions, logs and the terminals' socket.
    pub folder: PathBuf,
    /// The terminals' socket.
    pub tmux_socket: PathBuf,
    /// When an agent is silent for too long.
    pub rules: HealthRules,
    /// How many errands may be under way at once.
    pub side_by_side: usize,
    /// Who is named in the commits that the bench makes.
    pub committer: Identity,
    /// How agents of each kind are run.
    pub profiles: Profiles,
    pub(super) commands: Commands,
    pub(super) projects: Vec<ProjectSettings>,
}

/// What is started for each kind of agent; a kind without a command starts itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Commands {
    pub(super) orchestrator: Option<Vec<String>>,
    pub(super) supervisor: Option<Vec<String>>,
    pub(super) worker: Option<Vec<String>>,
}

impl Commands {
    pub(super) fn of(&self, kind: AgentKind) -> Option<&Vec<String>> {
        match kind {
            AgentKind::Orchestrator => self.orchestrator.as_ref(),
            AgentKind::Supervisor => self.supervisor.as_ref(),
            AgentKind::Worker => self.worker.as_ref(),
        }
    }
}

/// A project that the bench works on.
#[derive(Debug, Clone)]
pub(super) struct ProjectSettings {
    pub(super) project: ProjectName,
    pub(super) repository: PathBuf,
    pub(super) worktrees: PathBuf,
    pub(super) main_branch: Branch,
    pub(super) forge: Forge,
    pub(super) commands: Commands,
}

/// How the file names a project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ProjectName {
    Id(ProjectId),
    Slugs { workspace: Slug, project: Slug },
}

impl BenchSettings {
    /// The bench that the operator describes, if any: by a file, by the document's variables for one project, or by
    /// both. Nothing here can be changed over the network.
    pub fn read(
        file: Option<&Path>,
        variable: impl Fn(&str) -> Option<String>,
        data_folder: &Path,
    ) -> Result<Option<Self>, BadSetting> {
        let variable = |name: &str| variable(name).map(|it| it.trim().to_owned()).filter(|it| !it.is_empty());
        let by_variables = variable("GIT_BASE_REPO_PATH").is_some();
        let mut entries = match file {
            Some(path) => read_file(path)?,
            None if by_variables => BenchFile::default(),
            None => return Ok(None),
        };
        add_variables(&mut entries, &variable)?;
        Self::check(entries, &variable, data_folder).map(Some)
    }

    fn check(
        entries: BenchFile,
        variable: &impl Fn(&str) -> Option<String>,
        data_folder: &Path,
    ) -> Result<Self, BadSetting> {
        let name = variable("MUSTER_BENCH").or(entries.name).unwrap_or_else(|| NAME.to_owned());
        let name = Slug::parse(name).map_err(|it| bad("the bench's name (name, MUSTER_BENCH)", it))?;
        let folder = entries.folder.unwrap_or_else(|| data_folder.join(format!("bench-{name}")));
        let folder = absolute(&folder)?;
        let tmux_socket = variable("TMUX_SOCKET_PATH").map(PathBuf::from).or(entries.tmux_socket);
        let seconds = entries.health_interval_seconds.unwrap_or(HEALTH_INTERVAL_SECONDS);
        if !(0.05..=86_400.0).contains(&seconds) {
            return Err(bad("health_interval_seconds", "must be between 0.05 and 86400"));
        }
        let interval = TimeDelta::milliseconds((seconds * 1000.0) as i64);
        let side_by_side = entries.side_by_side.unwrap_or(SIDE_BY_SIDE);
        if !(1..=256).contains(&side_by_side) {
            return Err(bad("side_by_side", "must be between 1 and 256"));
        }
        if let Some(url) = &entries.url {
            let fine = Url::parse(url).is_ok_and(|it| ["http", "https"].contains(&it.scheme()));
            fine.then_some(()).ok_or_else(|| bad("url", "must be an address like http://127.0.0.1:3001"))?;
        }
        let profiles = profiles(&entries.agents, variable)?;
        let commands = Commands {
            orchestrator: command("agents.orchestrator", command_of(&entries.agents.orchestrator))?,
            supervisor: command("agents.supervisor", command_of(&entries.agents.supervisor))?,
            worker: command("agents.worker", command_of(&entries.agents.worker))?,
        };
        let committer = match entries.committer {
            Some(it) => Identity { name: it.name, email: it.email },
            None => Identity { name: "Muster".to_owned(), email: "muster@localhost".to_owned() },
        };
        if entries.projects.is_empty() {
            return Err(BadSetting(
                "a bench needs a project: [projects.\"workspace/project\"] with its repository".to_owned(),
            ));
        }
        let projects = entries.projects.into_iter().map(|(name, entry)| project(&name, entry, &folder, variable));
        let projects = projects.collect::<Result<_, _>>()?;
        Ok(Self {
            name,
            url: entries.url.map(|it| it.trim_end_matches('/').to_owned()),
            tmux_socket: tmux_socket.map_or_else(|| Ok(folder.join("tmux.sock")), |it| absolute(&it))?,
            folder,
            rules: HealthRules { silence: interval, patience: interval },
            side_by_side,
            committer,
            profiles,
            commands,
            projects,
        })
    }
}

fn read_file(path: &Path) -> Result<BenchFile, BadSetting> {
    let place = format!("the bench file {}", path.display());
    let text = std::fs::read_to_string(path).map_err(|error| bad(&place, error))?;
    toml::from_str(&text).map_err(|error| bad(&place, error.to_string().trim_end()))
}

/// The document's variables describe one project: the only one of the file, or the one that `MUSTER_BENCH_PROJECT` names.
fn add_variables(entries: &mut BenchFile, variable: &impl Fn(&str) -> Option<String>) -> Result<(), BadSetting> {
    let (repository, worktrees) = (variable("GIT_BASE_REPO_PATH"), variable("GIT_WORKTREE_BASE"));
    if repository.is_none() && worktrees.is_none() {
        return Ok(());
    }
    if let Some(name) = variable("MUSTER_BENCH_PROJECT") {
        entries.projects.entry(name).or_default();
    }
    let mut projects = entries.projects.values_mut();
    let (Some(project), None) = (projects.next(), projects.next()) else {
        let what = "GIT_BASE_REPO_PATH and GIT_WORKTREE_BASE are for one project, which MUSTER_BENCH_PROJECT \
                    (workspace/project, or an id) or the bench file must name";
        return Err(BadSetting(what.to_owned()));
    };
    project.repository = repository.map(PathBuf::from).or(project.repository.take());
    project.worktrees = worktrees.map(PathBuf::from).or(project.worktrees.take());
    Ok(())
}

fn profiles(entries: &AgentEntries, variable: &impl Fn(&str) -> Option<String>) -> Result<Profiles, BadSetting> {
    let of = |kind: &str| match kind {
        "ORCHESTRATOR" => entries.orchestrator.as_ref(),
        "SUPERVISOR" => entries.supervisor.as_ref(),
        _ => entries.worker.as_ref(),
    };
    // `WORKER_MODEL` is the variable's name and stands for the file's `agents.worker.model`.
    let setting = |name: &str| {
        let (kind, what) = name.split_once('_')?;
        let entry = of(kind);
        let in_file = match what {
            "MODEL" => entry.and_then(|it| it.model.clone()),
            _ => entry.and_then(|it| it.permissions.clone()),
        };
        variable(name).or(in_file)
    };
    let wrong = |name: String| bad(&format!("{name} (agents.*.permissions)"), "must be strict, relaxed or yolo");
    Profiles::default().set_by(setting).map_err(wrong)
}

fn command_of(entry: &Option<AgentEntry>) -> Option<Vec<String>> {
    entry.as_ref().and_then(|it| it.command.clone())
}

fn command(of: &str, words: Option<Vec<String>>) -> Result<Option<Vec<String>>, BadSetting> {
    let Some(words) = words else { return Ok(None) };
    let place = format!("{of}.command");
    let Some(program) = words.first().filter(|it| !it.is_empty()) else {
        return Err(bad(&place, "must be a program and its arguments, as a list"));
    };
    if words.iter().any(|it| it.contains('\0')) {
        return Err(bad(&place, "holds a zero byte"));
    }
    if program.contains('/') && !Path::new(program).is_absolute() {
        return Err(bad(&place, format!("{program} must be an absolute path, or a name on PATH")));
    }
    if !is_program(program) {
        return Err(bad(&place, format!("there is no program {program} that may be run")));
    }
    Ok(Some(words))
}

fn is_program(name: &str) -> bool {
    let may_be_run = |file: &Path| file.metadata().is_ok_and(|it| it.is_file() && it.permissions().mode() & 0o111 != 0);
    if name.contains('/') {
        return may_be_run(Path::new(name));
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| may_be_run(&folder.join(name)))
}

fn project(
    name: &str,
    entry: ProjectEntry,
    folder: &Path,
    variable: &impl Fn(&str) -> Option<String>,
) -> Result<ProjectSettings, BadSetting> {
    let place = |what: &str| format!("projects.\"{name}\"{what}");
    let project = project_name(name).ok_or_else(|| bad(&place(""), "must be a project's id or workspace/project"))?;
    let repository = entry.repository.ok_or_else(|| bad(&place(".repository"), "is missing"))?;
    let repository = absolute(&repository)?;
    // Bare or with a working tree; git itself is asked when there is work.
    if !repository.join(".git").exists() && !repository.join("HEAD").is_file() {
        return Err(bad(&place(".repository"), format!("{} is no git repository", repository.display())));
    }
    let worktrees = entry.worktrees.unwrap_or_else(|| folder.join("worktrees").join(name.replace('/', "-")));
    let main_branch = Branch::new(entry.main_branch.as_deref().unwrap_or("main"));
    let main_branch = main_branch.map_err(|error| bad(&place(".main_branch"), error))?;
    let forge = match entry.forge {
        None | Some(ForgeEntry::Local) => Forge::Local(Local),
        Some(ForgeEntry::Github(entry)) => Forge::Github(github(&place(".forge.github"), &entry, variable)?),
    };
    let own = |kind: &str, entry: Option<super::file::CommandEntry>| {
        command(&place(&format!(".agents.{kind}")), entry.map(|it| it.command))
    };
    let commands = Commands {
        orchestrator: None,
        supervisor: own("supervisor", entry.agents.supervisor)?,
        worker: own("worker", entry.agents.worker)?,
    };
    Ok(ProjectSettings { project, repository, worktrees: absolute(&worktrees)?, main_branch, forge, commands })
}

fn project_name(text: &str) -> Option<ProjectName> {
    if let Ok(id) = Uuid::try_parse(text) {
        return Some(ProjectName::Id(ProjectId(id)));
    }
    let (workspace, project) = text.split_once('/')?;
    Some(ProjectName::Slugs { workspace: Slug::parse(workspace).ok()?, project: Slug::parse(project).ok()? })
}

fn github(place: &str, entry: &GithubEntry, variable: &impl Fn(&str) -> Option<String>) -> Result<Github, BadSetting> {
    let parts = entry.repository.split_once('/').filter(|(owner, name)| !owner.is_empty() && !name.is_empty());
    let (owner, name) = parts.ok_or_else(|| bad(&format!("{place}.repository"), "must be owner/name"))?;
    let token = variable(&entry.token_variable);
    let unset = || bad(&format!("{place}.token_variable"), format!("the variable {} is not set", entry.token_variable));
    let token = token.ok_or_else(unset)?;
    let api = entry.api_url.as_deref().unwrap_or("https://api.github.com");
    let api = Url::parse(api).map_err(|error| bad(&format!("{place}.api_url"), error))?;
    Github::new(GithubSettings::new(api, owner, name, &token)).map_err(|error| bad(place, error))
}

fn absolute(path: &Path) -> Result<PathBuf, BadSetting> {
    std::path::absolute(path).map_err(|error| bad(&path.display().to_string(), error))
}

fn bad(place: &str, what: impl std::fmt::Display) -> BadSetting {
    BadSetting(format!("{place}: {what}"))
}

#[cfg(test)]
#[path = "settings_tests.rs"]
mod tests;
