//! Moving a log as it is: whole batches with their links, into a log that has nothing else.
//!
//! | to learn | read |
//! |---|---|
//! | what a batch must keep to be let in | `batch.rs` |
//! | how a log is read while others write to it | `source.rs` |
//! | how batches come in without being decided anew | `target.rs`, `append.rs` |
//! | from store to store, with everything beside the log | `copy.rs` |
//! | the form of an exported event | `line.rs` |
//!
//! A log that is being filled has a negative epoch. Nobody serves from it until everything has arrived.

mod append;
mod backup;
mod batch;
mod copy;
mod export;
mod import;
mod line;
mod server;
mod source;
mod target;

use crate::StoreError;
use batch::Broken;

pub use backup::{BackupReport, Manifest, RestoreReport, backup, restore};
pub use copy::{CopyReport, copy};
pub use export::{ExportReport, export};
pub use import::{ImportReport, import, settle};

/// Why a log was not moved. Only whole batches have been written, if any.
#[derive(Debug, thiserror::Error)]
pub enum TransferError {
    /// One of the stores cannot be used.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The log that was to take it in must not.
    #[error("{0}")]
    Refused(String),
    /// What was to be carried is not what was written.
    #[error("{0}")]
    Broken(String),
    /// A file cannot be read or written.
    #[error("{0}")]
    File(String),
}

impl TransferError {
    /// Damage in a store, with where it is.
    fn at(place: &str, broken: &Broken) -> Self {
        Self::Broken(format!("{place} is damaged at position {}: {}", broken.position, broken.what))
    }
}

/// A log that reads as damaged is damaged goods, not a store that is away.
fn damaged(place: &str, error: StoreError) -> TransferError {
    match error {
        StoreError::Damaged(what) => TransferError::Broken(format!("{place} is damaged: {what}")),
        other => TransferError::Store(other),
    }
}
