//! Folding: facts into rows, event by event, and what happens when one of them cannot be applied.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use store::{Page, StoredEvent, StreamId};

use crate::recent::Told;
use crate::rows::Changes;
use crate::{Fact, FoldError, Poison, Projection, Record, RowKey, Rows};

/// The rows that a few facts make out of nothing, e.g. the facts of one stream up to some position.
pub fn fold_stream(projection: &dyn Projection, facts: &[Fact]) -> Result<Rows, Poison> {
    let mut rows = Rows::nothing();
    for fact in facts {
        apply(projection, fact, &mut rows)?;
    }
    Ok(rows)
}

/// The one record that the facts of one stream make of what they are about.
pub(crate) fn subject_of<R: Record + Clone>(projection: &dyn Projection, facts: &[Fact]) -> Result<Option<R>, Poison> {
    let Some(last) = facts.last() else { return Ok(None) };
    let mut rows = fold_stream(projection, facts)?;
    let row = rows.get::<R>(last.subject).map_err(|error| last.poison(error))?;
    Ok(row.cloned())
}

/// What is left out of a fold, on record.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct LeftOut {
    /// Streams that are parked, each from a position on.
    pub(crate) parked: HashMap<StreamId, i64>,
    /// Events that an operator gave up.
    pub(crate) skipped: HashSet<i64>,
}

/// What to do with an event that cannot be applied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OnPoison {
    /// Park its stream and go on: what is served must not stand still.
    Park,
    /// Stop before it: what is being rebuilt must be right.
    Stop,
    /// Leave it out and go on with its stream, because an operator said so.
    Skip,
}

/// Events of a stretch of the log, decoded once for every projection that folds them.
#[derive(Debug)]
pub(crate) struct Decoded {
    told: Vec<Told>,
    /// The position up to which the log was read.
    last: i64,
}

impl Decoded {
    /// Decodes a page; `None` when the log had nothing more.
    pub(crate) fn of(page: Page) -> Option<Self> {
        let told = |event| Arc::new(Fact::read(event));
        Some(Self { last: page.last?, told: page.events.into_iter().map(told).collect() })
    }

    /// What others have decoded.
    pub(crate) fn from_told(told: Vec<Told>, last: i64) -> Self {
        Self { told, last }
    }

    /// What was decoded, oldest first.
    pub(crate) fn told(&self) -> &[Told] {
        &self.told
    }

    /// The same.
    pub(crate) fn into_told(self) -> Vec<Told> {
        self.told
    }

    /// The position up to which the log was read.
    pub(crate) fn last(&self) -> i64 {
        self.last
    }
}

/// Events on their way into rows.
pub(crate) struct Batch {
    decoded: Arc<Decoded>,
    /// Which of them the projection folds.
    chosen: Vec<usize>,
    /// How many events wait in parked streams.
    held: BTreeMap<StreamId, i64>,
}

/// What became of a batch.
#[derive(Debug, PartialEq)]
pub(crate) struct Folded {
    pub(crate) changes: Changes,
    /// Everything up to here is in the changes, was left out or was parked.
    pub(crate) upto: i64,
    /// How many facts were applied.
    pub(crate) applied: usize,
    /// Events that could not be applied.
    pub(crate) poison: Vec<Poison>,
    /// How many events of each parked stream the batch had, those of `poison` included.
    pub(crate) held: BTreeMap<StreamId, i64>,
}

impl Folded {
    /// Whether there is nothing to write but how far it is.
    pub(crate) fn is_idle(&self) -> bool {
        self.changes == Changes::default() && self.poison.is_empty() && self.held.is_empty()
    }

    /// Of nothing, up to a position.
    pub(crate) fn nothing(upto: i64) -> Self {
        Self { changes: Changes::default(), upto, applied: 0, poison: vec![], held: BTreeMap::new() }
    }
}

impl Batch {
    /// What the projection reads and nobody left out; `None` of no events.
    pub(crate) fn read(projection: &dyn Projection, events: Vec<StoredEvent>, left_out: &LeftOut) -> Option<Self> {
        let reads = projection.reads();
        let last = events.last().map(|event| event.position);
        let events = events.into_iter().filter(|event| reads.includes(&event.stream.aggregate_type)).collect();
        let decoded = Decoded::of(Page { events, last })?;
        Some(Self::of(projection, Arc::new(decoded), left_out))
    }

    /// What the projection reads and nobody left out.
    pub(crate) fn of(projection: &dyn Projection, decoded: Arc<Decoded>, left_out: &LeftOut) -> Self {
        let reads = projection.reads();
        let (mut chosen, mut held) = (Vec::new(), BTreeMap::new());
        for (n, item) in decoded.told.iter().enumerate() {
            let (position, stream) = place(item);
            if !reads.includes(&stream.aggregate_type) || left_out.skipped.contains(&position) {
                continue;
            }
            if left_out.parked.get(stream).is_some_and(|from| position >= *from) {
                *held.entry(stream.clone()).or_default() += 1;
                continue;
            }
            chosen.push(n);
        }
        Self { decoded, chosen, held }
    }

    /// The batch without what is up to a position.
    pub(crate) fn after(mut self, position: i64) -> Self {
        let decoded = &self.decoded;
        self.chosen.retain(|n| place(&decoded.told[*n]).0 > position);
        self
    }

    /// The rows to load before the batch is folded.
    pub(crate) fn touches(&self, projection: &dyn Projection) -> HashSet<RowKey> {
        self.items().flatten().flat_map(|fact| projection.touches(fact)).collect()
    }

    fn items(&self) -> impl Iterator<Item = &Result<Fact, Poison>> {
        self.chosen.iter().map(|n| &*self.decoded.told[*n])
    }

    /// Folds the batch into the rows it touches.
    pub(crate) fn fold(
        self,
        projection: &dyn Projection,
        mut rows: Rows,
        on_poison: OnPoison,
    ) -> Result<Folded, FoldError> {
        let mut poison: Vec<Poison> = self.items().filter_map(|item| item.as_ref().err().cloned()).collect();
        // A fact that fails halfway leaves its mark on rows, so everything is folded again without it. That is rare.
        let (applied, held) = loop {
            match self.attempt(projection, &mut rows, on_poison, &poison) {
                Ok(done) => break done,
                Err(another) => poison.push(another),
            }
            rows.reset();
        };
        // Only the first of a parked stream matters, and nothing after the first where a rebuild stops.
        poison.sort_by_key(|it| it.position);
        let mut streams = HashSet::new();
        let mut upto = self.decoded.last;
        match on_poison {
            OnPoison::Park => poison.retain(|it| streams.insert(it.stream.clone())),
            OnPoison::Stop => {
                poison.truncate(1);
                upto = poison.first().map_or(upto, |it| it.position - 1);
            }
            OnPoison::Skip => {}
        }
        Ok(Folded { changes: rows.changes()?, upto, applied, poison, held })
    }

    /// Folds everything but what is known to be poison; a new one ends the attempt.
    fn attempt(
        &self,
        projection: &dyn Projection,
        rows: &mut Rows,
        on_poison: OnPoison,
        poison: &[Poison],
    ) -> Result<(usize, BTreeMap<StreamId, i64>), Poison> {
        let mut held = self.held.clone();
        let mut applied = 0;
        let known: HashSet<i64> = poison.iter().map(|it| it.position).collect();
        let mut parked: HashSet<&StreamId> = HashSet::new();
        for item in self.items() {
            let (position, stream) = place(item);
            let is_poison = known.contains(&position);
            match on_poison {
                OnPoison::Stop if is_poison => break,
                OnPoison::Skip if is_poison => continue,
                OnPoison::Park if is_poison || parked.contains(stream) => {
                    parked.insert(stream);
                    *held.entry(stream.clone()).or_default() += 1;
                    continue;
                }
                OnPoison::Stop | OnPoison::Skip | OnPoison::Park => {}
            }
            let fact = item.as_ref().map_err(Poison::clone)?;
            apply(projection, fact, rows)?;
            applied += 1;
        }
        Ok((applied, held))
    }
}

/// Where an event is, whether it could be decoded or not.
pub(crate) fn place(item: &Result<Fact, Poison>) -> (i64, &StreamId) {
    match item {
        Ok(fact) => (fact.position, &fact.stream),
        Err(poison) => (poison.position, &poison.stream),
    }
}

pub(crate) fn apply(projection: &dyn Projection, fact: &Fact, rows: &mut Rows) -> Result<(), Poison> {
    // A bug in one fold must not end the task that feeds the others of its batch.
    let folded = catch_unwind(AssertUnwindSafe(|| projection.apply(fact, rows)));
    folded.unwrap_or_else(|panic| Err(FoldError::Panicked(message(&*panic)))).map_err(|error| fact.poison(error))
}

fn message(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|it| (*it).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "without a message".into())
}

#[cfg(test)]
mod tests {
    use domain::workspace::WorkspaceEvent;
    use store::sql::{Table, Value};

    use super::*;
    use crate::examples::{id, stored};
    use crate::{FactOf, Key};

    /// Keeps the last name of each workspace, and cannot keep the name `bad`.
    struct LastName;

    #[derive(serde::Serialize, serde::Deserialize)]
    struct Name(uuid::Uuid, String);

    impl Record for Name {
        const TABLE: &'static str = "names";

        fn key(&self) -> Key {
            self.0.into()
        }

        fn columns(&self) -> Vec<Value> {
            vec![]
        }
    }

    impl Projection for LastName {
        fn name(&self) -> &str {
            "last_name"
        }

        fn version(&self) -> i64 {
            1
        }

        fn tables(&self) -> Vec<Table> {
            vec![]
        }

        fn touches(&self, _: &Fact) -> Vec<RowKey> {
            vec![]
        }

        fn apply(&self, fact: &Fact, rows: &mut Rows) -> Result<(), FoldError> {
            let FactOf::Workspace(WorkspaceEvent::WorkspaceDetailsChanged { name: Some(name), .. }) = &fact.of else {
                return Ok(());
            };
            rows.put(Name(fact.subject, name.clone()));
            if name == "bad" { Err(FoldError::Senseless("bad".into())) } else { Ok(()) }
        }
    }

    /// Two streams, 1 and 2; the second event of the first one is given.
    fn fold(second: &str, left_out: &LeftOut, on_poison: OnPoison) -> Folded {
        let events = vec![stored(1, 1, "a"), stored(2, 1, second), stored(3, 2, "b"), stored(4, 1, "c")];
        let batch = Batch::read(&LastName, events, left_out).expect("events");
        batch.fold(&LastName, Rows::nothing(), on_poison).expect("rows")
    }

    fn names(folded: &Folded) -> Vec<String> {
        let rows = folded.changes.writes.get("names").into_iter().flatten();
        rows.filter_map(|row| match row.last() {
            Some(Value::Text(doc)) => serde_json::from_str::<Name>(doc).ok().map(|it| it.1),
            _ => None,
        })
        .collect()
    }

    #[test]
    fn a_batch_without_poison_is_folded_whole() {
        let folded = fold("x", &LeftOut::default(), OnPoison::Park);
        assert_eq!((names(&folded), folded.upto, folded.applied), (vec!["c".to_owned(), "b".to_owned()], 4, 4));
    }

    #[test]
    fn poison_parks_its_stream_and_leaves_no_trace() {
        for second in ["bad", "broken"] {
            let folded = fold(second, &LeftOut::default(), OnPoison::Park);
            assert_eq!((names(&folded), folded.upto), (vec!["a".to_owned(), "b".to_owned()], 4));
            assert_eq!(folded.poison.iter().map(|it| it.position).collect::<Vec<_>>(), [2]);
            assert_eq!(folded.held, BTreeMap::from([(StreamId::new("workspace", id(1)), 2)]));
        }
    }

    #[test]
    fn a_rebuild_stops_before_poison() {
        for second in ["bad", "broken"] {
            let folded = fold(second, &LeftOut::default(), OnPoison::Stop);
            assert_eq!((names(&folded), folded.upto, folded.poison.len()), (vec!["a".to_owned()], 1, 1));
        }
    }

    #[test]
    fn a_skipped_event_is_left_out_and_its_stream_goes_on() {
        for second in ["bad", "broken"] {
            let folded = fold(second, &LeftOut::default(), OnPoison::Skip);
            assert_eq!((names(&folded), folded.applied), (vec!["c".to_owned(), "b".to_owned()], 3));
            let on_record = LeftOut { skipped: HashSet::from([2]), ..LeftOut::default() };
            assert_eq!(names(&fold(second, &on_record, OnPoison::Stop)), ["c", "b"]);
        }
    }

    #[test]
    fn later_events_of_a_parked_stream_wait() {
        let parked = LeftOut { parked: HashMap::from([(StreamId::new("workspace", id(1)), 2)]), ..LeftOut::default() };
        let folded = fold("x", &parked, OnPoison::Park);
        assert_eq!((names(&folded), folded.upto, folded.poison.len()), (vec!["a".to_owned(), "b".to_owned()], 4, 0));
        assert_eq!(folded.held.values().sum::<i64>(), 2);
    }
}
