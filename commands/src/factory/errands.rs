//! Errands within other decisions: ordered where they become necessary, called off where nobody wants them any more.

use domain::errand::{self, Errand, ErrandCommand, ErrandError, Work};
use domain::{Claim, ErrandId, Slug, WorkspaceId, redact};

use crate::{Desk, Stop};

/// What went wrong with an errand, in characters.
const LONGEST_ERROR: usize = 4_000;

/// Orders work, or finds the errand that is under way for the very same.
pub(super) async fn order(
    desk: &mut Desk<'_>,
    workspace_id: WorkspaceId,
    bench: &Slug,
    work: Work,
) -> Result<ErrandId, Stop> {
    if let Some(open) = under_way(desk, work.claim()).await? {
        return if open.work.name() == work.name() {
            Ok(open.errand_id)
        } else {
            Err(ErrandError::Underway(open.work.name()).into())
        };
    }
    let errand_id = ErrandId(desk.new_id());
    let order = errand::OrderErrand { errand_id, workspace_id, bench: bench.clone(), work, now: desk.now() };
    desk.begin::<Errand>(errand_id.0, ErrandCommand::Order(order)).await?;
    Ok(errand_id)
}

/// What a program or a forge said, as it is recorded and mailed: without what looks like a secret, and not too long.
pub(super) fn told(error: &str) -> String {
    redact::lines(error, LONGEST_ERROR)
}

/// The errand that is under way for something.
pub(super) async fn under_way(desk: &mut Desk<'_>, claim: Claim) -> Result<Option<errand::LiveErrand>, Stop> {
    let Some(id) = desk.holder::<Errand>(claim).await? else { return Ok(None) };
    let errand = desk.load::<Errand>(id).await?;
    // It may have ended at this very desk.
    let Ok(live) = errand.state.under_way() else { return Ok(None) };
    desk.rely_on(&errand);
    Ok(Some(live.clone()))
}

/// Calls the errand off that is under way for something, if it is one of those that are meant.
pub(super) async fn call_off(
    desk: &mut Desk<'_>,
    claim: Claim,
    reason: &str,
    is_meant: impl Fn(&Work) -> bool,
) -> Result<(), Stop> {
    let Some(open) = under_way(desk, claim).await?.filter(|it| is_meant(&it.work)) else { return Ok(()) };
    let cancel = errand::CancelErrand { reason: reason.to_owned(), now: desk.now() };
    desk.run::<Errand>(open.errand_id.0, ErrandCommand::Cancel(cancel)).await.map(drop)
}
