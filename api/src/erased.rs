//! What a node keeps in memory must not outlive an erasure, also when another node or the command line erased.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use store::StoreError;

use crate::App;

/// How soon a node hears of an erasure that was made elsewhere.
const SOON: Duration = Duration::from_millis(250);

impl App {
    /// Looks, whenever the log has moved, whether text was erased, and forgets what was made of it.
    pub async fn keep_forgetting_erased(self: Arc<Self>) {
        let mut head = self.log.subscribe();
        loop {
            // However busy the log is, there is one look in so much time.
            tokio::time::sleep(SOON).await;
            match self.forget_if_erased().await {
                Ok(()) => {}
                Err(error) => tracing::warn!(%error, "whether text was erased is not known"),
            }
            if head.changed().await.is_err() {
                return;
            }
        }
    }

    /// Forgets what may hold text that was erased since the last look.
    pub async fn forget_if_erased(&self) -> Result<(), StoreError> {
        let erasures = self.executor.look_at_keys().await?;
        if self.erasures.fetch_max(erasures, Ordering::SeqCst) < erasures {
            self.pasts.forget();
            self.beginnings.clear();
            self.agent_pages.forget();
            self.event_pages.forget();
            tracing::info!("text was erased: what this node kept in memory is forgotten");
        }
        Ok(())
    }
}
