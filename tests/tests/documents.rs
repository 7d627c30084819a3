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
