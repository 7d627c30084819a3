//! Launches an agent: its worktree, a new key, its mission, and a terminal in which its command runs.

use std::fs;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use commands::CommandError;
use commands::agent::NewKey;
use commands::factory::RotateForLaunch;
use domain::agent::Agent;
use domain::errand::WorkResult;
use domain::post::{AgentKind, LivePost, Permissions, Post};
use domain::task::TaskState;
use domain::{AgentId, CredentialId, ErrandId};
use uuid::Uuid;
use workbench::tmux::{Life, Session, Start};

use super::hands::Hands;
use super::trouble::Trouble;
use super::unrecorded;
use crate::bench::{BenchProject, NoPlace, state_of};

pub(super) async fn perform(hands: &Hands, errand_id: ErrandId, agent_id: AgentId) -> Result<WorkResult, Trouble> {
    let post: Post = state_of(hands.log(), agent_id.0).await?;
    let post = post.held().map_err(|refusal| Trouble::Unwanted(refusal.to_string()))?;
    let bench = &hands.shop.bench;
    let (folder, project) = workplace(hands, post).await?;
    let mission_file = bench.mission_file(post);
    write_mission(&mission_file, &post.mission)?;
    let (Some(command), Some(tmux)) = (bench.command(post.kind, project), bench.tmux()) else {
        // Whoever starts it finds its worktree and its mission.
        return Ok(WorkResult::Launched { started: false });
    };
    let session = Session::new(&post.tmux_session)?;
    if let Life::Running { .. } = tmux.alive(&session).await? {
        // Started before a crash, with the last key there is.
        return Ok(WorkResult::Launched { started: true });
    }
    let key = rotate(hands, errand_id, post).await?;
    let log_file = bench.log_file(post);
    let environment = environment(bench.url(), post, &key, &mission_file, &folder);
    let start = Start {
        session: &session,
        folder: &folder,
        environment: &environment,
        argv: command,
        log_file: &log_file,
        replace: true,
    };
    tmux.start(&start).await?;
    tracing::info!(agent = %agent_id, kind = %post.kind, session = %post.tmux_session, "an agent was started");
    Ok(WorkResult::Launched { started: true })
}

/// Where the agent works. Its worktree, if it has one, is there afterwards, with what a predecessor left in it.
async fn workplace<'a>(hands: &'a Hands, post: &LivePost) -> Result<(PathBuf, Option<&'a BenchProject>), Trouble> {
    let (bench, log, views) = (&hands.shop.bench, hands.log(), &hands.shop.views);
    match (post.kind, post.epic_id, post.task_id) {
        (AgentKind::Orchestrator, _, _) => {
            if !bench.serves(views, post.workspace_id).await? {
                return Err(NoPlace::NotServed(post.workspace_id).into());
            }
            Ok((bench.office(post)?, None))
        }
        (AgentKind::Supervisor, Some(epic_id), _) => {
            let place = bench.epic_place(log, views, epic_id).await?;
            unrecorded::take_back_or_tell(hands, &place).await;
            Ok((place.ensure().await?, Some(place.project)))
        }
        (AgentKind::Worker, _, Some(task_id)) => {
            let place = bench.task_place(log, views, task_id).await?;
            unrecorded::take_back_or_tell(hands, &place.epic).await;
            let folder = place.ensure().await?;
            if place.factory.state == TaskState::Pending {
                place.epic.project.repository.abort_cut_short_rebase(&place.folder).await?;
            }
            Ok((folder, Some(place.epic.project)))
        }
        (AgentKind::Supervisor, None, _) | (AgentKind::Worker, _, None) => {
            Err(Trouble::lasting("the post says nothing of what the agent works on"))
        }
    }
}

/// Each launch has a key of its own: what an earlier process knew opens nothing any more.
async fn rotate(hands: &Hands, errand_id: ErrandId, post: &LivePost) -> Result<String, Trouble> {
    let agent: Agent = state_of(hands.log(), post.agent_id.0).await?;
    let agent = agent.live().map_err(|refusal| Trouble::Unwanted(refusal.to_string()))?;
    let key = (hands.shop.keys)(post.workspace_id, &agent.code);
    let new_key = NewKey { credential_id: CredentialId(Uuid::now_v7()), key_hash: key.hash };
    let rotate = RotateForLaunch { errand_id, agent_id: post.agent_id, key: new_key };
    match hands.shop.executor.run(&hands.context(), &rotate).await {
        Ok(_) => Ok(key.text),
        Err(CommandError::Refused(refusal)) => Err(Trouble::Unwanted(refusal.to_string())),
        Err(error) => Err(error.into()),
    }
}

/// Beside the repository, never in it: a mission is no part of the work.
fn write_mission(file: &Path, mission: &str) -> std::io::Result<()> {
    let draft = file.with_extension("draft");
    let mut out = fs::File::options().write(true).create(true).truncate(true).mode(0o600).open(&draft)?;
    out.write_all(mission.as_bytes())?;
    fs::rename(&draft, file)
}

fn environment(url: &str, post: &LivePost, key: &str, mission: &Path, worktree: &Path) -> Vec<(String, String)> {
    let permissions = match post.profile.permissions {
        Permissions::Strict => "strict",
        Permissions::Relaxed => "relaxed",
        Permissions::Yolo => "yolo",
    };
    let variables = [
        ("MUSTER_URL", url.to_owned()),
        ("MUSTER_MCP_URL", format!("{url}/mcp")),
        ("MUSTER_AGENT_ID", post.agent_id.to_string()),
        ("MUSTER_AGENT_KEY", key.to_owned()),
        ("MUSTER_AGENT_KIND", post.kind.to_string()),
        ("MUSTER_MODEL", post.profile.model.clone()),
        ("MUSTER_PERMISSIONS", permissions.to_owned()),
        ("MUSTER_DISALLOWED_TOOLS", post.profile.disallowed_tools.join(",")),
        ("MUSTER_MISSION_FILE", mission.display().to_string()),
        ("MUSTER_WORKTREE", worktree.display().to_string()),
    ];
    variables.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}
