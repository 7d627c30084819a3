//! What a projection is: a pure fold from facts to keyed rows.

use store::sql::Table;

use crate::{Fact, RowKey, Rows};

/// A pure fold from facts to keyed rows. The engine does everything else.
///
/// A raised `version` is built beside the one that is served, and then takes over. It may change rows and add
/// columns, but **keeps what existing queries read**, because nodes of both ages read it for a while. A shape that
/// breaks queries takes a new projection with a new name.
pub trait Projection: Send + Sync + 'static {
    /// Names it in the registry, in status and on the command line.
    fn name(&self) -> &str;

    /// Raised whenever the fold or the tables change.
    fn version(&self) -> i64;

    /// Which streams it reads.
    fn reads(&self) -> Reads {
        Reads::Everything
    }

    /// Its tables, by the names that queries use.
    fn tables(&self) -> Vec<Table>;

    /// The rows that the fold of this fact reads; they are loaded before it runs.
    fn touches(&self, fact: &Fact) -> Vec<RowKey>;

    /// Changes rows by one fact. Without I/O and without a clock.
    fn apply(&self, fact: &Fact, rows: &mut Rows) -> Result<(), FoldError>;
}

/// Which streams a projection reads. The others are not even decoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reads {
    /// All of them.
    Everything,
    /// Those of some kinds of aggregates.
    Only(&'static [&'static str]),
}

impl Reads {
    pub(crate) fn includes(self, aggregate_type: &str) -> bool {
        match self {
            Self::Everything => true,
            Self::Only(kinds) => kinds.contains(&aggregate_type),
        }
    }

    /// The kinds to ask the log for; all of them without a list.
    pub(crate) fn kinds(self) -> Option<&'static [&'static str]> {
        match self {
            Self::Everything => None,
            Self::Only(kinds) => Some(kinds),
        }
    }
}

/// Why a fact could not be folded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FoldError {
    /// The fact is about a row that no earlier fact has made.
    #[error("there is no row {1} in {0}")]
    NoRow(&'static str, String),
    /// The fold reads a row that `touches` does not name.
    #[error("row {1} of {0} was read and not declared")]
    Undeclared(&'static str, String),
    /// A stored row is not what this version writes.
    #[error("row {1} of {0} cannot be read: {2}")]
    Unreadable(&'static str, String, String),
    /// The fold panicked, which is a bug.
    #[error("the fold panicked: {0}")]
    Panicked(String),
    /// The fact makes no sense to this projection.
    #[error("{0}")]
    Senseless(String),
}
