//! Warm aggregates: the state and sequence each was left at. The append proves them right.

use std::any::Any;
use std::sync::Arc;

use quick_cache::sync::Cache;
use store::StreamId;

/// How many aggregates stay warm.
const CAPACITY: usize = 20_000;

#[derive(Clone)]
struct Warm {
    state: Arc<dyn Any + Send + Sync>,
    sequence: i64,
    /// How many keys of text were destroyed when it was read: it may hold text that is erased since.
    erasures: i64,
}

/// States by stream; the least used go first.
pub(crate) struct WarmAggregates(Cache<StreamId, Warm>);

impl WarmAggregates {
    pub(crate) fn new() -> Self {
        Self(Cache::new(CAPACITY))
    }

    pub(crate) fn get<A: Send + Sync + 'static>(&self, stream: &StreamId, erasures: i64) -> Option<(Arc<A>, i64)> {
        let warm = self.0.get(stream).filter(|it| it.erasures == erasures)?;
        let state = warm.state.downcast::<A>().ok()?;
        Some((state, warm.sequence))
    }

    pub(crate) fn put(&self, stream: StreamId, state: Arc<dyn Any + Send + Sync>, sequence: i64, erasures: i64) {
        self.0.insert(stream, Warm { state, sequence, erasures });
    }

    pub(crate) fn forget(&self, stream: &StreamId) {
        self.0.remove(stream);
    }

    pub(crate) fn forget_all(&self) {
        self.0.clear();
    }
}
