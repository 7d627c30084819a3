//! Where a person is told is in no event and no read model: it moves with the accounts, and goes with the person.

use muster_tests::at_both_homes;
use muster_tests::muster::{Home, Muster};
use reqwest::Method;
use serde_json::{Value, json};

use crate::bundles::unpack;
use crate::erasure_story::{Person, places_of};
use crate::moved_processes::name;
use crate::moves::other;
use crate::proof_commands::Desk;

at_both_homes! {
    an_address_is_nowhere_but_in_its_row,
    an_address_moves_with_the_account,
}

/// A part of every address that is set here.
const MARK: &str = "quarterstaff";
const OWNER: &str = "owner@muster.example";

/// Somebody who said where to be told, and what they are answered now.
async fn told_somewhere(server: &Muster) -> (Person, Value) {
    let owner = Person::signs_up(server, OWNER).await;
    let wanted = json!({"webhookEnabled": true, "webhookUrl": format!("https://hooks.example/{MARK}"),
        "soundFile": format!("/home/{MARK}/bell.wav"), "pushEnabled": true});
    let key = owner.with("Idempotency-Key", "one");
    let (set, _) = key.send(server, Method::PUT, "/api/notification.updateSettings", Some(wanted.clone())).await;
    for (field, value) in wanted.as_object().unwrap() {
        assert_eq!(set[field], *value, "{field}");
    }
    assert_eq!(owner.get(server, "/api/notification.settings").await, set);
    (owner, set)
}

async fn an_address_is_nowhere_but_in_its_row(home: Home) {
    let server = Muster::start(&home, &[]).await;
    let (owner, _) = told_somewhere(&server).await;
    owner.post(&server, "/api/workspace.create", json!({"name": "Acme", "slug": "acme"})).await;
    server.terminate().await;
    let exported = home.succeed(&["log", "export"]).await.stdout;
    assert!(exported.contains("NotificationSettingsChanged") && !exported.contains(MARK), "{exported}");
    assert_eq!(places_of(&home, MARK.as_bytes(), "views").await, [""; 0]);
    let kept = places_of(&home, MARK.as_bytes(), "log").await;
    assert!(!kept.is_empty() && kept.iter().all(|it| it.contains("log.db") || it == "log.notification_addresses"));
    let desk = Desk::new(&home).await;
    desk.succeed(&home, &["audit", "export", "--workspace", "acme", "-o", &desk.path("bundle")]).await;
    let bundle = unpack(&desk.file("bundle"));
    assert!(bundle.iter().all(|(_, bytes)| !bytes.windows(MARK.len()).any(|it| it == MARK.as_bytes())));
    home.succeed(&["admin", "delete-user", OWNER, "--yes"]).await;
    assert_eq!(places_of(&home, MARK.as_bytes(), "").await, [""; 0]);
    home.succeed(&["log", "verify"]).await;
    home.succeed(&["projections", "verify"]).await;
}

async fn an_address_moves_with_the_account(home: Home) {
    let server = Muster::start(&home, &[]).await;
    let (owner, set) = told_somewhere(&server).await;
    server.terminate().await;
    let (copy, restored) = (Home::new(other(home.kind)).await, Home::new(other(home.kind)).await);
    home.succeed(&["log", "copy", "--from", &name(&home), "--to", &name(&copy)]).await;
    let folder = home.folder().parent().unwrap().join("backup");
    home.succeed(&["backup", folder.to_str().unwrap()]).await;
    restored.succeed(&["restore", folder.to_str().unwrap()]).await;
    for to in [copy, restored] {
        let server = Muster::start(&to, &[]).await;
        assert_eq!(owner.get(&server, "/api/notification.settings").await, set);
        server.terminate().await;
    }
}
