//! Stops an agent: its terminal is closed with everything that runs in it.

use domain::errand::WorkResult;
use workbench::tmux::Session;

use super::hands::Hands;
use super::trouble::Trouble;

pub(super) async fn perform(hands: &Hands, tmux_session: &str) -> Result<WorkResult, Trouble> {
    if let Some(tmux) = hands.shop.bench.tmux() {
        tmux.kill(&Session::new(tmux_session)?).await?;
    }
    Ok(WorkResult::Stopped)
}
