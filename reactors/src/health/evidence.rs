//! What an agent's terminal says of it: whether its process lives, and when it last said something.

use chrono::{DateTime, Utc};
use workbench::tmux::{Life, Session};

use crate::bench::Bench;

/// What is known of an agent's process.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Seen {
    /// Not known of agents that started themselves.
    pub(super) process_alive: Option<bool>,
    pub(super) last_output_at: Option<DateTime<Utc>>,
}

/// Looks at a terminal; what cannot be seen is not known.
pub(super) async fn gather(bench: &Bench, tmux_session: &str) -> Seen {
    let (Some(tmux), Ok(session)) = (bench.tmux(), Session::new(tmux_session)) else { return Seen::default() };
    let output = tmux.last_output_at(&session).await.ok().flatten().map(DateTime::<Utc>::from);
    let process_alive = match tmux.alive(&session).await {
        Ok(Life::Running { .. }) => Some(true),
        Ok(Life::Ended { .. }) => Some(false),
        // Nothing was ever started here: it may well run elsewhere.
        Ok(Life::Absent) if output.is_none() => None,
        Ok(Life::Absent) => Some(false),
        Err(error) => {
            tracing::warn!(tmux_session, %error, "a terminal cannot be looked at");
            None
        }
    };
    Seen { process_alive, last_output_at: output }
}
