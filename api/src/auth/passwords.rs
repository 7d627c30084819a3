//! Passwords: argon2id, off the async threads, a few at a time, and the same work whether or not the account exists.

use std::sync::LazyLock;

use argon2::Argon2;
use argon2::password_hash::phc::PasswordHash;
use argon2::password_hash::{PasswordHasher, PasswordVerifier};
use tokio::sync::Semaphore;

use crate::error::ApiError;

/// Each hash takes 19 MiB and a core for a while: more at once would only starve everything else.
static AT_ONCE: LazyLock<Semaphore> =
    LazyLock::new(|| Semaphore::new(std::thread::available_parallelism().map_or(2, |it| it.get().max(2))));

/// The hash of no one's password.
static NOBODY: LazyLock<String> =
    LazyLock::new(|| hash_now("nobody has this password").expect("argon2 hashes a text of this length"));

/// The password's hash, in PHC form.
pub async fn hash(password: String) -> Result<String, ApiError> {
    off_thread(move || hash_now(&password)).await?.map_err(ApiError::fault)
}

/// Whether the password is the one with this hash; as slow without a hash as with one.
pub(crate) async fn is_password(password: String, stored: Option<String>) -> Result<bool, ApiError> {
    off_thread(move || {
        let known = stored.is_some();
        let phc = stored.unwrap_or_else(|| NOBODY.clone());
        let fits = |hash: PasswordHash| Argon2::default().verify_password(password.as_bytes(), &hash).is_ok();
        PasswordHash::new(&phc).is_ok_and(fits) && known
    })
    .await
}

/// Makes the hash of no one's password now, so that the first unknown account is not slower than the next.
pub(crate) fn warm_up() {
    tokio::task::spawn_blocking(|| LazyLock::force(&NOBODY).len());
}

async fn off_thread<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, ApiError> {
    let permit = AT_ONCE.acquire().await.map_err(ApiError::fault)?;
    let counted = move || {
        let done = work();
        // Given back when the work is done, not when a caller that hung up is gone.
        drop(permit);
        done
    };
    tokio::task::spawn_blocking(counted).await.map_err(ApiError::fault)
}

fn hash_now(password: &str) -> Result<String, argon2::password_hash::Error> {
    Ok(Argon2::default().hash_password(password.as_bytes())?.to_string())
}
