//! A post: an agent's place in the factory. Its stream has the agent's own id.
//!
//! **A seat has one agent at a time**: the seat is what successors inherit, and a claim keeps it. Whoever is relieved
//! loses the seat in the same commit, so nothing that it still asks for can count.

mod check_health;
mod declare_dead;
mod discharge;
mod event;
#[cfg(test)]
mod examples;
mod kind;
mod launch;
mod order_launch;
mod post_agent;
mod profile;
mod relieve;

use chrono::{DateTime, Utc};
use cqrs_es::{Aggregate, event_sink::EventSink};
use serde::{Deserialize, Serialize};
use thiserror::Error;
use uuid::Uuid;

pub use check_health::{CheckHealth, HealthRules};
pub use declare_dead::DeclareDead;
pub use discharge::DischargeAgent;
pub use event::{Evidence, PostEvent};
pub use kind::{AgentKind, PostState, WorkEnd};
pub use launch::{Launch, NoteLaunch};
pub use order_launch::OrderLaunch;
pub use post_agent::PostAgent;
pub use profile::{Permissions, Profile, Profiles};
pub use relieve::RelieveAgent;

use crate::{AgentId, Claim, Demand, Entity, EpicId, ProjectId, Scope, Slug, TaskId, WorkspaceId};

/// The life of a post.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Post {
    /// The agent has no place in the factory.
    #[default]
    Absent,
    /// It has, or had, one.
    Live(Box<LivePost>),
}

/// An agent's place in the factory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LivePost {
    /// Which agent.
    pub agent_id: AgentId,
    /// The workspace it belongs to.
    pub workspace_id: WorkspaceId,
    /// The project it works in; none for the orchestrator.
    pub project_id: Option<ProjectId>,
    /// What it does.
    pub kind: AgentKind,
    /// The place that its successors inherit.
    pub seat: Uuid,
    /// Its epic, unless it is the orchestrator.
    pub epic_id: Option<EpicId>,
    /// Its task, if it is a worker.
    pub task_id: Option<TaskId>,
    /// Where it runs.
    pub bench: Slug,
    /// How it is run.
    pub profile: Profile,
    /// What it is told when it starts.
    pub mission: String,
    /// The terminal session it runs in.
    pub tmux_session: String,
    /// The how-manieth agent on this seat it is.
    pub attempt: u32,
    /// What came of its launch.
    pub launch: Launch,
    /// How it stands.
    pub state: PostState,
    /// Who sits there after it, if somebody does.
    pub successor: Option<AgentId>,
    /// The last check that it missed.
    pub missed: Option<MissedCheck>,
    /// The silence for which it was reported, by the heartbeat before it.
    pub reported_since: Option<DateTime<Utc>>,
}

/// A health check that an agent missed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MissedCheck {
    /// When the agent was last heard of before it.
    pub last_heartbeat: DateTime<Utc>,
    /// The how-manieth in a row.
    pub count: u32,
    /// When it was made.
    pub checked_at: DateTime<Utc>,
}

/// What is asked of a post.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PostCommand {
    /// See [`PostAgent`].
    Post(Box<PostAgent>),
    /// See [`NoteLaunch`].
    NoteLaunch(NoteLaunch),
    /// See [`OrderLaunch`].
    OrderLaunch(OrderLaunch),
    /// See [`CheckHealth`].
    CheckHealth(CheckHealth),
    /// See [`DeclareDead`].
    DeclareDead(DeclareDead),
    /// See [`RelieveAgent`].
    Relieve(RelieveAgent),
    /// See [`DischargeAgent`].
    Discharge(DischargeAgent),
}

/// Why a command on a post, or by the agent at it, is refused.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PostError {
    /// The agent has no place in the factory.
    #[error("the agent has no place in the factory")]
    NotPosted,
    /// A stream with this id has begun already.
    #[error("the agent has a place in the factory already")]
    AlreadyPosted,
    /// Another agent sits there.
    #[error("another {0} sits there")]
    SeatTaken(AgentKind),
    /// It was relieved, and changes nothing any more.
    #[error("the agent was relieved of its post")]
    Relieved {
        /// Who sits there now, if somebody does.
        successor: Option<AgentId>,
    },
    /// Its work is over.
    #[error("the agent's work in the factory is over")]
    Discharged,
    /// Another kind of agent does this.
    #[error("this is for a {wanted}, and the agent is a {is}")]
    WrongKind {
        /// Who does it.
        wanted: AgentKind,
        /// What the agent is.
        is: AgentKind,
    },
    /// Its launch has not ended yet.
    #[error("the agent's launch is under way")]
    LaunchUnderway,
    /// It was started, or was heard of though it was not.
    #[error("the agent was started already")]
    AlreadyLaunched,
    /// It is in another workspace.
    #[error("the agent belongs to another workspace")]
    AccessDenied,
}

impl Post {
    /// The post, if the agent has or had one.
    pub fn live(&self) -> Result<&LivePost, PostError> {
        match self {
            Self::Live(live) => Ok(live),
            Self::Absent => Err(PostError::NotPosted),
        }
    }

    /// The post, if the agent is at it.
    pub fn held(&self) -> Result<&LivePost, PostError> {
        let live = self.live()?;
        match live.state {
            PostState::InProgress => Ok(live),
            PostState::Done => Err(PostError::Discharged),
            PostState::Failed => Err(PostError::Relieved { successor: live.successor }),
        }
    }

    /// The post, if an agent of this kind is at it.
    pub fn held_as(&self, wanted: AgentKind) -> Result<&LivePost, PostError> {
        let live = self.held()?;
        if live.kind == wanted { Ok(live) } else { Err(PostError::WrongKind { wanted, is: live.kind }) }
    }

    fn decide(&self, command: PostCommand) -> Result<Vec<PostEvent>, PostError> {
        match command {
            PostCommand::Post(it) => post_agent::decide(self, *it),
            PostCommand::NoteLaunch(it) => launch::decide(self, it),
            PostCommand::OrderLaunch(it) => order_launch::decide(self, it),
            PostCommand::CheckHealth(it) => check_health::decide(self, it),
            PostCommand::DeclareDead(it) => declare_dead::decide(self, it),
            PostCommand::Relieve(it) => relieve::decide(self, it),
            PostCommand::Discharge(it) => discharge::decide(self, it),
        }
    }
}

/// The claim to a seat, which is the workspace's, the epic's or the task's id.
pub fn seat_claim(kind: AgentKind, seat: Uuid) -> Claim {
    Scope::seats(kind).claim(seat)
}

impl Aggregate for Post {
    const TYPE: &'static str = "post";
    type Command = PostCommand;
    type Event = PostEvent;
    type Error = PostError;
    type Services = ();

    async fn handle(&mut self, command: PostCommand, (): &(), sink: &EventSink<Self>) -> Result<(), PostError> {
        for event in self.decide(command)? {
            sink.write(event, self).await;
        }
        Ok(())
    }

    fn apply(&mut self, event: PostEvent) {
        match (self, event) {
            (
                this,
                PostEvent::AgentPosted {
                    agent_id,
                    workspace_id,
                    project_id,
                    kind,
                    seat,
                    epic_id,
                    task_id,
                    bench,
                    profile,
                    mission,
                    tmux_session,
                    attempt,
                    replaces: _,
                    posted_at: _,
                },
            ) => {
                *this = Self::Live(Box::new(LivePost {
                    agent_id,
                    workspace_id,
                    project_id,
                    kind,
                    seat,
                    epic_id,
                    task_id,
                    bench,
                    profile,
                    mission,
                    tmux_session,
                    attempt,
                    launch: Launch::Ordered,
                    state: PostState::InProgress,
                    successor: None,
                    missed: None,
                    reported_since: None,
                }));
            }
            (Self::Live(live), event) => live.apply(event),
            (Self::Absent, _) => {}
        }
    }
}

impl LivePost {
    fn apply(&mut self, event: PostEvent) {
        match event {
            PostEvent::AgentPosted { .. } | PostEvent::AgentDeclaredDead { .. } => {}
            PostEvent::AgentLaunched { started, launched_at: _ } => {
                self.launch = if started { Launch::Started } else { Launch::LeftToItself };
            }
            PostEvent::AgentLaunchFailed { failed_at: _ } => self.launch = Launch::Failed,
            PostEvent::AgentLaunchOrdered { ordered_at: _ } => {
                self.launch = Launch::Ordered;
                (self.missed, self.reported_since) = (None, None);
            }
            PostEvent::AgentHealthChecked { last_heartbeat, checks_missed, checked_at } => {
                self.missed = Some(MissedCheck { last_heartbeat, count: checks_missed, checked_at });
            }
            PostEvent::AgentReportedSilent { evidence, reported_at: _ } => {
                self.reported_since = Some(evidence.last_heartbeat);
            }
            PostEvent::AgentRelieved { successor, .. } => {
                self.state = PostState::Failed;
                self.successor = successor;
            }
            PostEvent::AgentDischarged { .. } => self.state = PostState::Done,
        }
    }
}

impl Entity for Post {
    fn workspace(&self) -> Option<WorkspaceId> {
        self.live().ok().map(|live| live.workspace_id)
    }

    fn demands(&self, event: &PostEvent) -> Vec<Demand<PostError>> {
        match event {
            PostEvent::AgentPosted { kind, seat, .. } => {
                vec![Demand::Take { claim: seat_claim(*kind, *seat), or: PostError::SeatTaken(*kind) }]
            }
            PostEvent::AgentRelieved { .. } | PostEvent::AgentDischarged { .. } => {
                let held = self.held().ok().map(|live| Demand::Release(seat_claim(live.kind, live.seat)));
                held.into_iter().collect()
            }
            PostEvent::AgentLaunched { .. }
            | PostEvent::AgentLaunchFailed { .. }
            | PostEvent::AgentLaunchOrdered { .. }
            | PostEvent::AgentHealthChecked { .. }
            | PostEvent::AgentReportedSilent { .. }
            | PostEvent::AgentDeclaredDead { .. } => vec![],
        }
    }
}
