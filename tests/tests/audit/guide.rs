//! The guide to audits does what it says: its commands are run as they stand there.

use std::path::Path;

use muster_tests::at_both_homes;
use muster_tests::muster::{Home, Muster};

at_both_homes! { the_commands_of_the_guide_work }

async fn the_commands_of_the_guide_work(home: Home) {
    let guide = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/audit.md");
    let script = shell_of(&std::fs::read_to_string(guide).unwrap());
    assert!(script.matches("muster ").count() > 10, "the guide has lost its commands: {script}");
    let server = Muster::start(&home, &["--demo"]).await;
    home.succeed(&["log", "make-key", home.folder().with_file_name("key.pem").to_str().unwrap()]).await;
    let api = server.url("/api");
    let ended = home.script(&script, &[("api", &api), ("MUSTER_SIGNING_KEY", "key.pem")]).await;
    assert_eq!(ended.code, Some(0), "{ended:#?}");
    // From the question to the proof: what the reader is told to expect.
    for shown in [
        "PullRequestMerged",
        "TrustScoreChanged",
        "AgentStatusChanged",
        "are as they were written",
        "that the saved head covers are still there",
        "is in the log",
    ] {
        assert!(ended.stdout.contains(shown), "the guide does not show {shown:?}: {ended:#?}");
    }
}

/// The lines of all blocks that are marked `sh`.
fn shell_of(guide: &str) -> String {
    let mut script = String::new();
    let mut inside = false;
    for line in guide.lines() {
        match line {
            "```sh" => inside = true,
            "```" => inside = false,
            line if inside => script.extend([line, "\n"]),
            _ => {}
        }
    }
    script
}
