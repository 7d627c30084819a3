//! Errands: what benches have to do, and what came of it.

use chrono::{DateTime, Utc};
use domain::errand::{ErrandEvent, Work, WorkResult};
use domain::{ErrandId, Slug, WorkspaceId};
use serde::{Deserialize, Serialize};
use store::StoreError;
use store::sql::{Database, Holds, Query, Table, Value};

use crate::fact::ERRAND;
use crate::query::{first, page, record, records};
use crate::{Describe, Fact, FactOf, FoldError, Key, Poison, Projection, Reads, Record, RowKey, Rows, fold};

/// The projection's name.
pub const NAME: &str = "errands";

/// How an errand stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrandState {
    /// Still to be done.
    Ordered,
    /// Done.
    Done,
    /// Given up.
    Failed,
    /// Not wanted any more.
    Cancelled,
}

/// An errand.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ErrandView {
    /// Which errand it is.
    pub id: ErrandId,
    /// The workspace it belongs to.
    pub workspace_id: WorkspaceId,
    /// The bench that is to do it.
    pub bench: Slug,
    /// What is to be done.
    pub work: Work,
    /// How it stands.
    pub state: ErrandState,
    /// How often it was tried in vain.
    pub attempts: u32,
    /// When it is to be tried again, if it was tried in vain.
    pub retry_at: Option<DateTime<Utc>>,
    /// What went wrong last.
    pub error: Option<String>,
    /// What else is known of that.
    pub details: Option<String>,
    /// What came of it.
    pub result: Option<WorkResult>,
    /// Where in the log it was ordered.
    pub position: i64,
    /// Since when it is wanted.
    pub ordered_at: DateTime<Utc>,
    /// When it ended.
    pub ended_at: Option<DateTime<Utc>>,
}

/// An errand.
pub async fn find(views: &Database, id: ErrandId) -> Result<Option<ErrandView>, StoreError> {
    first(views, Query::new("select doc from errands where id = $1").bind(id.0)).await
}

/// What a bench has to do now, in the order in which it was ordered. What is to be tried again later is left out.
pub async fn open_on(
    views: &Database,
    bench: &Slug,
    now: DateTime<Utc>,
    limit: i64,
) -> Result<Vec<ErrandView>, StoreError> {
    let query = Query::new(
        "select doc
         from errands
         where open_on = $1 and due <= $2
         order by position",
    );
    records(views, page(query.bind(bench.as_ref()).bind(now.timestamp_micros()), limit, 0)).await
}

/// Launches of a workspace that wait for a bench which has not tried any of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WaitingLaunches {
    /// The one that waits longest.
    pub oldest: ErrandView,
    /// How many there are.
    pub count: i64,
}

/// The launches that wait since before a moment, per workspace and bench, whoever waits longest first: those whose oldest
/// was ordered after a position.
pub async fn waiting_launches(
    views: &Database,
    before: DateTime<Utc>,
    after: i64,
    limit: i64,
) -> Result<Vec<WaitingLaunches>, StoreError> {
    let query = Query::new(
        "select oldest.doc, waiting.launches
         from (
             select open_on, min(position) as position, count(*) as launches
             from errands
             where launch_waits_since < $1
             group by workspace_id, open_on
             having min(position) > $2
         ) waiting
         join errands oldest on oldest.open_on = waiting.open_on and oldest.position = waiting.position
         order by oldest.position",
    );
    let rows = views.query(page(query.bind(before.timestamp_micros()).bind(after), limit, 0)).await?;
    rows.iter().map(|row| Ok(WaitingLaunches { oldest: record(row)?, count: row.int(1)? })).collect()
}

/// When a bench has something to do again; none when it has nothing.
pub async fn next_due_on(views: &Database, bench: &Slug) -> Result<Option<DateTime<Utc>>, StoreError> {
    let query = Query::new("select min(due) from errands where open_on = $1").bind(bench.as_ref());
    let Some(row) = views.first(query).await? else { return Ok(None) };
    Ok(row.optional(0, |row, at| row.int(at))?.map(store::from_micros))
}

/// The errand that the facts of its stream make.
pub fn as_of(facts: &[Fact]) -> Result<Option<ErrandView>, Poison> {
    fold::subject_of(&Errands, facts)
}

/// Folds the facts of errands.
#[derive(Debug, Clone, Copy)]
pub struct Errands;

impl Projection for Errands {
    fn name(&self) -> &str {
        NAME
    }

    fn version(&self) -> i64 {
        2
    }

    fn reads(&self) -> Reads {
        Reads::Only(&[ERRAND])
    }

    fn tables(&self) -> Vec<Table> {
        let table = Describe::table(ErrandView::TABLE)
            .key("id", Holds::Text)
            // The bench, as long as it has to do with it.
            .optional("open_on", Holds::Text)
            .required("due", Holds::Int)
            .required("position", Holds::Int)
            .required("workspace_id", Holds::Text)
            // Filled while it is a launch that its bench has not tried.
            .optional("launch_waits_since", Holds::Int)
            .index(&["open_on", "position"])
            .index(&["launch_waits_since"]);
        vec![table.finish()]
    }

    fn touches(&self, fact: &Fact) -> Vec<RowKey> {
        vec![RowKey::of::<ErrandView>(fact.subject)]
    }

    fn apply(&self, fact: &Fact, rows: &mut Rows) -> Result<(), FoldError> {
        let FactOf::Errand(event) = &fact.of else { return Ok(()) };
        match event.clone() {
            ErrandEvent::ErrandOrdered { errand_id, workspace_id, bench, work, ordered_at } => {
                rows.put(ErrandView {
                    id: errand_id,
                    workspace_id,
                    bench,
                    work,
                    state: ErrandState::Ordered,
                    attempts: 0,
                    retry_at: None,
                    error: None,
                    details: None,
                    result: None,
                    position: fact.position,
                    ordered_at,
                    ended_at: None,
                });
                Ok(())
            }
            event => rows.update(fact.subject, |row: &mut ErrandView| row.follow(event)),
        }
    }
}

impl ErrandView {
    fn follow(&mut self, event: ErrandEvent) {
        match event {
            ErrandEvent::ErrandOrdered { .. } => {}
            ErrandEvent::ErrandTried { attempt, error, retry_at, tried_at: _ } => {
                self.attempts = attempt;
                (self.error, self.retry_at) = (Some(error), Some(retry_at));
            }
            ErrandEvent::ErrandDone { result, done_at } => {
                self.result = Some(result);
                self.end(ErrandState::Done, done_at);
            }
            ErrandEvent::ErrandFailed { error, details, failed_at } => {
                (self.error, self.details) = (Some(error), details);
                self.end(ErrandState::Failed, failed_at);
            }
            ErrandEvent::ErrandCancelled { reason, cancelled_at } => {
                self.details = Some(reason);
                self.end(ErrandState::Cancelled, cancelled_at);
            }
        }
    }

    fn end(&mut self, state: ErrandState, at: DateTime<Utc>) {
        (self.state, self.ended_at, self.retry_at) = (state, Some(at), None);
    }
}

impl Record for ErrandView {
    const TABLE: &'static str = "errands";

    fn key(&self) -> Key {
        self.id.0.into()
    }

    fn columns(&self) -> Vec<Value> {
        let is_open = self.state == ErrandState::Ordered;
        let is_waiting = is_open && self.attempts == 0 && matches!(self.work, Work::Launch { .. });
        vec![
            is_open.then(|| self.bench.to_string()).into(),
            self.retry_at.map_or(0, |it| it.timestamp_micros()).into(),
            self.position.into(),
            self.workspace_id.0.into(),
            is_waiting.then(|| self.ordered_at.timestamp_micros()).into(),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::examples::{at, errand, errand_ordered, facts};

    fn folded(events: impl IntoIterator<Item = ErrandEvent>) -> ErrandView {
        let all = [errand_ordered()].into_iter().chain(events.into_iter().map(errand));
        as_of(&facts(all)).expect("no poison").expect("an errand")
    }

    #[test]
    fn an_errand_is_its_benchs_until_it_is_over() {
        let tried =
            ErrandEvent::ErrandTried { attempt: 1, error: "No network".into(), retry_at: at(5), tried_at: at(1) };
        let shown = folded([tried.clone()]);
        assert_eq!((shown.state, shown.attempts), (ErrandState::Ordered, 1));
        assert_eq!(shown.columns()[..2], ["main".into(), Value::from(at(5).timestamp_micros())]);
        let done = ErrandEvent::ErrandDone { result: WorkResult::Stopped, done_at: at(6) };
        let shown = folded([tried, done]);
        assert_eq!((shown.state, shown.result.clone()), (ErrandState::Done, Some(WorkResult::Stopped)));
        assert_eq!(shown.columns()[0], Value::Null);
    }

    #[test]
    fn what_failed_or_was_called_off_says_why() {
        let failed = ErrandEvent::ErrandFailed { error: "No repository".into(), details: None, failed_at: at(2) };
        assert_eq!(folded([failed]).error.as_deref(), Some("No repository"));
        let off = ErrandEvent::ErrandCancelled { reason: "Its worker died".into(), cancelled_at: at(2) };
        assert_eq!(folded([off]).details.as_deref(), Some("Its worker died"));
    }
}
