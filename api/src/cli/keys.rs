//! Which key signs heads, and which key a head must be signed with.

use std::path::{Path, PathBuf};

use clap::Args;
use store::proof::{PublicKey, SignedHead, SigningKey};

use super::{Failure, StoreArgs};

/// Which key signs.
#[derive(Debug, Args)]
pub(super) struct KeyArgs {
    /// The Ed25519 key that signs heads (PKCS#8, PEM); without, the one in the data folder, made on first use
    #[arg(long, env = "MUSTER_SIGNING_KEY", value_name = "MUSTER_SIGNING_KEY")]
    key: Option<PathBuf>,
}

/// Which key something must be signed with.
#[derive(Debug, Args)]
pub(super) struct ExpectedKeyArgs {
    /// The public key that must have signed: 64 hex digits, or a file with them
    #[arg(long, value_name = "KEY_OR_FILE")]
    public_key: Option<String>,
}

impl KeyArgs {
    /// The key that signs heads of this store.
    pub(super) fn signing(&self, store: &StoreArgs) -> Result<SigningKey, Failure> {
        let key = match (&self.key, store.folder()) {
            (Some(file), _) => SigningKey::read(file),
            (None, Some(folder)) => SigningKey::of_folder(folder),
            (None, None) => return Err(no_key("--key (MUSTER_SIGNING_KEY)")),
        };
        key.map_err(|e| Failure::Setting(e.to_string()))
    }

    /// The public half of the key that signs heads of this store, if it can be known.
    fn known(&self, store: &StoreArgs) -> Result<Option<PublicKey>, Failure> {
        let key = match (&self.key, store.folder()) {
            (Some(file), _) => SigningKey::read(file).map(Some),
            (None, Some(folder)) => SigningKey::found_in_folder(folder),
            (None, None) => Ok(None),
        };
        Ok(key.map_err(|e| Failure::Setting(e.to_string()))?.map(|it| it.public()))
    }
}

impl ExpectedKeyArgs {
    /// The key that was asked for, if any.
    pub(super) fn given(&self) -> Result<Option<PublicKey>, Failure> {
        let Some(text) = &self.public_key else { return Ok(None) };
        if let Ok(key) = text.parse() {
            return Ok(Some(key));
        }
        let held = read(Path::new(text))?;
        held.parse().map(Some).map_err(|e| Failure::Setting(format!("--public-key: {e}")))
    }

    /// The key that was asked for, or else the one of this store; without either nothing can be trusted.
    pub(super) fn of(&self, key: &KeyArgs, store: &StoreArgs) -> Result<PublicKey, Failure> {
        match self.given()? {
            Some(given) => Ok(given),
            None => key.known(store)?.ok_or_else(|| no_key("--public-key or --key (MUSTER_SIGNING_KEY)")),
        }
    }
}

/// Reads a head that was saved to a file.
pub(super) fn saved_head(file: &Path) -> Result<SignedHead, Failure> {
    SignedHead::parse(&read(file)?).map_err(|e| Failure::Found(format!("{}: {e}", file.display())))
}

/// Reads a file that was named on the command line.
pub(super) fn read(file: &Path) -> Result<String, Failure> {
    let text = std::fs::read(file).map_err(|e| Failure::Setting(format!("{}: {e}", file.display())))?;
    String::from_utf8(text).map_err(|_| Failure::Found(format!("{}: this is no text", file.display())))
}

fn no_key(option: &str) -> Failure {
    Failure::Setting(format!(
        "there is no key for the heads of this log: name one with {option}; `muster log make-key <file>` makes one"
    ))
}
