//! One SQL text for both databases: the facade that the log and the read models share means the same on each.

use std::sync::Arc;

use muster_tests::both_stores;
use muster_tests::stores::Bench;
use store::sql::{Column, Holds, Outcome, Query, Row, Statement, Table, Value};

both_stores! {
    a_parameter_goes_where_its_number_says,
    values_come_back_as_they_were_bound,
    text_sorts_by_code_point,
    a_transaction_lands_whole_or_not_at_all,
    a_statement_that_touches_other_rows_than_it_must_undoes_all,
    whole_rows_are_written_over_those_with_the_same_key,
    rows_are_removed_by_their_whole_key,
    a_snapshot_is_of_one_moment,
}

async fn a_parameter_goes_where_its_number_says(bench: Bench) {
    let sql = "select cast($2 as bigint), cast($1 as bigint), cast($3 as bigint), cast($1 as bigint)";
    let rows = bench.stores().views.query(Query::new(sql).bind(1).bind(2).bind(3)).await.unwrap();
    assert_eq!(rows, [Row([2, 1, 3, 1].map(Value::Int).to_vec())]);
}

async fn values_come_back_as_they_were_bound(bench: Bench) {
    make(&bench).await;
    let rows = vec![
        row("a", "é\u{301} '\"\\ \u{1F600}", Value::Int(i64::MIN), Value::Real(0.1)),
        row("b", "", Value::Int(i64::MAX), Value::Real(-1e300)),
        row("c", "x", Value::Null, Value::Null),
    ];
    upsert(&bench, rows.clone()).await;
    assert_eq!(all(&bench).await, rows);
}

async fn text_sorts_by_code_point(bench: Bench) {
    make(&bench).await;
    let sorted = ["", " ", "A", "Z", "_", "a", "aa", "b", "z", "ß", "é", "\u{ffff}", "\u{1F600}"];
    let rows = sorted.iter().rev().map(|key| row(key, "x", Value::Null, Value::Null)).collect();
    upsert(&bench, rows).await;
    let keys: Vec<Value> = all(&bench).await.into_iter().map(|it| it[0].clone()).collect();
    assert_eq!(keys, sorted.map(Value::from));
}

async fn a_transaction_lands_whole_or_not_at_all(bench: Bench) {
    make(&bench).await;
    let rows = vec![row("a", "x", Value::Null, Value::Null)];
    let broken = Query::new("insert into things (kind) values ($1)").bind("no name");
    let both = vec![Statement::Upsert { table: things(), rows }, broken.into()];
    bench.stores().views.transact(both).await.unwrap_err();
    assert_eq!(all(&bench).await, Vec::<Vec<Value>>::new());
}

async fn a_statement_that_touches_other_rows_than_it_must_undoes_all(bench: Bench) {
    make(&bench).await;
    upsert(&bench, vec![row("a", "x", Value::Int(1), Value::Null)]).await;
    let advance = |from: i64| Statement::Expect {
        query: Query::new("update things set count = $1 where name = 'a' and count = $2").bind(from + 1).bind(from),
        rows: 1,
    };
    let more = Statement::Upsert { table: things(), rows: vec![row("b", "x", Value::Null, Value::Null)] };
    let database = &bench.stores().views;
    assert_eq!(database.transact(vec![more.clone(), advance(7)]).await, Ok(Outcome::Unexpected));
    assert_eq!(all(&bench).await.len(), 1);
    assert_eq!(database.transact(vec![more, advance(1)]).await, Ok(Outcome::Done));
    assert_eq!(all(&bench).await[0][2], Value::Int(2));
}

async fn whole_rows_are_written_over_those_with_the_same_key(bench: Bench) {
    make(&bench).await;
    upsert(&bench, vec![row("a", "x", Value::Int(1), Value::Real(1.5)), row("a", "y", Value::Int(1), Value::Null)])
        .await;
    upsert(&bench, vec![row("a", "x", Value::Int(2), Value::Null)]).await;
    let after = vec![row("a", "x", Value::Int(2), Value::Null), row("a", "y", Value::Int(1), Value::Null)];
    assert_eq!(all(&bench).await, after);
}

async fn rows_are_removed_by_their_whole_key(bench: Bench) {
    make(&bench).await;
    let keep = row("a", "y", Value::Null, Value::Null);
    upsert(&bench, vec![row("a", "x", Value::Null, Value::Null), keep.clone()]).await;
    let keys = vec![vec![Value::from("a"), Value::from("x")], vec![Value::from("none"), Value::from("y")]];
    bench.stores().views.transact(vec![Statement::Delete { table: things(), keys }]).await.unwrap();
    assert_eq!(all(&bench).await, [keep]);
}

async fn a_snapshot_is_of_one_moment(bench: Bench) {
    make(&bench).await;
    let count = || Query::new("select count(*) from things");
    let (database, writer) = (bench.stores().views.clone(), bench.stores().views.clone());
    let writing = tokio::spawn(async move {
        for name in 0..50 {
            let rows = vec![row(&name.to_string(), "x", Value::Null, Value::Null)];
            writer.transact(vec![Statement::Upsert { table: things(), rows }]).await.unwrap();
        }
    });
    while !writing.is_finished() {
        let answers = database.snapshot(vec![count(), count(), count()]).await.unwrap();
        assert!(answers.iter().all(|it| *it == answers[0]), "{answers:?}");
    }
    writing.await.unwrap();
}

fn things() -> Arc<Table> {
    let column = |name: &str, holds, required| Column { name: name.into(), holds, required };
    Arc::new(Table {
        name: "things".into(),
        columns: vec![
            column("name", Holds::Text, true),
            column("kind", Holds::Text, true),
            column("count", Holds::Int, false),
            column("share", Holds::Real, false),
        ],
        key_columns: 2,
        indexes: vec![vec!["kind".into(), "count desc".into()]],
        written_once: false,
        apart: false,
        full_text: None,
    })
}

fn row(name: &str, kind: &str, count: Value, share: Value) -> Vec<Value> {
    vec![name.into(), kind.into(), count, share]
}

async fn make(bench: &Bench) {
    let made = vec![Statement::CreateTable(things()), Statement::CreateIndexes(things())];
    assert_eq!(bench.stores().views.transact(made).await, Ok(Outcome::Done));
}

async fn upsert(bench: &Bench, rows: Vec<Vec<Value>>) {
    bench.stores().views.transact(vec![Statement::Upsert { table: things(), rows }]).await.unwrap();
}

async fn all(bench: &Bench) -> Vec<Vec<Value>> {
    let query = Query::new("select name, kind, count, share from things order by name, kind");
    bench.stores().views.query(query).await.unwrap().into_iter().map(|it| it.0).collect()
}
