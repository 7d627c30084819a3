//! A factory in which dice play people, agents and the bench, by the same commands that a server runs.

mod floor;
mod shift;
mod talk;

use std::collections::BTreeMap;
use std::sync::Arc;

use chrono::{DateTime, TimeDelta, Utc};
use commands::{Actor, CommandError, Context, Decision};
use domain::{AgentId, ProjectId, WorkspaceId};
use muster_tests::fleet::Fleet;
use muster_tests::stores::noon;
use projections::Fact;
use store::EventLog;

use self::floor::Floor;
use super::dice::Dice;

const SEED: u64 = 20_260_302;
/// Events read at a time.
const PAGE: usize = 500;

/// A workspace with one project, and everything that was ever asked of its factory.
pub(super) struct Factory {
    log: Arc<EventLog>,
    fleet: Fleet,
    dice: Dice,
    workspace: WorkspaceId,
    project: ProjectId,
    floor: Floor,
    now: DateTime<Utc>,
    /// The newest position of the log.
    head: i64,
    /// Commands that were refused.
    pub(super) refused: usize,
    /// How many events of each kind there were.
    pub(super) kinds: BTreeMap<String, usize>,
}

impl Factory {
    /// A factory on a log that is empty so far.
    pub(super) async fn open(log: Arc<EventLog>) -> Self {
        let fleet = Fleet::on(log.clone());
        let workspace = fleet.workspace("factory").await.unwrap();
        let project = fleet.project(workspace, "shop").await.unwrap();
        let (dice, floor, kinds) = (Dice(SEED), Floor::default(), BTreeMap::new());
        let mut factory = Self { log, fleet, dice, workspace, project, floor, now: noon(), head: 0, refused: 0, kinds };
        factory.learn().await;
        factory
    }

    /// How many events there were.
    pub(super) fn written(&self) -> usize {
        self.kinds.values().sum()
    }

    /// Gives so many random commands, lawful or not. Nobody else writes meanwhile.
    pub(super) async fn play(&mut self, commands: usize, now: DateTime<Utc>) {
        (self.now, self.head) = (now, self.log.head().await.unwrap().position);
        for _ in 0..commands {
            self.now += TimeDelta::seconds(self.dice.number(20));
            match self.dice.below(100) {
                0..=7 => self.look_after_epics().await,
                8..=19 => self.staff().await,
                20..=43 => self.work().await,
                44..=57 => self.review().await,
                58..=77 => self.serve_bench().await,
                78..=80 => self.look_after_health().await,
                81..=86 => self.write_mail().await,
                87..=92 => self.call_tools().await,
                93 => self.decide_something().await,
                _ => self.tell_people().await,
            }
        }
        assert_eq!(self.log.head().await.unwrap().position, self.head, "what was refused left a trace");
    }

    async fn human<D: Decision>(&mut self, decision: &D) -> Option<D::Outcome> {
        self.run(Actor::User(self.fleet.owner), decision).await
    }

    async fn agent<D: Decision>(&mut self, by: AgentId, decision: &D) -> Option<D::Outcome> {
        self.run(Actor::Agent(by), decision).await
    }

    async fn system<D: Decision>(&mut self, decision: &D) -> Option<D::Outcome> {
        self.run(Actor::System("test"), decision).await
    }

    /// What comes of a command; nothing when it is refused.
    async fn run<D: Decision>(&mut self, by: Actor, decision: &D) -> Option<D::Outcome> {
        match self.fleet.executor.run(&Context::new(by, self.now), decision).await {
            Ok(done) => {
                if done.position > self.head {
                    self.learn().await;
                }
                Some(done.outcome)
            }
            Err(CommandError::Refused(_)) => {
                self.refused += 1;
                None
            }
            Err(error) => panic!("{}: {error}", decision.name()),
        }
    }

    /// Takes note of what happened since.
    async fn learn(&mut self) {
        loop {
            let events = self.log.read_all(self.head, PAGE).await.unwrap();
            let is_all = events.len() < PAGE;
            for event in events {
                self.head = event.position;
                *self.kinds.entry(event.event_type.clone()).or_default() += 1;
                self.floor.learn(&Fact::read(event).unwrap());
            }
            if is_all {
                return;
            }
        }
    }
}
