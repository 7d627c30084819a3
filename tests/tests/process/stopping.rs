//! SIGTERM under load: what is in flight is answered, streams end cleanly, and the exit code says that all is well.

use std::collections::BTreeSet;

use muster_tests::at_both_homes;
use muster_tests::muster::{Home, Muster, bounded};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::checker::{Found, check};
use crate::client::{Client, Request};
use crate::load::Load;

at_both_homes! {
    a_server_that_is_told_to_stop_answers_what_it_has_begun,
    a_server_that_stops_tells_the_log_of_the_views_it_has_counted,
}

async fn a_server_that_is_told_to_stop_answers_what_it_has_begun(home: Home) {
    let server = Muster::start(&home, &[]).await;
    let load = Load::new(&server, 6).await;
    let mut stream = load.owner.open(&Request::get("/api/event.stream")).await.unwrap();
    assert_eq!(stream.status(), 200);
    let half = HalfSent::begin(&server).await;
    let running = load.start(&[&server]);
    running.acknowledged(30).await;
    server.ask_to_stop();
    bounded("the server says that it stops", server.stderr.line_with("stopping")).await.unwrap();
    let answer = half.finish().await;
    let load = running.join().await;
    // An orderly end of the body: an error here would be a torn connection.
    bounded("the stream ends", async { while stream.chunk().await.unwrap().is_some() {} }).await;
    let ended = server.ended().await;
    assert_eq!(ended.code, Some(0), "{ended:#?}");
    assert!(answer.starts_with("HTTP/1.1 2"), "{answer}");

    let found = check(&home, &load).await;
    // Whatever reached the log was also answered.
    let told = load.record().acknowledged;
    let unanswered: BTreeSet<_> = load.record().unsure.into_iter().chain(load.pending()).collect();
    let landed = |token: &String| found.events.iter().any(|event| event.payload.contains(token));
    assert_eq!(unanswered.iter().filter(|token| landed(token)).collect::<Vec<_>>(), Vec::<&String>::new());
    assert!(told.len() >= 30);
}

async fn a_server_that_stops_tells_the_log_of_the_views_it_has_counted(home: Home) {
    let server = Muster::start(&home, &[]).await;
    let owner = Client::sign_up(&server).await;
    let (workspace, _) = owner.new_workspace().await;
    let body = json!({"workspaceId": workspace, "title": "Locks", "slug": "locks", "content": "Avoid them"});
    let entry = owner.must(Request::post("/api/wiki.create", body)).await.id("entry");
    for _ in 0..3 {
        owner.must(Request::get(format!("/api/wiki.get?id={entry}"))).await;
    }
    assert_eq!(server.terminate().await.code, Some(0));
    let events = Found::read(&home).await.events;
    let counted = events.iter().filter(|it| it.event_type == "WikiViewsCounted");
    let views =
        counted.map(|it| serde_json::from_str::<Value>(&it.payload).unwrap()["WikiViewsCounted"]["views"].as_i64());
    // The ten seconds may just have been over.
    assert_eq!(views.map(Option::unwrap).sum::<i64>(), 3);
}

#[tokio::test]
async fn an_idle_server_stops_at_once() {
    let home = Home::new(muster_tests::stores::Kind::Sqlite).await;
    let server = Muster::start(&home, &[]).await;
    // A connection that is kept alive must not hold it up.
    let _client = Client::sign_up(&server).await;
    let begin = std::time::Instant::now();
    assert_eq!(server.terminate().await.code, Some(0));
    assert!(begin.elapsed().as_secs() < 5, "{:?}", begin.elapsed());
}

/// A request whose head the server has read and whose body it still waits for.
struct HalfSent {
    connection: TcpStream,
    body: String,
}

impl HalfSent {
    async fn begin(server: &Muster) -> Self {
        let body =
            json!({"email": "late@muster.example", "password": crate::client::PASSWORD, "name": "Late"}).to_string();
        let mut connection = TcpStream::connect(&server.address).await.unwrap();
        let head = format!(
            "POST /api/auth/signup HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\
             Connection: close\r\nExpect: 100-continue\r\n\r\n",
            server.address,
            body.len()
        );
        connection.write_all(head.as_bytes()).await.unwrap();
        // The server says so when it wants the body, so it has begun with the request.
        let mut go_on = [0; 25];
        bounded("the server wants the body", connection.read_exact(&mut go_on)).await.unwrap();
        assert_eq!(&go_on, b"HTTP/1.1 100 Continue\r\n\r\n");
        Self { connection, body }
    }

    async fn finish(mut self) -> String {
        self.connection.write_all(self.body.as_bytes()).await.unwrap();
        let mut answer = String::new();
        bounded("the request is answered", self.connection.read_to_string(&mut answer)).await.unwrap();
        answer
    }
}
