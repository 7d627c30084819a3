//! What goes wrong with a database, as opposed to what it refuses.

/// A fault of the store: never the caller's doing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// The database does not answer, or not in time. Trying again may help.
    #[error("the database is unavailable: {0}")]
    Unavailable(String),
    /// What is stored is not what was written.
    #[error("the database is damaged: {0}")]
    Damaged(String),
    /// The database was made by a newer Muster.
    #[error("{place} has schema {found}, and this muster knows schemas up to {known}: use a newer muster")]
    NewerSchema {
        /// Which database.
        place: String,
        /// The version found.
        found: i64,
        /// The newest version this binary knows.
        known: i64,
    },
    /// Another server has the data folder.
    #[error("{0} is in use by another muster server")]
    InUse(String),
    /// A cursor from another life of the log.
    #[error("the cursor is of epoch {given}, and the log is in epoch {current}")]
    StaleEpoch {
        /// The cursor's epoch.
        given: i64,
        /// The log's epoch.
        current: i64,
    },
    /// The store cannot be opened with what it was given.
    #[error("{0}")]
    Setup(String),
    /// A statement failed.
    #[error("{0}")]
    Failed(String),
}
