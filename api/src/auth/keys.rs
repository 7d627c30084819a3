//! Secrets that Muster makes: agents' keys and the values of session cookies, and their keyed hashes.

use domain::{AgentCode, WorkspaceId};
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use store::{EventLog, StoreError};
use subtle::ConstantTimeEq;

use super::let_in::Hash;

/// Random characters at the end of an agent's key.
const KEY_CHARACTERS: usize = 32;
const ALPHABET: &[u8; 62] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

/// What hashes are keyed with. Whoever has only the database of one cannot check a guess against it.
#[derive(Clone)]
pub(crate) struct Secrets {
    sessions: Vec<u8>,
    keys: Vec<u8>,
}

impl Secrets {
    /// The secrets beside the log, made on first use; all nodes on one log share them.
    pub(crate) async fn load(log: &EventLog, session_secret: Option<&str>) -> Result<Self, StoreError> {
        let accounts = log.accounts();
        let sessions = match session_secret {
            Some(given) => given.as_bytes().to_vec(),
            None => accounts.secret("session", random::<32>().to_vec()).await?,
        };
        Ok(Self { sessions, keys: accounts.secret("agent-key-pepper", random::<32>().to_vec()).await? })
    }

    /// What is stored of a session cookie.
    pub(crate) fn hash_token(&self, token: &str) -> Hash {
        keyed(&self.sessions, token)
    }

    /// What nobody can make of a text without the secret, for one purpose: 64 hex digits that may be shown.
    pub(crate) fn sign(&self, purpose: &str, text: &str) -> String {
        hex::encode(keyed(&keyed(&self.sessions, purpose), text))
    }

    /// What is stored of an agent's key.
    pub(crate) fn hash_key(&self, key: &str) -> Hash {
        keyed(&self.keys, key)
    }
}

/// Whether the hash of a key is the stored one; takes as long either way, also when there is none.
pub(super) fn is_same(given: &Hash, stored: Option<&[u8]>) -> bool {
    let same = given.ct_eq(stored.unwrap_or(&[0; 32]));
    bool::from(same) && stored.is_some()
}

/// An agent's key: `af_agent_<workspace_id>_<agent_code>_<random_32_chars>`. It is shown once and never stored.
pub struct AgentKey(String);

impl AgentKey {
    /// A new key.
    pub fn generate(workspace_id: WorkspaceId, agent_code: &AgentCode) -> Self {
        Self(format!("af_agent_{workspace_id}_{agent_code}_{}", random_text(KEY_CHARACTERS)))
    }

    /// The key itself, for whoever may see it.
    pub fn text(&self) -> &str {
        &self.0
    }
}

/// A new value for a session cookie.
pub(crate) fn new_token() -> String {
    hex::encode(random::<32>())
}

fn keyed(secret: &[u8], text: &str) -> Hash {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret).expect("HMAC takes a key of any length");
    mac.update(text.as_bytes());
    mac.finalize().into_bytes().into()
}

fn random<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).expect("the operating system has randomness");
    bytes
}

fn random_text(length: usize) -> String {
    let mut text = String::with_capacity(length);
    while text.len() < length {
        // Bytes past the last whole run of the alphabet are thrown away, or its first letters would come more often.
        let usable = random::<64>().into_iter().filter(|byte| (*byte as usize) < ALPHABET.len() * 4);
        let letters = usable.map(|byte| char::from(ALPHABET[byte as usize % ALPHABET.len()]));
        text.extend(letters.take(length - text.len()));
    }
    text
}

#[cfg(test)]
impl Secrets {
    /// Secrets that a test can make again.
    pub(super) fn fixed(seed: u8) -> Self {
        Self { sessions: vec![seed; 32], keys: vec![seed + 100; 32] }
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    fn secrets() -> Secrets {
        Secrets::fixed(1)
    }

    fn key() -> String {
        AgentKey::generate(WorkspaceId(Uuid::nil()), &AgentCode::parse("dev-1").expect("a code")).0
    }

    #[test]
    fn an_agents_key_has_the_form_of_the_document() {
        let random = key();
        let random = random.strip_prefix("af_agent_00000000-0000-0000-0000-000000000000_dev-1_").expect("the form");
        assert_eq!(random.len(), 32);
        assert!(random.bytes().all(|it| it.is_ascii_alphanumeric()));
        assert_ne!(key(), key());
    }

    #[test]
    fn a_key_is_known_by_its_hash_alone() {
        let (secrets, key) = (secrets(), key());
        let stored = secrets.hash_key(&key);
        assert!(is_same(&secrets.hash_key(&key), Some(&stored)));
        assert!(!is_same(&secrets.hash_key("af_agent_x"), Some(&stored)));
        assert!(!is_same(&secrets.hash_key(&key), None));
        assert_ne!(stored, secrets.hash_token(&key));
    }
}
