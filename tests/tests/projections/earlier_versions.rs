//! Read models that an earlier muster built: where a table was changed, it is built anew and then answers.

use std::sync::Arc;

use muster_tests::both_stores;
use muster_tests::stores::{Bench, noon};
use projections::errands::{self, Errands};
use projections::notifications::{self, Notifications};
use projections::{Fact, FoldError, Projection, Reads, RowKey, Rows};
use store::sql::Table;

use crate::fleet::Fleet;

both_stores! {
    a_table_that_lacks_a_column_is_built_anew,
}

/// The first version of a read model, which lacked some columns and has no rows.
struct First {
    now: Arc<dyn Projection>,
    lacks: &'static [&'static str],
}

impl Projection for First {
    fn name(&self) -> &str {
        self.now.name()
    }

    fn version(&self) -> i64 {
        1
    }

    fn reads(&self) -> Reads {
        self.now.reads()
    }

    fn tables(&self) -> Vec<Table> {
        let lacks = |name: &String| self.lacks.contains(&name.as_str());
        let mut tables = self.now.tables();
        for table in &mut tables {
            table.columns.retain(|it| !lacks(&it.name));
            table.indexes.retain(|it| !it.iter().any(lacks));
        }
        tables
    }

    fn touches(&self, _: &Fact) -> Vec<RowKey> {
        vec![]
    }

    fn apply(&self, _: &Fact, _: &mut Rows) -> Result<(), FoldError> {
        Ok(())
    }
}

async fn a_table_that_lacks_a_column_is_built_anew(bench: Bench) {
    let fleet = Fleet::new(bench);
    fleet.workspace("acme").await;
    let first = |now: Arc<dyn Projection>, lacks| -> Arc<dyn Projection> { Arc::new(First { now, lacks }) };
    let engine = fleet.engine(vec![
        first(Arc::new(Notifications), &["tell_again_at"]),
        first(Arc::new(Errands), &["workspace_id", "launch_waits_since"]),
    ]);
    fleet.caught_up(&engine).await;
    engine.shutdown().await;
    assert!(notifications::to_tell_again(fleet.views(), noon(), 10, 10).await.is_err());
    assert!(errands::waiting_launches(fleet.views(), noon(), 0, 10).await.is_err());
    // Only what is built anew reaches this.
    fleet.workspace("globex").await;
    fleet.project_everything().await;
    assert_eq!(notifications::to_tell_again(fleet.views(), noon(), 10, 10).await, Ok(vec![]));
    assert_eq!(errands::waiting_launches(fleet.views(), noon(), 0, 10).await, Ok(vec![]));
}
