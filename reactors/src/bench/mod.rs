//! A bench: the repositories, terminals and command lines of one named node, as its operator set them up.
//!
//! What is done there is an errand (`perform_errands/`); what is only looked at goes through [`Bench`] itself.

mod file;
mod look;
mod place;
mod settings;
mod strays;
mod tenure;

use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use domain::post::{AgentKind, LivePost, Profiles};
use domain::{ProjectId, Slug, WorkspaceId};
use projections::{projects, workspaces};
use store::StoreError;
use store::sql::Database;
use uuid::Uuid;
use workbench::forge::Forge;
use workbench::git::{Branch, Repository};
use workbench::tmux::{Session, Tmux, TmuxError};

pub use look::{Looked, PullRequestLook};
pub use place::Whereabouts;
pub(crate) use place::{EpicPlace, NoPlace, TASK_TRAILER, state_of};
pub use settings::{BadSetting, BenchSettings};
use settings::{ProjectName, ProjectSettings};

/// A bench on this node.
pub struct Bench {
    settings: BenchSettings,
    /// Where agents reach this server.
    url: String,
    tmux: Tmux,
    is_without_tmux: AtomicBool,
    projects: Vec<BenchProject>,
    /// By what a lease on its name is held: the folder's, which is one process's at a time.
    owner: String,
    held_until: tenure::HeldUntil,
    // Held as long as the bench is open.
    _lock: File,
}

/// A project that the bench works on.
#[derive(Debug, Clone)]
pub(crate) struct BenchProject {
    settings: ProjectSettings,
    pub(crate) repository: Repository,
}

impl BenchProject {
    pub(crate) fn main_branch(&self) -> &Branch {
        &self.settings.main_branch
    }

    pub(crate) fn forge(&self) -> &Forge {
        &self.settings.forge
    }
}

impl Bench {
    /// Makes its folders; starts nothing yet, and touches nothing that is another node's before it holds the lease.
    /// `address` is where this server listens.
    pub async fn open(settings: BenchSettings, address: &str) -> Result<Arc<Self>, BadSetting> {
        let failed = |what: PathBuf| move |error| BadSetting(format!("{}: {error}", what.display()));
        for folder in [settings.missions(), settings.logs()] {
            private_folder(&folder).map_err(failed(folder))?;
        }
        let lock = lock(&settings)?;
        let owner = owner(&settings).map_err(failed(settings.folder.join("node")))?;
        for project in &settings.projects {
            let folder = project.worktrees.clone();
            std::fs::create_dir_all(&folder).map_err(failed(folder))?;
        }
        let tmux = Tmux::new(&settings.tmux_socket)
            .map_err(|error| BadSetting(format!("the terminals' socket (tmux_socket, TMUX_SOCKET_PATH): {error}")))?;
        let projects = settings.projects.iter().map(|it| BenchProject {
            repository: Repository::new(&it.repository, &it.worktrees, settings.committer.clone()),
            settings: it.clone(),
        });
        let projects: Vec<BenchProject> = projects.collect();
        let url = settings.url.clone().unwrap_or_else(|| format!("http://{address}"));
        let (is_without_tmux, held_until) = (AtomicBool::new(false), tenure::HeldUntil::new(None));
        Ok(Arc::new(Self { url, tmux, is_without_tmux, projects, owner, held_until, settings, _lock: lock }))
    }

    /// What epics call it.
    pub fn name(&self) -> &Slug {
        &self.settings.name
    }

    /// How agents of each kind are run.
    pub fn profiles(&self) -> &Profiles {
        &self.settings.profiles
    }

    /// What was set.
    pub fn settings(&self) -> &BenchSettings {
        &self.settings
    }

    /// Where agents reach this server.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Looks whether terminals can be had, and says so once if not.
    pub async fn look_for_tmux(&self) {
        match self.tmux.is_there().await {
            Ok(version) => tracing::info!(bench = %self.name(), version, "agents run in terminals"),
            Err(error @ TmuxError::TmuxMissing) => {
                self.is_without_tmux.store(true, Ordering::Relaxed);
                let bench = self.name();
                tracing::warn!(%bench, %error, "agents are external: they start themselves, with a key from agent.rotateCredentials");
            }
            // It is there; what is wrong with it shows again when an agent is started.
            Err(error) => tracing::warn!(bench = %self.name(), %error, "terminals cannot be had now"),
        }
    }

    /// Whether agents of a kind, in a project or in none, start themselves and connect by MCP.
    pub async fn is_external(
        &self,
        views: &Database,
        kind: AgentKind,
        project: Option<ProjectId>,
    ) -> Result<bool, StoreError> {
        if self.is_without_tmux.load(Ordering::Relaxed) {
            return Ok(true);
        }
        let project = match project {
            Some(id) => self.project(views, id).await?,
            None => None,
        };
        Ok(self.command(kind, project).is_none())
    }

    pub(crate) fn tmux(&self) -> Option<&Tmux> {
        (!self.is_without_tmux.load(Ordering::Relaxed)).then_some(&self.tmux)
    }

    pub(crate) fn mission_file(&self, post: &LivePost) -> PathBuf {
        self.settings.missions().join(format!("{}.md", post.agent_id))
    }

    pub(crate) fn log_file(&self, post: &LivePost) -> PathBuf {
        self.settings.logs().join(format!("{}.log", post.tmux_session))
    }

    /// Where an orchestrator works: it touches no repository.
    pub(crate) fn office(&self, post: &LivePost) -> Result<PathBuf, std::io::Error> {
        let folder = self.settings.folder.join("offices").join(post.workspace_id.to_string());
        private_folder(&folder).map(|()| folder)
    }

    /// The command line for an agent; nothing if it starts itself.
    pub(crate) fn command(&self, kind: AgentKind, project: Option<&BenchProject>) -> Option<&[String]> {
        let own =
            project.and_then(|it| self.projects.iter().find(|known| known.settings.project == it.settings.project));
        let own = own.and_then(|it| it.settings.commands.of(kind));
        own.or_else(|| self.settings.commands.of(kind)).map(Vec::as_slice)
    }

    /// The project as the bench knows it; nothing if the operator did not name it.
    pub(crate) async fn project(&self, views: &Database, id: ProjectId) -> Result<Option<&BenchProject>, StoreError> {
        if let Some(found) = self.projects.iter().find(|it| it.settings.project == ProjectName::Id(id)) {
            return Ok(Some(found));
        }
        let Some(project) = projects::find(views, id).await? else { return Ok(None) };
        let Some(workspace) = workspaces::find(views, project.workspace_id).await? else { return Ok(None) };
        let name = ProjectName::Slugs { workspace: workspace.slug, project: project.slug };
        Ok(self.projects.iter().find(|it| it.settings.project == name))
    }

    /// Whether the operator named a project of this workspace. Anybody may name the bench in an epic; only those whose
    /// project is here have anything started.
    pub(crate) async fn serves(&self, views: &Database, workspace: WorkspaceId) -> Result<bool, StoreError> {
        let Some(here) = workspaces::find(views, workspace).await?.filter(|it| it.deleted_at.is_none()) else {
            return Ok(false);
        };
        for project in &self.projects {
            let is_there = match &project.settings.project {
                ProjectName::Slugs { workspace, project: _ } => *workspace == here.slug,
                ProjectName::Id(id) => projects::find(views, *id).await?.is_some_and(|it| it.workspace_id == here.id),
            };
            if is_there {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The last lines that an agent's terminal shows.
    pub async fn terminal(&self, tmux_session: &str, lines: usize) -> Result<String, TmuxError> {
        let tmux = self.tmux().ok_or(TmuxError::TmuxMissing)?;
        tmux.output(&Session::new(tmux_session)?, lines).await
    }
}

impl BenchSettings {
    fn missions(&self) -> PathBuf {
        self.folder.join("missions")
    }

    fn logs(&self) -> PathBuf {
        self.folder.join("logs")
    }
}

/// Two servers at one bench would start every agent twice.
fn lock(settings: &BenchSettings) -> Result<File, BadSetting> {
    let path = settings.folder.join("lock");
    let file = File::create(&path).map_err(|error| BadSetting(format!("{}: {error}", path.display())))?;
    let taken = |_| BadSetting(format!("another server works at the bench in {}", settings.folder.display()));
    file.try_lock().map_err(taken)?;
    Ok(file)
}

/// The name that the bench's folder has among all benches; made once, so that a restart does not wait for its own lease.
fn owner(settings: &BenchSettings) -> std::io::Result<String> {
    let file = settings.folder.join("node");
    if let Ok(name) = std::fs::read_to_string(&file)
        && !name.trim().is_empty()
    {
        return Ok(name.trim().to_owned());
    }
    let (name, draft) = (Uuid::now_v7().to_string(), file.with_extension("draft"));
    std::fs::write(&draft, &name)?;
    std::fs::rename(&draft, &file)?;
    Ok(name)
}

/// Missions and logs are nobody's business but the operator's.
fn private_folder(folder: &std::path::Path) -> std::io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)
}
