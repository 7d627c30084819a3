//! A log that an earlier muster made: what is missing is added when it is opened, and it goes on.

use muster_tests::both_stores;
use muster_tests::commits::{Build, one, stream};
use muster_tests::stores::{Bench, Kind};
use store::{Commit, NotificationAddresses, RowChange};
use uuid::Uuid;

both_stores! {
    a_log_of_the_first_schema_is_appended_to,
    addresses_that_were_in_events_are_kept_beside_the_log,
}

const ADA: Uuid = Uuid::from_u128(1);

/// A log with the first two migrations and nothing else but what SQL says.
async fn first_schema(kind: Kind, sql: &str) -> Bench {
    let (tables, functions) = match kind {
        Kind::Sqlite => (
            include_str!("../../../migrations/log/sqlite/0001_create_log.sql"),
            include_str!("../../../migrations/log/sqlite/0002_add_append_batch.sql"),
        ),
        Kind::Postgres => (
            include_str!("../../../migrations/log/postgres/0001_create_log.sql"),
            include_str!("../../../migrations/log/postgres/0002_add_append_batch.sql"),
        ),
    };
    let versions = "create table schema_migrations (version bigint primary key);
        insert into schema_migrations (version) values (1), (2);";
    let mut bench = Bench::closed(kind).await;
    bench.make_raw(&format!("{tables}\n{functions}\n{versions}\n{sql}")).await.unwrap();
    bench.reopen().await;
    bench
}

async fn addresses(bench: &Bench) -> Option<NotificationAddresses> {
    bench.log().accounts().notification_addresses(ADA).await.unwrap()
}

fn webhook(url: &str, changed_at: i64) -> NotificationAddresses {
    NotificationAddresses { user_id: ADA, sound_file: None, webhook_url: Some(url.to_owned()), changed_at }
}

async fn a_log_of_the_first_schema_is_appended_to(opened: Bench) {
    let mut bench = first_schema(opened.kind, "").await;
    let (first, second) = (webhook("https://a.example", 1), webhook("https://b.example", 2));
    let set = |it: &NotificationAddresses| RowChange::SetNotificationAddresses(it.clone());
    bench.commit(one(&stream("a"), 0).row(set(&first))).await.unwrap();
    assert_eq!(addresses(&bench).await, Some(first));
    bench.reopen().await;
    bench.commit(one(&stream("a"), 1).row(set(&second))).await.unwrap();
    assert_eq!(addresses(&bench).await, Some(second));
    assert!(bench.log().bench_lease("main", "one", std::time::Duration::from_secs(9)).hold().await.unwrap().is_some());
    bench.commit(Commit::default().row(RowChange::DeleteAccount { user_id: ADA })).await.unwrap();
    assert_eq!(addresses(&bench).await, None);
    assert_eq!(bench.log().verify(|_| {}).await.unwrap().finding, None);
}

async fn addresses_that_were_in_events_are_kept_beside_the_log(opened: Bench) {
    let changed = |position: i64, whose: Uuid, sequence: i64, url: &str| {
        let preferences = format!(r#"{{"sound_file":null,"webhook_url":"{url}"}}"#);
        let payload = format!(r#"{{"NotificationSettingsChanged":{{"preferences":{preferences}}}}}"#);
        let of = format!("'notification_settings', '{whose}', {sequence}, 'NotificationSettingsChanged', '1'");
        let id = Uuid::now_v7();
        format!("insert into events values ({position}, {of}, '{payload}', '{{}}', '{id}', null, {position});\n")
    };
    let gone = Uuid::from_u128(2);
    let events = [
        changed(1, ADA, 1, "https://a.example"),
        changed(2, gone, 1, "https://gone.example"),
        changed(3, ADA, 2, "https://b.example"),
    ];
    let account = format!("insert into accounts values ('{ADA}', 'ada@example.org', 'Ada', null, null, 0, 1, 1);\n");
    let bench = first_schema(opened.kind, &format!("{account}{}update head set position = 3;", events.concat())).await;
    assert_eq!(addresses(&bench).await, Some(webhook("https://b.example", 3)));
    assert_eq!(bench.log().accounts().notification_addresses(gone).await.unwrap(), None, "that account is deleted");
    bench.commit(one(&stream("a"), 0)).await.unwrap();
    assert_eq!(bench.everything().await.len(), 4);
}
