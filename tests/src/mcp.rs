//! An agent's MCP client: the official Python SDK in a process of its own, and plain messages over HTTP.

use std::process::Stdio;
use std::sync::OnceLock;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

use crate::muster::bounded;
use crate::server::{Answer, Client};

const FOLDER: &str = env!("CARGO_MANIFEST_DIR");

/// How a client and the server agree on how to speak.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Speech {
    /// By the newest protocol: each request says all of it.
    Newest,
    /// By a handshake, as older clients do.
    Handshake,
}

/// A connected client.
pub struct McpClient {
    _process: Child,
    stdin: ChildStdin,
    stdout: Lines<BufReader<ChildStdout>>,
    /// The version of the protocol that was agreed on.
    pub protocol: String,
}

/// What a tool answered.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolAnswer {
    /// Whether it is an error.
    pub is_error: bool,
    /// The structured content; null if there is none.
    pub structured: Value,
    /// The text, as JSON where it is JSON.
    pub told: Value,
}

/// The Python that has the client; `None` when it cannot be installed because this machine is offline.
pub fn python() -> Option<&'static str> {
    static PYTHON: OnceLock<Option<String>> = OnceLock::new();
    let install = || {
        let script = format!("{FOLDER}/../scripts/install-mcp-client.sh");
        let output = std::process::Command::new("bash").arg(script).output().expect("bash runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let path = String::from_utf8(output.stdout).expect("a path").trim().to_owned();
        (!path.is_empty()).then_some(path)
    };
    PYTHON.get_or_init(install).as_deref()
}

impl McpClient {
    /// Connects as the agent whose headers `agent` sends; `None` when there is no client on this machine.
    pub async fn connect(url: &str, agent: &Client, speech: Speech) -> Option<Self> {
        let header = |name: &str| {
            let found = agent.headers.iter().find(|(it, _)| it == name);
            found.unwrap_or_else(|| panic!("the agent sends no {name}")).1.clone()
        };
        let mut process = Command::new(python()?)
            .arg(format!("{FOLDER}/fixtures/mcp_client.py"))
            .env("MUSTER_MCP_URL", url)
            .env("MUSTER_AGENT_ID", header("X-Agent-ID"))
            .env("MUSTER_AGENT_KEY", header("X-Agent-Key"))
            .env("MCP_MODE", if speech == Speech::Newest { "auto" } else { "legacy" })
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .expect("the client starts");
        let stdin = process.stdin.take().expect("a pipe");
        let stdout = BufReader::new(process.stdout.take().expect("a pipe")).lines();
        let mut client = Self { _process: process, stdin, stdout, protocol: String::new() };
        let greeting = client.line().await;
        client.protocol = greeting["connected"].as_str().unwrap_or_else(|| panic!("{greeting}")).to_owned();
        Some(client)
    }

    /// The tools that the server shows, as they are.
    pub async fn tools(&mut self) -> Vec<Value> {
        let answer = self.ask(&json!({ "list": true })).await;
        answer["tools"].as_array().unwrap_or_else(|| panic!("{answer}")).clone()
    }

    /// The names of the tools that the server shows.
    pub async fn tool_names(&mut self) -> Vec<String> {
        let name = |tool: &Value| tool["name"].as_str().expect("a name").to_owned();
        self.tools().await.iter().map(name).collect()
    }

    /// Calls a tool.
    pub async fn call(&mut self, tool: &str, arguments: Value) -> ToolAnswer {
        let answer = self.ask(&json!({ "tool": tool, "arguments": arguments })).await;
        assert!(answer["protocolError"].is_null(), "{tool}: {answer}");
        ToolAnswer::of(&answer["isError"], &answer["structured"], &answer["text"])
    }

    /// Calls a tool that must succeed, and returns its output.
    #[track_caller]
    pub fn done(answer: ToolAnswer) -> Value {
        assert!(!answer.is_error, "{answer:?}");
        answer.structured
    }

    /// The code and words of a call that the protocol itself refuses.
    pub async fn refused(&mut self, tool: &str, arguments: Value) -> Value {
        self.ask(&json!({ "tool": tool, "arguments": arguments })).await["protocolError"].clone()
    }

    async fn ask(&mut self, question: &Value) -> Value {
        self.stdin.write_all(format!("{question}\n").as_bytes()).await.expect("the client listens");
        self.line().await
    }

    async fn line(&mut self) -> Value {
        let line = bounded("a line of the client", self.stdout.next_line()).await.expect("a pipe");
        serde_json::from_str(&line.expect("the client goes on")).expect("a line of JSON")
    }
}

impl ToolAnswer {
    fn of(is_error: &Value, structured: &Value, text: &Value) -> Self {
        let text = text.as_str().unwrap_or_default();
        let told = serde_json::from_str(text).unwrap_or_else(|_| text.into());
        Self { is_error: is_error.as_bool().unwrap_or(false), structured: structured.clone(), told }
    }
}

/// Calls a tool with a plain message, as a program without any client does.
pub async fn call(agent: &Client, tool: &str, arguments: Value) -> ToolAnswer {
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": { "name": tool, "arguments": arguments } });
    let answer = knock(agent).post("/mcp", &body).await.ok().body;
    assert!(answer["error"].is_null(), "{tool}: {answer}");
    let result = &answer["result"];
    ToolAnswer::of(&result["isError"], &result["structuredContent"], &result["content"][0]["text"])
}

/// Asks which tools there are, with a plain message.
pub async fn list(agent: &Client) -> Vec<String> {
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" });
    let answer = knock(agent).post("/mcp", &body).await.ok().body;
    let tools = answer["result"]["tools"].as_array().unwrap_or_else(|| panic!("{answer}")).clone();
    tools.iter().map(|tool| tool["name"].as_str().expect("a name").to_owned()).collect()
}

/// Sends any message.
pub async fn send(agent: &Client, body: &Value) -> Answer {
    knock(agent).post("/mcp", body).await
}

/// What the protocol wants of every request.
fn knock(agent: &Client) -> Client {
    agent.with("Accept", "application/json, text/event-stream")
}
