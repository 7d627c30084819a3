//! A backup of a log in use comes back as a new life of the same log; one that is not whole does not come back.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use muster_tests::both_stores;
use muster_tests::commits::{one, stream};
use muster_tests::stores::Bench;
use store::transfer::{TransferError, backup, restore};
use tempfile::TempDir;

use crate::moves::{everything, history, other};

both_stores!(
    a_backup_comes_back_into_either_store_as_a_new_life,
    a_backup_of_a_log_in_use_is_a_beginning_of_it,
    a_backup_that_is_not_whole_is_refused,
    a_backup_is_written_over_nothing,
    a_store_that_is_not_empty_takes_no_backup,
);

fn folder() -> (TempDir, PathBuf) {
    let kept = tempfile::tempdir().unwrap();
    let path = kept.path().join("backup");
    (kept, path)
}

async fn a_backup_comes_back_into_either_store_as_a_new_life(bench: Bench) {
    history(&bench, 30).await;
    let (_kept, folder) = folder();
    let made = backup(bench.location(), &folder, |_, _| {}).await.unwrap().manifest;
    let files = |folder: &PathBuf| {
        let mut names: Vec<_> = fs::read_dir(folder).unwrap().map(|it| it.unwrap().file_name()).collect();
        names.sort();
        names
    };
    assert_eq!(files(&folder), ["log.db", "manifest.json"]);
    let mode = fs::metadata(folder.join("log.db")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    for kind in [bench.kind, other(bench.kind)] {
        let mut to = Bench::closed(kind).await;
        let report = restore(&folder, to.location(), |_, _| {}).await.unwrap();
        to.reopen().await;
        assert_eq!(everything(&bench).await, everything(&to).await);
        let head = to.log().head().await.unwrap();
        assert_eq!((report.events, report.epoch, report.former_epoch), (head.position, head.epoch, 1));
        assert!(head.epoch > made.epoch);
        to.commit(one(&stream("new life"), 0)).await.unwrap();
    }
    // Restoring changed nothing in it, so that it can be restored again.
    assert_eq!(files(&folder), ["log.db", "manifest.json"]);
}

async fn a_backup_of_a_log_in_use_is_a_beginning_of_it(bench: Bench) {
    history(&bench, 10).await;
    let log = bench.log();
    let writing = tokio::spawn(async move {
        for at in 0..300 {
            log.commit(one(&stream("busy"), at)).await.unwrap();
        }
    });
    let (_kept, folder) = folder();
    let made = backup(bench.location(), &folder, |_, _| {}).await.unwrap().manifest;
    writing.await.unwrap();
    let mut to = Bench::closed(other(bench.kind)).await;
    restore(&folder, to.location(), |_, _| {}).await.unwrap();
    to.reopen().await;
    let (whole, restored) = (bench.everything().await, to.everything().await);
    assert_eq!(restored.len() as i64, made.position);
    assert_eq!(whole[..restored.len()], restored);
}

async fn a_backup_that_is_not_whole_is_refused(bench: Bench) {
    history(&bench, 10).await;
    let (_kept, folder) = folder();
    backup(bench.location(), &folder, |_, _| {}).await.unwrap();
    let (log, manifest) = (folder.join("log.db"), folder.join("manifest.json"));
    let (bytes, text) = (fs::read(&log).unwrap(), fs::read_to_string(&manifest).unwrap());
    let mut to = Bench::closed(bench.kind).await;
    let broken = async |says: &str, to: &Bench| match restore(&folder, to.location(), |_, _| {}).await {
        Err(TransferError::Broken(what)) => assert!(what.contains(says), "{what}"),
        other => panic!("{other:?}"),
    };
    fs::write(&log, &bytes[..bytes.len() - 100]).unwrap();
    broken("torn", &to).await;
    let mut changed = bytes.clone();
    let at = changed.len() / 2;
    changed[at] ^= 1;
    fs::write(&log, &changed).unwrap();
    broken("torn or was changed", &to).await;
    fs::remove_file(&log).unwrap();
    broken("missing", &to).await;
    fs::write(&log, &bytes).unwrap();
    fs::write(&manifest, &text[..text.len() / 2]).unwrap();
    broken("no whole manifest", &to).await;
    fs::write(&manifest, text.replace("muster backup 1", "muster backup 9")).unwrap();
    broken("muster backup 9", &to).await;
    fs::remove_file(&manifest).unwrap();
    broken("there is no manifest", &to).await;
    // Nothing of all that has touched the store.
    fs::write(&manifest, &text).unwrap();
    restore(&folder, to.location(), |_, _| {}).await.unwrap();
    to.reopen().await;
    assert_eq!(everything(&bench).await, everything(&to).await);
}

async fn a_backup_is_written_over_nothing(bench: Bench) {
    history(&bench, 3).await;
    let (kept, folder) = folder();
    backup(bench.location(), &folder, |_, _| {}).await.unwrap();
    let before = fs::read_to_string(folder.join("manifest.json")).unwrap();
    refused(backup(bench.location(), &folder, |_, _| {}).await, "a backup in this folder already");
    assert_eq!(fs::read_to_string(folder.join("manifest.json")).unwrap(), before);
    fs::write(kept.path().join("holiday.jpg"), "").unwrap();
    refused(backup(bench.location(), kept.path(), |_, _| {}).await, "a folder of its own");
}

async fn a_store_that_is_not_empty_takes_no_backup(bench: Bench) {
    history(&bench, 3).await;
    let (_kept, folder) = folder();
    backup(bench.location(), &folder, |_, _| {}).await.unwrap();
    let mut to = Bench::closed(bench.kind).await;
    restore(&folder, to.location(), |_, _| {}).await.unwrap();
    refused(restore(&folder, to.location(), |_, _| {}).await, "empty store");
    to.reopen().await;
    assert_eq!(everything(&bench).await, everything(&to).await);
}

fn refused<T: std::fmt::Debug>(ended: Result<T, TransferError>, why: &str) {
    match ended {
        Err(TransferError::Refused(what)) => assert!(what.contains(why), "{what}"),
        other => panic!("{other:?}"),
    }
}
