//! Text under a workspace's own key: sealed before it is written, read as it was, and never back once it is erased.

use std::path::Path;
use std::sync::Arc;

use commands::workspace::{ChangeWorkspaceAndSeal, CreateWorkspaceSealed, EraseWorkspaceText};
use commands::{CommandError, Refusal};
use domain::workspace::{ChangeWorkspace, CreateWorkspace, WorkspaceError};
use domain::{Settings, Slug, WorkspaceId, catalogue};
use futures_util::future::join_all;
use muster_tests::both_stores;
use muster_tests::fleet::{Fleet, new};
use muster_tests::stores::{Bench, Kind, noon};
use projections::Fact;
use store::{Commit, CommitError, EventLog, NewEvent, StoredEvent, StreamAppend, StreamId, TextKey};
use uuid::Uuid;

const WORD: &str = "heliotrope";

both_stores! {
    text_is_sealed_from_the_first_word_of_a_workspace_that_wants_it,
    what_was_written_before_stays_as_it_was,
    nobody_else_is_sealed_or_erased,
    a_node_that_has_not_heard_of_a_key_seals_all_the_same,
    what_is_erased_does_not_come_back_from_a_warm_aggregate,
    after_an_erasure_text_is_sealed_under_another_key,
    text_that_was_never_sealed_cannot_be_erased,
    commands_that_race_an_erasure_all_land,
    every_event_keeps_its_shape_without_its_text,
    what_was_decided_by_other_keys_is_refused,
}

async fn text_is_sealed_from_the_first_word_of_a_workspace_that_wants_it(bench: Bench) {
    let fleet = Fleet::on(bench.log());
    let workspace = sealed(&fleet, "acme").await;
    let project = fleet.project(workspace, "shop").await.unwrap();
    fleet.task(project, None).await.unwrap();
    fleet.rename(workspace, &format!("{WORD} again")).await.unwrap();
    let log = bench.log();
    for event in log.read_as_written(0, 100).await.unwrap() {
        assert!(!event.payload.contains(WORD) && !event.payload.contains("basket"), "{event:#?}");
    }
    let read = bench.everything().await;
    assert!(read[0].payload.contains(WORD), "{:#?}", read[0]);
    assert!(read.iter().any(|it| it.payload.contains("Add a basket")));
    assert!(log.verify(|_| {}).await.unwrap().finding.is_none());
}

async fn what_was_written_before_stays_as_it_was(bench: Bench) {
    let fleet = Fleet::on(bench.log());
    let workspace = fleet.workspace("acme").await.unwrap();
    fleet.rename(workspace, "Early").await.unwrap();
    for name in ["Sealed", "Sealed too"] {
        let change = ChangeWorkspace {
            by: fleet.owner,
            name: Some(name.to_owned()),
            slug: None,
            description: None,
            settings: None,
            now: noon(),
        };
        let key = TextKey::generate().unwrap();
        let command = ChangeWorkspaceAndSeal { workspace_id: workspace, change, key };
        fleet.executor.run(&fleet.context(), &command).await.unwrap();
    }
    let kept: Vec<String> = written(&bench.log()).await;
    let shown = |name: &str| kept.iter().filter(|it| it.contains(&format!("{name:?}"))).count();
    assert_eq!((shown("Early"), shown("Sealed"), shown("Sealed too")), (1, 0, 0), "{kept:#?}");
    let seals = bench.everything().await.iter().filter(|it| it.event_type == "WorkspaceTextSealed").count();
    assert_eq!(seals, 1, "asked twice, sealed once");
    erase(&fleet, workspace).await.unwrap();
    let read = payloads(&bench.everything().await);
    assert!(read.contains("\"Early\"") && !read.contains("Sealed too"), "{read}");
}

async fn nobody_else_is_sealed_or_erased(bench: Bench) {
    let fleet = Fleet::on(bench.log());
    let (acme, other, open) =
        (sealed(&fleet, "acme").await, sealed(&fleet, "other").await, fleet.workspace("open").await.unwrap());
    for workspace in [acme, other, open] {
        fleet.rename(workspace, &format!("{WORD} of {workspace}")).await.unwrap();
    }
    erase(&fleet, acme).await.unwrap();
    let read = payloads(&bench.everything().await);
    assert!(!read.contains(&format!("{WORD} of {acme}")));
    assert!(read.contains(&format!("{WORD} of {other}")) && read.contains(&format!("{WORD} of {open}")));
    assert!(written(&bench.log()).await.concat().contains(&format!("{WORD} of {open}")));
}

async fn a_node_that_has_not_heard_of_a_key_seals_all_the_same(bench: Bench) {
    let here = Fleet::on(bench.log());
    let there = here.elsewhere(another_log(&bench).await);
    let workspace = here.workspace("acme").await.unwrap();
    there.rename(workspace, "Warm there").await.unwrap();
    let change =
        ChangeWorkspace { by: here.owner, name: None, slug: None, description: None, settings: None, now: noon() };
    let seal = ChangeWorkspaceAndSeal { workspace_id: workspace, change, key: TextKey::generate().unwrap() };
    here.executor.run(&here.context(), &seal).await.unwrap();
    there.project(workspace, WORD).await.unwrap();
    there.rename(workspace, WORD).await.unwrap();
    let kept = written(&bench.log()).await;
    // Its slug is no text.
    assert!(kept.iter().all(|it| !it.contains(&format!("\"name\":\"{WORD}\""))), "{kept:#?}");
}

async fn what_is_erased_does_not_come_back_from_a_warm_aggregate(bench: Bench) {
    let here = Fleet::on(bench.log());
    let there = here.elsewhere(another_log(&bench).await);
    let workspace = sealed(&here, "acme").await;
    let project = there.project(workspace, "shop").await.unwrap();
    let agent = there.agent(workspace, Some(project), "dev", None).await.unwrap();
    let task = there.task(project, None).await.unwrap();
    erase(&here, workspace).await.unwrap();
    // The event of an assignment repeats the task's title.
    there.assign(task, agent).await.unwrap();
    let last = bench.everything().await.pop().unwrap();
    assert_eq!(last.event_type, "TaskAssigned");
    assert!(last.payload.contains(r#""title":"[erased]""#), "{last:#?}");
}

async fn after_an_erasure_text_is_sealed_under_another_key(bench: Bench) {
    let fleet = Fleet::on(bench.log());
    let workspace = sealed(&fleet, "acme").await;
    let before = bench.log().text_key_of(workspace.0).await.unwrap().unwrap();
    erase(&fleet, workspace).await.unwrap();
    let after = bench.log().text_key_of(workspace.0).await.unwrap().unwrap();
    assert_ne!(before.secret(), after.secret());
    fleet.rename(workspace, "Afterwards").await.unwrap();
    assert!(!written(&bench.log()).await.concat().contains("Afterwards"));
    assert!(payloads(&bench.everything().await).contains("Afterwards"));
    // And that can be erased too.
    erase(&fleet, workspace).await.unwrap();
    assert!(!payloads(&bench.everything().await).contains("Afterwards"));
}

async fn text_that_was_never_sealed_cannot_be_erased(bench: Bench) {
    let fleet = Fleet::on(bench.log());
    let open = fleet.workspace("acme").await.unwrap();
    let refused = |error| Err(CommandError::Refused(Refusal::Workspace(error)));
    assert_eq!(erase(&fleet, open).await, refused(WorkspaceError::TextNotSealed));
    assert_eq!(erase(&fleet, new()).await, refused(WorkspaceError::NotFound));
    assert_eq!(bench.everything().await.len(), 1);
}

async fn commands_that_race_an_erasure_all_land(bench: Bench) {
    let here = Fleet::on(bench.log());
    let there = here.elsewhere(another_log(&bench).await);
    let workspace = sealed(&here, "acme").await;
    let renaming = join_all((0..20).map(|n| {
        let (here, there) = (&here, &there);
        async move { (if n % 2 == 0 { here } else { there }).project(workspace, &format!("p-{n}")).await }
    }));
    let (landed, erased) = tokio::join!(renaming, erase(&here, workspace));
    erased.unwrap();
    assert!(landed.iter().all(Result::is_ok), "{landed:?}");
    let (mut erasure, mut after) = (0, vec![]);
    for event in bench.everything().await {
        match event.event_type.as_str() {
            "WorkspaceTextErased" => erasure = event.position,
            "ProjectCreated" => after.push((event.position, event.payload.contains(r#""name":"[erased]""#))),
            _ => {}
        }
    }
    assert_eq!(after.len(), 20);
    for (position, is_erased) in after {
        assert_eq!(is_erased, position < erasure, "position {position}, erased at {erasure}");
    }
    assert!(bench.log().verify(|_| {}).await.unwrap().finding.is_none());
}

async fn every_event_keeps_its_shape_without_its_text(bench: Bench) {
    let (log, key) = (bench.log(), TextKey::generate().unwrap());
    for kind in catalogue() {
        let file = format!("../domain/tests/golden/{}/{}.v{}.json", kind.aggregate, kind.event, kind.version);
        let payload = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(file)).unwrap();
        let mut event = NewEvent {
            event_id: Uuid::now_v7(),
            event_type: kind.event.to_owned(),
            event_version: kind.version.to_owned(),
            payload,
            metadata: r#"{"actor_type":"system","actor_id":"test"}"#.to_owned(),
            workspace_id: Some(Uuid::from_u128(2)),
        };
        key.seal(&mut event, kind.text, kind.plain).unwrap();
        let stream = StreamId::new(kind.aggregate, Uuid::now_v7());
        let appends = vec![StreamAppend { stream, expected: 0, events: vec![event] }];
        log.commit(Commit { appends, ..Commit::default() }).await.unwrap();
    }
    let mut sealed = 0;
    for event in bench.everything().await {
        let kind = domain::kind_of(&event.event_type).unwrap();
        // Of an event in several forms, the golden file may have one without text.
        let is_sealed = event.payload.contains("[sealed]");
        assert!(!(is_sealed && kind.text.is_empty()), "{event:#?}");
        sealed += usize::from(is_sealed);
        Fact::read(event).unwrap();
    }
    assert!(sealed > 30, "{sealed} events had text");
}

async fn what_was_decided_by_other_keys_is_refused(bench: Bench) {
    let fleet = Fleet::on(bench.log());
    let known = bench.log().known_keys().version;
    sealed(&fleet, "acme").await;
    let stale = Commit { known_keys: Some(known), ..muster_tests::commits::one(&StreamId::new("x", "1"), 0) };
    assert_eq!(bench.commit(stale.clone()).await, Err(CommitError::KeysMoved));
    let known = bench.log().look_at_keys().await.unwrap().version;
    bench.commit(Commit { known_keys: Some(known), ..stale }).await.unwrap();
}

/// A workspace that seals its text, with a word in its name, its description and its settings.
async fn sealed(fleet: &Fleet, slug: &str) -> WorkspaceId {
    let create = CreateWorkspace {
        workspace_id: new(),
        owner: fleet.owner,
        name: WORD.to_owned(),
        slug: Slug::parse(slug).unwrap(),
        description: Some(format!("The {WORD}")),
        settings: Settings::from_iter([(WORD.to_owned(), WORD.into())]),
        now: noon(),
    };
    let command = CreateWorkspaceSealed { create, key: TextKey::generate().unwrap() };
    fleet.executor.run(&fleet.context(), &command).await.unwrap().outcome.into()
}

async fn erase(fleet: &Fleet, workspace_id: WorkspaceId) -> Result<(), CommandError> {
    let command = EraseWorkspaceText { workspace_id, next: TextKey::generate().unwrap() };
    fleet.executor.run(&fleet.context(), &command).await.map(drop)
}

/// The log as another node has it; there is one node on SQLite.
async fn another_log(bench: &Bench) -> Arc<EventLog> {
    match bench.kind {
        Kind::Sqlite => bench.log(),
        Kind::Postgres => bench.open_another().await.unwrap().log,
    }
}

async fn written(log: &EventLog) -> Vec<String> {
    log.read_as_written(0, 1_000).await.unwrap().into_iter().map(|it| it.payload).collect()
}

fn payloads(events: &[StoredEvent]) -> String {
    events.iter().map(|it| it.payload.as_str()).collect()
}
