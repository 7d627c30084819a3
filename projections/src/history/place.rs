//! The project that an aggregate belongs to, as its first event says.

use domain::ProjectId;
use domain::agent::AgentEvent;
use domain::epic::EpicEvent;
use domain::post::PostEvent;
use domain::pull_request::PullRequestEvent;
use domain::session::SessionEvent;
use domain::task::TaskEvent;
use domain::wiki::WikiEvent;
use store::{EventLog, StoreError, StreamId};

use crate::fact::{AGENT, SCORECARD};
use crate::{Fact, FactOf};

/// The project that an aggregate belongs to; none for what belongs to a whole workspace or to none.
pub async fn project_of(log: &EventLog, stream: &StreamId) -> Result<Option<ProjectId>, StoreError> {
    // A scorecard is where its agent is.
    let begins = match stream.aggregate_type.as_str() {
        SCORECARD => &StreamId::new(AGENT, &stream.aggregate_id),
        _ => stream,
    };
    let first = log.read_stream(begins, 1, Some(1)).await?.pop();
    Ok(first.and_then(|it| Fact::read(it).ok()).and_then(|fact| said_by(&fact)))
}

fn said_by(first: &Fact) -> Option<ProjectId> {
    match &first.of {
        FactOf::Project(_) | FactOf::Repository(_) => Some(ProjectId(first.subject)),
        FactOf::Agent(AgentEvent::AgentCreated { project_id, .. }) => *project_id,
        FactOf::Session(SessionEvent::SessionStarted { project_id, .. }) => Some(*project_id),
        FactOf::Task(TaskEvent::TaskCreated { project_id, .. }) => Some(*project_id),
        FactOf::Wiki(WikiEvent::WikiEntryProposed { project_id, .. }) => *project_id,
        FactOf::PullRequest(PullRequestEvent::PullRequestOpened { project_id, .. }) => Some(*project_id),
        FactOf::Epic(EpicEvent::EpicCreated { project_id, .. }) => Some(*project_id),
        FactOf::Post(PostEvent::AgentPosted { project_id, .. }) => *project_id,
        // No other event begins a stream.
        FactOf::Agent(_)
        | FactOf::Session(_)
        | FactOf::Task(_)
        | FactOf::Wiki(_)
        | FactOf::PullRequest(_)
        | FactOf::User(_)
        | FactOf::Workspace(_)
        | FactOf::Scorecard(_)
        | FactOf::Epic(_)
        | FactOf::Post(_)
        | FactOf::Errand(_)
        | FactOf::Mail(_)
        | FactOf::ToolCall(_)
        | FactOf::Decision(_)
        | FactOf::Notification(_)
        | FactOf::NotificationSettings(_) => None,
    }
}
