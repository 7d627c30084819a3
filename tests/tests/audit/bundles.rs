//! An audit bundle holds one tenant's events and their proof, is checked anywhere, and is refused once it was changed.

use std::io::Read;
use std::path::Path;

use muster_tests::at_both_homes;
use muster_tests::muster::{Ended, Home};
use muster_tests::stores::Kind;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use store::proof::SigningKey;

use crate::proof_commands::Desk;
use crate::workspaces;

at_both_homes! {
    a_bundle_holds_one_workspace_and_is_checked_anywhere,
    a_bundle_of_a_stretch_holds_that_stretch,
    changed_bundles_are_refused,
    bad_input_makes_no_bundle,
}

async fn a_bundle_holds_one_workspace_and_is_checked_anywhere(home: Home) {
    let two = workspaces::two(&home).await;
    let desk = Desk::new(&home).await;
    let bundle = desk.path("bundle.tar.zst");
    let told = desk.succeed(&home, &["audit", "export", "--workspace", "acme", "-o", &bundle]).await;
    let own: Vec<_> = two.events.iter().filter(|it| it.workspace_id == Some(two.acme.0)).collect();
    assert!(told.stdout.contains(&format!("{} events", own.len())), "{told:#?}");

    let elsewhere = Home::new(Kind::Sqlite).await;
    let verified = elsewhere.succeed(&["audit", "verify", &bundle, "--json"]).await;
    let verified: Value = serde_json::from_str(&verified.stdout).unwrap();
    assert_eq!(verified["manifest"]["events"], own.len());
    let key = verified["manifest"]["publicKey"].as_str().unwrap();
    elsewhere.succeed(&["audit", "verify", &bundle, "--public-key", key]).await;

    let files = unpack(&desk.file("bundle.tar.zst"));
    let lines: Vec<Value> = text(&files, "events.jsonl").lines().map(|it| serde_json::from_str(it).unwrap()).collect();
    assert_eq!(lines.len(), own.len());
    for (line, event) in lines.iter().zip(own) {
        assert_eq!(line["position"], event.position);
        assert_eq!(line["payload"], event.payload);
        assert_eq!(line["metadata"], event.metadata);
    }
    assert!(text(&files, "events.md").contains("WorkspaceCreated"));
    // Of the other tenant there are hashes and nothing more.
    let everything: String = files.iter().map(|(_, bytes)| String::from_utf8_lossy(bytes).into_owned()).collect();
    assert!(!everything.contains(&two.other.to_string()));

    // By id it is the same workspace.
    let by_id = desk.path("by-id.tar.zst");
    desk.succeed(&home, &["audit", "export", "--workspace", &two.acme.to_string(), "-o", &by_id]).await;
    assert_eq!(text(&unpack(Path::new(&by_id)), "events.jsonl"), text(&files, "events.jsonl"));
}

async fn a_bundle_of_a_stretch_holds_that_stretch(home: Home) {
    let two = workspaces::two(&home).await;
    let desk = Desk::new(&home).await;
    let bundle = desk.path("bundle.tar.zst");
    let args = ["audit", "export", "--workspace", "acme", "--from", "5", "--to", "15", "-o", &bundle];
    desk.succeed(&home, &args).await;
    home.succeed(&["audit", "verify", &bundle]).await;
    let files = unpack(Path::new(&bundle));
    let positions: Vec<i64> = text(&files, "events.jsonl")
        .lines()
        .map(|it| serde_json::from_str::<Value>(it).unwrap()["position"].as_i64().unwrap())
        .collect();
    let wanted = two.events.iter().filter(|it| (5..=15).contains(&it.position));
    let wanted: Vec<i64> = wanted.filter(|it| it.workspace_id == Some(two.acme.0)).map(|it| it.position).collect();
    assert_eq!(positions, wanted);
}

async fn changed_bundles_are_refused(home: Home) {
    workspaces::two(&home).await;
    let desk = Desk::new(&home).await;
    let bundle = desk.file("bundle.tar.zst");
    let path = bundle.display().to_string();
    desk.succeed(&home, &["audit", "export", "--workspace", "acme", "-o", &path]).await;
    let files = unpack(&bundle);
    let key = SigningKey::read(Path::new(desk.key_file())).unwrap();
    let elsewhere = Home::new(Kind::Sqlite).await;
    let refused = async |name: &str, says: &str| {
        let ended: Ended = elsewhere.run(&["audit", "verify", &desk.path(name)]).await;
        assert_eq!(ended.code, Some(1), "{name}: {ended:#?}");
        assert!(ended.stderr.contains(says), "{name}: {ended:#?}");
    };
    let changed = |name: &str, change: &dyn Fn(String) -> String| {
        let mut files = files.clone();
        let (_, bytes) = files.iter_mut().find(|(it, _)| it == name).unwrap();
        *bytes = change(String::from_utf8(bytes.clone()).unwrap()).into_bytes();
        files
    };

    // Torn: cut off anywhere, or no bundle at all.
    let bytes = std::fs::read(&bundle).unwrap();
    for cut in [0, 10, bytes.len() / 2, bytes.len() - 1] {
        std::fs::write(desk.file("torn"), &bytes[..cut]).unwrap();
        refused("torn", "torn").await;
    }
    desk.save("text", "this is no bundle");
    refused("text", "torn").await;
    pack(&desk.file("less"), files.iter().filter(|(name, _)| name != "batches.jsonl"));
    refused("less", "batches.jsonl is missing").await;

    // Changed: a file, and then the manifest to fit it.
    let forged = changed("events.jsonl", &|it| it.replacen("Name 1", "Name 7", 1));
    pack(&desk.file("event"), &forged);
    refused("event", "events.jsonl is not the file that the manifest lists").await;
    let listed = with_manifest(forged, |_| {});
    pack(&desk.file("manifest"), &listed);
    refused("manifest", "the signature of the manifest").await;
    let mut more = files.clone();
    more.push(("../../escape".into(), b"x".to_vec()));
    pack(&desk.file("more"), &more);
    refused("more", "no part of a bundle").await;
    pack(&desk.file("twice"), files.iter().chain(&files[..1]));
    refused("twice", "twice").await;

    // Even who has the key cannot prove what was not written.
    let signed = |files: Vec<(String, Vec<u8>)>| sign(files, &key);
    let forged = changed("events.jsonl", &|it| it.replacen("Name 1", "Name 7", 1));
    pack(&desk.file("signed"), &signed(with_manifest(forged, |_| {})));
    refused("signed", "is not the one that was written").await;
    // One event of a stream is left out, and its batch with it.
    let mut gap = changed("events.jsonl", &|it| without(&it, "Name 1"));
    let left_out = text(&files, "events.jsonl").lines().find(|it| it.contains("Name 1")).unwrap().to_owned();
    let position = serde_json::from_str::<Value>(&left_out).unwrap()["position"].as_i64().unwrap();
    let batches = without(&text(&files, "batches.jsonl"), &format!("\"firstPosition\":{position},"));
    replace(&mut gap, "batches.jsonl", batches.into_bytes());
    let gap = with_manifest(gap, |it| {
        for count in ["events", "batches"] {
            it[count] = json!(it[count].as_i64().unwrap() - 1);
        }
    });
    pack(&desk.file("gap"), &signed(gap));
    refused("gap", "has a gap").await;
    let path_gone = changed("path.json", &|_| r#"{"path":[]}"#.into());
    pack(&desk.file("path"), &signed(with_manifest(path_gone, |_| {})));
    refused("path", "does not lead to the root").await;
    let head = changed("head.json", &|it| it.replacen("\"epoch\": 1", "\"epoch\": 2", 1));
    pack(&desk.file("head"), &signed(with_manifest(head, |_| {})));
    refused("head", "the signature of the head").await;

    // Somebody else's key is no proof to who knows the right one.
    let right = key.public().to_string();
    elsewhere.succeed(&["audit", "verify", &path, "--public-key", &right]).await;
    let wrong = elsewhere.run(&["audit", "verify", &path, "--public-key", &"00".repeat(32)]).await;
    assert_eq!(wrong.code, Some(1), "{wrong:#?}");
    let absent = elsewhere.run(&["audit", "verify", &desk.path("absent")]).await;
    assert_eq!(absent.code, Some(2), "{absent:#?}");
}

async fn bad_input_makes_no_bundle(home: Home) {
    workspaces::two(&home).await;
    let desk = Desk::new(&home).await;
    let bundle = desk.path("bundle.tar.zst");
    let stranger = uuid::Uuid::now_v7().to_string();
    for (args, says) in [
        (vec!["--workspace", "nobody"], "no workspace with the slug"),
        (vec!["--workspace", &stranger], "has no events"),
        (vec!["--workspace", "acme", "--from", "9", "--to", "3"], "after --to"),
        (vec!["--workspace", "acme", "--to", "100000"], "beyond the end of the log"),
        (vec!["--workspace", "acme", "--from", "0"], "there is no position 0"),
        (vec!["--workspace", "acme", "--from", "2001-01-01T00:00:00Z"], "before the first event"),
        (vec!["--workspace", "acme", "--to", "2999-01-01T00:00:00Z"], "has not come yet"),
        (vec!["--workspace", "acme", "--to", "yesterday"], "neither a position nor a time"),
    ] {
        let ended = desk.run(&home, &[&["audit", "export", "-o", &bundle], &args[..]].concat()).await;
        assert_eq!(ended.code, Some(2), "{args:?}: {ended:#?}");
        assert!(ended.stderr.contains(says), "{args:?}: {ended:#?}");
        assert!(!desk.file("bundle.tar.zst").exists());
    }
    let nowhere = desk.run(&home, &["audit", "export", "--workspace", "acme", "-o", "/nowhere/bundle"]).await;
    assert_eq!(nowhere.code, Some(2), "{nowhere:#?}");
}

type Files = Vec<(String, Vec<u8>)>;

pub(crate) fn unpack(bundle: &Path) -> Files {
    let mut archive = tar::Archive::new(zstd::Decoder::new(std::fs::File::open(bundle).unwrap()).unwrap());
    let entries = archive.entries().unwrap().map(|entry| {
        let mut entry = entry.unwrap();
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes).unwrap();
        (entry.path().unwrap().display().to_string(), bytes)
    });
    entries.collect()
}

/// Also names that no honest tool would write.
fn pack<'a>(bundle: &Path, files: impl IntoIterator<Item = &'a (String, Vec<u8>)>) {
    let out = zstd::Encoder::new(std::fs::File::create(bundle).unwrap(), 1).unwrap();
    let mut archive = tar::Builder::new(out);
    for (name, bytes) in files {
        let mut header = tar::Header::new_gnu();
        header.as_mut_bytes()[..name.len()].copy_from_slice(name.as_bytes());
        header.set_entry_type(tar::EntryType::Regular);
        header.set_size(bytes.len() as u64);
        header.set_mode(0o600);
        header.set_cksum();
        archive.append(&header, bytes.as_slice()).unwrap();
    }
    archive.into_inner().unwrap().finish().unwrap();
}

/// Lists the files anew, as a forger would, and changes what else the manifest says.
fn with_manifest(mut files: Files, change: impl Fn(&mut Value)) -> Files {
    let mut manifest: Value = serde_json::from_str(&text(&files, "manifest.json")).unwrap();
    for listed in manifest["files"].as_array_mut().unwrap() {
        let bytes = &files.iter().find(|(name, _)| *name == listed["name"]).unwrap().1;
        listed["bytes"] = json!(bytes.len());
        listed["sha256"] = json!(hex::encode(Sha256::digest(bytes)));
    }
    change(&mut manifest);
    replace(&mut files, "manifest.json", manifest.to_string().into_bytes());
    files
}

fn sign(mut files: Files, key: &SigningKey) -> Files {
    let domain = b"muster audit bundle manifest, version 1\0";
    let message = [&domain[..], text(&files, "manifest.json").as_bytes()].concat();
    replace(&mut files, "manifest.sig", hex::encode(key.sign(&message)).into_bytes());
    files
}

fn replace(files: &mut Files, name: &str, bytes: Vec<u8>) {
    files.iter_mut().find(|(it, _)| it == name).unwrap().1 = bytes;
}

fn text(files: &Files, name: &str) -> String {
    String::from_utf8(files.iter().find(|(it, _)| it == name).unwrap().1.clone()).unwrap()
}

/// The lines that do not have this in them.
fn without(text: &str, part: &str) -> String {
    text.lines().filter(|it| !it.contains(part)).map(|it| format!("{it}\n")).collect()
}
