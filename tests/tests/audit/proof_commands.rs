//! Heads and proofs on the command line: kept, handed on, checked elsewhere, refused with a meaningful exit code.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use muster_tests::at_both_homes;
use muster_tests::muster::{Ended, Home};
use muster_tests::stores::Kind;
use serde_json::Value;

use crate::workspaces;

at_both_homes! {
    a_proof_is_made_here_and_checked_elsewhere,
    a_log_is_verified_against_a_saved_head,
    bad_input_is_refused_and_changes_nothing,
}

async fn a_proof_is_made_here_and_checked_elsewhere(home: Home) {
    workspaces::two(&home).await;
    let desk = Desk::new(&home).await;
    let head: Value = serde_json::from_str(&desk.succeed(&home, &["log", "head"]).await.stdout).unwrap();
    desk.save("head.json", &head.to_string());
    let public_key = head["publicKey"].as_str().unwrap();
    desk.succeed(&home, &["log", "prove", "3", "-o", &desk.path("proof.json")]).await;

    let elsewhere = Home::new(Kind::Sqlite).await;
    let checked = elsewhere.succeed(&["log", "check-proof", &desk.path("proof.json")]).await;
    assert!(checked.stdout.contains("position 3:") && checked.stdout.contains(public_key), "{checked:#?}");
    let strict = ["log", "check-proof", &desk.path("proof.json"), "--public-key", public_key, "--head"];
    elsewhere.succeed(&[&strict[..], &[&desk.path("head.json")]].concat()).await;
    let json = elsewhere.succeed(&["log", "check-proof", &desk.path("proof.json"), "--json"]).await;
    assert_eq!(serde_json::from_str::<Value>(&json.stdout).unwrap()["event"]["position"], 3);

    let forged = desk.read("proof.json").replacen("\"position\": 3", "\"position\": 4", 1);
    desk.save("forged.json", &forged);
    refused(&elsewhere, &["log", "check-proof", &desk.path("forged.json")], "proves nothing").await;
    let other_key = "00".repeat(32);
    let wrong_key = ["log", "check-proof", &desk.path("proof.json"), "--public-key", &other_key];
    refused(&elsewhere, &wrong_key, "it is signed with the key").await;
    desk.save("torn.json", &forged[..forged.len() / 2]);
    refused(&elsewhere, &["log", "check-proof", &desk.path("torn.json")], "this is no inclusion proof").await;

    // The log goes on; the older head is proven to be its beginning, and the newer proof does not end in it.
    workspaces::one_more(&home).await;
    let consistency = desk.path("consistency.json");
    desk.succeed(&home, &["log", "prove-consistency", &desk.path("head.json"), "-o", &consistency]).await;
    let check = ["log", "check-consistency", &consistency, "--public-key", public_key, "--head"];
    elsewhere.succeed(&[&check[..], &[&desk.path("head.json")]].concat()).await;
    desk.succeed(&home, &["log", "prove", "3", "-o", &desk.path("newer.json")]).await;
    let newer = ["log", "check-proof", &desk.path("newer.json"), "--head", &desk.path("head.json")];
    refused(&elsewhere, &newer, "and not in the given one").await;
}

async fn a_log_is_verified_against_a_saved_head(home: Home) {
    workspaces::two(&home).await;
    let desk = Desk::new(&home).await;
    let head = desk.succeed(&home, &["log", "head"]).await.stdout;
    desk.save("head.json", &head);
    workspaces::one_more(&home).await;
    let saved = desk.path("head.json");
    let verified = desk.succeed(&home, &["log", "verify", "--against", &saved]).await;
    assert!(verified.stdout.contains("are still there"), "{verified:#?}");
    let json = desk.succeed(&home, &["log", "verify", "--against", &saved, "--json"]).await;
    assert_eq!(serde_json::from_str::<Value>(&json.stdout).unwrap()["against"]["standing"], "kept");

    desk.save("forged.json", &head.replacen("\"epoch\": 1", "\"epoch\": 2", 1));
    let forged = desk.run(&home, &["log", "verify", "--against", &desk.path("forged.json")]).await;
    assert_eq!(forged.code, Some(1), "{forged:#?}");
    assert!(forged.stderr.contains("signature"), "{forged:#?}");
    let other_key = "00".repeat(32);
    let other = desk.run(&home, &["log", "verify", "--against", &saved, "--public-key", &other_key]).await;
    assert_eq!(other.code, Some(1), "{other:#?}");

    // Another log under the same key: as long, and not the same.
    let another = Home::new(home.kind).await;
    workspaces::two(&another).await;
    workspaces::one_more(&another).await;
    let key = ["--key", desk.key_file()].map(ToString::to_string);
    let args = ["log", "verify", "--against", &saved, &key[0], &key[1]];
    refused(&another, &args, "rewritten").await;
}

async fn bad_input_is_refused_and_changes_nothing(home: Home) {
    workspaces::two(&home).await;
    let desk = Desk::new(&home).await;
    let stats = home.succeed(&["log", "stats", "--json"]).await.stdout;
    for (args, says) in [
        (vec!["log", "prove", "0"], "there is no position 0"),
        (vec!["log", "prove", "-3"], "there is no position -3"),
        (vec!["log", "prove", "1000000"], "beyond the end of the log"),
        (vec!["log", "check-proof", "/nowhere/proof.json"], "/nowhere/proof.json"),
        (vec!["log", "verify", "--against", "/nowhere/head.json"], "/nowhere/head.json"),
        (vec!["log", "prove", "1", "-o", "/nowhere/proof.json"], "/nowhere/proof.json"),
        (vec!["log", "head", "--key", "/nowhere/key.pem"], "/nowhere/key.pem"),
    ] {
        let ended = if args.contains(&"--key") { home.run(&args).await } else { desk.run(&home, &args).await };
        assert_eq!(ended.code, Some(2), "{args:?}: {ended:#?}");
        assert!(ended.stderr.contains(says), "{args:?}: {ended:#?}");
    }
    desk.save("no-key.pem", "no key");
    let ended = home.run(&["log", "head", "--key", &desk.path("no-key.pem")]).await;
    assert_eq!(ended.code, Some(2), "{ended:#?}");
    // A key is never written over, and is nobody else's to read.
    let made = desk.path("made.pem");
    home.succeed(&["log", "make-key", &made]).await;
    let bytes = desk.read("made.pem");
    assert_eq!(std::fs::metadata(&made).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(home.run(&["log", "make-key", &made]).await.code, Some(2));
    assert_eq!(desk.read("made.pem"), bytes);
    if home.kind == Kind::Postgres {
        let ended = home.run(&["log", "head"]).await;
        assert_eq!(ended.code, Some(2), "{ended:#?}");
        assert!(ended.stderr.contains("--key"), "{ended:#?}");
    } else {
        home.succeed(&["log", "head"]).await;
        let mode = std::fs::metadata(home.folder().join("signing-key.pem")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
    assert_eq!(home.succeed(&["log", "stats", "--json"]).await.stdout, stats);
}

async fn refused(home: &Home, args: &[&str], says: &str) {
    let ended = home.run(args).await;
    assert_eq!(ended.code, Some(1), "{args:?}: {ended:#?}");
    assert!(ended.stderr.contains(says), "{args:?}: {ended:#?}");
}

/// Where files of a test lie, with the key that signs.
pub(crate) struct Desk {
    folder: tempfile::TempDir,
    key: String,
}

impl Desk {
    pub(crate) async fn new(home: &Home) -> Self {
        let folder = tempfile::Builder::new().prefix("muster-desk-").tempdir().unwrap();
        let key = folder.path().join("key.pem").display().to_string();
        home.succeed(&["log", "make-key", &key]).await;
        Self { folder, key }
    }

    /// Runs a command that needs the key.
    pub(crate) async fn run(&self, home: &Home, args: &[&str]) -> Ended {
        let keyless = ["check-proof", "stats"].iter().any(|it| args.contains(it));
        if keyless { home.run(args).await } else { home.run(&[args, &["--key", &self.key]].concat()).await }
    }

    pub(crate) async fn succeed(&self, home: &Home, args: &[&str]) -> Ended {
        let ended = self.run(home, args).await;
        assert_eq!(ended.code, Some(0), "muster {args:?}: {ended:#?}");
        ended
    }

    pub(crate) fn key_file(&self) -> &str {
        &self.key
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn path(&self, name: &str) -> String {
        self.file(name).display().to_string()
    }

    pub(crate) fn save(&self, name: &str, text: &str) {
        std::fs::write(self.file(name), text).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(Path::new(&self.file(name))).unwrap()
    }
}
