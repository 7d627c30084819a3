//! Opening a log: what is refused says what is wrong and where, and nothing is made worse.

use std::fs;
use std::io::{Seek, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use muster_tests::both_stores;
use muster_tests::commits::{one, stream};
use muster_tests::stores::{Bench, Kind};
use store::{Access, Location, Settings, StoreError, Stores};

both_stores! {
    a_tool_makes_no_log_where_there_is_none,
    a_log_of_a_newer_muster_is_refused,
    views_of_a_newer_muster_are_refused,
}

async fn a_tool_makes_no_log_where_there_is_none(opened: Bench) {
    let bench = Bench::closed(opened.kind).await;
    for access in [Access::Look, Access::Change] {
        let refusal = Stores::open(Settings { access, ..bench.settings() }).await.unwrap_err();
        assert!(matches!(&refusal, StoreError::Setup(what) if what.contains("there is no log")), "{refusal:?}");
    }
    assert!(!bench.log_file().exists());
}

async fn a_log_of_a_newer_muster_is_refused(mut bench: Bench) {
    bench.commit(one(&stream("a"), 0)).await.unwrap();
    bench.close();
    bench.run_raw("insert into schema_migrations (version) values (999)").await.unwrap();
    let refusal = bench.open_another().await.unwrap_err();
    assert!(matches!(&refusal, StoreError::NewerSchema { found: 999, known, .. } if *known < 999), "{refusal:?}");
    assert!(refusal.to_string().contains("999"));
    // Taking the row away again is enough: nothing else was touched.
    bench.run_raw("delete from schema_migrations where version = 999").await.unwrap();
    bench.reopen().await;
    assert_eq!(bench.everything().await.len(), 1);
}

async fn views_of_a_newer_muster_are_refused(mut bench: Bench) {
    let insert = store::sql::Query::new("insert into schema_migrations (version) values (999)");
    bench.stores().views.transact(vec![insert.into()]).await.unwrap();
    bench.close();
    let refusal = bench.open_another().await.unwrap_err();
    assert!(matches!(refusal, StoreError::NewerSchema { found: 999, .. }), "{refusal:?}");
}

#[tokio::test]
async fn a_folder_has_one_server() {
    let mut bench = Bench::open(Kind::Sqlite).await;
    bench.commit(one(&stream("a"), 0)).await.unwrap();
    let refusal = bench.open_another().await.unwrap_err();
    assert_eq!(refusal, StoreError::InUse(bench.folder().display().to_string()));
    assert!(names(&refusal, &bench.folder()));
    // The first one goes on, and gives the folder back when it ends.
    bench.commit(one(&stream("a"), 1)).await.unwrap();
    bench.reopen().await;
    assert_eq!(bench.everything().await.len(), 2);
}

#[tokio::test]
async fn a_tool_may_look_into_the_folder_of_a_server() {
    let bench = Bench::open(Kind::Sqlite).await;
    bench.commit(one(&stream("a"), 0)).await.unwrap();
    let tool = Stores::open(Settings { access: Access::Look, ..bench.settings() }).await.unwrap();
    assert_eq!(tool.log.read_all(0, 10).await.unwrap(), bench.everything().await);
    assert_eq!(tool.log.verify(|_| {}).await.unwrap().finding, None);
}

#[tokio::test]
async fn a_folder_is_made_when_it_is_missing() {
    let bench = Bench::closed(Kind::Sqlite).await;
    let deep = bench.folder().join("not/there/yet");
    let stores = Stores::open(Settings { location: Location::Sqlite(deep.clone()), ..bench.settings() }).await.unwrap();
    assert!(deep.join("log.db").exists());
    assert!(stores.place.contains(&deep.display().to_string()));
}

#[tokio::test]
async fn a_damaged_log_is_refused_by_its_files_name() {
    let mut bench = Bench::open(Kind::Sqlite).await;
    bench.commit(one(&stream("a"), 0)).await.unwrap();
    bench.close();
    settle(&bench.log_file());
    let mut file = fs::File::options().write(true).open(bench.log_file()).unwrap();
    file.write_all(&[0xAB; 100]).unwrap();
    let before = fs::read(bench.log_file()).unwrap();
    let refusal = bench.open_another().await.unwrap_err();
    assert!(matches!(refusal, StoreError::Damaged(_)), "{refusal:?}");
    assert!(names(&refusal, &bench.log_file()));
    assert_eq!(fs::read(bench.log_file()).unwrap(), before);
}

#[tokio::test]
async fn a_log_with_a_damaged_schema_is_refused_by_its_files_name() {
    let mut bench = Bench::open(Kind::Sqlite).await;
    bench.commit(one(&stream("a"), 0)).await.unwrap();
    bench.close();
    settle(&bench.log_file());
    // The header stays whole; the first page behind it does not.
    let mut file = fs::File::options().write(true).open(bench.log_file()).unwrap();
    file.seek(std::io::SeekFrom::Start(100)).unwrap();
    file.write_all(&[0xAB; 3000]).unwrap();
    let refusal = bench.open_another().await.unwrap_err();
    assert!(matches!(refusal, StoreError::Damaged(_)), "{refusal:?}");
    assert!(names(&refusal, &bench.log_file()));
}

#[tokio::test]
async fn a_file_in_place_of_the_folder_is_refused_by_its_name() {
    let bench = Bench::closed(Kind::Sqlite).await;
    let file = bench.folder().join("data");
    fs::write(&file, "not a folder").unwrap();
    let refusal = open(&bench, &file).await;
    assert!(matches!(refusal, StoreError::Setup(_)), "{refusal:?}");
    assert!(names(&refusal, &file));
    assert_eq!(fs::read_to_string(&file).unwrap(), "not a folder");
}

#[tokio::test]
async fn a_folder_that_cannot_be_written_is_refused_by_its_name() {
    let bench = Bench::closed(Kind::Sqlite).await;
    // Nobody can write here, not even root.
    let mut places = vec![Path::new("/proc/muster").to_path_buf()];
    let closed = bench.folder().join("closed");
    fs::create_dir(&closed).unwrap();
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o555)).unwrap();
    // Root writes where it likes.
    if fs::write(closed.join("probe"), "").is_err() {
        places.push(closed);
    }
    for place in places {
        let refusal = open(&bench, &place).await;
        assert!(matches!(refusal, StoreError::Setup(_)), "{refusal:?}");
        assert!(names(&refusal, &place));
    }
}

#[tokio::test]
async fn an_address_that_is_none_is_refused_without_its_password() {
    let bench = Bench::closed(Kind::Sqlite).await;
    let addresses =
        ["postgres://ada:s3cret@127.0.0.1:1/none", "postgres://ada:s3cret@[bad/none", "mysql://ada:s3cret@h/x"];
    for address in addresses {
        let settings = Settings { location: Location::Postgres(address.into()), ..bench.settings() };
        assert!(!format!("{settings:?}").contains("s3cret"));
        let refusal = Stores::open(settings).await.unwrap_err();
        assert!(!format!("{refusal} {refusal:?}").contains("s3cret"), "{refusal:?}");
    }
}

async fn open(bench: &Bench, folder: &Path) -> StoreError {
    let location = Location::Sqlite(folder.to_path_buf());
    Stores::open(Settings { location, ..bench.settings() }).await.unwrap_err()
}

fn names(refusal: &StoreError, path: &Path) -> bool {
    refusal.to_string().contains(&path.display().to_string())
}

/// Brings everything from the write-ahead log into the file itself.
fn settle(file: &Path) {
    let connection = rusqlite::Connection::open(file).unwrap();
    connection.query_row("pragma wal_checkpoint(truncate)", [], |_| Ok(())).unwrap();
}
