//! The key that signs heads: an Ed25519 key in a file of its owner's alone, in the form that other tools read too.

use std::fmt;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ring::rand::{SecureRandom, SystemRandom};
use ring::signature::{ED25519, Ed25519KeyPair, KeyPair, UnparsedPublicKey};
use serde::{Deserialize, Serialize};

use super::written;

/// A signature.
pub type Signature = [u8; 64];

/// What everything before the 32 secret bytes is in an Ed25519 key by PKCS#8 (RFC 8410).
const PKCS8: [u8; 16] = [0x30, 0x2e, 2, 1, 0, 0x30, 5, 6, 3, 0x2b, 0x65, 0x70, 4, 0x22, 4, 0x20];
const BEGIN: &str = "-----BEGIN PRIVATE KEY-----";
const END: &str = "-----END PRIVATE KEY-----";

/// The name of the key in a data folder.
const IN_A_FOLDER: &str = "signing-key.pem";

/// A key that signs.
pub struct SigningKey(Ed25519KeyPair);

/// The half of a key that everybody may have: it tells one log's heads from another's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PublicKey(#[serde(with = "written::hex_bytes")] pub [u8; 32]);

/// Why a key cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    /// The file cannot be read or made.
    #[error("{}: {error}", file.display())]
    File {
        /// Which.
        file: PathBuf,
        /// Why not.
        error: std::io::Error,
    },
    /// The file holds something else.
    #[error("{} holds no Ed25519 private key (PKCS#8, PEM)", .0.display())]
    NoKey(PathBuf),
    /// The system gives no randomness.
    #[error("the system gives no random bytes for a key")]
    NoRandomness,
}

impl SigningKey {
    /// The key of a data folder, made on first use.
    pub fn of_folder(folder: &Path) -> Result<Self, KeyError> {
        let file = folder.join(IN_A_FOLDER);
        if file.exists() { Self::read(&file) } else { Self::make(&file) }
    }

    /// The key of a data folder, if one was made.
    pub fn found_in_folder(folder: &Path) -> Result<Option<Self>, KeyError> {
        let file = folder.join(IN_A_FOLDER);
        if file.exists() { Self::read(&file).map(Some) } else { Ok(None) }
    }

    /// Reads a key from a file.
    pub fn read(file: &Path) -> Result<Self, KeyError> {
        let text = fs::read_to_string(file).map_err(|error| KeyError::File { file: file.to_path_buf(), error })?;
        let bytes = pem(&text).ok_or_else(|| KeyError::NoKey(file.to_path_buf()))?;
        let pair = Ed25519KeyPair::from_pkcs8_maybe_unchecked(&bytes);
        pair.map(Self).map_err(|_| KeyError::NoKey(file.to_path_buf()))
    }

    /// Makes a new key in a file that is not there yet, readable by its owner alone.
    pub fn make(file: &Path) -> Result<Self, KeyError> {
        let failed = |error| KeyError::File { file: file.to_path_buf(), error };
        let mut secret = [0; 32];
        SystemRandom::new().fill(&mut secret).map_err(|_| KeyError::NoRandomness)?;
        let text = format!("{BEGIN}\n{}\n{END}\n", STANDARD.encode([&PKCS8[..], &secret].concat()));
        // Written aside and linked: nobody ever reads half a key, and two first uses end with one key.
        let aside = file.with_extension(format!("{}.new", std::process::id()));
        let _ = fs::remove_file(&aside);
        let mut made = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&aside).map_err(failed)?;
        let linked =
            made.write_all(text.as_bytes()).and_then(|()| made.sync_all()).and_then(|()| fs::hard_link(&aside, file));
        let _ = fs::remove_file(&aside);
        linked.map_err(failed)?;
        Self::read(file)
    }

    /// Its public half.
    pub fn public(&self) -> PublicKey {
        let mut bytes = [0; 32];
        bytes.copy_from_slice(self.0.public_key().as_ref());
        PublicKey(bytes)
    }

    /// Signs a message.
    pub fn sign(&self, message: &[u8]) -> Signature {
        let mut bytes = [0; 64];
        bytes.copy_from_slice(self.0.sign(message).as_ref());
        bytes
    }
}

impl PublicKey {
    /// Whether the key signed this message.
    pub fn signed(&self, message: &[u8], signature: &Signature) -> bool {
        UnparsedPublicKey::new(&ED25519, &self.0).verify(message, signature).is_ok()
    }
}

impl fmt::Display for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex::encode(self.0))
    }
}

impl FromStr for PublicKey {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        written::bytes(text.trim()).map(Self).map_err(|it| format!("this is no public key: {it}"))
    }
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("SigningKey").field(&self.public()).finish()
    }
}

fn pem(text: &str) -> Option<Vec<u8>> {
    let (_, rest) = text.split_once(BEGIN)?;
    let (inside, _) = rest.split_once(END)?;
    let inside: String = inside.split_whitespace().collect();
    STANDARD.decode(inside).ok()
}
