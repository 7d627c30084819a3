//! The lease on a bench's name: one node at a time works there. A row beside the log, on the database's own clock.

use std::time::{Duration, Instant};

use crate::sql::{Database, Outcome, Query, Statement};
use crate::{EventLog, StoreError};

/// A node's hold on the name of a bench.
#[derive(Debug)]
pub struct BenchLease {
    database: Database,
    bench: String,
    owner: String,
    lasts: Duration,
    /// Whether it may be taken from whoever has it.
    by_force: bool,
}

impl EventLog {
    /// A lease to be taken by an owner who is one process at a time.
    pub fn bench_lease(&self, bench: &str, owner: &str, lasts: Duration) -> BenchLease {
        // A data folder has one server, so whoever held a lease there before this start is dead.
        let by_force = matches!(self.database, Database::Sqlite(_));
        BenchLease { database: self.database.clone(), bench: bench.into(), owner: owner.into(), lasts, by_force }
    }
}

impl BenchLease {
    /// Takes the lease or renews it: until when the owner has it, by this node's clock; nothing if another has it.
    pub async fn hold(&mut self) -> Result<Option<Instant>, StoreError> {
        // Looked at first: the lease ends here before it ends there.
        let asked = Instant::now();
        let now = self.database.now_micros().await?;
        let lasts = i64::try_from(self.lasts.as_micros()).unwrap_or(i64::MAX);
        let take = Query::new(
            "insert into bench_leases (bench, owner, expires_at)
             values ($1, $2, $3)
             on conflict (bench) do update
             set owner = excluded.owner, expires_at = excluded.expires_at
             where bench_leases.owner = excluded.owner or bench_leases.expires_at < $4",
        )
        .bind(&self.bench)
        .bind(&self.owner)
        .bind(now.saturating_add(lasts))
        .bind(if self.by_force { i64::MAX } else { now });
        let held = self.database.transact(vec![Statement::Expect { query: take, rows: 1 }]).await? == Outcome::Done;
        self.by_force = false;
        Ok(held.then(|| asked + self.lasts))
    }

    /// Gives the lease back, so that another node need not wait for its end.
    pub async fn give_back(&self) -> Result<(), StoreError> {
        let give = Query::new("delete from bench_leases where bench = $1 and owner = $2");
        self.database.transact(vec![give.bind(&self.bench).bind(&self.owner).into()]).await.map(drop)
    }
}
