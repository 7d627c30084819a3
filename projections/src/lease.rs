//! Leases: one node at a time works on a version of a projection. This only saves work; the fence is the registry.

use std::time::{Duration, Instant};

use store::StoreError;
use store::sql::{Database, Outcome, Query};

/// This node's hold on one version of a projection.
#[derive(Debug)]
pub(crate) struct Lease {
    views: Database,
    name: String,
    version: i64,
    owner: String,
    lasts: Duration,
    /// When it was last taken or renewed, by this node's own clock.
    renewed: Option<Instant>,
    /// Whether it may be taken from whoever has it.
    by_force: bool,
}

impl Lease {
    pub(crate) fn new(views: Database, name: &str, version: i64, owner: &str, lasts: Duration) -> Self {
        // A data folder has one server, so whoever held a lease there before this start is dead.
        let by_force = matches!(views, Database::Sqlite(_));
        Self { views, name: name.into(), version, owner: owner.into(), lasts, renewed: None, by_force }
    }

    /// The same, to be taken from whoever has it: their engine rests until it is given back or has run out.
    pub(crate) fn by_force(views: Database, name: &str, version: i64, owner: &str, lasts: Duration) -> Self {
        Self { by_force: true, ..Self::new(views, name, version, owner, lasts) }
    }

    /// How often a lease is renewed, and asked for by those who do not have it.
    pub(crate) fn interval(&self) -> Duration {
        self.lasts / 3
    }

    /// Takes the lease, or renews it when that is due. Whether this node has it now.
    pub(crate) async fn hold(&mut self) -> Result<bool, StoreError> {
        if self.renewed.is_some_and(|at| at.elapsed() < self.interval()) {
            return Ok(true);
        }
        let asked = Instant::now();
        let now = self.views.now_micros().await?;
        let lasts = i64::try_from(self.lasts.as_micros()).unwrap_or(i64::MAX);
        let take = Query::new(
            "insert into leases (name, version, owner, expires_at)
             values ($1, $2, $3, $4)
             on conflict (name, version) do update
             set owner = excluded.owner, expires_at = excluded.expires_at
             where leases.owner = excluded.owner or leases.expires_at < $5",
        )
        .bind(&self.name)
        .bind(self.version)
        .bind(&self.owner)
        .bind(now.saturating_add(lasts))
        .bind(if self.by_force { i64::MAX } else { now });
        let held = self.views.change(take).await? == Outcome::Done;
        self.by_force = false;
        self.renewed = held.then_some(asked);
        Ok(held)
    }

    /// Gives the lease back, so that another node need not wait for its end.
    pub(crate) async fn give_back(&mut self) -> Result<(), StoreError> {
        if self.renewed.take().is_none() {
            return Ok(());
        }
        let give = Query::new("delete from leases where name = $1 and version = $2 and owner = $3")
            .bind(&self.name)
            .bind(self.version)
            .bind(&self.owner);
        self.views.transact(vec![give.into()]).await.map(drop)
    }
}

/// Who works on a version of a projection now, if anybody does.
pub(crate) async fn owner(views: &Database, name: &str, version: i64) -> Result<Option<String>, StoreError> {
    let query = Query::new("select owner from leases where name = $1 and version = $2 and expires_at >= $3")
        .bind(name)
        .bind(version)
        .bind(views.now_micros().await?);
    views.first(query).await?.map(|mut row| row.take_text(0)).transpose()
}

/// Who works on any version of a projection now, if anybody does.
pub(crate) async fn any_owner(views: &Database, name: &str) -> Result<Option<String>, StoreError> {
    let query = Query::new("select owner from leases where name = $1 and expires_at >= $2 limit 1")
        .bind(name)
        .bind(views.now_micros().await?);
    views.first(query).await?.map(|mut row| row.take_text(0)).transpose()
}
