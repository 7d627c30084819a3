//! What tests of moving a log share: a history with everything in it, and a look at all that a store holds.

use chrono::TimeDelta;
use muster_tests::commits::{Build, account, claim, event_with, one, remember, stream};
use muster_tests::stores::{Bench, Kind, noon};
use store::sql::{Query, Row};
use store::{Commit, Credential, Head, NotificationAddresses, RowChange, StoredEvent};
use uuid::Uuid;

/// Makes a test of each rule in each direction. A rule is an `async fn(Bench, Bench)`: a log, and a place for one.
#[macro_export]
macro_rules! both_ways {
    ($($rule:ident),+ $(,)?) => {
        mod sqlite_to_postgres {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $rule() {
                use muster_tests::stores::{Bench, Kind};
                super::$rule(Bench::open(Kind::Sqlite).await, Bench::closed(Kind::Postgres).await).await;
            })+
        }
        mod postgres_to_sqlite {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $rule() {
                use muster_tests::stores::{Bench, Kind};
                super::$rule(Bench::open(Kind::Postgres).await, Bench::closed(Kind::Sqlite).await).await;
            })+
        }
    };
}

/// Payloads that only a copy of the exact bytes keeps.
const PAYLOADS: [&str; 6] = [
    r#"{"it":"happened"}"#,
    "{ \"spaced\" :\t1.0 }",
    "\n{\"lines\":\n[1,\r\n2]}\n",
    r#"{"a":1,"a":2,"long":1000000000000000000000000.10}"#,
    r#"{"text":"Grüße, \u0041 \"quoted\" \\ 日本"}"#,
    "null",
];

/// Commits of one and of many events, over a few streams, with claims, keys, people and their secrets.
pub(crate) async fn history(bench: &Bench, commits: i64) {
    let log = bench.log();
    let begun = log.head().await.unwrap().position;
    for n in begun..begun + commits {
        bench.clock.set(noon() + TimeDelta::seconds(n));
        let events = (0..=n % 4).map(|it| {
            let mut event = event_with(PAYLOADS[((n + it) % 6) as usize]);
            event.metadata = format!("{{\"actor\": \"user:{n}\"}}");
            event.workspace_id = (n % 3 == 0).then(Uuid::now_v7);
            event
        });
        let thing = stream(n % 7);
        let at = bench.stream(&thing).await.len() as i64;
        let own = stream(format!("own-{n}"));
        let mut commit = Commit::default()
            .append(&thing, at, events.collect())
            .take(&claim("slug", &n.to_string()), &thing)
            .remembered(remember(&format!("key-{n}"), &format!("{{\"n\":{n}}}")));
        if n % 5 == 0 {
            commit = commit.append(&own, 0, vec![event_with("{}")]).row(RowChange::AddAccount(account(&email(n))));
        }
        bench.commit(commit).await.unwrap();
    }
    let key = RowChange::IssueCredential(Credential {
        credential_id: Uuid::now_v7(),
        agent_id: Uuid::now_v7(),
        workspace_id: Uuid::now_v7(),
        project_id: None,
        standing: "active".to_owned(),
        key_hash: b"hash of a key".to_vec(),
        created_at: 1,
    });
    let addresses = RowChange::SetNotificationAddresses(NotificationAddresses {
        user_id: Uuid::now_v7(),
        sound_file: None,
        webhook_url: Some("https://hooks.example.com/s3cret".to_owned()),
        changed_at: 1,
    });
    bench.commit(Commit::of_rows(vec![key, addresses])).await.unwrap();
    log.accounts().secret("pepper", b"a secret".to_vec()).await.unwrap();
    let reacted = log.reactor_checkpoint("reactor").await.unwrap();
    assert!(log.move_reactor_checkpoint("reactor", reacted, begun + 3).await.unwrap());
}

/// The address of one of the people in a history.
pub(crate) fn email(n: i64) -> String {
    format!("person-{n}@example.com")
}

/// A store with another history.
pub(crate) async fn stranger(bench: &mut Bench) {
    bench.reopen().await;
    bench.commit(one(&stream("stranger"), 0)).await.unwrap();
}

/// Everything that a store holds, apart from its epoch.
#[derive(Debug, PartialEq)]
pub(crate) struct Everything {
    pub(crate) events: Vec<StoredEvent>,
    pub(crate) batches: Vec<Row>,
    pub(crate) beside: Vec<(&'static str, Vec<Row>)>,
    head: (i64, i64, [u8; 32]),
}

/// Looks at everything, and proves it.
pub(crate) async fn everything(bench: &Bench) -> Everything {
    let log = bench.log();
    let report = log.verify(|_| {}).await.unwrap();
    assert_eq!(report.finding, None, "{:?}", bench.kind);
    let Head { position, recorded_at, link, .. } = log.head().await.unwrap();
    let query = async |sql: &str| log.database().query(Query::new(sql.to_owned())).await.unwrap();
    let mut beside = Vec::new();
    for table in BESIDE {
        let mut rows = query(&format!("select * from {table}")).await;
        rows.sort_by_key(|row| format!("{row:?}"));
        beside.push((table, rows));
    }
    let batches = "select first_position, events, recorded_at, leaves, link from batches order by 1";
    Everything {
        events: bench.everything().await,
        batches: query(batches).await,
        beside,
        head: (position, recorded_at, link),
    }
}

const BESIDE: [&str; 10] = [
    "accounts",
    "claims",
    "credentials",
    "github_identities",
    "notification_addresses",
    "reactor_checkpoints",
    "remembered_commands",
    "secrets",
    "sign_in_sessions",
    "workspace_keys",
];

/// The other of the two stores.
pub(crate) fn other(kind: Kind) -> Kind {
    match kind {
        Kind::Sqlite => Kind::Postgres,
        Kind::Postgres => Kind::Sqlite,
    }
}
