//! One event of every kind: what each becomes on the timeline, and that every projection is rebuilt as it was.

use std::collections::BTreeMap;
use std::path::Path;

use domain::{AgentId, EventKind, SessionId, TaskId, WorkspaceId};
use muster_tests::both_stores;
use muster_tests::stores::Bench;
use projections::offline::rebuild;
use projections::timeline::{self, Filter};
use projections::{FactOf, history, sessions};
use serde_json::{Value, json};
use store::{NewEvent, StreamId};
use uuid::Uuid;

use crate::fleet::Fleet;

both_stores! {
    every_projection_folds_every_kind_of_event_and_is_rebuilt_as_it_was,
    every_kind_of_event_is_part_of_a_history,
    contents_have_the_fields_of_the_document,
    entries_concern_those_whom_the_document_names,
    an_agent_finds_what_mentions_it_oldest_first,
    entries_about_a_task_are_found_by_it,
    the_last_session_of_an_agent_is_found,
}

/// What the golden events are about, in an order in which it can happen.
const ABOUT: [(&str, u128); 18] = [
    ("user", 1),
    ("workspace", 2),
    ("project", 3),
    ("agent", 4),
    ("epic", 20),
    ("post", 4),
    ("errand", 21),
    ("mail", 20),
    ("tool_call", 21),
    ("decision", 22),
    ("notification", 23),
    ("notification_settings", 1),
    ("session", 10),
    ("task", 11),
    ("wiki", 14),
    ("scorecard", 4),
    ("pull_request", 12),
    ("repository", 3),
];
const OWNER: Uuid = Uuid::from_u128(1);
const WORKSPACE: WorkspaceId = WorkspaceId(Uuid::from_u128(2));
const AGENT: AgentId = AgentId(Uuid::from_u128(4));
const OTHER: AgentId = AgentId(Uuid::from_u128(5));
const TASK: TaskId = TaskId(Uuid::from_u128(11));

/// A log with one event of every kind, and the read models of it.
async fn story(bench: Bench) -> Fleet {
    let fleet = Fleet::new(bench);
    for (aggregate, id) in ABOUT {
        for kind in domain::catalogue().into_iter().filter(|it| it.aggregate == aggregate) {
            happens(&fleet, &kind, id).await;
        }
        if aggregate == "task" {
            // The last task event but this takes it from its agent, and pull requests are for whoever has it.
            let assigned = domain::catalogue().into_iter().find(|it| it.event == "TaskAssigned").unwrap();
            happens(&fleet, &assigned, id).await;
        }
        if aggregate == "tool_call" {
            // The last of its events ends the call, and some read models know only of those that go on.
            let called = domain::catalogue().into_iter().find(|it| it.event == "ToolCalled").unwrap();
            happens(&fleet, &called, id).await;
        }
    }
    fleet.project_everything().await;
    fleet
}

async fn happens(fleet: &Fleet, kind: &EventKind, id: u128) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../domain/tests/golden").join(kind.aggregate);
    let payload = std::fs::read_to_string(folder.join(format!("{}.v{}.json", kind.event, kind.version))).unwrap();
    let event = NewEvent {
        event_id: Uuid::now_v7(),
        event_type: kind.event.into(),
        event_version: kind.version.into(),
        payload,
        metadata: json!({ "actor_type": "system", "actor_id": "story" }).to_string(),
        workspace_id: (!matches!(kind.aggregate, "user" | "notification_settings")).then_some(WORKSPACE.0),
    };
    fleet.appends(&StreamId::new(kind.aggregate, Uuid::from_u128(id)), event).await;
}

async fn every_kind_of_event_is_part_of_a_history(bench: Bench) {
    let fleet = story(bench).await;
    let bounds = history::Bounds { events: 1_000 };
    for (aggregate, id) in ABOUT {
        let stream = StreamId::new(aggregate, Uuid::from_u128(id));
        let page = history::page(&fleet.log(), &stream, i64::MAX, 0, 1_000, bounds).await.unwrap();
        assert!(page.total > 0 && page.steps.len() as i64 == page.total, "{stream}");
        assert!(page.steps.iter().all(|it| it.unreadable.is_none() && it.data.is_object()), "{stream}");
        // The first event makes something of nothing.
        assert!(!page.steps[0].changes.is_empty(), "{stream}");
    }
}

/// The entries of the story by type; of several of one type, the first.
async fn entries(fleet: &Fleet) -> BTreeMap<String, Value> {
    let filter = Filter { workspaces: vec![WORKSPACE], ..Filter::default() };
    let mut entries = BTreeMap::new();
    for doc in timeline::after(fleet.views(), &filter, 0, 1000).await.unwrap() {
        let entry: Value = serde_json::from_str(&doc.json).unwrap();
        entries.entry(doc.kind).or_insert(entry);
    }
    entries
}

async fn every_projection_folds_every_kind_of_event_and_is_rebuilt_as_it_was(bench: Bench) {
    let fleet = story(bench).await;
    for status in projections::status(&fleet.log(), fleet.views(), &projections::all()).await.unwrap() {
        assert!(status.parked.is_empty(), "{status:#?}");
    }
    for projection in projections::all() {
        let name = projection.name().to_owned();
        let report = rebuild(&fleet.log(), fleet.views(), &projection, &mut |_, _| {}).await.unwrap();
        let compared = report.compared.unwrap();
        assert!(compared.rows_compared > 0, "{name}");
        assert_eq!(compared.differences_total, 0, "{name}: {compared:?}");
    }
}

async fn contents_have_the_fields_of_the_document(bench: Bench) {
    let fleet = story(bench).await;
    let entries = entries(&fleet).await;
    for (kind, fields) in [
        ("session_start", "pulledUpdates"),
        ("session_log", "context message"),
        ("session_stop", "durationSeconds summary tasksWorkedOn"),
        ("task_assigned", "assignedBy assignedTo deadline priority taskId taskTitle"),
        ("task_completed", "completedAt completedBy duration successCriteriaMet taskId taskTitle"),
        ("task_blocked", "blockedBy blocker requiresAttention severity taskId taskTitle"),
        ("problem_report", "category context description severity title"),
        ("advice_given", "advice confidence context relatedTask topic"),
        ("question_asked", "context question urgency"),
        (
            "review_requested",
            "additions changedFiles deletions description githubPullRequestNumber githubPullRequestUrl pullRequestId \
             requestedBy title",
        ),
        ("review_response", "comments decision pullRequestId requestedChanges reviewedAt reviewer"),
        (
            "github_pr_opened",
            "author githubPullRequestNumber githubPullRequestUrl linkedTaskId openedAt repository title",
        ),
        (
            "github_pr_merged",
            "githubPullRequestNumber githubPullRequestUrl linkedTaskId mergedAt mergedBy repository title",
        ),
        ("github_issue_assigned", "assignedAt assignedTo githubIssueNumber githubIssueUrl repository title"),
        ("kpi_updated", "agentId agentName changes newKPIs previousKPIs reason recalculatedAt"),
        (
            "trust_score_changed",
            "agentId agentName change changedAt factors newStatus newTrustScore previousStatus previousTrustScore \
             reason",
        ),
        ("wiki_contribution", "entryId isUpdate parentEntryId proposedBy slug status tags title version"),
    ] {
        let mut found: Vec<&str> = entries[kind]["content"].as_object().unwrap().keys().map(String::as_str).collect();
        found.sort_unstable();
        assert_eq!(found, fields.split_whitespace().collect::<Vec<_>>(), "{kind}");
    }
    let names: Vec<&str> = entries.keys().map(String::as_str).collect();
    let mut types = timeline::TYPES.to_vec();
    // The golden mail is an agent's; only those to people show.
    types.retain(|it| *it != "mail_received");
    types.sort_unstable();
    assert_eq!(names, types, "every type has a source");
    let kpi = &entries["kpi_updated"]["content"];
    let change = json!({ "metric": "tasksCompleted", "oldValue": 2.0, "newValue": 3.0, "change": 1.0 });
    assert!(kpi["changes"].as_array().unwrap().contains(&change), "{kpi}");
    assert_eq!((&kpi["newKPIs"]["tasksCompleted"], &kpi["previousKPIs"]["tasksCompleted"]), (&json!(3), &json!(2)));
}

async fn entries_concern_those_whom_the_document_names(bench: Bench) {
    let fleet = story(bench).await;
    let entries = entries(&fleet).await;
    for (kind, mentions) in [
        ("session_start", vec![]),
        ("session_log", vec![]),
        ("session_stop", vec![]),
        ("task_assigned", vec![AGENT.0]),
        ("task_completed", vec![AGENT.0, OWNER]),
        ("task_blocked", vec![AGENT.0, OWNER]),
        ("problem_report", vec![OTHER.0]),
        ("github_pr_opened", vec![AGENT.0]),
        ("github_pr_merged", vec![AGENT.0]),
        ("github_issue_assigned", vec![]),
        ("github_comment", vec![AGENT.0]),
        ("kpi_updated", vec![AGENT.0]),
        ("trust_score_changed", vec![AGENT.0]),
        ("wiki_contribution", vec![]),
        ("wiki_approved", vec![AGENT.0]),
    ] {
        assert_eq!(entries[kind]["mentions"], json!(mentions), "{kind}");
    }
}

async fn an_agent_finds_what_mentions_it_oldest_first(bench: Bench) {
    let fleet = story(bench).await;
    let found = timeline::mentioning(fleet.views(), AGENT, 0, 100).await.unwrap();
    let positions: Vec<i64> = found.iter().map(|it| it.position).collect();
    assert!(positions.is_sorted() && positions.len() > 5, "{positions:?}");
    assert!(found.iter().all(|it| !it.kind.starts_with("session_")));
    let page = timeline::mentioning(fleet.views(), AGENT, positions[0], 2).await.unwrap();
    assert_eq!(page.iter().map(|it| it.position).collect::<Vec<_>>(), positions[1..3]);
    let others = timeline::mentioning(fleet.views(), OTHER, 0, 100).await.unwrap();
    let kinds: Vec<&str> = others.iter().map(|it| it.kind.as_str()).collect();
    assert_eq!(kinds, ["problem_report", "advice_given", "question_asked", "review_requested", "review_response"]);
}

async fn entries_about_a_task_are_found_by_it(bench: Bench) {
    let fleet = story(bench).await;
    let found = timeline::about_task(fleet.views(), TASK, 100).await.unwrap();
    let kinds: Vec<&str> = found.iter().map(|it| it.kind.as_str()).collect();
    assert!(found.is_sorted_by(|a, b| a.position > b.position));
    for kind in ["task_created", "task_completed", "github_pr_merged", "github_comment", "advice_given"] {
        assert!(kinds.contains(&kind), "{kind} in {kinds:?}");
    }
    assert_eq!(timeline::about_task(fleet.views(), TASK, 1).await.unwrap()[0].kind, "github_comment");
}

async fn the_last_session_of_an_agent_is_found(bench: Bench) {
    let fleet = story(bench).await;
    let last = sessions::last_before(fleet.views(), AGENT, i64::MAX).await.unwrap().unwrap();
    assert_eq!((last.id, last.delivered_up_to), (SessionId(Uuid::from_u128(10)), 77));
    assert_eq!(last.agent_snapshot.capabilities, ["rust"]);
    assert_eq!(sessions::last_before(fleet.views(), AGENT, last.started_position).await.unwrap(), None);
    assert_eq!(sessions::recent_of(fleet.views(), AGENT, 10).await.unwrap(), std::slice::from_ref(&last));
    let facts = projections::facts_of(&fleet.log(), &StreamId::new("session", last.id.0), i64::MAX).await.unwrap();
    assert!(facts.iter().all(|it| matches!(it.of, FactOf::Session(_))));
    assert_eq!(sessions::as_of(&facts).unwrap(), Some(last));
}
