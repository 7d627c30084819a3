//! Views of wiki entries: counted in memory, and told to the log now and then, so that reading does not make it grow.
//!
//! One event per entry and round. What a node has counted and not yet told is in its own answers; a crash loses it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use chrono::{DateTime, Utc};
use commands::{Actor, CommandError, Context, Idempotency, On};
use domain::WikiEntryId;
use domain::wiki::{CountViews, WikiCommand, WikiEntry};
use futures_util::{StreamExt, stream};
use projections::wiki;
use store::CommandKey;
use uuid::Uuid;

use crate::App;

/// Entries whose views are told to the log at the same time; they share its commits.
const AT_ONCE: usize = 64;
/// How long it is remembered that a batch has landed, in case it is told again.
const REMEMBERED: Duration = Duration::from_secs(60 * 60);
const NAME: &str = "wiki.countViews";

/// What this node has counted and the read model does not show yet.
#[derive(Default)]
pub(crate) struct ViewCounts {
    entries: Mutex<HashMap<WikiEntryId, Counting>>,
    round: tokio::sync::Mutex<()>,
}

/// Some views of one entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Views {
    /// How many.
    pub(crate) count: u64,
    /// When the last of them was.
    pub(crate) last: DateTime<Utc>,
}

#[derive(Default)]
struct Counting {
    open: Option<Views>,
    /// Told to the log under this id; until it is known to have landed, it is told again under the same id.
    told: Option<(Uuid, Views)>,
}

impl ViewCounts {
    /// Counts a view.
    pub(crate) fn note(&self, id: WikiEntryId, now: DateTime<Utc>) {
        let mut entries = self.lock();
        let open = &mut entries.entry(id).or_default().open;
        *open = sum(*open, Some(Views { count: 1, last: now }));
    }

    /// What is counted of an entry and not shown by the read model.
    pub(crate) fn of(&self, id: WikiEntryId) -> Option<Views> {
        let entries = self.lock();
        let counting = entries.get(&id)?;
        sum(counting.open, counting.told.map(|(_, views)| views))
    }

    /// Closes what is open, and says all that has to be told.
    fn tell(&self) -> Vec<(WikiEntryId, Uuid, Views)> {
        let tell = |(id, counting): (&WikiEntryId, &mut Counting)| {
            if counting.told.is_none() {
                counting.told = counting.open.take().map(|views| (Uuid::now_v7(), views));
            }
            counting.told.map(|(batch, views)| (*id, batch, views))
        };
        self.lock().iter_mut().filter_map(tell).collect()
    }

    /// Forgets what the log knows now.
    fn landed(&self, ids: &[WikiEntryId]) {
        let mut entries = self.lock();
        for id in ids {
            if let Some(counting) = entries.get_mut(id) {
                counting.told = None;
            }
        }
        entries.retain(|_, it| it.open.is_some() || it.told.is_some());
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<WikiEntryId, Counting>> {
        // No code that can panic runs under this lock.
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl App {
    /// Tells the log of wiki views again and again, until the server is to end. Views after that need one more round.
    pub async fn keep_counting_wiki_views(self: Arc<Self>, every: Duration) {
        let mut stop = self.shutdown();
        while !*stop.borrow() {
            tokio::select! {
                _ = stop.changed() => {}
                () = tokio::time::sleep(every) => self.count_wiki_views().await,
            }
        }
    }

    /// Tells the log of the wiki views that were counted, in one event per entry.
    pub async fn count_wiki_views(&self) {
        let _one_round_at_a_time = self.wiki_views.round.lock().await;
        let told = stream::iter(self.wiki_views.tell());
        let told = told.map(|(id, batch, views)| async move { (id, self.tell_views(id, batch, views).await) });
        let ended: Vec<_> = told.buffer_unordered(AT_ONCE).collect().await;
        let (mut landed, mut position) = (Vec::new(), 0);
        for (id, outcome) in ended {
            match outcome {
                Ok(at) => {
                    position = position.max(at);
                    landed.push(id);
                }
                Err(CommandError::Unavailable(_) | CommandError::Conflict | CommandError::InFlight) => {
                    tracing::warn!(entry_id = %id, "views were not counted yet; they are told again");
                }
                Err(error) => {
                    tracing::error!(entry_id = %id, %error, "views are lost");
                    landed.push(id);
                }
            }
        }
        // They stay in this node's answers until the read model shows them.
        self.engine.wait_for(&[wiki::NAME], position, self.settings.patience).await;
        self.wiki_views.landed(&landed);
    }

    async fn tell_views(&self, id: WikiEntryId, batch: Uuid, views: Views) -> Result<i64, CommandError> {
        let key = CommandKey { principal: "system".to_owned(), route: NAME.to_owned(), key: batch.to_string() };
        let fingerprint = id.0.as_bytes().to_vec();
        let mut context = Context::new(Actor::System(NAME), self.clock.now());
        context.idempotency = Some(Idempotency { key, fingerprint, lifetime: Some(REMEMBERED) });
        let command = WikiCommand::CountViews(CountViews { views: views.count, last_viewed_at: views.last });
        let done = self.executor.run(&context, &On::<WikiEntry> { name: NAME, id: id.0, command }).await?;
        Ok(done.position)
    }
}

fn sum(one: Option<Views>, other: Option<Views>) -> Option<Views> {
    match (one, other) {
        (Some(a), Some(b)) => Some(Views { count: a.count + b.count, last: a.last.max(b.last) }),
        (one, other) => one.or(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> DateTime<Utc> {
        DateTime::from_timestamp(second, 0).expect("a time")
    }

    fn views(count: u64, second: i64) -> Views {
        Views { count, last: at(second) }
    }

    #[test]
    fn what_is_told_counts_until_it_has_landed() {
        let (counts, id) = (ViewCounts::default(), WikiEntryId(Uuid::from_u128(70)));
        counts.note(id, at(1));
        counts.note(id, at(2));
        let [(_, _, told)] = counts.tell()[..] else { panic!("one entry was viewed") };
        counts.note(id, at(3));
        assert_eq!((told, counts.of(id)), (views(2, 2), Some(views(3, 3))));
        counts.landed(&[id]);
        assert_eq!(counts.of(id), Some(views(1, 3)));
    }

    #[test]
    fn what_has_not_landed_is_told_again_as_it_was() {
        let (counts, id) = (ViewCounts::default(), WikiEntryId(Uuid::from_u128(70)));
        counts.note(id, at(1));
        let first = counts.tell();
        counts.note(id, at(2));
        assert_eq!(counts.tell(), first);
    }

    #[test]
    fn nothing_is_kept_of_what_has_landed() {
        let (counts, id) = (ViewCounts::default(), WikiEntryId(Uuid::from_u128(70)));
        counts.note(id, at(1));
        counts.tell();
        counts.landed(&[id]);
        assert!(counts.lock().is_empty() && counts.tell().is_empty());
    }
}
