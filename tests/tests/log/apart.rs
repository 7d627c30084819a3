//! Tables that keep their documents apart, and ids in sixteen bytes: whole rows go in and come out on both databases.

use std::sync::Arc;

use muster_tests::both_stores;
use muster_tests::stores::Bench;
use store::sql::{Column, Holds, Outcome, Query, Statement, Table, Value};
use uuid::Uuid;

/// More than PostgreSQL takes by statement, and than SQLite takes without making room.
const MANY: i64 = 2_500;

both_stores! {
    whole_rows_go_in_and_come_out_few_or_many,
    rows_are_found_by_their_ids,
    documents_go_with_their_rows,
}

async fn whole_rows_go_in_and_come_out_few_or_many(bench: Bench) {
    make(&bench).await;
    insert(&bench, vec![row(1), row(2)]).await;
    insert(&bench, (3..=MANY).map(row).collect()).await;
    finish(&bench).await;
    let expected: Vec<_> = (1..=MANY).map(row).collect();
    for source in [parcels().source("parcel"), "parcels_shown".into()] {
        assert_eq!(all(&bench, &source).await, expected);
    }
    let changed: Vec<_> = [1, MANY].map(|it| with_document(it, "changed")).to_vec();
    run(&bench, vec![Statement::Upsert { table: parcels(), rows: changed.clone() }]).await;
    let after = all(&bench, "parcels_shown").await;
    assert_eq!((&after[0], &after[1], &after[after.len() - 1]), (&changed[0], &expected[1], &changed[1]));
}

async fn rows_are_found_by_their_ids(bench: Bench) {
    make(&bench).await;
    insert(&bench, (1..=4).map(row).collect()).await;
    finish(&bench).await;
    let of = |depot: Value| Query::new("select position from parcels_shown where depot = $1").bind(depot);
    let found = bench.stores().views.query(of(Value::Id(depot(3)))).await.unwrap();
    assert_eq!(found.iter().map(|it| it.int(0).unwrap()).collect::<Vec<_>>(), [3]);
    let whose = Query::new("select depot from parcels_shown order by position");
    let depots = bench.stores().views.query(whose).await.unwrap();
    assert_eq!((depots[0].uuid(0).unwrap(), depots[1].is_null(0)), (depot(1), true));
}

async fn documents_go_with_their_rows(bench: Bench) {
    make(&bench).await;
    insert(&bench, (1..=3).map(row).collect()).await;
    finish(&bench).await;
    run(&bench, vec![Statement::Delete { table: parcels(), keys: vec![vec![2.into()]] }]).await;
    let left = Query::new("select position from parcels_documents order by position");
    let left = bench.stores().views.query(left).await.unwrap();
    assert_eq!(left.iter().map(|it| it.int(0).unwrap()).collect::<Vec<_>>(), [1, 3]);
    run(&bench, vec![Statement::DropView("parcels_shown".into()), Statement::DropTable("parcels".into())]).await;
    for gone in ["parcels", "parcels_documents"] {
        bench.stores().views.query(Query::new(format!("select * from {gone}"))).await.unwrap_err();
    }
}

fn parcels() -> Arc<Table> {
    let column = |name: &str, holds, required| Column { name: name.into(), holds, required };
    Arc::new(Table {
        name: "parcels".into(),
        columns: vec![
            column("position", Holds::Int, true),
            column("depot", Holds::Id, false),
            column("doc", Holds::Text, true),
        ],
        key_columns: 1,
        written_once: true,
        apart: true,
        indexes: vec![vec!["depot".into(), "position".into()]],
        full_text: None,
    })
}

fn depot(n: i64) -> Uuid {
    Uuid::from_u128(n.unsigned_abs().into())
}

/// Every other parcel is in no depot.
fn row(position: i64) -> Vec<Value> {
    with_document(position, "a parcel")
}

fn with_document(position: i64, document: &str) -> Vec<Value> {
    let depot = (position % 2 == 1).then(|| depot(position));
    vec![position.into(), Value::id(depot), format!("{document}, the {position}.").into()]
}

async fn make(bench: &Bench) {
    run(bench, vec![Statement::CreateTable(parcels())]).await;
}

async fn finish(bench: &Bench) {
    let view = Statement::CreateView { table: parcels(), name: "parcels_shown".into() };
    let finish = [Statement::CreateKey, Statement::CreateIndexes, Statement::Analyze].map(|make| make(parcels()));
    run(bench, finish.into_iter().chain([view]).collect()).await;
}

async fn insert(bench: &Bench, rows: Vec<Vec<Value>>) {
    run(bench, vec![Statement::Insert { table: parcels(), rows }]).await;
}

async fn run(bench: &Bench, statements: Vec<Statement>) {
    assert_eq!(bench.stores().views.transact(statements).await, Ok(Outcome::Done));
}

async fn all(bench: &Bench, source: &str) -> Vec<Vec<Value>> {
    let query = Query::new(format!("select position, depot, doc from {source} order by position"));
    bench.stores().views.query(query).await.unwrap().into_iter().map(|it| it.0).collect()
}
