//! `muster log verify` finds what was done to the log behind Muster's back, and says where.

use muster_tests::at_both_homes;
use muster_tests::muster::{Home, Muster};
use serde_json::Value;

use crate::raw;

at_both_homes! {
    a_log_that_was_tampered_with_is_found_out,
}

async fn a_log_that_was_tampered_with_is_found_out(home: Home) {
    Muster::start(&home, &["--demo"]).await.terminate().await;
    let clean = home.succeed(&["log", "verify"]).await;
    assert!(clean.stdout.contains("events are as they were written"), "{clean:#?}");
    raw::drop_triggers(&home).await;

    // From the end to the beginning, because verification stops at the first thing it finds.
    let swap = "update events set position = -1 where position = 20;
        update events set position = 20 where position = 21;
        update events set position = 21 where position = -1";
    raw::run(&home, swap).await;
    found_at(&home, 20).await;
    raw::run(&home, "delete from events where position = 12").await;
    found_at(&home, 12).await;
    raw::run(&home, &raw::change_one_byte(&home, 5)).await;
    found_at(&home, 5).await;
}

async fn found_at(home: &Home, position: i64) {
    let ended = home.run(&["log", "verify"]).await;
    assert_eq!(ended.code, Some(1), "{ended:#?}");
    assert!(ended.stderr.contains(&format!("position {position}:")), "{ended:#?}");
    let ended = home.run(&["log", "verify", "--json"]).await;
    assert_eq!(ended.code, Some(1), "{ended:#?}");
    let report: Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(report["finding"]["position"], position, "{report:#}");
}
