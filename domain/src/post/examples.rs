//! Posts to test with: agent 30 is the worker on task 60 of epic 70.

use super::{AgentKind, PostAgent, PostEvent, Profiles, WorkEnd};
use crate::examples::{at, id, slug};

pub(super) fn post() -> PostAgent {
    PostAgent {
        agent_id: id(30),
        workspace_id: id(10),
        project_id: Some(id(20)),
        kind: AgentKind::Worker,
        seat: id(60),
        epic_id: Some(id(70)),
        task_id: Some(id(60)),
        bench: slug("main"),
        profile: Profiles::default().worker,
        mission: "Add a basket".to_owned(),
        attempt: 1,
        replaces: None,
        now: at(0),
    }
}

pub(super) fn posted() -> PostEvent {
    let it = post();
    PostEvent::AgentPosted {
        agent_id: it.agent_id,
        workspace_id: it.workspace_id,
        project_id: it.project_id,
        kind: it.kind,
        seat: it.seat,
        epic_id: it.epic_id,
        task_id: it.task_id,
        bench: it.bench,
        profile: it.profile,
        mission: it.mission,
        tmux_session: "muster-worker-00000000001e".to_owned(),
        attempt: it.attempt,
        replaces: it.replaces,
        posted_at: it.now,
    }
}

pub(super) fn launched(started: bool) -> PostEvent {
    PostEvent::AgentLaunched { started, launched_at: at(1) }
}

pub(super) fn relieved() -> PostEvent {
    PostEvent::AgentRelieved { reason: "Dead".to_owned(), successor: None, relieved_at: at(6) }
}

pub(super) fn discharged() -> PostEvent {
    PostEvent::AgentDischarged { result: WorkEnd::Success, discharged_at: at(6) }
}
