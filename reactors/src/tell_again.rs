//! What a node took and did not tell in its time is told again, by whichever node looks first.
//!
//! When that is due follows from the read model alone, so that no restart forgets anybody; who tells it is decided in
//! the log. Nothing waits for it: every channel has a timeout, many are told side by side, and whoever has much to be
//! told again takes turns with the others.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use commands::notification::{ReportDelivery, TakeNotification};
use commands::{Actor, CommandError, Context, Executor};
use futures_util::{StreamExt, stream};
use projections::Engine;
use projections::notifications::{self, NotificationView};
use store::sql::Database;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::Telling;
use crate::telling::{News, Teller};

const NAME: &str = "tell_again";
/// Notifications that are told in one look.
const PAGE: i64 = 100;
/// Of them those for one person, so that a dead address keeps nobody else from being looked for.
const FOR_ONE: i64 = 4;
const AT_A_TIME: usize = 32;
/// How often to look; a lease is a minute.
const NAP: Duration = Duration::from_secs(15);

/// Tells again what was taken and not told.
#[derive(Clone)]
pub struct TellAgain {
    teller: Teller,
    executor: Arc<Executor>,
    views: Database,
}

/// Telling again, at work.
pub struct Retelling {
    stop: watch::Sender<bool>,
    task: Mutex<Option<JoinHandle<()>>>,
}

impl Retelling {
    /// Looks now and then, as soon as there is a read model to look at, until it is stopped.
    pub fn start(again: TellAgain, engine: Arc<Engine>) -> Self {
        let (stop, stopped) = watch::channel(false);
        Self { stop, task: Mutex::new(Some(tokio::spawn(again.keep_looking(engine, stopped)))) }
    }

    /// Stops after what is in hand.
    pub async fn shutdown(&self) {
        self.stop.send_replace(true);
        let task = self.task.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(task) = task {
            let _ = task.await;
        }
    }
}

impl TellAgain {
    /// Tells from this node.
    pub fn new(telling: Telling, executor: Arc<Executor>, views: Database) -> Self {
        Self { teller: Teller::new(telling), executor, views }
    }

    /// Tells whatever is due by the log's clock, once; says how many that were.
    pub async fn look(&self) -> Result<usize, CommandError> {
        let now = self.executor.log().clock().now();
        let due = notifications::to_tell_again(&self.views, now, FOR_ONE, PAGE).await?;
        // All of them, even if one cannot be told: that one is due again.
        let told: Vec<_> = stream::iter(due).map(|it| self.tell(it)).buffer_unordered(AT_A_TIME).collect().await;
        told.into_iter().try_fold(0, |count, told| Ok(count + usize::from(told?)))
    }

    /// Whether it was this node's to tell.
    async fn tell(&self, it: NotificationView) -> Result<bool, CommandError> {
        let (notification_id, node) = (it.id, self.teller.node.clone());
        let channels = match self.run(&TakeNotification { notification_id, node }).await {
            Ok(channels) => channels,
            // Another node was first.
            Err(CommandError::Refused(_)) => return Ok(false),
            Err(error) => return Err(error),
        };
        if channels.is_empty() {
            return Ok(false);
        }
        let news = News {
            notification_id,
            workspace_id: it.workspace_id,
            user_id: it.user_id,
            kind: it.kind,
            title: &it.title,
            message: &it.message,
            raised_at: it.created_at,
        };
        for (channel, outcome) in self.teller.tell(self.executor.log(), &self.views, &news, channels).await? {
            self.run(&ReportDelivery { notification_id, channel, outcome }).await?;
        }
        Ok(true)
    }

    async fn run<D: commands::Decision>(&self, decision: &D) -> Result<D::Outcome, CommandError> {
        let context = Context::new(Actor::System(NAME), self.executor.log().clock().now());
        Ok(self.executor.run(&context, decision).await?.outcome)
    }

    async fn keep_looking(self, engine: Arc<Engine>, mut stop: watch::Receiver<bool>) {
        tokio::select! {
            _ = engine.wait_for(&[notifications::NAME], 0, Duration::MAX) => {}
            _ = stop.wait_for(|stop| *stop) => return,
        }
        while !*stop.borrow() {
            match self.look().await {
                // There may be more than one look can tell.
                Ok(1..) => continue,
                Ok(0) => {}
                Err(error) => tracing::warn!(%error, "people could not be told again"),
            }
            let _ = tokio::time::timeout(NAP, stop.wait_for(|stop| *stop)).await;
        }
    }
}
