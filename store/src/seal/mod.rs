//! Text under a workspace's own key: sealed before an event is hashed, opened where events are read, gone with the key.
//!
//! A sealed event has the name of its key at the very front of its metadata; nothing else is ever looked at to tell, so
//! a text that merely looks sealed is never opened, and whoever seals nothing pays nothing. Each text stands in the
//! payload as `{"sealed":"<number>.<base64>"}`, or as `sealedObject` where an object stood; `payload.rs` finds them.
//!
//! Every event has a key of its own, HMAC-SHA256 of its id under the workspace's key. The number is the nonce; workspace,
//! event and the place within the payload are authenticated, so that no text can be moved to where it was not said.

mod erase;
mod keys;
mod open;
mod payload;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD as BASE64;
use ring::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use ring::hmac;
use ring::rand::{SecureRandom as _, SystemRandom};
use uuid::Uuid;

pub use erase::Unpurged;
pub(crate) use keys::KeyRing;
pub use keys::KnownKeys;

use crate::{NewEvent, StoreError};

/// What stands where text was whose key is destroyed.
pub const ERASED: &str = "[erased]";
/// What stands where text is whose key is not here.
pub const SEALED: &str = "[sealed]";

/// Before the name of the key, at the very front of the metadata.
const MARK: &str = r#"{"sealed":""#;
/// Keeps the keys of events apart from whatever else a workspace's key may once be used for.
const DOMAIN: &[u8] = b"muster text of event, version 1\0";

/// The key that a workspace's text is sealed under.
#[derive(Clone, PartialEq, Eq)]
pub struct TextKey {
    /// What sealed events call it.
    pub key_id: Uuid,
    secret: [u8; 32],
}

impl TextKey {
    /// A key that nobody has.
    pub fn generate() -> Result<Self, StoreError> {
        let mut secret = [0; 32];
        let random = SystemRandom::new().fill(&mut secret);
        random.map_err(|_| StoreError::Failed("the system gives no random numbers".to_owned()))?;
        Ok(Self { key_id: Uuid::now_v7(), secret })
    }

    /// A key as it was kept.
    pub fn from_secret(key_id: Uuid, secret: &[u8]) -> Option<Self> {
        Some(Self { key_id, secret: secret.try_into().ok()? })
    }

    /// What has to be kept of it, and kept secret.
    pub fn secret(&self) -> &[u8] {
        &self.secret
    }

    /// Seals the text of an event. `text` are the dotted paths of what is text, `plain` of what stays readable within
    /// an object of it. An event without text, or without a workspace, stays as it is.
    pub fn seal(&self, event: &mut NewEvent, text: &[&str], plain: &[&str]) -> Result<(), StoreError> {
        let (Some(workspace_id), Some(rest)) = (event.workspace_id, event.metadata.strip_prefix('{')) else {
            return Ok(());
        };
        let lock = Lock::new(self, workspace_id, event.event_id)?;
        let sealed = payload::seal(&event.payload, text, plain, &lock);
        let sealed = sealed.map_err(|e| StoreError::Failed(format!("{} cannot be sealed: {e}", event.event_type)))?;
        if let Some(payload) = sealed {
            event.payload = payload;
            event.metadata = format!(r#"{MARK}{}",{rest}"#, self.key_id);
        }
        Ok(())
    }
}

// By hand, so that no log line can ever carry it.
impl std::fmt::Debug for TextKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TextKey").field("key_id", &self.key_id).finish_non_exhaustive()
    }
}

impl crate::StoredEvent {
    /// Whether its text was sealed when it was written: it can be erased.
    pub fn is_sealed(&self) -> bool {
        sealed_under(&self.metadata).is_some()
    }
}

/// The name of the key that an event is sealed under, if it is.
fn sealed_under(metadata: &str) -> Option<Uuid> {
    let name = metadata.strip_prefix(MARK)?;
    Uuid::try_parse(name.get(..uuid::fmt::Hyphenated::LENGTH)?).ok()
}

/// Seals and opens the texts of one event.
struct Lock {
    key: LessSafeKey,
    /// Workspace and event.
    of: [u8; 32],
}

impl Lock {
    fn new(key: &TextKey, workspace_id: Uuid, event_id: Uuid) -> Result<Self, StoreError> {
        let workspace = hmac::Key::new(hmac::HMAC_SHA256, &key.secret);
        let own = hmac::sign(&workspace, &[DOMAIN, event_id.as_bytes()].concat());
        let own = UnboundKey::new(&AES_256_GCM, own.as_ref());
        let own = own.map_err(|_| StoreError::Failed("a key has another length".to_owned()))?;
        let mut of = [0; 32];
        of[..16].copy_from_slice(workspace_id.as_bytes());
        of[16..].copy_from_slice(event_id.as_bytes());
        Ok(Self { key: LessSafeKey::new(own), of })
    }

    /// JSON becomes a number and base64. No number may come twice in an event.
    fn seal(&self, number: u32, path: &str, json: &str) -> Option<String> {
        let mut bytes = json.as_bytes().to_vec();
        self.key.seal_in_place_append_tag(nonce(number), self.aad(path), &mut bytes).ok()?;
        Some(format!("{number}.{}", BASE64.encode(bytes)))
    }

    /// The JSON that was sealed here, if it was sealed here under this key.
    fn open(&self, path: &str, sealed: &str) -> Option<String> {
        let (number, text) = sealed.split_once('.')?;
        let mut bytes = BASE64.decode(text).ok()?;
        let plain = self.key.open_in_place(nonce(number.parse().ok()?), self.aad(path), &mut bytes).ok()?;
        String::from_utf8(plain.to_vec()).ok()
    }

    fn aad(&self, path: &str) -> Aad<Vec<u8>> {
        Aad::from([&self.of, path.as_bytes()].concat())
    }
}

fn nonce(number: u32) -> Nonce {
    let mut nonce = [0; NONCE_LEN];
    nonce[NONCE_LEN - 4..].copy_from_slice(&number.to_be_bytes());
    Nonce::assume_unique_for_key(nonce)
}

#[cfg(test)]
mod tests;
