//! What a build has written lately, kept in memory so that it need not be read back.

use std::collections::{HashMap, HashSet};
use std::mem;

use store::StoreError;
use store::sql::Value;

use crate::rows::Changes;
use crate::schema::Tables;
use crate::{Key, RowKey, Rows};

/// Bytes of records in one generation; there are two.
const GENERATION: usize = 16 << 20;

/// Records as they were last written. Bounded: of two generations, the old one is forgotten when the young one is full.
#[derive(Debug, Default)]
pub(crate) struct Known {
    young: HashMap<RowKey, String>,
    old: HashMap<RowKey, String>,
    young_bytes: usize,
    /// Whether nothing was forgotten since the build began, so that a row that is not here does not exist.
    complete: bool,
}

impl Known {
    /// What is known of tables that are filled up to a checkpoint.
    pub(crate) fn at(checkpoint: i64) -> Self {
        Self { complete: checkpoint == 0, ..Self::default() }
    }

    /// The rows that are known, and the keys of those that must be looked for.
    pub(crate) fn look_up(&mut self, keys: HashSet<RowKey>) -> (Rows, HashSet<RowKey>) {
        let (mut rows, mut missing) = (Rows::default(), HashSet::new());
        for key in keys {
            if let Some(doc) = self.young.get(&key) {
                rows.load(key, Some(doc.clone()));
            } else if let Some(doc) = self.old.remove(&key) {
                self.keep(key.clone(), doc.clone());
                rows.load(key, Some(doc));
            } else if self.complete {
                rows.load(key, None);
            } else {
                missing.insert(key);
            }
        }
        (rows, missing)
    }

    /// Follows what is about to be written. Rows that are written once are never looked up.
    pub(crate) fn follow(&mut self, changes: &Changes, tables: &Tables) -> Result<(), StoreError> {
        for (name, rows) in changes.inserts.iter().chain(&changes.writes) {
            let table = tables.table(name)?;
            for row in rows.iter().filter(|_| !table.written_once) {
                let key = Key::from_values(&row[..table.key_columns]);
                if let (Some(key), Some(Value::Text(doc))) = (key, row.last()) {
                    self.keep(RowKey { table: name, key }, doc.clone());
                }
            }
        }
        for (name, keys) in &changes.removals {
            for key in keys.iter().filter_map(|it| Key::from_values(it)) {
                let key = RowKey { table: name, key };
                self.young_bytes -= self.young.remove(&key).map_or(0, |doc| doc.len());
                self.old.remove(&key);
            }
        }
        Ok(())
    }

    fn keep(&mut self, key: RowKey, doc: String) {
        self.young_bytes += doc.len();
        self.old.remove(&key);
        self.young_bytes -= self.young.insert(key, doc).map_or(0, |before| before.len());
        if self.young_bytes > GENERATION {
            self.complete &= self.old.is_empty();
            self.old = mem::take(&mut self.young);
            self.young_bytes = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(n: i64) -> RowKey {
        RowKey { table: "parcels", key: n.into() }
    }

    fn missing(known: &mut Known, n: i64) -> bool {
        !known.look_up(HashSet::from([key(n)])).1.is_empty()
    }

    #[test]
    fn what_a_build_from_nothing_has_not_written_does_not_exist() {
        assert!(!missing(&mut Known::at(0), 1));
        assert!(missing(&mut Known::at(7), 1));
    }

    #[test]
    fn what_is_forgotten_must_be_looked_for() {
        let mut known = Known::at(0);
        let third = "x".repeat(GENERATION / 3 + 1);
        for n in 0..3 {
            known.keep(key(n), third.clone());
        }
        assert!(!missing(&mut known, 0) && !missing(&mut known, 9), "one generation back nothing is lost");
        for n in 3..6 {
            known.keep(key(n), third.clone());
        }
        assert!(missing(&mut known, 1) && missing(&mut known, 9));
        assert!(!missing(&mut known, 0), "what is used stays");
        assert!(known.young_bytes <= GENERATION);
    }
}
