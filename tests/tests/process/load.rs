//! Clients that write as fast as they can and remember exactly what they were told.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use muster_tests::muster::{Muster, bounded};
use serde_json::json;
use tokio::sync::watch;
use tokio::task::JoinSet;
use uuid::Uuid;

use crate::client::{Answer, Client, Request};

/// Every name that the load writes begins like this, so that an outsider finds it in the log.
pub(crate) const MARK: &str = "load-";

/// What became of the commands.
#[derive(Debug, Default, Clone)]
pub(crate) struct Record {
    /// By token: acknowledged, so each must be in the log once.
    pub(crate) acknowledged: BTreeMap<String, Acknowledged>,
    /// Sent once and never answered, so each may be in the log, once.
    pub(crate) unsure: Vec<String>,
    /// Refused, so none may be in the log.
    pub(crate) refused: Vec<String>,
    /// How often the store was said to be unavailable.
    pub(crate) unavailable: usize,
    /// Answers that no client should ever see.
    pub(crate) unexpected: Vec<String>,
}

#[derive(Debug, Clone)]
pub(crate) struct Acknowledged {
    pub(crate) position: i64,
    pub(crate) key: Option<String>,
}

/// Clients that are at rest.
pub(crate) struct Load {
    pub(crate) owner: Client,
    pub(crate) workspace: String,
    clients: Vec<Worker>,
    shared: Arc<Shared>,
}

/// Clients at work.
pub(crate) struct Running {
    load: Load,
    tasks: JoinSet<Worker>,
    stop: Arc<AtomicBool>,
}

struct Shared {
    record: Mutex<Record>,
    /// Acknowledged and unavailable, so far.
    counts: watch::Sender<(usize, usize)>,
}

struct Worker {
    turn: usize,
    workspace: String,
    /// A command with a key is sent until it is acknowledged.
    pending: Option<Command>,
}

#[derive(Clone)]
struct Command {
    token: String,
    key: Option<String>,
    request: Request,
}

impl Load {
    /// An owner with one workspace that all clients write to.
    pub(crate) async fn new(server: &Muster, clients: usize) -> Self {
        let owner = Client::sign_up(server).await;
        let (workspace, _) = owner.new_workspace().await;
        let shared = Arc::new(Shared { record: Mutex::default(), counts: watch::channel((0, 0)).0 });
        Self { owner, workspace, clients: Vec::new(), shared }.with_clients(clients)
    }

    /// More clients, up to so many.
    pub(crate) fn with_clients(mut self, clients: usize) -> Self {
        for turn in self.clients.len()..clients {
            self.clients.push(Worker { turn, workspace: self.workspace.clone(), pending: None });
        }
        self
    }

    /// Sets the clients to work, in turn on each of the servers.
    pub(crate) fn start(mut self, servers: &[&Muster]) -> Running {
        let stop = Arc::new(AtomicBool::new(false));
        let mut tasks = JoinSet::new();
        for (number, worker) in self.clients.drain(..).enumerate() {
            let client = self.owner.at(servers[number % servers.len()]);
            tasks.spawn(worker.work(client, Arc::clone(&self.shared), Arc::clone(&stop)));
        }
        Running { load: self, tasks, stop }
    }

    /// Sends what is still pending until all of it is acknowledged.
    pub(crate) async fn settle(&mut self, server: &Muster) {
        let client = self.owner.at(server);
        for worker in &mut self.clients {
            while let Some(command) = worker.pending.take() {
                let answered = bounded("a pending command is answered", client.send(&command.request)).await;
                worker.pending = self.shared.note(command, &answered.unwrap());
            }
        }
    }

    pub(crate) fn record(&self) -> Record {
        self.shared.record.lock().unwrap().clone()
    }

    pub(crate) fn pending(&self) -> Vec<String> {
        self.clients.iter().filter_map(|it| it.pending.as_ref().map(|it| it.token.clone())).collect()
    }
}

impl Running {
    /// Waits until so many more commands have been acknowledged.
    pub(crate) async fn acknowledged(&self, more: usize) {
        let wanted = self.load.shared.counts.borrow().0 + more;
        self.reach("commands are acknowledged", |(acknowledged, _)| acknowledged >= wanted).await;
    }

    /// Waits until so many more commands have been told that the store is unavailable.
    pub(crate) async fn unavailable(&self, more: usize) {
        let wanted = self.load.shared.counts.borrow().1 + more;
        self.reach("the store is said to be unavailable", |(_, unavailable)| unavailable >= wanted).await;
    }

    async fn reach(&self, what: &str, enough: impl Fn((usize, usize)) -> bool) {
        let mut counts = self.load.shared.counts.subscribe();
        if tokio::time::timeout(muster_tests::muster::PATIENCE, counts.wait_for(|it| enough(*it))).await.is_err() {
            panic!("{what}: not soon enough, {:#?}", self.load.record());
        }
    }

    /// Lets every client finish what it is at.
    pub(crate) async fn stop(self) -> Load {
        self.stop.store(true, Ordering::Relaxed);
        self.join().await
    }

    /// Waits for clients whose server has gone.
    pub(crate) async fn join(mut self) -> Load {
        let clients = bounded("the clients come to rest", async {
            let mut clients = Vec::new();
            while let Some(worker) = self.tasks.join_next().await {
                clients.push(worker.unwrap());
            }
            clients
        });
        self.load.clients = clients.await;
        self.load
    }
}

impl Worker {
    async fn work(mut self, client: Client, shared: Arc<Shared>, stop: Arc<AtomicBool>) -> Self {
        while !stop.load(Ordering::Relaxed) {
            let command = self.pending.take().unwrap_or_else(|| self.next());
            match client.send(&command.request).await {
                Ok(answer) => self.pending = shared.note(command, &answer),
                // The server has gone: nobody knows what became of the command.
                Err(_) => {
                    match command.key {
                        Some(_) => self.pending = Some(command),
                        None => shared.record.lock().unwrap().unsure.push(command.token),
                    }
                    break;
                }
            }
        }
        self
    }

    /// New streams and one hot stream, with keys and without.
    fn next(&mut self) -> Command {
        self.turn += 1;
        let token = format!("{MARK}{}", Uuid::now_v7().simple());
        let workspace = &self.workspace;
        let request = match self.turn % 3 {
            0 => Request::put("/api/workspace.update", json!({"id": workspace, "name": token})),
            1 => Request::post("/api/project.create", json!({"workspaceId": workspace, "name": token, "slug": token})),
            _ => Request::post(
                "/api/agent.create",
                json!({"workspaceId": workspace, "agentLevel": "organization", "agentCode": token, "name": token,
                       "roleTitle": "Tester"}),
            ),
        };
        let key = self.turn.is_multiple_of(2).then(|| Uuid::now_v7().to_string());
        let request = match &key {
            Some(key) => request.keyed(key),
            None => request,
        };
        Command { token, key, request }
    }
}

impl Shared {
    /// Writes down what was answered; returns the command if it is to be sent again.
    fn note(&self, command: Command, answer: &Answer) -> Option<Command> {
        let mut record = self.record.lock().unwrap();
        let again = command.key.is_some().then(|| command.clone());
        let Command { token, key, request } = command;
        match (answer.status, answer.code()) {
            (200..300, _) => {
                let acknowledged = Acknowledged { position: answer.position(), key };
                record.acknowledged.insert(token, acknowledged);
                self.counts.send_modify(|counts| counts.0 += 1);
                None
            }
            (503, "UNAVAILABLE") if answer.header("retry-after").is_some() => {
                record.unavailable += 1;
                self.counts.send_modify(|counts| counts.1 += 1);
                if again.is_none() {
                    record.unsure.push(token);
                }
                again
            }
            (409, "CONCURRENCY_CONFLICT") => {
                if again.is_none() {
                    record.refused.push(token);
                }
                again
            }
            _ => {
                record.unexpected.push(format!("{} {}: {answer:?}", request.method, request.path));
                record.unsure.push(token);
                None
            }
        }
    }
}
