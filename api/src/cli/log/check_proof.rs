//! `muster log check-proof` and `muster log check-consistency`: believe a proof or refuse it, with no database.

use std::path::PathBuf;

use clap::Args;
use serde_json::json;
use store::proof::{ConsistencyProof, InclusionProof, PublicKey, Refusal, SignedHead};

use crate::cli::keys::{self, ExpectedKeyArgs};
use crate::cli::{Failure, output};

#[derive(Debug, Args)]
pub(in crate::cli) struct CheckProofArgs {
    /// The proof
    file: PathBuf,
    #[command(flatten)]
    expected: ExpectedKeyArgs,
    /// A head that was saved elsewhere, in which the proof must end
    #[arg(long, value_name = "FILE")]
    head: Option<PathBuf>,
    /// Print JSON for machines
    #[arg(long)]
    json: bool,
}

pub(super) fn inclusion(args: &CheckProofArgs) -> Result<(), Failure> {
    let expected = args.expected.given()?;
    let text = keys::read(&args.file)?;
    let proof = InclusionProof::parse(&text).and_then(|it| it.check(expected.as_ref()).map(|()| it));
    let proof = proof.map_err(|e| refused(args, &e))?;
    ends_in_the_given(args, &proof.head)?;
    let event = &proof.event;
    if args.json {
        return Ok(output::json(&json!({"proven": true, "event": event, "head": proof.head}))?);
    }
    output::line(format!(
        "position {}: {} of {}/{} (its event {}) is in the log",
        event.position, event.event_type, event.aggregate_type, event.aggregate_id, event.sequence
    ));
    describe(&proof.head, expected.as_ref());
    Ok(())
}

pub(super) fn consistency(args: &CheckProofArgs) -> Result<(), Failure> {
    let expected = args.expected.given()?;
    let text = keys::read(&args.file)?;
    let proof = ConsistencyProof::parse(&text).and_then(|it| it.check(expected.as_ref()).map(|()| it));
    let proof = proof.map_err(|e| refused(args, &e))?;
    ends_in_the_given(args, &proof.first)?;
    if args.json {
        return Ok(output::json(&json!({"proven": true, "first": proof.first, "second": proof.second}))?);
    }
    let (first, second) = (&proof.first, &proof.second);
    output::line(format!("the log at position {} begins with the log at position {}", second.position, first.position));
    describe(second, expected.as_ref());
    Ok(())
}

fn ends_in_the_given(args: &CheckProofArgs, found: &SignedHead) -> Result<(), Failure> {
    let Some(file) = &args.head else { return Ok(()) };
    let given = keys::saved_head(file)?;
    given.check(Some(&found.public_key)).map_err(|e| Failure::Found(format!("{}: {e}", file.display())))?;
    if given == *found {
        return Ok(());
    }
    let other = Refusal::OtherHead {
        epoch: given.epoch,
        position: given.position,
        found_epoch: found.epoch,
        found_position: found.position,
    };
    Err(refused(args, &other))
}

fn describe(head: &SignedHead, expected: Option<&PublicKey>) {
    output::line(format!("head position {} in epoch {}, {} batches", head.position, head.epoch, head.tree_size));
    let told = if expected.is_some() { "as expected" } else { "compare it with the one you were given" };
    output::line(format!("key {} ({told})", head.public_key));
}

fn refused(args: &CheckProofArgs, refusal: &Refusal) -> Failure {
    Failure::Found(format!("{} proves nothing: {refusal}", args.file.display()))
}
