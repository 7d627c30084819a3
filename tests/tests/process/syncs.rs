//! Kill -9 cannot show durability, because the kernel keeps what was written; so strace shows that every
//! acknowledgement on SQLite follows a sync.

use std::fs;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use muster_tests::muster::{Home, Muster, wait_until};
use muster_tests::stores::Kind;

use crate::checker::check;
use crate::load::Load;
use crate::trace::{Answered, answered_too_early};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_command_is_acknowledged_before_its_events_are_synced() {
    let folder = tempfile::tempdir().unwrap();
    let trace = folder.path().join("trace");
    let calls = "trace=write,pwrite64,writev,sendto,sendmsg,fsync,fdatasync";
    // -D: strace is the grandchild and the server our child, so that signals reach the server itself.
    let strace = ["strace", "-D", "-f", "-yy", "-s", "100000", "-e", calls, "-o", trace.to_str().unwrap()];
    let home = Home::new(Kind::Sqlite).await.under(&strace);
    let server = Muster::start(&home, &[]).await;
    // One at a time, then many at once, so that commands share commits.
    let mut load = Load::new(&server, 1).await;
    for clients in [1, 12] {
        load = load.with_clients(clients);
        let running = load.start(&[&server]);
        running.acknowledged(40).await;
        load = running.stop().await;
    }
    load.settle(&server).await;
    assert_eq!(server.terminate().await.code, Some(0));
    wait_until("strace has written everything down", async || tail(&trace).ends_with("+++ exited with 0 +++\n")).await;
    let trace = String::from_utf8_lossy(&fs::read(&trace).unwrap()).into_owned();
    let acknowledged = load.record().acknowledged;
    assert!(acknowledged.len() >= 80, "{}", acknowledged.len());
    let commands = acknowledged.iter().map(|(token, told)| Answered { token, position: told.position });
    assert_eq!(answered_too_early(&trace, commands), Vec::<&str>::new());
    check(&home, &load).await;
}

fn tail(file: &Path) -> String {
    let mut file = fs::File::open(file).unwrap();
    let mut tail = Vec::new();
    let length = file.metadata().unwrap().len();
    file.seek(SeekFrom::Start(length.saturating_sub(100))).unwrap();
    file.read_to_end(&mut tail).unwrap();
    String::from_utf8_lossy(&tail).into_owned()
}
