//! Agents that run here and lost their posts while another node had the bench: it recorded their end, and could not see
//! their terminals.

use domain::AgentId;
use domain::post::Post;
use store::EventLog;
use workbench::tmux::{Session, Tmux, TmuxError};

use super::{Bench, state_of};

impl Bench {
    /// Ends every terminal on this machine whose agent is no longer in its post. Who still is goes on working, wherever the
    /// bench is: it speaks to all nodes alike.
    pub(super) async fn end_strays(&self, log: &EventLog) {
        let Some(tmux) = self.tmux() else { return };
        let sessions = match tmux.list().await {
            Ok(sessions) if sessions.is_empty() => return,
            Ok(sessions) => sessions,
            Err(error) => return tracing::warn!(bench = %self.name(), %error, "terminals cannot be looked for"),
        };
        for agent in self.launched_here() {
            if let Err(error) = end_stray(tmux, log, agent, &sessions).await {
                tracing::warn!(bench = %self.name(), %agent, error, "an agent that lost its post may go on");
            }
        }
    }

    /// Whoever was ever launched here, as its mission says.
    fn launched_here(&self) -> Vec<AgentId> {
        let missions = std::fs::read_dir(self.settings.missions()).into_iter().flatten().flatten();
        let id = |it: std::fs::DirEntry| it.path().file_stem()?.to_str()?.parse().ok().map(AgentId);
        missions.filter_map(id).collect()
    }
}

async fn end_stray(tmux: &Tmux, log: &EventLog, agent: AgentId, sessions: &[Session]) -> Result<(), String> {
    // A session is named after the end of an id: most are nobody's, and need no look at the log.
    let id = agent.0.simple().to_string();
    if !sessions.iter().any(|it| it.as_str().ends_with(&id[20..])) {
        return Ok(());
    }
    let post: Post = state_of(log, agent.0).await.map_err(|error| error.to_string())?;
    let Ok(live) = post.live() else { return Ok(()) };
    let session = sessions.iter().find(|it| it.as_str() == live.tmux_session);
    let Some(session) = session.filter(|_| post.held().is_err()) else { return Ok(()) };
    tmux.kill(session).await.map_err(|error: TmuxError| error.to_string())?;
    tracing::warn!(%agent, session = session.as_str(), "an agent that lost its post while another node had the bench was stopped");
    Ok(())
}
