//! Rows in memory while a batch is folded: loaded once, changed by facts, written back once.

use std::any::Any;
use std::collections::{BTreeMap, HashMap};
use std::fmt;

use serde::Serialize;
use serde::de::DeserializeOwned;
use store::sql::Value;

use crate::{FoldError, Key};

/// A row of a read model: a struct that is kept as JSON in the column `doc`, after the columns that queries filter
/// and sort by.
pub trait Record: Serialize + DeserializeOwned + Send + 'static {
    /// The table, by the name that queries use.
    const TABLE: &'static str;

    /// The key columns.
    fn key(&self) -> Key;

    /// The columns between the key and `doc`, in the table's order.
    fn columns(&self) -> Vec<Value>;
}

/// A key and the table it is a key of.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RowKey {
    /// The table, by the name that queries use.
    pub table: &'static str,
    /// The key.
    pub key: Key,
}

/// The rows that a batch reads and changes.
#[derive(Default)]
pub struct Rows {
    slots: HashMap<RowKey, Slot>,
    /// Rows that nobody looks for, in the order of the log.
    added: Vec<(&'static str, Box<dyn Kept>)>,
    /// Whether a row that is not here is known not to exist.
    complete: bool,
}

/// What a batch does to tables.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Changes {
    /// Whole rows that were looked for and are not there yet, by table.
    pub(crate) inserts: BTreeMap<&'static str, Vec<Vec<Value>>>,
    /// Whole rows to write over what there may be, by table.
    pub(crate) writes: BTreeMap<&'static str, Vec<Vec<Value>>>,
    /// Keys to remove, by table.
    pub(crate) removals: BTreeMap<&'static str, Vec<Vec<Value>>>,
}

#[derive(Default)]
struct Slot {
    /// The `doc` that was loaded; `None` when the row did not exist, or was not asked for.
    stored: Option<String>,
    loaded: bool,
    now: Now,
}

#[derive(Default)]
enum Now {
    #[default]
    AsStored,
    /// Parsed, and maybe changed.
    Is {
        row: Box<dyn Kept>,
        changed: bool,
    },
    Gone,
}

/// A record whose type is forgotten while it waits to be written.
trait Kept: Any + Send {
    fn values(&self) -> Result<Vec<Value>, FoldError>;
}

impl<R: Record> Kept for R {
    fn values(&self) -> Result<Vec<Value>, FoldError> {
        let key = self.key();
        let unreadable = |e: serde_json::Error| FoldError::Unreadable(R::TABLE, key.to_string(), e.to_string());
        // Large enough for nearly every record: it grows without being copied.
        let mut doc = Vec::with_capacity(1024);
        serde_json::to_writer(&mut doc, self).map_err(unreadable)?;
        let doc =
            String::from_utf8(doc).map_err(|e| FoldError::Unreadable(R::TABLE, key.to_string(), e.to_string()))?;
        let mut values = key.values();
        values.extend(self.columns());
        values.iter_mut().for_each(make_storable);
        // JSON writes a NUL in another way.
        values.push(Value::Text(doc));
        Ok(values)
    }
}

impl Rows {
    /// No rows, and certainly none elsewhere: where a fold begins from nothing.
    pub fn nothing() -> Self {
        Self { complete: true, ..Self::default() }
    }

    /// The row, if it exists.
    pub fn get<R: Record>(&mut self, key: impl Into<Key>) -> Result<Option<&R>, FoldError> {
        Ok(self.row::<R>(&RowKey::of::<R>(key))?.map(|(row, _)| &*row))
    }

    /// Changes a row that an earlier fact has made.
    pub fn update<R: Record>(&mut self, key: impl Into<Key>, change: impl FnOnce(&mut R)) -> Result<(), FoldError> {
        let key = RowKey::of::<R>(key);
        let (row, changed) = match self.row::<R>(&key)? {
            Some(found) => found,
            None => return Err(FoldError::NoRow(R::TABLE, key.key.to_string())),
        };
        change(row);
        *changed = true;
        Ok(())
    }

    /// Writes a whole row, over the one with the same key.
    pub fn put<R: Record>(&mut self, record: R) {
        let key = record.key();
        self.slot::<R>(key).now = Now::Is { row: Box::new(record), changed: true };
    }

    /// Writes a row of a table that is written once, whose key is the position of the fact: nobody looks for it while
    /// events are folded, so it goes straight to what is written.
    pub fn add<R: Record>(&mut self, record: R) {
        self.added.push((R::TABLE, Box::new(record)));
    }

    /// Removes a row, if it exists.
    pub fn delete<R: Record>(&mut self, key: impl Into<Key>) {
        self.slot::<R>(key.into()).now = Now::Gone;
    }

    /// Takes out the rows of one table that were put in or changed, in the order of their keys, and then those that were
    /// added, in the order of the log.
    pub(crate) fn take<R: Record>(&mut self) -> Vec<R> {
        let mut keys: Vec<RowKey> = self.slots.keys().filter(|it| it.table == R::TABLE).cloned().collect();
        keys.sort_unstable();
        let taken = keys.iter().filter_map(|key| match self.slots.remove(key)?.now {
            Now::Is { row, changed: true } => Some(row as Box<dyn Any>),
            Now::Is { changed: false, .. } | Now::AsStored | Now::Gone => None,
        });
        let added = self.added.extract_if(.., |(table, _)| *table == R::TABLE).map(|(_, row)| row as Box<dyn Any>);
        taken.chain(added).filter_map(|row| row.downcast::<R>().ok()).map(|row| *row).collect()
    }

    /// Puts in a row as it is stored, or that there is none.
    pub(crate) fn load(&mut self, key: RowKey, stored: Option<String>) {
        self.slots.insert(key, Slot { stored, loaded: true, now: Now::AsStored });
    }

    /// Undoes everything since the rows were loaded.
    pub(crate) fn reset(&mut self) {
        self.slots.retain(|_, slot| slot.loaded);
        self.slots.values_mut().for_each(|slot| slot.now = Now::AsStored);
        self.added.clear();
    }

    /// What is to be written.
    pub(crate) fn changes(&self) -> Result<Changes, FoldError> {
        // In the order of keys, so that engines that race take row locks alike.
        let mut slots: Vec<_> = self.slots.iter().collect();
        slots.sort_unstable_by_key(|(key, _)| *key);
        let mut changes = Changes::default();
        for (table, row) in &self.added {
            changes.writes.entry(table).or_default().push(row.values()?);
        }
        for (at, slot) in slots {
            match &slot.now {
                Now::Is { row, changed: true } => {
                    let values = row.values()?;
                    let is_new = slot.loaded && slot.stored.is_none();
                    let rows = if is_new { &mut changes.inserts } else { &mut changes.writes };
                    rows.entry(at.table).or_default().push(values);
                }
                Now::Gone => changes.removals.entry(at.table).or_default().push(at.key.values()),
                Now::Is { changed: false, .. } | Now::AsStored => {}
            }
        }
        Ok(changes)
    }

    fn slot<R: Record>(&mut self, key: Key) -> &mut Slot {
        self.slots.entry(RowKey { table: R::TABLE, key }).or_default()
    }

    fn row<R: Record>(&mut self, key: &RowKey) -> Result<Option<(&mut R, &mut bool)>, FoldError> {
        let unreadable = |reason: String| FoldError::Unreadable(R::TABLE, key.key.to_string(), reason);
        let complete = self.complete;
        let Some(slot) = self.slots.get_mut(key) else {
            return if complete { Ok(None) } else { Err(FoldError::Undeclared(R::TABLE, key.key.to_string())) };
        };
        if let (Now::AsStored, Some(doc)) = (&slot.now, &slot.stored) {
            let row: R = serde_json::from_str(doc).map_err(|e| unreadable(e.to_string()))?;
            slot.now = Now::Is { row: Box::new(row), changed: false };
        }
        let Now::Is { row, changed } = &mut slot.now else { return Ok(None) };
        let row: &mut dyn Any = row.as_mut();
        let row = row.downcast_mut::<R>().ok_or_else(|| unreadable("it is another kind of record".into()))?;
        Ok(Some((row, changed)))
    }
}

impl fmt::Debug for Rows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.slots.keys()).finish()
    }
}

impl RowKey {
    /// Names a row of a record's table.
    pub fn of<R: Record>(key: impl Into<Key>) -> Self {
        Self { table: R::TABLE, key: key.into() }
    }
}

/// Puts a changed value in its place; an unchanged one stays.
pub(crate) fn assign<T>(place: &mut T, changed: Option<T>) {
    if let Some(value) = changed {
        *place = value;
    }
}

/// Makes a value one that both databases can hold: PostgreSQL knows no NUL in text, and one in an event must not stop a
/// read model.
fn make_storable(value: &mut Value) {
    if let Value::Text(text) = value
        && text.contains('\0')
    {
        *text = text.replace('\0', "\u{FFFD}");
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;
    use crate::examples::id;

    #[derive(Debug, PartialEq, serde::Deserialize, Serialize)]
    struct Parcel {
        id: Uuid,
        weight: i64,
    }

    impl Record for Parcel {
        const TABLE: &'static str = "parcels";

        fn key(&self) -> Key {
            self.id.into()
        }

        fn columns(&self) -> Vec<Value> {
            vec![self.weight.into()]
        }
    }

    fn loaded() -> Rows {
        let mut rows = Rows::default();
        let doc = serde_json::to_string(&Parcel { id: id(1), weight: 7 }).expect("JSON");
        rows.load(RowKey::of::<Parcel>(id(1)), Some(doc));
        rows.load(RowKey::of::<Parcel>(id(2)), None);
        rows
    }

    #[test]
    fn only_changed_rows_are_written() {
        let mut rows = loaded();
        assert_eq!(rows.get::<Parcel>(id(1)), Ok(Some(&Parcel { id: id(1), weight: 7 })));
        assert_eq!(rows.changes(), Ok(Changes::default()));
        rows.update(id(1), |it: &mut Parcel| it.weight += 1).expect("the row is there");
        let changes = rows.changes().expect("changes");
        assert_eq!(changes.writes["parcels"].len(), 1);
        assert_eq!(changes.writes["parcels"][0][1], Value::Int(8));
    }

    #[test]
    fn a_row_that_was_not_declared_cannot_be_read() {
        let mut rows = loaded();
        assert_eq!(rows.get::<Parcel>(id(3)), Err(FoldError::Undeclared("parcels", id(3).to_string())));
        assert_eq!(Rows::nothing().get::<Parcel>(id(3)), Ok(None));
    }

    #[test]
    fn a_row_that_is_not_there_cannot_be_changed() {
        let refusal = loaded().update(id(2), |it: &mut Parcel| it.weight = 0);
        assert_eq!(refusal, Err(FoldError::NoRow("parcels", id(2).to_string())));
    }

    #[test]
    fn a_reset_undoes_everything_since_the_rows_were_loaded() {
        let mut rows = loaded();
        rows.delete::<Parcel>(id(1));
        rows.put(Parcel { id: id(2), weight: 1 });
        rows.put(Parcel { id: id(3), weight: 1 });
        rows.reset();
        assert_eq!(rows.changes(), Ok(Changes::default()));
        assert_eq!(rows.get::<Parcel>(id(1)).map(|it| it.map(|it| it.weight)), Ok(Some(7)));
        assert_eq!(rows.get::<Parcel>(id(2)), Ok(None));
    }

    #[test]
    fn a_deleted_row_is_removed_by_its_key() {
        let mut rows = loaded();
        rows.delete::<Parcel>(id(1));
        assert_eq!(rows.get::<Parcel>(id(1)), Ok(None));
        assert_eq!(rows.changes().expect("changes").removals["parcels"], [vec![Value::from(id(1))]]);
    }
}
