//! A lean HTTP/1.1 client: one request in flight per connection, sent as bytes made before, so that on a small machine
//! the figures are the server's and not the client's.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::Mutex;

use crate::measure::{Sample, closed_loop};

/// A connection that stays open.
pub(crate) struct Connection {
    stream: TcpStream,
    /// What was read and not yet used.
    read: Vec<u8>,
}

/// What came back: the body is in the connection's own memory.
#[derive(Debug)]
pub(crate) struct Answer<'a> {
    pub(crate) status: u16,
    pub(crate) body: &'a [u8],
}

/// The bytes of a request; `body` is JSON.
pub(crate) fn request(method: &str, path: &str, headers: &[(&str, &str)], body: Option<&Value>) -> Vec<u8> {
    let mut text = format!("{method} {path} HTTP/1.1\r\nHost: localhost\r\n");
    for (name, value) in headers {
        text += &format!("{name}: {value}\r\n");
    }
    match body.map(Value::to_string) {
        Some(body) => {
            text += &format!("Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}", body.len());
        }
        None => text += "\r\n",
    }
    text.into_bytes()
}

impl Connection {
    pub(crate) async fn open(address: SocketAddr) -> Result<Self> {
        let stream = TcpStream::connect(address).await.context("the server takes no connection")?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, read: Vec::with_capacity(64 * 1024) })
    }

    /// Sends a request and waits for all of its answer.
    pub(crate) async fn send(&mut self, request: &[u8]) -> Result<Answer<'_>> {
        self.stream.write_all(request).await?;
        self.read.clear();
        let head = loop {
            if let Some(end) = find(&self.read, b"\r\n\r\n") {
                break end + 4;
            }
            self.more().await?;
        };
        let status = std::str::from_utf8(self.read.get(9..12).context("no status")?)?.parse()?;
        let length = content_length(&self.read[..head]).context("an answer without a length")?;
        while self.read.len() < head + length {
            self.more().await?;
        }
        Ok(Answer { status, body: &self.read[head..head + length] })
    }

    /// Sends a request whose answer never ends, and gives the socket to whoever listens.
    pub(crate) async fn listen(mut self, request: &[u8]) -> Result<(TcpStream, Vec<u8>)> {
        self.stream.write_all(request).await?;
        let head = loop {
            if let Some(end) = find(&self.read, b"\r\n\r\n") {
                break end + 4;
            }
            self.more().await?;
        };
        ensure!(self.read.starts_with(b"HTTP/1.1 200"), "{}", String::from_utf8_lossy(&self.read));
        Ok((self.stream, self.read.split_off(head)))
    }

    /// Sends a request and reads its answer as JSON.
    pub(crate) async fn ask(&mut self, request: &[u8]) -> Result<Value> {
        let answer = self.send(request).await?;
        if answer.status != 200 {
            bail!("{}: {}", answer.status, String::from_utf8_lossy(answer.body));
        }
        Ok(serde_json::from_slice(answer.body)?)
    }

    /// The cookie that the last answer set.
    pub(crate) fn cookie(&self) -> Option<String> {
        let text = String::from_utf8_lossy(&self.read);
        let line = text.lines().find_map(|line| line.strip_prefix("set-cookie: "))?;
        Some(line.split(';').next()?.to_owned())
    }

    async fn more(&mut self) -> Result<()> {
        ensure!(self.stream.read_buf(&mut self.read).await? > 0, "the server hung up");
        Ok(())
    }
}

/// So many connections as there are requests, each sending its own again and again. Answers requests a second.
pub(crate) async fn hammer(address: SocketAddr, requests: Arc<Vec<Vec<u8>>>, lasts: Duration) -> Result<Sample> {
    let mut connections = Vec::with_capacity(requests.len());
    for _ in 0..requests.len() {
        connections.push(Mutex::new(Connection::open(address).await?));
    }
    let connections = Arc::new(connections);
    closed_loop(requests.len(), lasts, move |client| {
        let (connections, requests) = (Arc::clone(&connections), Arc::clone(&requests));
        async move {
            let mut connection = connections[client].lock().await;
            let answer = connection.send(&requests[client]).await?;
            ensure!(answer.status == 200, "{}: {}", answer.status, String::from_utf8_lossy(answer.body));
            Ok(())
        }
    })
    .await
}

fn content_length(head: &[u8]) -> Option<usize> {
    let lines = head.split(|byte| *byte == b'\n');
    let value = lines
        .filter_map(|line| line.split_at_checked(15))
        .find(|(name, _)| name.eq_ignore_ascii_case(b"content-length:"))?;
    std::str::from_utf8(value.1).ok()?.trim().parse().ok()
}

fn find(text: &[u8], wanted: &[u8]) -> Option<usize> {
    text.windows(wanted.len()).position(|it| it == wanted)
}
