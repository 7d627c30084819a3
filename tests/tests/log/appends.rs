//! What goes in comes out: in order, in pages, byte for byte.

use muster_tests::both_stores;
use muster_tests::commits::{Build, event, event_with, events, one, stream};
use muster_tests::stores::Bench;
use store::{Commit, NewEvent, StoredEvent};
use uuid::Uuid;

both_stores! {
    events_come_back_in_the_order_they_were_written,
    events_of_one_commit_keep_the_order_of_the_commit,
    a_receipt_names_the_positions_of_its_commit,
    a_stream_is_read_from_one_sequence_to_another,
    the_log_is_read_in_pages_after_a_position,
    streams_of_the_same_id_and_another_kind_are_apart,
    an_unknown_stream_is_empty,
    payloads_come_back_byte_for_byte,
    metadata_comes_back_byte_for_byte,
    an_envelope_comes_back_as_it_was_written,
    names_may_be_any_text,
    a_large_commit_lands_whole,
    nothing_is_lost_by_closing_and_opening,
}

async fn events_come_back_in_the_order_they_were_written(bench: Bench) {
    let (a, b) = (stream("a"), stream("b"));
    bench.commit(one(&a, 0)).await.unwrap();
    bench.commit(one(&b, 0)).await.unwrap();
    bench.commit(one(&a, 1)).await.unwrap();
    let all = bench.everything().await;
    assert_eq!(places(&all), [(1, "a", 1), (2, "b", 1), (3, "a", 2)]);
}

async fn events_of_one_commit_keep_the_order_of_the_commit(bench: Bench) {
    let (b, a) = (stream("b"), stream("a"));
    bench.commit(Commit::default().append(&b, 0, events(2)).append(&a, 0, events(1))).await.unwrap();
    assert_eq!(places(&bench.everything().await), [(1, "b", 1), (2, "b", 2), (3, "a", 1)]);
}

async fn a_receipt_names_the_positions_of_its_commit(bench: Bench) {
    let a = stream("a");
    let first = bench.commit(Commit::default().append(&a, 0, events(3))).await.unwrap();
    let second = bench.commit(one(&a, 3)).await.unwrap();
    assert_eq!((first.first, first.last), (1, 3));
    assert_eq!((second.first, second.last), (4, 4));
    assert_eq!(bench.everything().await[3].recorded_at, second.recorded_at);
}

async fn a_stream_is_read_from_one_sequence_to_another(bench: Bench) {
    let a = stream("a");
    bench.commit(Commit::default().append(&a, 0, events(5))).await.unwrap();
    let log = bench.log();
    let sequences = async |from, to| {
        let read = log.read_stream(&a, from, to).await.unwrap();
        read.iter().map(|it| it.sequence).collect::<Vec<_>>()
    };
    assert_eq!(sequences(2, Some(4)).await, [2, 3, 4]);
    assert_eq!(sequences(3, Some(3)).await, [3]);
    assert_eq!(sequences(4, None).await, [4, 5]);
    assert_eq!(sequences(0, Some(1)).await, [1]);
    assert_eq!(sequences(6, Some(9)).await, Vec::<i64>::new());
    assert_eq!(sequences(4, Some(2)).await, Vec::<i64>::new());
}

async fn the_log_is_read_in_pages_after_a_position(bench: Bench) {
    bench.commit(Commit::default().append(&stream("a"), 0, events(5))).await.unwrap();
    let log = bench.log();
    let positions = async |after, limit| {
        let read = log.read_all(after, limit).await.unwrap();
        read.iter().map(|it| it.position).collect::<Vec<_>>()
    };
    assert_eq!(positions(0, 2).await, [1, 2]);
    assert_eq!(positions(2, 2).await, [3, 4]);
    assert_eq!(positions(4, 2).await, [5]);
    assert_eq!(positions(5, 2).await, Vec::<i64>::new());
    assert_eq!(positions(99, 2).await, Vec::<i64>::new());
    assert_eq!(positions(0, 0).await, Vec::<i64>::new());
    assert_eq!(positions(3, usize::MAX).await, [4, 5]);
    assert_eq!(positions(-7, 1).await, [1]);
}

async fn streams_of_the_same_id_and_another_kind_are_apart(bench: Bench) {
    let (a, b) = (store::StreamId::new("cat", 1), store::StreamId::new("dog", 1));
    bench.commit(one(&a, 0)).await.unwrap();
    bench.commit(one(&b, 0)).await.unwrap();
    assert_eq!(bench.stream(&a).await.len(), 1);
    assert_eq!(bench.stream(&b).await[0].position, 2);
}

async fn an_unknown_stream_is_empty(bench: Bench) {
    assert_eq!(bench.stream(&stream("nowhere")).await, []);
}

async fn payloads_come_back_byte_for_byte(bench: Bench) {
    let payloads = odd_json();
    let written = payloads.iter().map(|it| event_with(it.clone())).collect();
    bench.commit(Commit::default().append(&stream("a"), 0, written)).await.unwrap();
    let by_stream: Vec<String> = bench.stream(&stream("a")).await.into_iter().map(|it| it.payload).collect();
    let by_position: Vec<String> = bench.everything().await.into_iter().map(|it| it.payload).collect();
    assert_eq!(by_stream, payloads);
    assert_eq!(by_position, payloads);
}

async fn metadata_comes_back_byte_for_byte(bench: Bench) {
    let all = odd_json();
    let written = all.iter().map(|it| NewEvent { metadata: it.clone(), ..event() }).collect();
    bench.commit(Commit::default().append(&stream("a"), 0, written)).await.unwrap();
    let read: Vec<String> = bench.stream(&stream("a")).await.into_iter().map(|it| it.metadata).collect();
    assert_eq!(read, all);
}

async fn an_envelope_comes_back_as_it_was_written(bench: Bench) {
    let new = NewEvent {
        event_id: Uuid::now_v7(),
        event_type: "ThingMade".into(),
        event_version: "2.1".into(),
        payload: "{}".into(),
        metadata: r#"{"actor":"ada"}"#.into(),
        workspace_id: Some(Uuid::now_v7()),
    };
    bench.commit(Commit::default().append(&stream("a"), 0, vec![new.clone(), event()])).await.unwrap();
    let read = bench.stream(&stream("a")).await;
    let first = &read[0];
    assert_eq!((first.event_id, first.workspace_id), (new.event_id, new.workspace_id));
    assert_eq!((&first.event_type, &first.event_version), (&new.event_type, &new.event_version));
    assert_eq!((&first.payload, &first.metadata), (&new.payload, &new.metadata));
    assert_eq!(first.stream, stream("a"));
    assert_eq!(first.recorded_at, bench.clock.now_micros());
    assert_eq!(read[1].workspace_id, None);
}

async fn names_may_be_any_text(bench: Bench) {
    let odd = store::StreamId::new("Ding ", "ä'\"\\;--%_\u{1F600}\n");
    let named = NewEvent { event_type: "É'vent".into(), event_version: "".into(), ..event() };
    bench.commit(Commit::default().append(&odd, 0, vec![named])).await.unwrap();
    let read = bench.stream(&odd).await;
    assert_eq!(read[0].stream, odd);
    assert_eq!((read[0].event_type.as_str(), read[0].event_version.as_str()), ("É'vent", ""));
    // Neither blanks nor case are looked over.
    assert_eq!(bench.stream(&store::StreamId::new("Ding", &odd.aggregate_id)).await, []);
    assert_eq!(bench.stream(&store::StreamId::new("ding ", &odd.aggregate_id)).await, []);
}

async fn a_large_commit_lands_whole(bench: Bench) {
    let megabyte = format!("\"{}\"", "x".repeat(1 << 20));
    let mut many = events(2000);
    many.push(event_with(megabyte.clone()));
    let receipt = bench.commit(Commit::default().append(&stream("a"), 0, many)).await.unwrap();
    assert_eq!((receipt.first, receipt.last), (1, 2001));
    let read = bench.stream(&stream("a")).await;
    assert_eq!(read.len(), 2001);
    assert!(read.iter().zip(1..).all(|(it, place)| it.sequence == place && it.position == place));
    assert!(read[2000].payload == megabyte);
}

async fn nothing_is_lost_by_closing_and_opening(mut bench: Bench) {
    let a = stream("a");
    bench.commit(Commit::default().append(&a, 0, events(3))).await.unwrap();
    let before = bench.everything().await;
    bench.reopen().await;
    assert_eq!(bench.everything().await, before);
    let receipt = bench.commit(one(&a, 3)).await.unwrap();
    assert_eq!(receipt.first, 4);
    bench.reopen().await;
    assert_eq!(bench.everything().await.len(), 4);
}

fn places(events: &[StoredEvent]) -> Vec<(i64, &str, i64)> {
    events.iter().map(|it| (it.position, it.stream.aggregate_id.as_str(), it.sequence)).collect()
}

/// JSON that a careless store would tidy up.
fn odd_json() -> Vec<String> {
    let mut all: Vec<String> = [
        r#"{"b":1,"a":2,"b":3}"#,
        "  { \"spaced\" :\t[ 1 , 2 ]\r\n}\n",
        r#"{"":{"":[{},[],"",null,true,false]}}"#,
        // numbers that do not survive a float, or being written anew
        "[123456789012345678901234567890, 1e400, 1.0, 1.10, -0, -0.0, 1E+2, 0.1000, 9007199254740993]",
        // escapes that need not be there, and ones that must
        r#""\u0000 \u001f \/ \u002f \" \\ \b\f\n\r\t \u00e9 \uD83D\uDE00""#,
        // half of a pair is JSON too
        r#""\ud800""#,
        // composed and decomposed, right to left, joined emoji, separators, noncharacters, the end of Unicode
        "\"é e\u{301} \u{202e}עברית 👩\u{200d}👩\u{200d}👧 \u{2028}\u{2029} \u{feff} \u{ffff} \u{10ffff} \u{7f} \u{85}\"",
        r#""'; drop table events; -- $1 ? :a @b %s {0}""#,
        "null",
        "-12.5e-3",
    ]
    .map(str::to_owned)
    .into();
    all.push(format!("{}{}", "[".repeat(100), "]".repeat(100)));
    all
}
