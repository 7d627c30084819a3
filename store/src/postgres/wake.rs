//! Wakes readers on other nodes: coalesced notifications outside the append, with polling as the net.

use std::time::Duration;

use sqlx::postgres::PgListener;
use tokio::sync::watch;

use crate::sql::{Database, PostgresDatabase};

const CHANNEL: &str = "muster_log";
/// Commits within this time share one notification: a notifying commit takes a lock that all of them would queue for.
const COALESCE: Duration = Duration::from_millis(10);
/// A notification can be lost with its connection; a head that moved is seen at the latest after this.
const POLL: Duration = Duration::from_millis(500);
/// How long to leave a server alone that does not answer.
const RETRY: Duration = Duration::from_millis(500);

/// Tells other nodes that this node's head has moved.
pub(crate) async fn notify(database: PostgresDatabase, mut head: watch::Receiver<i64>) {
    while head.changed().await.is_ok() {
        let position = *head.borrow_and_update();
        // A notification need not outlive the server, so it waits for no sync.
        let told = sqlx::query("select set_config('synchronous_commit', 'off', true), pg_notify($1, $2)")
            .bind(CHANNEL)
            .bind(position.to_string())
            .execute(database.pool())
            .await;
        if let Err(error) = told {
            tracing::debug!(%error, "other nodes were not told of new events; they poll");
        }
        tokio::time::sleep(COALESCE).await;
    }
}

/// Moves `head` when any node appends, for as long as the log is open.
pub(crate) async fn listen(database: PostgresDatabase, head: watch::Sender<i64>) {
    loop {
        if let Err(error) = follow(&database, &head).await {
            tracing::debug!(%error, "lost the connection that listens for new events");
        }
        tokio::time::sleep(RETRY).await;
    }
}

async fn follow(database: &PostgresDatabase, head: &watch::Sender<i64>) -> Result<(), sqlx::Error> {
    let mut listener = PgListener::connect_with(database.pool()).await?;
    listener.listen(CHANNEL).await?;
    loop {
        // Asked, not read from the notification: it may be late, coalesced or from before a reconnect.
        let at = crate::read::head(&Database::Postgres(database.clone())).await;
        let position = at.map_err(|error| sqlx::Error::Protocol(error.to_string()))?.position;
        head.send_if_modified(|known| {
            let newer = position > *known;
            *known = position.max(*known);
            newer
        });
        if let Ok(received) = tokio::time::timeout(POLL, listener.recv()).await {
            received?;
        }
    }
}
