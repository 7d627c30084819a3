//! Ends a session with every process it started.

use std::fs;
use std::time::Duration;

use super::{Session, Tmux, TmuxError, is_unknown, processes};

/// Killed processes are gone within microseconds; this is for a machine under load.
const ROUNDS: usize = 200;
const BETWEEN_ROUNDS: Duration = Duration::from_millis(25);

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
        for kind in ["launch", "mark"] {
            let _ = fs::remove_file(self.file(session, kind));
        }
        Ok(())
    }

    async fn kill_processes(&self, session: &Session, mark: &str) -> Result<(), TmuxError> {
        for _ in 0..ROUNDS {
            let alive = processes::of_launch(mark);
            if alive.is_empty() {
                return Ok(());
            }
            // Again and again, because a process may have had a child since we looked.
            alive.into_iter().for_each(processes::kill);
            tokio::time::sleep(BETWEEN_ROUNDS).await;
        }
        Err(TmuxError::StillAlive(session.as_str().to_owned()))
    }
}
