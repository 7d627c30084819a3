//! Epics to test with: epic 70 of project 20, which agent 32 supervises.

use super::{CreateEpic, EpicEvent, EpicState, LeftBecause, SubmitEpic, TaskEnd};
use crate::examples::{at, id, slug};
use crate::{Party, WorktreeName};

pub(super) fn create() -> CreateEpic {
    CreateEpic {
        epic_id: id(70),
        workspace_id: id(10),
        project_id: id(20),
        bench: slug("main"),
        title: "Shopping".to_owned(),
        description: "A shop".to_owned(),
        design: "# Shop".to_owned(),
        by: id(1),
        now: at(0),
    }
}

pub(super) fn created() -> EpicEvent {
    let it = create();
    EpicEvent::EpicCreated {
        epic_id: it.epic_id,
        workspace_id: it.workspace_id,
        project_id: it.project_id,
        bench: it.bench,
        worktree_name: WorktreeName::of_epic(it.epic_id, &it.title),
        title: it.title,
        description: it.description,
        design: it.design,
        created_by: it.by,
        created_at: it.now,
    }
}

pub(super) fn appointed() -> EpicEvent {
    EpicEvent::EpicSupervisorAppointed { agent_id: id(32), replaces: None, appointed_at: at(1) }
}

pub(super) fn added(task: u128) -> EpicEvent {
    EpicEvent::EpicTaskAdded { task_id: id(task), added_at: at(2) }
}

pub(super) fn queued(task: u128) -> EpicEvent {
    EpicEvent::EpicReviewQueued { task_id: id(task), pr_url: format!("local://pull/{task}"), submitted_at: at(3) }
}

pub(super) fn left(task: u128, because: LeftBecause) -> EpicEvent {
    EpicEvent::EpicReviewLeft { task_id: id(task), because, left_at: at(4) }
}

pub(super) fn ended(task: u128) -> EpicEvent {
    EpicEvent::EpicTaskEnded { task_id: id(task), end: TaskEnd::Merged, ended_at: at(5) }
}

pub(super) fn submit() -> SubmitEpic {
    SubmitEpic {
        by: id(32),
        pr_url: "local://pull/1".to_owned(),
        title: "A shop".to_owned(),
        description: "All of it".to_owned(),
        head: Some("abc123".to_owned()),
        now: at(8),
    }
}

pub(super) fn submitted() -> EpicEvent {
    let SubmitEpic { by, pr_url, title, description, head, now } = submit();
    EpicEvent::EpicSubmitted { agent_id: by, pr_url, title, description, head, submitted_at: now }
}

pub(super) fn completed() -> EpicEvent {
    EpicEvent::EpicCompleted { by: id(1), merge_commit: Some("fff000".to_owned()), completed_at: at(10) }
}

pub(super) fn failed() -> EpicEvent {
    EpicEvent::EpicFailed { by: Party::User(id(1)), reason: "Too large".to_owned(), failed_at: at(11) }
}

/// How an epic came as far as that.
pub(super) fn history_in(state: EpicState) -> Vec<EpicEvent> {
    let done = vec![created(), appointed(), added(60), ended(60)];
    let then = |event: EpicEvent| [done.clone(), vec![event]].concat();
    match state {
        EpicState::InProgress => done,
        EpicState::AwaitingHumanReview => then(submitted()),
        EpicState::Completed => [then(submitted()), vec![completed()]].concat(),
        EpicState::Failed => then(failed()),
    }
}
