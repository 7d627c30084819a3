//! Proof to somebody who does not have the log: signed heads, and what shows that an event is under one.
//!
//! The tree of `tree.rs` stands over the links of batches (`chain.rs`); a [`SignedHead`] signs its root.
//! [`InclusionProof`] leads from one event to a root, [`ConsistencyProof`] from an older root to a newer one.

mod consistency;
mod head;
mod inclusion;
mod key;
mod read;
mod record;
mod tenant;
pub mod tree;
mod written;

pub use consistency::{Against, ConsistencyProof};
pub use head::SignedHead;
pub use inclusion::{BatchLink, InclusionProof, check_batches};
pub use key::{KeyError, PublicKey, Signature, SigningKey};
pub use read::Proven;
pub use record::{BatchRecord, EventRecord};

/// Why something that should prove is no proof.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// It is not in the form that it should be in.
    #[error("this is no {what}: {why}")]
    Unreadable {
        /// What it should be.
        what: &'static str,
        /// What is wrong.
        why: String,
    },
    /// It is in a form that this muster does not know.
    #[error("this {what} has the form {found:?}, and this muster reads {known:?}")]
    OtherFormat {
        /// What it is.
        what: &'static str,
        /// Its form.
        found: String,
        /// The form that is known.
        known: &'static str,
    },
    /// Another key signed it.
    #[error("it is signed with the key {found}, and not with {expected}")]
    OtherKey {
        /// Who should have signed.
        expected: PublicKey,
        /// Who did.
        found: PublicKey,
    },
    /// The signature is not over what it stands under.
    #[error("the signature of the {0} is not over what it stands under")]
    BadSignature(&'static str),
    /// The proof ends in another head than the one given.
    #[error(
        "it ends in the head at position {found_position} of epoch {found_epoch}, \
         and not in the given one at position {position} of epoch {epoch}"
    )]
    OtherHead {
        /// The given head's epoch.
        epoch: i64,
        /// The given head's position.
        position: i64,
        /// The proof's epoch.
        found_epoch: i64,
        /// The proof's position.
        found_position: i64,
    },
    /// The event's bytes are not those that were hashed.
    #[error("the event at position {0} is not the one that was written: its hash is another")]
    OtherEvent(i64),
    /// The event does not stand in the batch that it comes with.
    #[error("the event at position {0} is not part of the batch that it comes with")]
    OtherBatch(i64),
    /// The batches do not lead to the head's root.
    #[error("the path does not lead to the root that the head signs")]
    OtherRoot,
    /// It lies past the end of what the head covers.
    #[error("the batch at position {0} lies past the head")]
    PastTheHead(i64),
    /// The older head is no beginning of the newer.
    #[error("the log of the second head does not begin with the log of the first")]
    NotAPrefix,
}

fn check_format(found: &str, known: &'static str, what: &'static str) -> Result<(), Refusal> {
    if found == known {
        return Ok(());
    }
    Err(Refusal::OtherFormat { what, found: found.to_owned(), known })
}
