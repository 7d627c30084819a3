//! `muster audit verify`: checks a bundle on a machine that has nothing else.

use std::path::PathBuf;

use clap::Args;

use super::export::{failure, tell};
use crate::bundle;
use crate::cli::Failure;
use crate::cli::keys::ExpectedKeyArgs;

#[derive(Debug, Args)]
pub(in crate::cli) struct VerifyArgs {
    /// The bundle
    bundle: PathBuf,
    #[command(flatten)]
    expected: ExpectedKeyArgs,
    /// Print JSON for machines
    #[arg(long)]
    json: bool,
}

pub(super) fn verify(args: &VerifyArgs) -> Result<(), Failure> {
    let expected = args.expected.given()?;
    let checked = bundle::check(&args.bundle, expected.as_ref()).map_err(|error| failure(&args.bundle, error))?;
    tell("every event is proven", &checked, args.json)
}
