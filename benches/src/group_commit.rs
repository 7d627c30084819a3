//! Shows what group commit is worth: the same durable appends by one client and by many, in one run.

use std::sync::Arc;
use std::time::{Duration, Instant};

use store::{Access, Clock, Commit, EventLog, Location, NewEvent, Settings, Stores, StreamAppend, StreamId};
use uuid::Uuid;

use crate::median;

/// Rounds of each, interleaved, so that a busy neighbour disturbs both alike.
const ROUNDS: usize = 3;
/// How long each round lasts.
const ROUND: Duration = Duration::from_secs(2);
/// About as large as an event of a session.
const PAYLOAD_BYTES: usize = 300;

pub(crate) async fn measure() -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let location = Location::Sqlite(folder.path().to_path_buf());
    let stores = Stores::open(Settings { location, clock: Clock::default(), access: Access::Serve }).await?;
    let (mut alone, mut together) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        alone.push(commands_a_second(&stores.log, 1).await?);
        together.push(commands_a_second(&stores.log, 64).await?);
    }
    let (alone, together) = (median(alone), median(together));
    println!("SQLite, durable, new streams, {PAYLOAD_BYTES} bytes of JSON, median of {ROUNDS} rounds");
    println!("   1 client   {alone:>9.0} commands/s");
    println!("  64 clients  {together:>9.0} commands/s   {:.1} times one client", together / alone);
    Ok(())
}

async fn commands_a_second(log: &Arc<EventLog>, clients: usize) -> anyhow::Result<f64> {
    let started = Instant::now();
    let work: Vec<_> = (0..clients).map(|_| tokio::spawn(append_until(Arc::clone(log), started + ROUND))).collect();
    let mut commands = 0;
    for client in work {
        commands += client.await??;
    }
    Ok(commands as f64 / started.elapsed().as_secs_f64())
}

async fn append_until(log: Arc<EventLog>, end: Instant) -> anyhow::Result<usize> {
    let mut commands = 0;
    while Instant::now() < end {
        log.commit(new_stream()).await?;
        commands += 1;
    }
    Ok(commands)
}

fn new_stream() -> Commit {
    let id = Uuid::now_v7();
    let event = NewEvent {
        event_id: id,
        event_type: "Measured".into(),
        event_version: "1".into(),
        payload: serde_json::json!({"Measured": {"text": "x".repeat(PAYLOAD_BYTES)}}).to_string(),
        metadata: "{}".into(),
        workspace_id: None,
    };
    let append = StreamAppend { stream: StreamId::new("bench", id), expected: 0, events: vec![event] };
    Commit { appends: vec![append], ..Commit::default() }
}
