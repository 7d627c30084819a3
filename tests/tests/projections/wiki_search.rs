//! Full-text search: the same entries in the same order on both stores, and after everything that happens to tables.

use std::sync::Arc;

use domain::WorkspaceId;
use muster_tests::both_stores;
use muster_tests::stores::{Bench, Kind};
use projections::Projection;
use projections::offline::{Terms, rebuild, rebuild_on, verify};
use projections::wiki::{Filter, Wiki};
use store::sql::{Query, Words};

use crate::fleet::Fleet;
use crate::wiki::{approved, filter, slugs};

both_stores! {
    a_search_finds_these_entries_in_this_order,
    a_letter_of_any_script_is_found,
    a_search_is_held_to_the_other_filters,
    a_rebuild_finds_what_was_found_before_and_goes_on,
    deleted_views_find_again_what_they_found,
    words_that_are_not_the_entrys_show_in_a_verification,
    a_very_long_entry_is_found_by_all_of_its_words,
}

/// Slug, title, tags and content, the oldest first.
#[rustfmt::skip]
const ENTRIES: [(&str, &str, &[&str], &str); 10] = [
    ("locks", "Locks", &["rust"], "Avoid them where you can"),
    ("lock-free", "Lock-free queues", &["rust", "concurrency"], "No locks, no waiting"),
    ("deadlocks", "Deadlocks", &["locks"], "Two threads wait for each other"),
    ("style", "Style", &["rust"], "Rust code has no stray locks; write to e-mail@example.com"),
    ("berlin", "Größe und Maß", &["städte"], "Berlin hat 3.769.495 Einwohner und ÄPFEL"),
    ("tokyo", "東京 guide", &["日本"], "Tokyo is 東京 in Japanese"),
    ("versions", "Version 2.10", &["v2"], "Upgrade from v1.9 to v2.10, see RFC 9110"),
    ("quotes", "Don't \"quote\" it", &["sql"], "AND OR NOT NEAR(a b) title: * ^ % _ ' \\ ;"),
    ("greek", "ΟΔΟΣ", &[], "Straße and İstanbul and ＦＵＬＬ width"),
    ("accents", "Naïve café", &["cafe"], "हिन्दी ไทย"),
];

const ALL: &[&str] =
    &["accents", "greek", "quotes", "versions", "tokyo", "berlin", "style", "deadlocks", "lock-free", "locks"];

/// What a search finds, first to last.
#[rustfmt::skip]
const FOUND: &[(&str, &[&str])] = &[
    // In the title, then in a tag, then in the content; the newest first among equals.
    ("locks", &["locks", "deadlocks", "style", "lock-free"]),
    ("LoCkS", &["locks", "deadlocks", "style", "lock-free"]),
    ("rust", &["style", "lock-free", "locks"]),
    // Every word, each wherever it is.
    ("rust locks", &["locks", "style", "lock-free"]),
    ("locks locks rust", &["locks", "style", "lock-free"]),
    ("locks nothing", &[]),
    // Words as they are: no stems, no parts.
    ("lock", &["lock-free"]),
    ("loc", &[]),
    ("nothing", &[]),
    // Hyphens, dots and the like stand between words.
    ("lock-free", &["lock-free"]),
    ("free+lock", &["lock-free"]),
    ("e-mail@example.com", &["style"]),
    ("3.769.495", &["berlin"]),
    ("3769495", &[]),
    ("2.10", &["versions"]),
    ("v2.10", &["versions"]),
    ("9110", &["versions"]),
    // Letters of all scripts, with their accents.
    ("größe", &["berlin"]),
    ("GRÖẞE", &["berlin"]),
    ("grosse", &[]),
    ("äpfel", &["berlin"]),
    ("apfel", &[]),
    ("東京", &["tokyo"]),
    ("東", &[]),
    ("日本 tokyo", &["tokyo"]),
    ("οδος", &["greek"]),
    ("straße İSTANBUL", &["greek"]),
    ("istanbul", &[]),
    ("ｆｕｌｌ", &["greek"]),
    ("full", &[]),
    ("हिन्दी", &["accents"]),
    ("ไทย", &["accents"]),
    ("café", &["accents"]),
    ("cafe", &["accents"]),
    // Nothing in a question is an operator.
    ("don't", &["quotes"]),
    ("\"quote it\"", &["quotes"]),
    ("it quote", &["quotes"]),
    ("AND OR NOT", &["quotes"]),
    ("title: near(", &["quotes"]),
    ("locks OR nothing", &[]),
    ("locks* & !rust | x:*", &[]),
    ("loc*", &[]),
    ("locks' \\", &["locks", "deadlocks", "style", "lock-free"]),
    // Without a word, nothing is asked.
    ("", ALL),
    ("  ", ALL),
    ("'; -- % _ * \" \\ ", ALL),
];

async fn shared_set(fleet: &Fleet) -> WorkspaceId {
    let workspace = fleet.workspace("acme").await;
    for (at, (slug, title, tags, content)) in (0..).zip(ENTRIES) {
        let id = fleet.proposed(workspace, None, slug, &[title, content], tags, at).await;
        approved(fleet, workspace, id, at).await;
    }
    fleet.project_everything().await;
    workspace
}

async fn check(fleet: &Fleet, workspace: WorkspaceId) {
    for (search, expected) in FOUND {
        let found = slugs(fleet, &Filter { search: Words::of(search), ..filter(workspace) }).await;
        assert_eq!(found, *expected, "{search:?}");
    }
}

fn projection() -> Arc<dyn Projection> {
    Arc::new(Wiki)
}

async fn a_search_finds_these_entries_in_this_order(bench: Bench) {
    let fleet = Fleet::new(bench);
    let workspace = shared_set(&fleet).await;
    check(&fleet, workspace).await;
}

async fn a_letter_of_any_script_is_found(bench: Bench) {
    let fleet = Fleet::new(bench);
    let workspace = fleet.workspace("acme").await;
    let letters = (0..=0x2ffff).filter_map(char::from_u32).filter(|it| it.is_alphanumeric()).step_by(397);
    let words: Vec<String> = letters.map(|it| format!("a{it}b")).collect();
    let id = fleet.proposed(workspace, None, "letters", &["Letters", &words.join("-")], &[], 0).await;
    approved(&fleet, workspace, id, 1).await;
    fleet.project_everything().await;
    for word in &words {
        let found = slugs(&fleet, &Filter { search: Words::of(word), ..filter(workspace) }).await;
        assert_eq!(found, ["letters"], "{word:?}");
        let other = slugs(&fleet, &Filter { search: Words::of(&format!("{word}c")), ..filter(workspace) }).await;
        assert!(other.is_empty(), "{word:?}");
    }
}

async fn a_search_is_held_to_the_other_filters(bench: Bench) {
    let fleet = Fleet::new(bench);
    let workspace = shared_set(&fleet).await;
    fleet.wiki_entry(workspace, "pending-locks", 30).await;
    fleet.project_everything().await;
    let locks = Filter { search: Words::of("locks"), ..filter(workspace) };
    let tagged = Filter { tags: vec!["rust".into()], ..locks.clone() };
    assert_eq!(slugs(&fleet, &tagged).await, ["locks", "style", "lock-free"]);
    assert_eq!(
        slugs(&fleet, &Filter { workspace: fleet.workspace("other").await, ..locks }).await,
        Vec::<String>::new()
    );
}

async fn a_rebuild_finds_what_was_found_before_and_goes_on(bench: Bench) {
    let fleet = Fleet::new(bench);
    let workspace = shared_set(&fleet).await;
    assert!(of_the_first_build(&fleet).await > 0);
    for _ in 0..2 {
        let report = rebuild(&fleet.log(), fleet.views(), &projection(), &mut |_, _| {}).await.unwrap();
        assert_eq!(report.compared.unwrap().differences_total, 0);
        check(&fleet, workspace).await;
    }
    assert_eq!(of_the_first_build(&fleet).await, 0, "it was replaced, and leaves nothing");
    let id = fleet.wiki_entry(workspace, "newcomer", 40).await;
    approved(&fleet, workspace, id, 41).await;
    fleet.project_everything().await;
    let found = slugs(&fleet, &Filter { search: Words::of("newcomer"), ..filter(workspace) }).await;
    assert_eq!(found, ["newcomer"]);
    assert!(verify(&fleet.log(), fleet.views(), &projection(), &mut |_, _| {}).await.unwrap().is_clean());
}

/// How much there is in the database of the first build: tables, indexes, triggers.
async fn of_the_first_build(fleet: &Fleet) -> i64 {
    let all = match fleet.bench.kind {
        Kind::Sqlite => "select count(*) from sqlite_master where name like 'wiki_entries~_~_v1~_1%' escape '~'",
        Kind::Postgres => "select count(*) from pg_class where relname like 'wiki~_entries~_~_v1~_1%' escape '~'",
    };
    fleet.views().first(Query::new(all)).await.unwrap().unwrap().int(0).unwrap()
}

async fn deleted_views_find_again_what_they_found(bench: Bench) {
    let mut fleet = Fleet::new(bench);
    let workspace = shared_set(&fleet).await;
    let before = fleet.rows().await;
    fleet.delete_views().await;
    fleet.project_everything().await;
    check(&fleet, workspace).await;
    assert_eq!(fleet.rows().await, before);
}

async fn words_that_are_not_the_entrys_show_in_a_verification(bench: Bench) {
    let fleet = Fleet::new(bench);
    let workspace = shared_set(&fleet).await;
    fleet.tamper("update wiki_entries__v1_1 set words = 'cheat' where title_words = 'locks'".into()).await;
    let cheat = Filter { search: Words::of("cheat"), ..filter(workspace) };
    assert_eq!(slugs(&fleet, &cheat).await, ["locks"], "the index follows the row");
    let report = verify(&fleet.log(), fleet.views(), &projection(), &mut |_, _| {}).await.unwrap();
    assert_eq!(report.differences_total, 1);
    let terms = Terms { accept_differences: true, ..Terms::default() };
    rebuild_on(terms, &fleet.log(), fleet.views(), &[projection()], &mut |_, _| {}).await.unwrap();
    check(&fleet, workspace).await;
}

async fn a_very_long_entry_is_found_by_all_of_its_words(bench: Bench) {
    let fleet = Fleet::new(bench);
    let workspace = fleet.workspace("acme").await;
    // As long as an entry may be, in letters that take the most room, with one word that is longer than any index takes.
    let mut content: String = (0..90_000).map(|at| if at % 5 == 4 { ' ' } else { '\u{1d7d8}' }).collect();
    let numbers: Vec<String> = (0..1500).map(|at| format!("w{at}")).collect();
    content = format!("{} {content} {}", numbers.join(" "), "x".repeat(3000));
    let id = fleet.proposed(workspace, None, "long", &["Long", &content], &[], 0).await;
    approved(&fleet, workspace, id, 1).await;
    fleet.project_everything().await;
    for search in ["w0 w749 w1499", &"x".repeat(3000), "\u{1d7d8}\u{1d7d8}\u{1d7d8}\u{1d7d8}"] {
        let found = slugs(&fleet, &Filter { search: Words::of(search), ..filter(workspace) }).await;
        assert_eq!(found, ["long"], "{:.40}", search);
    }
}
