//! The guide to the factory does what it says: its commands are run as they stand there.

use std::net::TcpListener;
use std::path::Path;
use std::process::Command;

use muster_tests::at_both_homes;
use muster_tests::muster::Home;

at_both_homes! { the_commands_of_the_guide_work }

async fn the_commands_of_the_guide_work(home: Home) {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let guide = std::fs::read_to_string(source.join("docs/factory.md")).unwrap();
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port().to_string();
    let script = shell_of(&guide).replace("localhost:3001", &format!("127.0.0.1:{port}"));
    assert!(script.contains("epic.create") && script.contains("agent.terminal"), "the guide has lost its commands");
    let script = format!("trap 'kill %1 || true; wait' EXIT\n{script}");
    let ended = home.script(&script, &[("API_PORT", &port), ("MUSTER_SOURCE", source.to_str().unwrap())]).await;
    let _ = Command::new("tmux").arg("-S").arg(home.folder().join("bench-main/tmux.sock")).arg("kill-server").output();
    assert_eq!(ended.code, Some(0), "{ended:#?}");
    for shown in ["AWAITING_HUMAN_REVIEW", "Epic complete: A shop", "a cart\na search\na checkout"] {
        assert!(ended.stdout.contains(shown), "the guide does not show {shown:?}: {ended:#?}");
    }
    home.succeed(&["log", "verify"]).await;
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
