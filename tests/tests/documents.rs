//! The documents say what the code says: the event catalogue is complete and current.
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
