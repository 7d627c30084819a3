//! A session that is killed takes everything with it that it started.

use std::fs;

use workbench::tmux::Life;

use crate::fixture::until;
use crate::terminals::Terminals;

/// Whether a process runs; one that waits to be buried does not.
fn runs(pid: &str) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit(") ").next().is_some_and(|it| !it.is_empty() && !it.starts_with('Z'))
}

async fn children(terminals: &Terminals, count: usize) -> Vec<String> {
    let file = terminals.folder.path().join("children");
    until("all have started", async || fs::read_to_string(&file).is_ok_and(|it| it.lines().count() == count)).await;
    fs::read_to_string(file).unwrap().lines().map(str::to_owned).collect()
}

#[tokio::test]
async fn children_that_hide_are_killed_too() {
    let terminals = Terminals::new();
    let script = "
        sh -c 'echo $$ >>children; exec sleep 1000' &
        nohup sh -c 'trap \"\" HUP TERM; echo $$ >>children; exec sleep 1000' >/dev/null 2>&1 &
        setsid sh -c 'echo $$ >>children; exec sleep 1000' </dev/null >/dev/null 2>&1 &
        env -i sh -c 'echo $$ >>children; exec sleep 1000' &
        setsid sh -c 'env -i sh -c \"echo \\$\\$ >>children; exec sleep 1000\"; true' </dev/null >/dev/null 2>&1 &
        trap '' HUP TERM
        echo $$ >>children
        wait";
    let session = terminals.start("family", script).await;
    let family = children(&terminals, 6).await;
    assert!(family.iter().all(|it| runs(it)));
    let other = terminals.start("neighbour", "echo $$ >neighbour; read x").await;
    terminals.tmux.kill(&session).await.unwrap();
    assert_eq!(family.iter().filter(|it| runs(it)).count(), 0);
    assert!(matches!(terminals.tmux.alive(&other).await.unwrap(), Life::Running { .. }));
}

#[tokio::test]
async fn what_a_command_left_behind_is_killed_after_its_end() {
    let terminals = Terminals::new();
    let script = "setsid sh -c 'echo $$ >>children; exec sleep 1000' </dev/null >/dev/null 2>&1 &
        until [ -s children ]; do :; done; kill -KILL $$";
    let session = terminals.start("left", script).await;
    let family = children(&terminals, 1).await;
    assert_eq!(terminals.until_ended(&session).await, Life::Ended { status: None, signal: Some(9) });
    assert!(runs(&family[0]));
    terminals.tmux.kill(&session).await.unwrap();
    assert!(!runs(&family[0]));
}

#[tokio::test]
async fn what_outlived_tmux_itself_is_killed_by_the_next_start() {
    let terminals = Terminals::new();
    let script = "trap '' HUP; echo $$ >>children; echo spoken; while :; do read x || sleep 1000; done";
    let session = terminals.start("again", script).await;
    let family = children(&terminals, 1).await;
    let log = terminals.log("again");
    until("it has spoken", async || fs::read_to_string(&log).unwrap().contains("spoken")).await;
    assert!(terminals.by_hand(&["kill-server"]).status.success());
    until("tmux has gone", async || terminals.tmux.alive(&session).await.unwrap() == Life::Absent).await;
    assert!(runs(&family[0]), "it ignores the end of its terminal");
    assert!(terminals.tmux.output(&session, 5).await.unwrap().contains("spoken"));
    terminals.start("again", "read x").await;
    assert!(!runs(&family[0]));
}

#[tokio::test]
async fn secrets_of_a_start_that_was_cut_short_are_gone_with_the_next() {
    let terminals = Terminals::new();
    // As a crash leaves it between writing the file and asking tmux.
    let file = terminals.folder.path().join("so#{c} %k.d").join("cut.launch");
    fs::write(&file, "env\nKEY\n1\ns3cret\n").unwrap();
    let session = terminals.start("cut", "echo \"${KEY-none}\"").await;
    terminals.until_ended(&session).await;
    until("it has spoken", async || terminals.tmux.output(&session, 5).await.unwrap() == "none").await;
    assert!(!file.exists());
    fs::write(&file, "s3cret").unwrap();
    terminals.tmux.kill(&session).await.unwrap();
    assert!(!file.exists());
}
