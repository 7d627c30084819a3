//! The signed head: one small record that commits to every event of the log, to be kept where the log is not.

use serde::{Deserialize, Serialize};

use super::key::{PublicKey, Signature, SigningKey};
use super::{Refusal, written};
use crate::Head;
use crate::chain::Hash;

/// The name and version of the form; another version is never guessed at.
const FORMAT: &str = "muster/signed-head/1";
/// Goes before what is signed, so that no signature over anything else ever passes for one over a head.
const DOMAIN: &[u8] = b"muster signed head, version 1\0";

/// Where the log stood, signed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SignedHead {
    format: String,
    /// Which life of the log; raised by every restore.
    pub epoch: i64,
    /// The newest position.
    pub position: i64,
    /// When the newest batch was recorded, in microseconds since 1970.
    #[serde(with = "written::instant")]
    pub recorded_at: i64,
    /// The link of the newest batch.
    #[serde(with = "written::hex_bytes")]
    pub link: Hash,
    /// How many batches the log has: the leaves of the tree over their links.
    pub tree_size: u64,
    /// The root of that tree, by RFC 6962.
    #[serde(with = "written::hex_bytes")]
    pub tree_root: Hash,
    /// Whose signature it is.
    pub public_key: PublicKey,
    /// Over all of the above.
    #[serde(with = "written::hex_bytes")]
    pub signature: Signature,
}

impl SignedHead {
    /// Signs where the log stands.
    pub(crate) fn sign(key: &SigningKey, head: &Head, tree_size: u64, tree_root: Hash) -> Self {
        let mut signed = Self {
            format: FORMAT.to_owned(),
            epoch: head.epoch,
            position: head.position,
            recorded_at: head.recorded_at,
            link: head.link,
            tree_size,
            tree_root,
            public_key: key.public(),
            signature: [0; 64],
        };
        signed.signature = key.sign(&signed.message());
        signed
    }

    /// Reads a head that was saved.
    pub fn parse(text: &str) -> Result<Self, Refusal> {
        let head: Self =
            serde_json::from_str(text).map_err(|e| Refusal::Unreadable { what: "signed head", why: e.to_string() })?;
        head.check_format()?;
        Ok(head)
    }

    /// Whether it was signed by its key, and by the expected one if there is one.
    pub fn check(&self, expected: Option<&PublicKey>) -> Result<(), Refusal> {
        self.check_format()?;
        if let Some(expected) = expected.filter(|it| **it != self.public_key) {
            return Err(Refusal::OtherKey { expected: *expected, found: self.public_key });
        }
        if !self.public_key.signed(&self.message(), &self.signature) {
            return Err(Refusal::BadSignature("head"));
        }
        Ok(())
    }

    fn check_format(&self) -> Result<(), Refusal> {
        super::check_format(&self.format, FORMAT, "signed head")
    }

    /// What is signed: every field at a fixed place, numbers big-endian.
    fn message(&self) -> Vec<u8> {
        let mut message = DOMAIN.to_vec();
        for number in [self.epoch, self.position, self.recorded_at] {
            message.extend(number.to_be_bytes());
        }
        message.extend(self.link);
        message.extend(self.tree_size.to_be_bytes());
        message.extend(self.tree_root);
        message.extend(self.public_key.0);
        message
    }
}
