//! Two heads of one log: proof that the older is a beginning of the newer, and what to say of a log that is not.

use serde::{Deserialize, Serialize};

use super::{PublicKey, Refusal, SignedHead, tree, written};
use crate::chain::Hash;

const FORMAT: &str = "muster/consistency-proof/1";

/// Two heads, and the path from the first one's root to the second one's.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ConsistencyProof {
    format: String,
    /// The older head.
    pub first: SignedHead,
    /// The newer head.
    pub second: SignedHead,
    /// The consistency proof of RFC 6962.
    #[serde(with = "written::hex_list")]
    pub path: Vec<Hash>,
}

impl ConsistencyProof {
    pub(crate) fn new(first: SignedHead, second: SignedHead, path: Vec<Hash>) -> Self {
        Self { format: FORMAT.to_owned(), first, second, path }
    }

    /// Reads a proof.
    pub fn parse(text: &str) -> Result<Self, Refusal> {
        serde_json::from_str(text).map_err(|e| Refusal::Unreadable { what: "consistency proof", why: e.to_string() })
    }

    /// Whether it proves what it says; by the expected key, if there is one, and else by one key for both heads.
    pub fn check(&self, expected: Option<&PublicKey>) -> Result<(), Refusal> {
        super::check_format(&self.format, FORMAT, "consistency proof")?;
        self.first.check(expected)?;
        self.second.check(Some(&self.first.public_key))?;
        let (first, second) = (&self.first, &self.second);
        let later = first.position <= second.position && first.epoch <= second.epoch;
        let sizes = ((first.tree_size, first.tree_root), (second.tree_size, second.tree_root));
        if !later || !tree::is_prefix(sizes.0, sizes.1, &self.path) {
            return Err(Refusal::NotAPrefix);
        }
        Ok(())
    }
}

/// How the log of today stands to a head that was saved earlier.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "standing", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Against {
    /// It begins with everything that the head covers.
    Kept,
    /// It was restored since, and begins with everything that the head covers.
    Restored {
        /// The head's epoch.
        saved_epoch: i64,
        /// The log's epoch.
        epoch: i64,
    },
    /// It ends before the head.
    Truncated {
        /// Where it ends.
        position: i64,
    },
    /// It was restored since from something that does not hold everything that the head covers.
    LostByRestore {
        /// The head's epoch.
        saved_epoch: i64,
        /// The log's epoch.
        epoch: i64,
        /// Where it ends.
        position: i64,
    },
    /// It is as long as it must be, and something else stands in it.
    Rewritten,
    /// It is of an earlier life than the head: an old copy in the place of the log.
    EarlierEpoch {
        /// The head's epoch.
        saved_epoch: i64,
        /// The log's epoch.
        epoch: i64,
    },
}

impl Against {
    /// What is wrong, for people; `None` if everything that the head covers is still there.
    pub fn finding(&self, saved: &SignedHead) -> Option<String> {
        let covered = saved.position;
        Some(match self {
            Self::Kept | Self::Restored { .. } => return None,
            Self::Truncated { position } => {
                format!("the log was truncated: the saved head covers {covered} events, and the log ends at {position}")
            }
            Self::LostByRestore { saved_epoch, epoch, position } => format!(
                "the log was restored (epoch {saved_epoch} then, {epoch} now) without all of the {covered} events that \
                 the saved head covers; it ends at {position}"
            ),
            Self::Rewritten => {
                format!("the log was rewritten: its first {covered} events are not those that the saved head covers")
            }
            Self::EarlierEpoch { saved_epoch, epoch } => format!(
                "the log is an older copy: the saved head is of epoch {saved_epoch}, and the log is in epoch {epoch}"
            ),
        })
    }
}
