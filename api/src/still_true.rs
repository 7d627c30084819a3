//! Answers that are still true: kept until a row of a read model that they were read from may have changed.
//!
//! What a query shows is a function of its read models, and the node that folds one knows whenever its rows may have
//! changed. So an answer is given again while all of them stand where they stood before it was read. On a node that does
//! not fold one of them nothing is kept, for there the database alone knows how far it is.
//!
//! [`KEPT`] is for the rare changes that come from elsewhere: a parked stream that is retried, a rebuild that takes over.

use std::hash::Hash;
use std::time::{Duration, Instant};

use quick_cache::Weighter;
use quick_cache::sync::Cache;

/// The longest that an answer is given again.
const KEPT: Duration = Duration::from_secs(1);
/// Answers of a kind, and bytes of them, that are kept.
const MOST: usize = 2_000;
const MOST_BYTES: u64 = 16 * 1024 * 1024;

/// Something that takes room in memory.
pub(crate) trait HasBytes {
    fn bytes(&self) -> usize;
}

/// Answers of one kind, by what was asked.
pub(crate) struct StillTrue<Q, A: HasBytes>(Cache<Q, Kept<A>, Bytes>);

#[derive(Clone)]
struct Kept<A> {
    stand: i64,
    since: Instant,
    answer: A,
}

#[derive(Clone)]
struct Bytes;

impl<Q: Hash + Eq + Clone, A: HasBytes + Clone> Default for StillTrue<Q, A> {
    fn default() -> Self {
        Self(Cache::with_weighter(MOST, MOST_BYTES, Bytes))
    }
}

impl<Q: Hash + Eq + Clone, A: HasBytes + Clone> StillTrue<Q, A> {
    /// The answer that was given when the read models stood where they stand now.
    pub(crate) fn get(&self, asked: &Q, stand: Option<i64>) -> Option<A> {
        let kept = self.0.get(asked)?;
        (Some(kept.stand) == stand && kept.since.elapsed() < KEPT).then_some(kept.answer)
    }

    /// Forgets every answer.
    pub(crate) fn forget(&self) {
        self.0.clear();
    }

    /// Keeps an answer; `stand` is where the read models stood before it was read.
    pub(crate) fn keep(&self, asked: Q, stand: Option<i64>, answer: A) {
        if let Some(stand) = stand {
            self.0.insert(asked, Kept { stand, since: Instant::now(), answer });
        }
    }
}

impl<Q, A: HasBytes> Weighter<Q, Kept<A>> for Bytes {
    fn weight(&self, _: &Q, kept: &Kept<A>) -> u64 {
        // What the cache itself needs for each is more than nothing.
        kept.answer.bytes() as u64 + 200
    }
}

impl HasBytes for axum::body::Bytes {
    fn bytes(&self) -> usize {
        self.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_given_again_only_while_its_read_models_stand_still() {
        let kept = StillTrue::<u8, axum::body::Bytes>::default();
        kept.keep(1, Some(40), "forty".into());
        assert_eq!(kept.get(&1, Some(40)), Some("forty".into()));
        assert_eq!((kept.get(&1, Some(41)), kept.get(&1, None), kept.get(&2, Some(40))), (None, None, None));
    }

    #[test]
    fn nothing_is_kept_where_nobody_knows_how_far_the_read_models_are() {
        let kept = StillTrue::<u8, axum::body::Bytes>::default();
        kept.keep(1, None, "something".into());
        assert_eq!(kept.get(&1, None), None);
    }
}
