//! The guide says what the code says: who may use which tool, and with which codes tools fail.

use std::path::Path;

use domain::post::AgentKind;
use domain::tools::{TOOLS, permit};

fn guide() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/guides/mcp.md");
    std::fs::read_to_string(path).unwrap()
}

#[test]
fn the_guide_has_every_tool_with_who_may_use_it_and_no_other() {
    let page = guide();
    let rows: Vec<Vec<&str>> = page
        .lines()
        .filter(|line| line.starts_with("| `mcp__"))
        .map(|line| line.split('|').map(str::trim).collect())
        .collect();
    let tools: Vec<&str> = rows.iter().map(|row| row[1].trim_matches('`')).collect();
    assert_eq!(tools, TOOLS);
    for row in &rows {
        for (kind, cell) in AgentKind::ALL.into_iter().zip(&row[2..5]) {
            let may = permit(kind, row[1].trim_matches('`')).is_ok();
            assert_eq!(*cell == "yes", may, "{kind} {}", row[1]);
        }
    }
}

#[test]
fn the_guide_names_every_code_that_only_tools_have() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../api/src/mcp/failure.rs");
    let source = std::fs::read_to_string(source).unwrap();
    let codes: Vec<&str> =
        source.lines().filter_map(|line| line.split_once(": &str = \"")?.1.strip_suffix("\";")).collect();
    assert!(codes.contains(&"STILL_GOING_ON"), "{codes:?}");
    let page = guide();
    for code in codes {
        assert!(page.contains(&format!("| `{code}` |")), "{code}");
    }
}
