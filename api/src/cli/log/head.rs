//! `muster log head` and `muster log make-key`: the signed head, to be kept where the log is not.

use std::path::PathBuf;

use clap::Args;
use store::proof::SigningKey;
use store::{Access, Clock};

use crate::cli::keys::KeyArgs;
use crate::cli::{Failure, StoreArgs, output};

#[derive(Debug, Args)]
pub(in crate::cli) struct HeadArgs {
    #[command(flatten)]
    key: KeyArgs,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct MakeKeyArgs {
    /// The file to make; one that is there is left as it is
    file: PathBuf,
}

pub(super) async fn run(store: &StoreArgs, args: &HeadArgs) -> Result<(), Failure> {
    let stores = store.open(Access::Look, Clock::default()).await?;
    let head = stores.log.signed_head(&args.key.signing(store)?).await?;
    Ok(output::json(&head)?)
}

pub(super) fn make_key(args: &MakeKeyArgs) -> Result<(), Failure> {
    let key = SigningKey::make(&args.file).map_err(|e| Failure::Setting(e.to_string()))?;
    output::line(format!("public key {}", key.public()));
    Ok(())
}
