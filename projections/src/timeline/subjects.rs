//! What later entries need to know of what earlier events were about.

use domain::agent::AgentEvent;
use domain::epic::EpicEvent;
use domain::errand::ErrandEvent;
use domain::project::ProjectEvent;
use domain::pull_request::PullRequestEvent;
use domain::session::SessionEvent;
use domain::task::TaskEvent;
use domain::wiki::{Author, WikiEvent};
use domain::workspace::WorkspaceEvent;
use domain::{AgentCode, AgentId, ProjectId, Slug, TaskId};
use serde::{Deserialize, Serialize};
use store::sql::Value;
use uuid::Uuid;

use super::content::mail;
use crate::rows::assign;
use crate::{Fact, FactOf, FoldError, Key, Record, RowKey, Rows};

/// What later entries need to know of a workspace, a project, an agent, a session, a task, a wiki entry or a pull
/// request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Subject {
    pub(super) id: Uuid,
    /// What it is called; nothing for sessions.
    pub(super) name: String,
    pub(super) project_id: Option<ProjectId>,
    pub(super) agent_code: Option<AgentCode>,
    /// Whose it is: who works in the session, has the task, wrote the wiki entry or the pull request.
    pub(super) agent_id: Option<AgentId>,
    pub(super) slug: Option<Slug>,
}

/// The subjects that the entry of a fact is told with.
pub(super) fn touched(fact: &Fact) -> Vec<RowKey> {
    let own = RowKey::of::<Subject>(fact.subject);
    let other = match &fact.of {
        // A user belongs to no workspace, and what happens in a repository says everything itself.
        FactOf::User(_) | FactOf::Repository(_) => return vec![],
        FactOf::Decision(_) | FactOf::Notification(_) | FactOf::NotificationSettings(_) => return vec![],
        // Each says everything itself, but for the name of the agent. Nothing is kept of so many.
        FactOf::Mail(event) => return mail::agent_of(event).map(RowKey::of::<Subject>).into_iter().collect(),
        FactOf::ToolCall(event) => return mail::caller_of(event).map(RowKey::of::<Subject>).into_iter().collect(),
        FactOf::Workspace(_)
        | FactOf::Project(_)
        | FactOf::Agent(_)
        | FactOf::Session(_)
        | FactOf::Scorecard(_)
        | FactOf::Post(_)
        | FactOf::Errand(_) => None,
        FactOf::Task(event) => match event {
            TaskEvent::TaskAssigned { agent_id, .. } => Some(agent_id.0),
            TaskEvent::TaskStarted { agent_id, .. }
            | TaskEvent::TaskBlocked { agent_id, .. }
            | TaskEvent::TaskCompleted { agent_id, .. } => agent_id.map(|it| it.0),
            TaskEvent::TaskSubmitted { agent_id, .. } | TaskEvent::TaskRebased { agent_id, .. } => Some(agent_id.0),
            TaskEvent::TaskChangesRequested { by, .. } | TaskEvent::TaskApproved { by, .. } => Some(by.0),
            TaskEvent::TaskHandedOver { to_agent_id, .. } => Some(to_agent_id.0),
            TaskEvent::TaskRebaseRequested { merged_task_id, .. } => merged_task_id.map(|it| it.0),
            TaskEvent::TaskCreated { .. }
            | TaskEvent::TaskDetailsChanged { .. }
            | TaskEvent::TaskReturned { .. }
            | TaskEvent::TaskPaused { .. }
            | TaskEvent::TaskCancelled { .. }
            | TaskEvent::TaskAddedToEpic { .. }
            | TaskEvent::TaskMergeFailed { .. }
            | TaskEvent::TaskReset { .. }
            | TaskEvent::TaskFailed { .. } => None,
        },
        FactOf::Epic(event) => match event {
            EpicEvent::EpicSubmitted { agent_id, .. } => Some(agent_id.0),
            EpicEvent::EpicCreated { .. }
            | EpicEvent::EpicDetailsChanged { .. }
            | EpicEvent::EpicSupervisorAppointed { .. }
            | EpicEvent::EpicTaskAdded { .. }
            | EpicEvent::EpicReviewQueued { .. }
            | EpicEvent::EpicReviewLeft { .. }
            | EpicEvent::EpicTaskEnded { .. }
            | EpicEvent::EpicChangesRequested { .. }
            | EpicEvent::EpicCompleted { .. }
            | EpicEvent::EpicFailed { .. } => None,
        },
        FactOf::Wiki(event) => match event {
            WikiEvent::WikiEntryProposed { proposed_by: Author::Agent(agent), .. } => Some(agent.0),
            WikiEvent::WikiEntryProposed { proposed_by: Author::User(_), .. }
            | WikiEvent::WikiEntryApproved { .. }
            | WikiEvent::WikiEntryRejected { .. }
            | WikiEvent::WikiEntrySuperseded { .. }
            | WikiEvent::WikiViewsCounted { .. } => None,
        },
        FactOf::PullRequest(event) => match event {
            PullRequestEvent::PullRequestOpened { linked_task_id, .. }
            | PullRequestEvent::PullRequestClosed { linked_task_id, .. }
            | PullRequestEvent::PullRequestMerged { linked_task_id, .. } => linked_task_id.map(|it| it.0),
            PullRequestEvent::PullRequestDetailsChanged { .. }
            | PullRequestEvent::PullRequestReviewed { .. }
            | PullRequestEvent::PullRequestLintFailed { .. }
            | PullRequestEvent::PullRequestLintPassed { .. }
            | PullRequestEvent::PullRequestReopened { .. } => None,
        },
    };
    std::iter::once(own).chain(other.map(RowKey::of::<Subject>)).collect()
}

/// Remembers what is new about the subject of a fact, and says what is known of it now; none for facts without one.
pub(super) fn introduce(fact: &Fact, rows: &mut Rows) -> Result<Option<Subject>, FoldError> {
    let id = fact.subject;
    match &fact.of {
        FactOf::User(_) | FactOf::Repository(_) => return Ok(None),
        FactOf::Mail(_)
        | FactOf::ToolCall(_)
        | FactOf::Decision(_)
        | FactOf::Notification(_)
        | FactOf::NotificationSettings(_) => return Ok(None),
        // Its id is its agent's.
        FactOf::Scorecard(_) | FactOf::Post(_) => {}
        FactOf::Epic(event) => match event {
            EpicEvent::EpicCreated { project_id, title, .. } => rows.put(Subject::new(id, title, Some(*project_id))),
            EpicEvent::EpicDetailsChanged { title, .. } => rename(id, title, rows)?,
            EpicEvent::EpicSupervisorAppointed { agent_id, .. } => hand_over(id, Some(*agent_id), rows)?,
            EpicEvent::EpicTaskAdded { .. }
            | EpicEvent::EpicReviewQueued { .. }
            | EpicEvent::EpicReviewLeft { .. }
            | EpicEvent::EpicTaskEnded { .. }
            | EpicEvent::EpicSubmitted { .. }
            | EpicEvent::EpicChangesRequested { .. }
            | EpicEvent::EpicCompleted { .. }
            | EpicEvent::EpicFailed { .. } => {}
        },
        FactOf::Errand(event) => match event {
            ErrandEvent::ErrandOrdered { work, .. } => rows.put(Subject::new(id, work.name(), None)),
            ErrandEvent::ErrandTried { .. }
            | ErrandEvent::ErrandDone { .. }
            | ErrandEvent::ErrandFailed { .. }
            | ErrandEvent::ErrandCancelled { .. } => {}
        },
        FactOf::Workspace(event) => match event {
            WorkspaceEvent::WorkspaceCreated { name, .. } => rows.put(Subject::new(id, name, None)),
            WorkspaceEvent::WorkspaceDetailsChanged { name, .. } => rename(id, name, rows)?,
            WorkspaceEvent::WorkspaceDeleted { .. }
            | WorkspaceEvent::WorkspaceTextSealed { .. }
            | WorkspaceEvent::WorkspaceTextErased { .. } => {}
        },
        FactOf::Project(event) => match event {
            ProjectEvent::ProjectCreated { project_id, name, .. } => {
                rows.put(Subject::new(id, name, Some(*project_id)));
            }
            ProjectEvent::ProjectDetailsChanged { name, .. } => rename(id, name, rows)?,
            ProjectEvent::ProjectDeleted { .. } => {}
        },
        FactOf::Agent(event) => match event {
            AgentEvent::AgentCreated { project_id, name, code, .. } => {
                rows.put(Subject { agent_code: Some(code.clone()), ..Subject::new(id, name, *project_id) });
            }
            AgentEvent::AgentDetailsChanged { name, .. } => rename(id, name, rows)?,
            AgentEvent::AgentStatusChanged { .. }
            | AgentEvent::AgentCredentialsRotated { .. }
            | AgentEvent::AgentSupervisorLost { .. }
            | AgentEvent::AgentDeleted { .. } => {}
        },
        FactOf::Session(event) => match event {
            SessionEvent::SessionStarted { project_id, agent_id, .. } => {
                rows.put(Subject { agent_id: Some(*agent_id), ..Subject::new(id, "", Some(*project_id)) });
            }
            SessionEvent::SessionLogged { .. }
            | SessionEvent::ProblemReported { .. }
            | SessionEvent::AdviceGiven { .. }
            | SessionEvent::QuestionAsked { .. }
            | SessionEvent::ReviewRequested { .. }
            | SessionEvent::ReviewResponded { .. }
            | SessionEvent::SessionStopped { .. }
            | SessionEvent::SessionRevoked { .. } => {}
        },
        FactOf::Task(event) => match event {
            TaskEvent::TaskCreated { project_id, title, .. } => rows.put(Subject::new(id, title, Some(*project_id))),
            TaskEvent::TaskDetailsChanged { title, .. } => rename(id, title, rows)?,
            TaskEvent::TaskAssigned { agent_id, .. } => hand_over(id, Some(*agent_id), rows)?,
            TaskEvent::TaskReturned { .. } | TaskEvent::TaskReset { .. } => hand_over(id, None, rows)?,
            TaskEvent::TaskHandedOver { to_agent_id, .. } => hand_over(id, Some(*to_agent_id), rows)?,
            TaskEvent::TaskStarted { .. }
            | TaskEvent::TaskPaused { .. }
            | TaskEvent::TaskBlocked { .. }
            | TaskEvent::TaskCompleted { .. }
            | TaskEvent::TaskCancelled { .. }
            | TaskEvent::TaskAddedToEpic { .. }
            | TaskEvent::TaskSubmitted { .. }
            | TaskEvent::TaskChangesRequested { .. }
            | TaskEvent::TaskRebaseRequested { .. }
            | TaskEvent::TaskRebased { .. }
            | TaskEvent::TaskApproved { .. }
            | TaskEvent::TaskMergeFailed { .. }
            | TaskEvent::TaskFailed { .. } => {}
        },
        FactOf::Wiki(event) => match event {
            WikiEvent::WikiEntryProposed { project_id, proposed_by, title, slug, .. } => {
                let agent_id = match proposed_by {
                    Author::Agent(agent) => Some(*agent),
                    Author::User(_) => None,
                };
                rows.put(Subject { agent_id, slug: Some(slug.clone()), ..Subject::new(id, title, *project_id) });
            }
            WikiEvent::WikiEntryApproved { .. }
            | WikiEvent::WikiEntryRejected { .. }
            | WikiEvent::WikiEntrySuperseded { .. }
            | WikiEvent::WikiViewsCounted { .. } => {}
        },
        FactOf::PullRequest(event) => match event {
            PullRequestEvent::PullRequestOpened { project_id, title, agent_id, .. } => {
                rows.put(Subject { agent_id: *agent_id, ..Subject::new(id, title, Some(*project_id)) });
            }
            PullRequestEvent::PullRequestDetailsChanged { title, .. } => rename(id, title, rows)?,
            PullRequestEvent::PullRequestReviewed { .. }
            | PullRequestEvent::PullRequestLintFailed { .. }
            | PullRequestEvent::PullRequestLintPassed { .. }
            | PullRequestEvent::PullRequestClosed { .. }
            | PullRequestEvent::PullRequestReopened { .. }
            | PullRequestEvent::PullRequestMerged { .. } => {}
        },
    }
    known(id, rows).map(Some)
}

/// What an agent is called at this point of the log.
pub(super) fn named_agent(agent: AgentId, rows: &mut Rows) -> Result<String, FoldError> {
    known(agent.0, rows).map(|it| it.name)
}

/// What something else is called at this point of the log.
pub(super) fn named(id: Uuid, rows: &mut Rows) -> Result<String, FoldError> {
    known(id, rows).map(|it| it.name)
}

/// Who has a task at this point of the log.
pub(super) fn holder_of(task: TaskId, rows: &mut Rows) -> Result<Option<AgentId>, FoldError> {
    known(task.0, rows).map(|it| it.agent_id)
}

fn known(id: Uuid, rows: &mut Rows) -> Result<Subject, FoldError> {
    rows.get::<Subject>(id)?.cloned().ok_or(FoldError::NoRow(Subject::TABLE, id.to_string()))
}

fn rename(id: Uuid, to: &Option<String>, rows: &mut Rows) -> Result<(), FoldError> {
    match to {
        Some(_) => rows.update(id, |subject: &mut Subject| assign(&mut subject.name, to.clone())),
        None => Ok(()),
    }
}

fn hand_over(task: Uuid, to: Option<AgentId>, rows: &mut Rows) -> Result<(), FoldError> {
    rows.update(task, |subject: &mut Subject| subject.agent_id = to)
}

impl Subject {
    fn new(id: Uuid, name: &str, project_id: Option<ProjectId>) -> Self {
        Self { id, name: name.to_owned(), project_id, agent_code: None, agent_id: None, slug: None }
    }
}

impl Record for Subject {
    const TABLE: &'static str = "timeline_subjects";

    fn key(&self) -> Key {
        self.id.into()
    }

    fn columns(&self) -> Vec<Value> {
        vec![]
    }
}
