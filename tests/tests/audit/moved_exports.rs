//! An export holds the events and nothing of people; read back, it is the same log; spoilt, it is found out by line.

use std::io::Cursor;

use muster_tests::both_stores;
use muster_tests::stores::Bench;
use serde_json::Value;
use store::transfer::{ImportReport, TransferError, export, import, settle};

use crate::both_ways;
use crate::moves::{email, everything, history, stranger};

both_ways!(
    an_imported_export_is_the_same_log_link_by_link,
    an_import_goes_on_where_the_log_ends,
    a_log_with_another_history_imports_nothing,
    a_spoilt_file_is_refused_by_line_and_leaves_whole_batches,
);
both_stores!(every_line_is_a_cloud_event_without_people_or_secrets, a_part_is_widened_to_whole_batches);

async fn text_of(bench: &Bench, first: i64, last: Option<i64>) -> String {
    let mut out = Vec::new();
    export(bench.location(), first, last, &mut out, |_, _| {}).await.unwrap();
    String::from_utf8(out).unwrap()
}

async fn read_into(bench: &Bench, text: &str) -> Result<ImportReport, TransferError> {
    let report = import(bench.location(), Cursor::new(text.to_owned()), |_, _| {}).await?;
    settle(bench.location(), &[], &[]).await?;
    Ok(report)
}

async fn an_imported_export_is_the_same_log_link_by_link(from: Bench, mut to: Bench) {
    history(&from, 40).await;
    let text = text_of(&from, 1, None).await;
    let report = read_into(&to, &text).await.unwrap();
    to.reopen().await;
    let (there, here) = (everything(&from).await, everything(&to).await);
    assert_eq!((&there.events, &there.batches), (&here.events, &here.batches));
    assert_eq!((report.imported, report.link), (report.position, hex::encode(to.log().head().await.unwrap().link)));
    assert_eq!(text_of(&to, 1, None).await, text);
    let nobody = here.beside.iter().all(|(_, rows)| rows.is_empty());
    assert!(nobody, "{:?}", here.beside);
}

async fn an_import_goes_on_where_the_log_ends(from: Bench, mut to: Bench) {
    history(&from, 10).await;
    let beginning = text_of(&from, 1, None).await;
    read_into(&to, &beginning).await.unwrap();
    let known = from.log().head().await.unwrap().position;
    history(&from, 10).await;
    let all = text_of(&from, 1, None).await;
    let rest = text_of(&from, known + 1, None).await;
    assert!(rest.len() < all.len());
    let report = read_into(&to, &rest).await.unwrap();
    assert_eq!((report.imported, report.imported), (report.read, report.position - known));
    for again in [&all, &beginning, &rest] {
        let report = read_into(&to, again).await.unwrap();
        assert_eq!(report.imported, 0);
    }
    to.reopen().await;
    assert_eq!(everything(&from).await.batches, everything(&to).await.batches);
    let far = Bench::closed(to.kind).await;
    refused(read_into(&far, &rest).await, &format!("begins at position {}", known + 1));
}

async fn a_log_with_another_history_imports_nothing(from: Bench, mut to: Bench) {
    history(&from, 6).await;
    stranger(&mut to).await;
    let before = everything(&to).await;
    to.close();
    refused(read_into(&to, &text_of(&from, 1, None).await).await, "another history");
    refused(read_into(&to, &text_of(&from, 1, Some(1)).await).await, "another history");
    to.reopen().await;
    assert_eq!(everything(&to).await, before);
}

async fn a_spoilt_file_is_refused_by_line_and_leaves_whole_batches(from: Bench, mut to: Bench) {
    history(&from, 12).await;
    let text = text_of(&from, 1, None).await;
    let lines: Vec<&str> = text.lines().collect();
    let last = lines.len() - 1;
    let join = |lines: &[&str]| lines.join("\n") + "\n";
    let swapped = {
        let mut lines = lines.clone();
        lines.swap(4, 5);
        join(&lines)
    };
    let without = |at: usize| join(&[&lines[..at], &lines[at + 1..]].concat());
    let changed = |at: usize, from: &str, to: &str| {
        let line = lines[at].replace(from, to);
        assert_ne!(line, lines[at]);
        join(&[&lines[..at], &[line.as_str()], &lines[at + 1..]].concat())
    };
    let cases = [
        ("torn in a line", text[..text.len() / 2].to_owned(), "torn"),
        ("torn between lines", join(&lines[..7]), "line 8"),
        ("without its end", join(&lines[..last]), "without its closing line"),
        ("reordered", swapped, "line 5"),
        ("a line short", without(6), "line 7"),
        ("another type", changed(8, "ThingHappened", "ThingHappenea"), "line 9: position 9"),
        ("another time", changed(9, "\"time\":\"2026-03-01", "\"time\":\"2026-03-02"), "line 1"),
        ("another actor", changed(3, "user:", "user:9"), "line 4: position 4"),
        ("another sequence", changed(10, "\"sequence\":\"", "\"sequence\":\"1"), "line 11: position 11"),
        ("no cloud event", changed(2, "\"specversion\":\"1.0\"", "\"specversion\":\"0.3\""), "line 3"),
        ("no JSON", join(&[&lines[..2], &["what?"]].concat()), "line 3"),
        ("another link", changed(1, "\"link\":\"", "\"link\":\"0"), "line 2: position 2"),
        ("more after its end", format!("{text}{}\n", lines[0]), "something follows"),
    ];
    for (name, spoilt, says) in cases {
        let place = Bench::closed(to.kind).await;
        match read_into(&place, &spoilt).await {
            Err(TransferError::Broken(what)) => assert!(what.contains(says), "{name}: {what}"),
            other => panic!("{name}: {other:?}"),
        }
        // Whatever has come is whole batches, and the whole file brings the rest.
        read_into(&place, &text).await.unwrap_or_else(|error| panic!("{name}: {error}"));
    }
    // A log that has a part of it is not served from before the rest has come.
    let torn = join(&lines[..last]);
    assert!(matches!(read_into(&to, &torn).await, Err(TransferError::Broken(_))));
    let unfinished = to.open_another().await.unwrap_err().to_string();
    assert!(unfinished.contains("unfinished"), "{unfinished}");
    read_into(&to, &text).await.unwrap();
    to.reopen().await;
    assert_eq!(everything(&from).await.batches, everything(&to).await.batches);
}

async fn every_line_is_a_cloud_event_without_people_or_secrets(bench: Bench) {
    history(&bench, 20).await;
    let text = text_of(&bench, 1, None).await;
    for secret in ["a secret", "hash of a key", &email(0), "example.com", &hex::encode("a secret"), "slug", "key-"] {
        assert!(!text.contains(secret), "{secret}");
    }
    let events = bench.everything().await;
    let lines: Vec<Value> = text.lines().map(|it| serde_json::from_str(it).unwrap()).collect();
    assert_eq!(lines.len(), events.len() + 1);
    for (line, event) in lines.iter().zip(&events) {
        assert_eq!(line["specversion"], "1.0");
        assert_eq!(line["id"], event.event_id.to_string());
        assert_eq!(line["type"], event.event_type);
        assert_eq!(line["subject"], event.stream.to_string());
        assert_eq!(line["datacontenttype"], "application/json");
        assert_eq!(line["position"], event.position.to_string());
        assert_eq!(line["sequence"], event.sequence.to_string());
        assert_eq!(line["metadata"], event.metadata);
        assert_ne!(line.get("data").is_some(), line.get("data_base64").is_some(), "{line:#}");
        let attributes = line.as_object().unwrap();
        for (name, value) in attributes.iter().filter(|(name, _)| !name.starts_with("data")) {
            assert!(
                name.chars().all(|it| it.is_ascii_lowercase() || it.is_ascii_digit()) && value.is_string(),
                "{name}"
            );
        }
    }
    assert_eq!(lines.last().unwrap()["type"], "muster.log.exported");
}

async fn a_part_is_widened_to_whole_batches(bench: Bench) {
    history(&bench, 20).await;
    let inside =
        bench.everything().await.windows(2).find(|it| it[0].recorded_at == it[1].recorded_at).unwrap()[1].position;
    let mut out = Vec::new();
    let report = export(bench.location(), inside, Some(inside), &mut out, |_, _| {}).await.unwrap();
    assert!(report.first < inside && report.last >= inside, "{report:?}");
    assert_eq!(report.events, report.last + 1 - report.first);
    assert_eq!(String::from_utf8(out).unwrap().lines().count() as i64, report.events + 1);
}

fn refused<T: std::fmt::Debug>(ended: Result<T, TransferError>, why: &str) {
    match ended {
        Err(TransferError::Refused(what)) => assert!(what.contains(why), "{what}"),
        other => panic!("{other:?}"),
    }
}
