//! Recent: which of many facts were seen before, remembered in bounded space.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

/// How many keys are remembered.
const CAPACITY: usize = 512;

/// The natural keys of the latest facts of a kind. Keys grow with time, as GitHub's ids and times do.
///
/// What is older than everything remembered counts as seen: a fact that comes later than 512 newer ones is lost,
/// and a repeated fact is never taken twice.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Recent<K: Ord>(BTreeSet<K>);

impl<K: Ord> Default for Recent<K> {
    fn default() -> Self {
        Self(BTreeSet::new())
    }
}

impl<K: Ord> Recent<K> {
    /// Whether a fact with this key was not seen before.
    pub(crate) fn is_news(&self, key: &K) -> bool {
        let is_too_old = self.0.len() >= CAPACITY && self.0.first().is_some_and(|oldest| key < oldest);
        !is_too_old && !self.0.contains(key)
    }

    /// Remembers that a fact with this key was seen.
    pub(crate) fn note(&mut self, key: K) {
        self.0.insert(key);
        while self.0.len() > CAPACITY {
            self.0.pop_first();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_news_once_in_any_order() {
        let mut recent = Recent::default();
        for key in [5, 3, 9] {
            assert!(recent.is_news(&key));
            recent.note(key);
            assert!(!recent.is_news(&key));
        }
    }

    #[test]
    fn what_was_forgotten_is_still_no_news() {
        let mut recent = Recent::default();
        for key in 0..10_000 {
            recent.note(key);
        }
        assert_eq!(recent.0.len(), CAPACITY);
        assert!((0..10_000).all(|key| !recent.is_news(&key)));
        assert!(recent.is_news(&10_000));
    }
}
