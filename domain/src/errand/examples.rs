//! Errands to test with: errand 80 merges task 60.

use super::{ErrandEvent, OrderErrand, Work, WorkResult};
use crate::examples::{at, id, slug};

pub(super) fn order() -> OrderErrand {
    OrderErrand {
        errand_id: id(80),
        workspace_id: id(10),
        bench: slug("main"),
        work: Work::Merge { task_id: id(60) },
        now: at(0),
    }
}

pub(super) fn ordered() -> ErrandEvent {
    let OrderErrand { errand_id, workspace_id, bench, work, now } = order();
    ErrandEvent::ErrandOrdered { errand_id, workspace_id, bench, work, ordered_at: now }
}

pub(super) fn tried(attempt: u32) -> ErrandEvent {
    ErrandEvent::ErrandTried { attempt, error: "No network".to_owned(), retry_at: at(2), tried_at: at(1) }
}

pub(super) fn merged() -> WorkResult {
    WorkResult::Merged { merge_commit: "fff000".to_owned() }
}

pub(super) fn done() -> ErrandEvent {
    ErrandEvent::ErrandDone { result: merged(), done_at: at(3) }
}

pub(super) fn failed() -> ErrandEvent {
    ErrandEvent::ErrandFailed { error: "No repository".to_owned(), details: None, failed_at: at(4) }
}

pub(super) fn cancelled() -> ErrandEvent {
    ErrandEvent::ErrandCancelled { reason: "Its worker died".to_owned(), cancelled_at: at(5) }
}
