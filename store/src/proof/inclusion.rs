//! Proof that one event is in the log under a signed head, checked with nothing but the proof.

use serde::{Deserialize, Serialize};

use super::{BatchRecord, EventRecord, PublicKey, Refusal, SignedHead, tree, written};
use crate::chain::Hash;

const FORMAT: &str = "muster/inclusion-proof/1";

/// An event, the batch it was written in, and the path from that batch to a signed head.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct InclusionProof {
    format: String,
    /// What is proven.
    pub event: EventRecord,
    /// Its hash.
    #[serde(with = "written::hex_bytes")]
    pub leaf: Hash,
    /// The batch it was written in.
    pub batch: BatchRecord,
    /// The audit path of RFC 6962 from the batch's link to the root.
    #[serde(with = "written::hex_list")]
    pub path: Vec<Hash>,
    /// What it leads to.
    pub head: SignedHead,
}

impl InclusionProof {
    pub(crate) fn new(event: EventRecord, batch: BatchRecord, path: Vec<Hash>, head: SignedHead) -> Self {
        Self { format: FORMAT.to_owned(), leaf: event.leaf(), event, batch, path, head }
    }

    /// Reads a proof.
    pub fn parse(text: &str) -> Result<Self, Refusal> {
        serde_json::from_str(text).map_err(|e| Refusal::Unreadable { what: "inclusion proof", why: e.to_string() })
    }

    /// Whether it proves what it says; by the expected key, if there is one.
    pub fn check(&self, expected: Option<&PublicKey>) -> Result<(), Refusal> {
        super::check_format(&self.format, FORMAT, "inclusion proof")?;
        self.head.check(expected)?;
        self.batch.check(&self.event)?;
        if self.leaf != self.event.leaf() {
            return Err(Refusal::OtherEvent(self.event.position));
        }
        check_batches(std::slice::from_ref(&(&self.batch).into()), &self.path, &self.head)
    }
}

/// What is left of a batch once its events are checked.
#[derive(Debug, Clone, Copy)]
pub struct BatchLink {
    tree_index: u64,
    last_position: i64,
    link: Hash,
}

impl From<&BatchRecord> for BatchLink {
    fn from(it: &BatchRecord) -> Self {
        Self { tree_index: it.tree_index, last_position: it.last_position(), link: it.link() }
    }
}

/// Whether batches, in order, are those under the root that a head signs.
pub fn check_batches(batches: &[BatchLink], path: &[Hash], head: &SignedHead) -> Result<(), Refusal> {
    if let Some(past) = batches.iter().find(|it| it.last_position > head.position) {
        return Err(Refusal::PastTheHead(past.last_position));
    }
    let leaves: Vec<_> = batches.iter().map(|it| (it.tree_index, it.link)).collect();
    if tree::root_of(head.tree_size, &leaves, path) != Some(head.tree_root) {
        return Err(Refusal::OtherRoot);
    }
    Ok(())
}
