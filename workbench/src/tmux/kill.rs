//! Ends a session with every process it started.

use std::fs;

use super::{MARK, Session, Tmux, TmuxError, is_unknown};
use crate::processes;

impl Tmux {
    /// Kills a session and all its processes, at once. What it said stays in its log.
    pub async fn kill(&self, session: &Session) -> Result<(), TmuxError> {
        let mark = fs::read_to_string(self.file(session, "mark")).ok();
        // First the processes: what tmux's own signal would start to clean up should not run.
        if let Some(mark) = &mark {
            self.kill_processes(session, mark).await?;
        }
        let killed = self.run(&["kill-session", "-t", &format!("={}", session.as_str())]).await?;
        if !killed.succeeded() && !is_unknown(&killed.stderr) {
            return Err(TmuxError::Failed { command: "kill-session".to_owned(), stderr: killed.stderr });
        }
        // One that had not read its environment yet could not be found before.
        if let Some(mark) = &mark {
            self.kill_processes(session, mark).await?;
        }
        for kind in ["launch", "ended", "mark"] {
            let _ = fs::remove_file(self.file(session, kind));
        }
        Ok(())
    }

    async fn kill_processes(&self, session: &Session, mark: &str) -> Result<(), TmuxError> {
        if processes::end(|| processes::families(MARK, mark.as_ref())).await {
            return Ok(());
        }
        Err(TmuxError::StillAlive(session.as_str().to_owned()))
    }
}
