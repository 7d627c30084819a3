//! Post an agent.

use chrono::{DateTime, Utc};
use uuid::Uuid;

use super::{AgentKind, Post, PostError, PostEvent, Profile};
use crate::{AgentId, EpicId, ProjectId, Slug, TaskId, WorkspaceId};

/// Gives an agent a place in the factory, if its seat is free.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PostAgent {
    /// Which agent.
    pub agent_id: AgentId,
    /// The workspace it belongs to.
    pub workspace_id: WorkspaceId,
    /// The project it works in; none for the orchestrator.
    pub project_id: Option<ProjectId>,
    /// What it is to do.
    pub kind: AgentKind,
    /// The workspace, the epic or the task, by its kind.
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
    /// The how-manieth agent on this seat it is, from 1.
    pub attempt: u32,
    /// Whom it replaces.
    pub replaces: Option<AgentId>,
    /// When this is asked.
    pub now: DateTime<Utc>,
}

pub(super) fn decide(post: &Post, command: PostAgent) -> Result<Vec<PostEvent>, PostError> {
    match post {
        Post::Absent => Ok(vec![PostEvent::AgentPosted {
            tmux_session: session_name(command.kind, command.agent_id),
            agent_id: command.agent_id,
            workspace_id: command.workspace_id,
            project_id: command.project_id,
            kind: command.kind,
            seat: command.seat,
            epic_id: command.epic_id,
            task_id: command.task_id,
            bench: command.bench,
            profile: command.profile,
            mission: command.mission,
            attempt: command.attempt,
            replaces: command.replaces,
            posted_at: command.now,
        }]),
        Post::Live(_) => Err(PostError::AlreadyPosted),
    }
}

/// The terminal session that an agent runs in: the end of its id, because ids begin with the time.
fn session_name(kind: AgentKind, agent: AgentId) -> String {
    let id = agent.0.simple().to_string();
    format!("muster-{}-{}", kind.in_small_letters(), &id[20..])
}

#[cfg(test)]
mod tests {
    use super::super::examples::{post, posted};
    use super::*;
    use crate::examples::{after, given, id};
    use crate::post::{PostCommand, seat_claim};
    use crate::{Demand, Entity};

    #[test]
    fn an_agent_takes_the_seat_of_its_task() {
        let command = || PostCommand::Post(Box::new(post()));
        given::<Post>([]).when(command()).then_expect_events(vec![posted()]);
        given::<Post>([posted()]).when(command()).then_expect_error(PostError::AlreadyPosted);
        let seat = seat_claim(AgentKind::Worker, id(60));
        let take = Demand::Take { claim: seat, or: PostError::SeatTaken(AgentKind::Worker) };
        assert_eq!(Post::Absent.demands(&posted()), [take]);
        assert_eq!(after::<Post>([posted()]).workspace(), Some(id(10)));
    }

    #[test]
    fn only_an_agent_of_the_right_kind_does_what_that_kind_does() {
        let worker: Post = after([posted()]);
        assert!(worker.held_as(AgentKind::Worker).is_ok());
        let refusal = PostError::WrongKind { wanted: AgentKind::Supervisor, is: AgentKind::Worker };
        assert_eq!(worker.held_as(AgentKind::Supervisor).err(), Some(refusal));
        assert_eq!(Post::Absent.held().err(), Some(PostError::NotPosted));
    }
}
