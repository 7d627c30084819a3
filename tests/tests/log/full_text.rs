//! Full-text columns: the index follows the rows, whatever happens to them and whenever it was made.

use std::sync::Arc;

use muster_tests::both_stores;
use muster_tests::stores::Bench;
use store::sql::{Column, Holds, Outcome, Query, Statement, Table, Value, Words};

both_stores! {
    rows_are_found_by_words_whether_they_came_before_or_after_the_index,
    a_changed_row_is_found_by_its_new_words_alone,
    a_removed_row_is_found_no_more,
    a_dropped_table_leaves_room_for_another,
}

fn notes() -> Arc<Table> {
    let column = |name: &str| Column { name: name.into(), holds: Holds::Text, required: true };
    Arc::new(Table {
        name: "notes__1".into(),
        columns: vec![column("id"), column("words"), column("doc")],
        key_columns: 1,
        indexes: vec![],
        written_once: false,
        apart: false,
        full_text: Some("words".into()),
    })
}

fn note(id: &str, text: &str, doc: &str) -> Vec<Value> {
    vec![id.into(), Words::of(text).text().into(), doc.into()]
}

fn shown() -> Statement {
    Statement::CreateView { table: notes(), name: "notes".into() }
}

async fn run(bench: &Bench, statements: Vec<Statement>) {
    assert_eq!(bench.stores().views.transact(statements).await, Ok(Outcome::Done));
}

async fn write(bench: &Bench, rows: Vec<Vec<Value>>) {
    run(bench, vec![Statement::Upsert { table: notes(), rows }]).await;
}

async fn make(bench: &Bench) {
    run(bench, vec![Statement::CreateTable(notes()), Statement::CreateIndexes(notes()), shown()]).await;
}

async fn found(bench: &Bench, search: &str) -> Vec<String> {
    let views = &bench.stores().views;
    // By the name that queries use.
    let table = Table { name: "notes".into(), ..Table::clone(&notes()) };
    let (condition, words) = Words::of(search).condition(views, &table, 1);
    let query = Query::new(format!("select id from notes where {condition} order by id")).bind(words);
    views.query(query).await.unwrap().iter().map(|row| row.text(0).unwrap().to_owned()).collect()
}

async fn rows_are_found_by_words_whether_they_came_before_or_after_the_index(bench: Bench) {
    run(&bench, vec![Statement::CreateTable(notes())]).await;
    write(&bench, vec![note("before", "red apple", "x")]).await;
    run(&bench, vec![Statement::CreateIndexes(notes()), shown()]).await;
    write(&bench, vec![note("after", "Green apple", "x"), note("empty", "--", "x")]).await;
    assert_eq!(found(&bench, "Apple").await, ["after", "before"]);
    assert_eq!(found(&bench, "apple red").await, ["before"]);
    assert_eq!(found(&bench, "app").await, Vec::<String>::new());
}

async fn a_changed_row_is_found_by_its_new_words_alone(bench: Bench) {
    make(&bench).await;
    write(&bench, vec![note("a", "red apple", "x"), note("b", "red pear", "x")]).await;
    write(&bench, vec![note("a", "green apple", "y"), note("b", "red pear", "y")]).await;
    assert_eq!(found(&bench, "red").await, ["b"]);
    assert_eq!(found(&bench, "green").await, ["a"]);
    assert_eq!(found(&bench, "apple").await, ["a"]);
}

async fn a_removed_row_is_found_no_more(bench: Bench) {
    make(&bench).await;
    write(&bench, vec![note("a", "red apple", "x"), note("b", "red pear", "x")]).await;
    run(&bench, vec![Statement::Delete { table: notes(), keys: vec![vec!["a".into()]] }]).await;
    assert_eq!(found(&bench, "red").await, ["b"]);
    write(&bench, vec![note("a", "blue plum", "x")]).await;
    assert_eq!(found(&bench, "apple").await, Vec::<String>::new());
}

async fn a_dropped_table_leaves_room_for_another(bench: Bench) {
    let drop = || vec![Statement::DropView("notes".into()), Statement::DropTable("notes__1".into())];
    run(&bench, drop()).await;
    make(&bench).await;
    write(&bench, vec![note("a", "red apple", "x")]).await;
    run(&bench, drop()).await;
    make(&bench).await;
    assert_eq!(found(&bench, "red").await, Vec::<String>::new());
}
