//! How the MCP server behaves, and what of the bench it can see.

use std::sync::Arc;
use std::time::Duration;

use domain::post::Profiles;

use super::bench::Bench;

/// How the MCP server behaves.
#[derive(Clone)]
pub struct McpSettings {
    /// Origins of pages that may call, such as `https://console.example`. Pages of this machine always may, and so may
    /// whoever sends no origin at all: programs.
    pub allowed_origins: Vec<String>,
    /// The longest that a tool waits for what the bench does. Clients give up after a minute, as a rule: what takes
    /// longer is better told in time.
    pub patience: Duration,
    /// How long a tool waits before it tries again what failed for a passing reason; as often as there are waits.
    pub backoff: Vec<Duration>,
    /// How the agents are run that an orchestrator appoints.
    pub profiles: Profiles,
    /// What can be looked at on this node; without, tools that must look there say so.
    pub bench: Option<Arc<dyn Bench>>,
}

/// The most patience that a node can have, in seconds.
pub(crate) const MOST_PATIENCE_SECONDS: u32 = 600;
/// The longest that a call can take: until its tool gives up, as long again until its end is on record, and the last try
/// of a store or of a bench that is slow. On any node: none knows how patient another is, and all judge the calls of all.
pub(crate) const LONGEST_CALL: Duration = Duration::from_secs(2 * MOST_PATIENCE_SECONDS as u64 + 120);

impl Default for McpSettings {
    fn default() -> Self {
        Self {
            allowed_origins: vec![],
            patience: Duration::from_secs(50),
            backoff: [1, 2, 4].map(Duration::from_secs).to_vec(),
            profiles: Profiles::default(),
            bench: None,
        }
    }
}
