//! What moving a log says on the command line: where from, where to, how far, and why not.

use std::path::PathBuf;

use store::transfer::TransferError;
use store::{Location, StoreError};

use super::Failure;

/// A store as `log copy` takes it: `sqlite:folder` or `postgres://..`.
pub(super) fn location(option: &str, text: &str) -> Result<Location, Failure> {
    // `postgres:` before an address is taken too, as `sqlite:` is before a folder.
    let address = text.strip_prefix("postgres:").filter(|it| !it.starts_with("//")).unwrap_or(text);
    if address.starts_with("postgres://") || address.starts_with("postgresql://") {
        return Ok(Location::Postgres(address.to_owned()));
    }
    match text.strip_prefix("sqlite:") {
        Some(folder) if !folder.is_empty() => Ok(Location::Sqlite(PathBuf::from(folder))),
        // Not shown: it may be an address with a password.
        Some(_) | None => {
            Err(Failure::Setting(format!("{option} must be sqlite:<folder> or postgres://user:password@host/database")))
        }
    }
}

impl From<TransferError> for Failure {
    fn from(error: TransferError) -> Self {
        match error {
            TransferError::Store(error) => Self::Store(error),
            TransferError::Refused(what) => Self::Store(StoreError::Setup(what)),
            TransferError::Broken(what) => Self::Found(what),
            TransferError::File(what) => Self::Other(anyhow::Error::msg(what)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_store_is_named_by_its_kind_and_a_wrong_one_is_not_repeated() {
        let sqlite = |folder: &str| Location::Sqlite(PathBuf::from(folder));
        let postgres = |url: &str| Location::Postgres(url.to_owned());
        let read = |text| location("--from", text).expect("a store");
        assert_eq!(read("sqlite:./data"), sqlite("./data"));
        assert_eq!(read("sqlite:/var/lib/muster"), sqlite("/var/lib/muster"));
        assert_eq!(read("postgres://me@host/muster"), postgres("postgres://me@host/muster"));
        assert_eq!(read("postgres:postgresql://host/muster"), postgres("postgresql://host/muster"));
        for wrong in ["", "sqlite:", "./data", "postgres:", "mysql://me:hush@host/muster"] {
            let refused = location("--from", wrong).expect_err("no store").to_string();
            assert!(refused.contains("--from") && !refused.contains("hush"), "{refused}");
        }
    }
}
