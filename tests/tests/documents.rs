//! The documents say what the code says: the event catalogue and the list of error codes are complete and current.
#![allow(clippy::unwrap_used, reason = "a test that cannot read its files has failed")]

use std::fs;
use std::path::Path;

use domain::catalogue;

fn document(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs").join(name);
    fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

#[test]
fn the_catalogue_lists_every_event_with_its_meaning_and_no_other() {
    let page = document("events.md");
    let listed: Vec<&str> = page.lines().filter(|line| line.starts_with("| `")).collect();
    let wanted: Vec<String> = catalogue()
        .iter()
        .map(|kind| format!("| `{}` | `{}` | {} | {} |", kind.aggregate, kind.event, kind.version, kind.meaning))
        .collect();
    assert_eq!(listed, wanted, "docs/events.md should hold these rows:\n{}\n", wanted.join("\n"));
}

#[test]
fn the_list_of_error_codes_has_every_code_with_its_status_and_no_other() {
    let page = document("guides/errors.md");
    let listed: Vec<String> = page
        .lines()
        .filter(|line| line.starts_with("| `"))
        .map(|line| line.split('|').take(3).collect::<Vec<_>>().join("|"))
        .collect();
    let row = |code: &api::Code| format!("| `{}` | {} ", code.text(), code.status().as_u16());
    let wanted: Vec<String> = api::Code::ALL.iter().map(row).collect();
    assert_eq!(listed, wanted, "docs/guides/errors.md should hold these rows:\n{}\n", wanted.join("\n"));
}

#[test]
fn every_error_code_is_named_by_a_test_that_reaches_it() {
    let tests = sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests"));
    for code in api::Code::ALL {
        let named = format!("\"{}\"", code.text());
        assert!(tests.iter().any(|it| it.contains(&named)), "no test names {named}");
    }
}

#[test]
fn a_retired_code_is_never_sent() {
    let page = document("guides/errors.md");
    let (_, retired) = page.split_once("## Retired").expect("a list of retired codes");
    let retired: Vec<&str> = retired.lines().filter_map(|line| line.strip_prefix("- `")?.split('`').next()).collect();
    assert_eq!(retired, ["SESSION_ALREADY_ACTIVE", "AGENT_HAS_ACTIVE_SESSIONS"]);
    assert!(api::Code::ALL.iter().all(|code| !retired.contains(&code.text())));
}

/// The text of every source file in a folder and below.
fn sources(folder: &Path) -> Vec<String> {
    let mut texts = Vec::new();
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let path = entry.path();
        if path.is_dir() {
            texts.extend(sources(&path));
        } else if path.extension().is_some_and(|it| it == "rs") {
            texts.push(fs::read_to_string(&path).unwrap());
        }
    }
    texts
}
