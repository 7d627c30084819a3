//! SQL past Muster, as somebody with a shell on the machine could run it.

use muster_tests::muster::Home;
use muster_tests::postgres;
use muster_tests::stores::Kind;
use rusqlite::Connection;
use sqlx::{AssertSqlSafe, PgConnection};

/// Runs statements on the log's database.
pub(crate) async fn run(home: &Home, sql: &str) {
    match home.kind {
        Kind::Sqlite => Connection::open(home.log_file()).unwrap().execute_batch(sql).unwrap(),
        Kind::Postgres => {
            let mut connection = schema(home, "log").await;
            sqlx::raw_sql(AssertSqlSafe(sql.to_owned())).execute(&mut connection).await.unwrap();
        }
    }
}

/// Runs statements on the read models' database.
pub(crate) async fn run_on_views(home: &Home, sql: &str) {
    match home.kind {
        Kind::Sqlite => Connection::open(home.views_file()).unwrap().execute_batch(sql).unwrap(),
        Kind::Postgres => {
            let mut connection = schema(home, "views").await;
            sqlx::raw_sql(AssertSqlSafe(sql.to_owned())).execute(&mut connection).await.unwrap();
        }
    }
}

/// One text from the read models' database.
pub(crate) async fn ask_views(home: &Home, sql: &str) -> String {
    match home.kind {
        Kind::Sqlite => Connection::open(home.views_file()).unwrap().query_row(sql, [], |row| row.get(0)).unwrap(),
        Kind::Postgres => {
            let mut connection = schema(home, "views").await;
            sqlx::query_scalar(AssertSqlSafe(sql.to_owned())).fetch_one(&mut connection).await.unwrap()
        }
    }
}

/// Takes away what keeps the log append-only.
pub(crate) async fn drop_triggers(home: &Home) {
    let triggers: &[&str] = match home.kind {
        Kind::Sqlite => &["events_are_never_changed", "events_are_never_removed"],
        Kind::Postgres => &["events_are_append_only on events"],
    };
    for trigger in triggers {
        run(home, &format!("drop trigger {trigger}")).await;
    }
}

/// A statement that changes one letter of an event's payload.
pub(crate) fn change_one_byte(home: &Home, position: i64) -> String {
    let text = match home.kind {
        Kind::Sqlite => "payload",
        Kind::Postgres => "payload::text",
    };
    let changed = format!("replace({text}, '_at\"', '_aT\"')");
    let changed = if home.kind == Kind::Postgres { format!("({changed})::json") } else { changed };
    format!("update events set payload = {changed} where position = {position}")
}

/// Brings everything from the write-ahead log into the file itself.
pub(crate) fn settle(home: &Home) {
    let connection = Connection::open(home.log_file()).unwrap();
    connection.query_row("pragma wal_checkpoint(truncate)", [], |_| Ok(())).unwrap();
}

async fn schema(home: &Home, schema: &str) -> PgConnection {
    let mut connection = postgres::connect(home.database_url()).await.unwrap();
    sqlx::raw_sql(AssertSqlSafe(format!("set search_path to {schema}"))).execute(&mut connection).await.unwrap();
    connection
}
