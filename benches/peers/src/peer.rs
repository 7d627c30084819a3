//! What the load needs of a library: set it up, and run one command on one stream.

use std::future::Future;

use anyhow::{Context, Result};
use uuid::Uuid;

use crate::entry::Entry;
use crate::round::Workload;

/// One library with its store.
pub(crate) trait Peer: Sized + Send + Sync + 'static {
    /// What it is called here.
    const NAME: &'static str;
    /// The crate whose version stands for it.
    const CRATE: &'static str;
    /// How many connections serve it best.
    const POOL: Pool;

    /// Opens the store and makes its tables, empty.
    fn set_up(at: &str, connections: Connections) -> impl Future<Output = Result<Self>> + Send;

    /// One command on a stream that may have a history: load, decide, append one event per entry.
    fn append(&self, stream: Uuid, entries: &[Entry]) -> impl Future<Output = Result<Outcome>> + Send;

    /// One command on a stream that is new. Most libraries do not tell the two apart.
    fn create(&self, stream: Uuid, entries: &[Entry]) -> impl Future<Output = Result<Outcome>> + Send {
        self.append(stream, entries)
    }

    /// Lets the planner see what was seeded.
    fn analyze(&self) -> impl Future<Output = Result<()>> + Send {
        async { Ok(()) }
    }
}

/// The connections that a library is given.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Connections {
    pub(crate) count: u32,
    /// Whether each is tried with a round trip before it is used.
    pub(crate) pinged: bool,
}

impl Connections {
    /// What the libraries' own pools and sqlx's defaults come to.
    pub(crate) const AS_ITS_README_SAYS: Self = Self { count: 10, pinged: true };

    /// As fast as a user could make it.
    pub(crate) fn tuned(count: u32) -> Self {
        Self { count, pinged: false }
    }
}

/// The sizes that gave the most commands per second with 64 clients, when several were tried in turn on two cores.
pub(crate) struct Pool {
    pub(crate) new_streams: u32,
    pub(crate) hot_streams: u32,
}

impl Pool {
    pub(crate) fn size(&self, workload: Workload) -> u32 {
        match workload {
            Workload::New => self.new_streams,
            Workload::Hot => self.hot_streams,
        }
    }
}

/// How a command ended that did not fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    Committed,
    /// Somebody else was faster on the same stream; nothing was written.
    Conflict,
}

/// The version that was really built, so that no report can name another one.
pub(crate) fn locked_version(name: &str) -> Result<&'static str> {
    let lock = include_str!("../Cargo.lock");
    let (_, package) = lock.split_once(&format!("name = \"{name}\"\nversion = \"")).context("not in Cargo.lock")?;
    Ok(package.split('"').next().unwrap_or_default())
}
