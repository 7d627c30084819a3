//! Alerts get through, or say why not, and never hold anybody up.

use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use axum::Router;
use axum::http::StatusCode;
use axum::routing::post;
use serde_json::json;
use tempfile::TempDir;
use workbench::alert::{AlertError, Alerts, Reach, Webhooks};

fn program(folder: &Path, name: &str, script: &str) {
    let text = folder.join("program.txt");
    fs::write(&text, format!("#!/bin/sh\n{script}\n")).unwrap();
    // Written by another process: a file that we had open for writing could not be run while another test forks.
    let installed = std::process::Command::new("install").args(["-m", "755"]).arg(text).arg(folder.join(name)).status();
    assert!(installed.unwrap().success());
}

#[tokio::test]
async fn a_message_reaches_the_desktop_word_for_word() {
    let folder = TempDir::new().unwrap();
    let seen = folder.path().join("seen");
    program(folder.path(), "notify-send", &format!("printf '%s|' \"$@\" >'{}'", seen.display()));
    let alerts = Alerts::with_path(folder.path());
    alerts.desktop("--title \"$(x)\"", "✅ it's\n`done`\0").await.unwrap();
    assert_eq!(fs::read_to_string(&seen).unwrap(), "--app-name=Muster|--|--title \"$(x)\"|✅ it's\n`done`|");
    // The program would make a line and a byte that is no text of these.
    alerts.desktop(r"C:\new", r"C:\new \377").await.unwrap();
    assert_eq!(fs::read_to_string(&seen).unwrap(), r"--app-name=Muster|--|C:\new|C:\\new \\377|");
    program(folder.path(), "notify-send", "echo 'no desktop' >&2; exit 1");
    let error = alerts.desktop("t", "m").await.unwrap_err();
    assert!(matches!(&error, AlertError::Failed { stderr, .. } if stderr == "no desktop"), "{error}");
}

#[tokio::test]
async fn what_is_missing_is_named() {
    let folder = TempDir::new().unwrap();
    let alerts = Alerts::with_path(folder.path());
    let error = alerts.desktop("t", "m").await.unwrap_err();
    assert!(error.to_string().contains("notify-send") && !error.is_transient());
    let sound = folder.path().join("-ping.wav");
    assert!(matches!(alerts.sound(&sound).await, Err(AlertError::NoSuchFile)));
    fs::write(&sound, "").unwrap();
    assert!(alerts.sound(&sound).await.unwrap_err().to_string().contains("paplay"));
}

#[tokio::test]
async fn a_sound_is_played_by_what_can_play_it() {
    let folder = TempDir::new().unwrap();
    let (sound, seen) = (folder.path().join("-p 'i'ng.wav"), folder.path().join("seen"));
    fs::write(&sound, "").unwrap();
    program(folder.path(), "paplay", "exit 1");
    program(folder.path(), "aplay", &format!("printf '%s' \"$2\" >'{}'", seen.display()));
    Alerts::with_path(folder.path()).sound(&sound).await.unwrap();
    assert_eq!(fs::read_to_string(seen).unwrap(), sound.to_str().unwrap());
}

#[tokio::test]
async fn a_sound_that_takes_too_long_is_not_begun_again() {
    let folder = TempDir::new().unwrap();
    let (sound, seen) = (folder.path().join("long.wav"), folder.path().join("seen"));
    fs::write(&sound, "").unwrap();
    program(folder.path(), "paplay", "exec /bin/sleep 60");
    program(folder.path(), "aplay", &format!("touch '{}'", seen.display()));
    let alerts = Alerts::with_path(folder.path()).patient_for(Duration::from_millis(200));
    assert_eq!(alerts.sound(&sound).await.unwrap_err().to_string(), "paplay did not end within 0 s");
    assert!(!seen.exists());
}

/// A server that answers posts with a status, and what it was sent.
async fn receiver(status: u16) -> (String, Arc<Mutex<Vec<String>>>) {
    let got: Arc<Mutex<Vec<String>>> = Arc::default();
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let kept = got.clone();
    let routes = Router::new().route(
        "/hook",
        post(move |body: String| async move {
            kept.lock().unwrap().push(body);
            (StatusCode::from_u16(status).unwrap(), [("location", "/hook")])
        }),
    );
    tokio::spawn(async move { axum::serve(listener, routes).await });
    (format!("http://127.0.0.1:{port}/hook"), got)
}

fn webhooks(reach: Reach) -> Webhooks {
    Webhooks::new(reach, Duration::from_secs(5)).unwrap()
}

#[tokio::test]
async fn a_webhook_gets_the_document() {
    let (url, got) = receiver(204).await;
    webhooks(Reach::PublicAndLoopback).send(&url, &json!({ "title": "✅" })).await.unwrap();
    webhooks(Reach::PublicAndLoopback).send(&url.replace("127.0.0.1", "localhost"), &json!(1)).await.unwrap();
    assert_eq!(*got.lock().unwrap(), ["{\"title\":\"✅\"}", "1"]);
}

#[tokio::test]
async fn redirects_are_not_followed_and_refusals_are_values() {
    for (status, transient) in [(302, false), (307, false), (404, false), (429, true), (503, true)] {
        let (url, got) = receiver(status).await;
        let error = webhooks(Reach::PublicAndLoopback).send(&url, &json!({})).await.unwrap_err();
        assert!(matches!(error, AlertError::Refused(it) if it == status), "{error}");
        assert_eq!((error.is_transient(), got.lock().unwrap().len()), (transient, 1));
    }
}

#[tokio::test]
async fn addresses_that_are_out_of_reach_are_never_contacted() {
    let (url, got) = receiver(204).await;
    let error = webhooks(Reach::Public).send(&url, &json!({})).await.unwrap_err();
    assert!(matches!(error, AlertError::NotAllowed(_)), "{error}");
    let error = webhooks(Reach::PublicAndLoopback).send("http://10.0.0.1/?key=s3cret", &json!({})).await.unwrap_err();
    assert!(matches!(error, AlertError::NotAllowed(_)), "{error}");
    // A name is judged by what it leads to, here by way of the machine's own name for loopback.
    let named = url.replace("http://127.0.0.1", "https://localhost.");
    let error = webhooks(Reach::Public).send(&named, &json!({})).await.unwrap_err();
    assert!(!matches!(error, AlertError::Refused(_)), "{error}");
    assert_eq!(got.lock().unwrap().len(), 0);
}

#[tokio::test]
async fn a_failure_says_why_and_not_where() {
    let nobody = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = nobody.local_addr().unwrap().port();
    drop(nobody);
    let send =
        async |url: String| webhooks(Reach::PublicAndLoopback).send(&url, &json!({})).await.unwrap_err().to_string();
    assert_eq!(send(format!("http://127.0.0.1:{port}/s3cret")).await, "no answer: connection refused");
    assert_eq!(send("http://10.0.0.1/s3cret".to_owned()).await, "the address is not allowed: plain http");
    let folder = TempDir::new().unwrap();
    let sound = folder.path().join("s3cret.wav");
    let alerts = Alerts::with_path(folder.path());
    assert_eq!(alerts.sound(&sound).await.unwrap_err().to_string(), "there is no such file");
    fs::write(&sound, "").unwrap();
    program(folder.path(), "aplay", "echo \"cannot play $2\" >&2; exit 1");
    assert_eq!(alerts.sound(&sound).await.unwrap_err().to_string(), "aplay failed: cannot play the file");
}

#[tokio::test]
async fn nobody_is_waited_for_for_ever() {
    // Accepts, and never answers.
    let silent = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", silent.local_addr().unwrap());
    let hooks = Webhooks::new(Reach::PublicAndLoopback, Duration::from_millis(300)).unwrap();
    let since = Instant::now();
    let error = hooks.send(&url, &json!({})).await.unwrap_err();
    assert!(error.is_transient() && since.elapsed() < Duration::from_secs(5), "{error}");
}
