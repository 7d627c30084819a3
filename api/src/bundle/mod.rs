//! The audit bundle: one workspace's events with everything that proves them, in one file that needs nothing else.
//!
//! A bundle is a tar archive compressed with zstd. `manifest.json` names every other file with its SHA-256 and is
//! signed; `events.jsonl` holds the events byte for byte; `batches.jsonl` and `path.json` lead from their hashes to the
//! root that `head.json` signs; `events.md` says what each event means. Accounts and secrets are not events, so none
//! can be in it. Text that the workspace keeps sealed is in it sealed; `text-key.json` is there only if that was asked.

mod check;
mod export;
mod open;
mod pack;

use serde::{Deserialize, Serialize};
use store::proof::{PublicKey, Refusal, Signature};
use uuid::Uuid;

pub(crate) use check::{Checked, check};
pub(crate) use export::{Wanted, export};
pub(crate) use open::{OpenError, open};

pub(crate) const MANIFEST: &str = "manifest.json";
pub(crate) const SIGNATURE: &str = "manifest.sig";
pub(crate) const EVENTS: &str = "events.jsonl";
pub(crate) const BATCHES: &str = "batches.jsonl";
pub(crate) const PATH: &str = "path.json";
pub(crate) const HEAD: &str = "head.json";
pub(crate) const CATALOGUE: &str = "events.md";
/// Only in a bundle that says so: whoever has it can read the workspace's text.
pub(crate) const TEXT_KEY: &str = "text-key.json";

/// What every bundle has, in the order of the archive.
const FILES: [&str; 5] = [HEAD, EVENTS, BATCHES, PATH, CATALOGUE];
const FORMAT: &str = "muster/audit-bundle/1";
/// Goes before what is signed, so that no signature over anything else ever passes for one over a manifest.
const DOMAIN: &[u8] = b"muster audit bundle manifest, version 1\0";

/// What a bundle holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Manifest {
    pub(crate) format: String,
    pub(crate) workspace_id: Uuid,
    /// The first position that was looked at; 1 if the bundle holds the workspace from its beginning.
    pub(crate) from: i64,
    /// The last position that was looked at.
    pub(crate) to: i64,
    pub(crate) exported_at: String,
    pub(crate) events: u64,
    pub(crate) streams: u64,
    pub(crate) batches: u64,
    pub(crate) public_key: PublicKey,
    /// Whether the key of the workspace's text is in it; without, sealed text stays sealed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) with_text_key: bool,
    pub(crate) files: Vec<Listed>,
}

impl Manifest {
    /// The files that the bundle must have, in the order of the archive.
    fn names(&self) -> impl Iterator<Item = &'static str> {
        FILES.into_iter().chain(self.with_text_key.then_some(TEXT_KEY))
    }
}

/// The key that a workspace's text is sealed under.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct TextKeyFile {
    key_id: Uuid,
    /// In hex.
    key: String,
}

/// One file of a bundle.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Listed {
    pub(crate) name: String,
    pub(crate) bytes: u64,
    pub(crate) sha256: String,
}

/// The path that all batches of a bundle share.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SharedPath {
    path: Vec<String>,
}

/// Why a bundle was not made or is not believed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BundleError {
    /// A file cannot be opened or written.
    #[error("{0}")]
    File(String),
    /// What is asked for is not there.
    #[error("{0}")]
    Nothing(String),
    /// The archive breaks off, or is none.
    #[error("the bundle is torn or is none: {0}")]
    Torn(String),
    /// It is not what was exported.
    #[error("the bundle was changed: {0}")]
    Changed(String),
    /// It does not prove what it holds.
    #[error("the bundle proves nothing: {0}")]
    Refused(#[from] Refusal),
    /// The log cannot be read.
    #[error(transparent)]
    Store(#[from] store::StoreError),
}

/// What is signed.
fn message(manifest: &[u8]) -> Vec<u8> {
    [DOMAIN, manifest].concat()
}

fn signature_of(text: &str) -> Option<Signature> {
    hex::decode(text.trim()).ok()?.try_into().ok()
}
