//! The built binary explains itself and refuses bad settings by their names.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::process::{Command, Output};

const SUBCOMMANDS: [&str; 5] = ["serve", "projections", "log", "admin", "openapi"];
const SETTINGS: [&str; 14] = [
    "API_HOST",
    "API_PORT",
    "DATABASE_URL",
    "GITHUB_CLIENT_ID",
    "GITHUB_CLIENT_SECRET",
    "GITHUB_WEBHOOK_SECRET",
    "MUSTER_DATA_DIR",
    "MUSTER_GITHUB_API_URL",
    "MUSTER_GITHUB_URL",
    "MUSTER_LOG",
    "MUSTER_LOG_FORMAT",
    "MUSTER_PUBLIC_URL",
    "MUSTER_RATE_LIMITS",
    "SESSION_SECRET",
];
const WRONG_USAGE: Option<i32> = Some(2);

#[test]
fn help_names_every_subcommand_and_every_setting() {
    let help = muster(&["--help"], &[]);
    assert_eq!(help.status.code(), Some(0));
    let text = stdout(&help);
    let is_named = |setting: &str| ["=", "]"].iter().any(|end| text.contains(&format!("[env: {setting}{end}")));
    let subcommands = SUBCOMMANDS.iter().filter(|it| !text.contains(**it));
    let missing: Vec<_> = subcommands.chain(SETTINGS.iter().filter(|it| !is_named(it))).collect();
    assert_eq!(missing, Vec::<&&str>::new(), "{text}");
}

#[test]
fn openapi_prints_the_document() {
    let printed = muster(&["openapi"], &[]);
    assert_eq!(printed.status.code(), Some(0), "{printed:?}");
    let document: serde_json::Value = serde_json::from_str(&stdout(&printed)).unwrap();
    assert!(document["openapi"].as_str().unwrap().starts_with("3.1"));
    let paths = document["paths"].as_object().unwrap();
    for path in ["auth/signup", "workspace.create", "project.list", "agent.rotateCredentials", "event.stream"] {
        assert!(paths.keys().any(|it| it.ends_with(path)), "{path} is not among {:?}", paths.keys());
    }
}

#[test]
fn a_bad_setting_is_refused_by_its_name() {
    let bad = [
        ("DATABASE_URL", "mysql://localhost/muster"),
        ("API_PORT", "seventy"),
        ("API_PORT", "70000"),
        ("API_HOST", "everywhere"),
        ("MUSTER_RATE_LIMITS", "owner=lots"),
        ("MUSTER_LOG_FORMAT", "rhymes"),
        ("SESSION_SECRET", "short"),
        ("GITHUB_CLIENT_ID", "alone"),
        ("GITHUB_CLIENT_SECRET", "alone"),
        ("MUSTER_GITHUB_URL", "http://github.com"),
        ("MUSTER_GITHUB_API_URL", "api"),
        ("MUSTER_PUBLIC_URL", "https://muster.example/path"),
    ];
    for (name, value) in bad {
        let refused = muster(&["serve"], &[(name, value)]);
        assert_eq!(refused.status.code(), WRONG_USAGE, "{name}={value}: {refused:?}");
        let complaint = String::from_utf8_lossy(&refused.stderr);
        assert!(complaint.contains(name), "{name}={value}: {complaint}");
    }
}

#[test]
fn a_refused_secret_is_not_shown() {
    for (name, value) in [
        ("SESSION_SECRET", "hunter2"),
        ("GITHUB_CLIENT_SECRET", "hunter2"),
        ("DATABASE_URL", "mysql://ada:hunter2@localhost/muster"),
    ] {
        let refused = muster(&["serve"], &[(name, value)]);
        assert_eq!(refused.status.code(), WRONG_USAGE);
        assert!(!format!("{refused:?}").contains("hunter2"), "{refused:?}");
    }
}

#[test]
fn wrong_usage_is_told_from_other_failures() {
    for args in [&[][..], &["dance"], &["serve", "--port"], &["log"], &["projections", "retry", "agents", "no-stream"]]
    {
        assert_eq!(muster(args, &[]).status.code(), WRONG_USAGE, "{args:?}");
    }
}

fn muster(args: &[&str], settings: &[(&str, &str)]) -> Output {
    // Nothing here may start a server in the folder of the source.
    let nowhere = "/proc/muster";
    Command::new(env!("CARGO_BIN_EXE_muster"))
        .args(args)
        .env_clear()
        .env("MUSTER_DATA_DIR", nowhere)
        .envs(settings.iter().copied())
        .output()
        .unwrap()
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}
