//! What an agent's terminal says of it: whether its process lives, and when it last said something.

use chrono::{DateTime, Utc};
use workbench::tmux::{Life, Session, TmuxError};

use crate::bench::Bench;

/// What is known of an agent's process.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Seen {
    /// Not known of agents that started themselves.
    pub(super) process_alive: Option<bool>,
    pub(super) last_output_at: Option<DateTime<Utc>>,
}

/// Looks at a terminal. A look that fails is no evidence: nobody is to be judged by it.
pub(super) async fn gather(bench: &Bench, tmux_session: &str) -> Result<Seen, TmuxError> {
    let Some(tmux) = bench.tmux() else { return Ok(Seen::default()) };
    let session = Session::new(tmux_session)?;
    let output = tmux.last_output_at(&session).await?.map(DateTime::<Utc>::from);
    let process_alive = match tmux.alive(&session).await? {
        Life::Running { .. } => Some(true),
        Life::Ended { .. } => Some(false),
        // Nothing was ever started here: it may well run elsewhere.
        Life::Absent if output.is_none() => None,
        Life::Absent => Some(false),
    };
    Ok(Seen { process_alive, last_output_at: output })
}
