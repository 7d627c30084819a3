//! The event log of Muster: append, read, claims and the hash chain, on SQLite and PostgreSQL behind one contract.
//!
//! Start with [`EventLog`]: `commit` is the only way in, `read_stream` and `read_all` are the ways out.
//! [`commit`] says what one commit may carry and how the log refuses it. [`sql`] is the small facade that lets
//! one SQL text run on both databases; read models use it too.
//!
//! | to learn | read |
//! |---|---|
//! | how commands share one fsync | `writer.rs` |
//! | how a batch is decided and written | `sqlite/append.rs`, `postgres/append.rs` with `migrations/log/postgres` |
//! | what makes tampering visible | `chain.rs`, `verify.rs` |
//! | how an event is proven to somebody without the log | `proof/mod.rs` |
//! | how text is kept under a key that can be destroyed | `seal/mod.rs` |
//! | how both databases find the same words | `sql/full_text.rs` |

pub mod chain;
pub mod proof;
pub mod seal;
pub mod sql;
pub mod transfer;

mod accounts;
mod batch;
mod bench_lease;
mod checkpoints;
mod clock;
mod commit;
mod error;
mod event;
mod excerpt;
mod fate;
mod known;
mod log;
mod moment;
mod open;
mod postgres;
mod read;
mod rows;
mod scan;
mod sqlite;
mod verify;
mod well_formed;
mod writer;

pub use accounts::{Accounts, KnownSession};
pub use bench_lease::BenchLease;
pub use clock::{Clock, from_micros};
pub use commit::{
    Claim, CommandKey, Commit, CommitError, Guard, Receipt, Remember, Remembered, StreamAppend, Take, reactor_key,
};
pub use error::StoreError;
pub use event::{NewEvent, StoredEvent, StreamId};
pub use excerpt::Excerpt;
pub use fate::{Fate, Standing};
pub use log::{EventLog, Underway};
pub use moment::{Moment, MomentError};
pub use open::{Access, Location, Settings, Stores, scratch_views};
pub use read::{Head, LogStats, Page, TypeCount};
pub use rows::{Account, Credential, GithubIdentity, NotificationAddresses, RowChange, SignInSession};
pub use seal::{KnownKeys, TextKey, Unpurged};
pub use verify::{Finding, VerifyReport};
