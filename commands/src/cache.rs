//! Warm aggregates: the state and sequence each was left at, or will be by a commit that is under way. The append proves
//! them right.

use std::any::Any;
use std::sync::Arc;

use quick_cache::sync::Cache;
use store::{Fate, Standing, StreamId};

/// How many aggregates stay warm.
const CAPACITY: usize = 20_000;

#[derive(Clone)]
struct Warm {
    state: Arc<dyn Any + Send + Sync>,
    sequence: i64,
    /// How many keys of text were destroyed when it was read: it may hold text that is erased since.
    erasures: i64,
    /// What becomes of the commit that leaves it so, if that was not known.
    fate: Option<Fate>,
}

/// A warm aggregate as it is handed out.
pub(crate) struct WarmState<A> {
    pub(crate) state: Arc<A>,
    pub(crate) sequence: i64,
    /// What becomes of the commit that leaves it so, if that is not known yet.
    pub(crate) underway: Option<Fate>,
}

/// States by stream; the least used go first.
pub(crate) struct WarmAggregates(Cache<StreamId, Warm>);

impl WarmAggregates {
    pub(crate) fn new() -> Self {
        Self(Cache::new(CAPACITY))
    }

    pub(crate) fn get<A: Send + Sync + 'static>(&self, stream: &StreamId, erasures: i64) -> Option<WarmState<A>> {
        let (warm, underway) = self.look(stream, erasures)?;
        Some(WarmState { state: warm.state.downcast::<A>().ok()?, sequence: warm.sequence, underway })
    }

    /// Where a stream stands once all that is under way has landed, if that is known here.
    pub(crate) fn sequence(&self, stream: &StreamId, erasures: i64) -> Option<i64> {
        self.look(stream, erasures).map(|(warm, _)| warm.sequence)
    }

    /// Keeps a state that is true, or will be once a commit has landed; one that is further stays.
    pub(crate) fn put(
        &self,
        stream: StreamId,
        state: Arc<dyn Any + Send + Sync>,
        sequence: i64,
        erasures: i64,
        fate: Option<Fate>,
    ) {
        if self.sequence(&stream, erasures).is_none_or(|it| it <= sequence) {
            self.0.insert(stream, Warm { state, sequence, erasures, fate });
        }
    }

    /// What is warm of a stream and not lost, with the fate that is not settled yet. That is looked at once: between two
    /// looks it may be.
    fn look(&self, stream: &StreamId, erasures: i64) -> Option<(Warm, Option<Fate>)> {
        let mut warm = self.0.get(stream).filter(|it| it.erasures == erasures)?;
        let fate = warm.fate.take();
        match fate.as_ref().map(Fate::standing) {
            None | Some(Standing::Landed) => Some((warm, None)),
            Some(Standing::Underway) => Some((warm, fate)),
            Some(Standing::Lost) => None,
        }
    }

    pub(crate) fn forget(&self, stream: &StreamId) {
        self.0.remove(stream);
    }

    pub(crate) fn forget_all(&self) {
        self.0.clear();
    }
}
