//! Score facts: everything that agents are measured by, as it happened, each with its place in the log.
//!
//! Rows are facts, not states: nothing is overwritten, so an agent's facts can be counted as of any position, and a
//! score of long ago can be explained from the same rows that today's is made of. [`load`] reads one agent's facts
//! together with the projection's checkpoint, in one snapshot. Everything that an agent ever did counts, so there is no
//! limit on how many facts are read; each is one small row along the key.
//!
//! What counts as whose: a task is its agent's from the assignment on; a pull request is its author's, and so is what is
//! said of it; a review by the author, from another workspace, or of a pull request that is not known yet, is nobody's.

mod count;
#[cfg(test)]
pub(crate) mod examples;
mod load;
mod memory;
mod rows;

use chrono::{DateTime, Utc};
use domain::pull_request::PullRequestEvent;
use domain::repository::RepositoryEvent;
use domain::session::SessionEvent;
use domain::task::TaskEvent;
use domain::{AgentId, ProjectId, PullRequestId, TaskId, WorkspaceId};
use store::sql::{Holds, Table};

pub use load::{agent_of_session, load, load_as_of};
pub use memory::FactsInMemory;

use self::rows::{FailedDeployment, Issue, Labelled, Noted, OwnCommit, Since, Subject, What};
use crate::fact::{PULL_REQUEST, REPOSITORY, SESSION, TASK};
use crate::{Describe, Fact, FactOf, FoldError, Projection, Reads, Record, RowKey, Rows};

/// The projection's name.
pub const NAME: &str = "score_facts";

/// The label that makes an issue or a pull request a bug.
const BUG: &str = "bug";

/// Folds what agents are measured by.
#[derive(Debug, Clone, Copy)]
pub struct ScoreFacts;

impl Projection for ScoreFacts {
    fn name(&self) -> &str {
        NAME
    }

    fn version(&self) -> i64 {
        1
    }

    fn reads(&self) -> Reads {
        Reads::Only(&[TASK, SESSION, PULL_REQUEST, REPOSITORY])
    }

    fn tables(&self) -> Vec<Table> {
        vec![
            Describe::table(Noted::TABLE)
                .key("agent_id", Holds::Text)
                .key("position", Holds::Int)
                .optional("project_id", Holds::Text)
                .optional("issue_number", Holds::Int)
                .written_once()
                .finish(),
            Describe::table(Subject::TABLE).key("id", Holds::Text).optional("agent_id", Holds::Text).finish(),
            Describe::table(Labelled::TABLE)
                .key("project_id", Holds::Text)
                .key("issue_number", Holds::Int)
                .key("position", Holds::Int)
                .written_once()
                .finish(),
            Describe::table(OwnCommit::TABLE)
                .key("agent_id", Holds::Text)
                .key("project_id", Holds::Text)
                .key("sha", Holds::Text)
                .key("position", Holds::Int)
                .written_once()
                .finish(),
            Describe::table(FailedDeployment::TABLE)
                .key("project_id", Holds::Text)
                .key("deployment_id", Holds::Int)
                .key("position", Holds::Int)
                .required("sha", Holds::Text)
                .index(&["project_id", "sha"])
                .written_once()
                .finish(),
        ]
    }

    fn touches(&self, fact: &Fact) -> Vec<RowKey> {
        match &fact.of {
            FactOf::Task(_) | FactOf::PullRequest(_) => vec![RowKey::of::<Subject>(fact.subject)],
            FactOf::Session(SessionEvent::ReviewResponded { content, .. }) => {
                vec![RowKey::of::<Subject>(content.pull_request_id.0)]
            }
            _ => vec![],
        }
    }

    fn apply(&self, fact: &Fact, rows: &mut Rows) -> Result<(), FoldError> {
        match &fact.of {
            FactOf::Task(event) => task(fact, event, rows),
            FactOf::Session(event) => session(fact, event, rows),
            FactOf::PullRequest(event) => pull_request(fact, event, rows),
            FactOf::Repository(event) => {
                repository(fact, event, rows);
                Ok(())
            }
            _ => Ok(()),
        }
    }
}

fn task(fact: &Fact, event: &TaskEvent, rows: &mut Rows) -> Result<(), FoldError> {
    let task_id = TaskId(fact.subject);
    match event {
        TaskEvent::TaskCreated { workspace_id, project_id, github_issue, .. } => {
            let issue_number = github_issue.as_ref().map(|issue| issue.number);
            rows.put(Subject { issue_number, ..subject(fact, *workspace_id, *project_id, None) });
        }
        TaskEvent::TaskAssigned { agent_id, previous_agent_id, assigned_at, .. } => {
            let known = known(fact, rows)?;
            let (issue, started) = (known.issue(), known.started);
            if let Some(previous) = previous_agent_id {
                note(rows, fact, *previous, *assigned_at, What::TaskLost { task_id });
            }
            note(rows, fact, *agent_id, *assigned_at, What::TaskAssigned { task_id, issue, started });
        }
        TaskEvent::TaskReturned { previous_agent_id, returned_at, .. } => {
            rows.update(fact.subject, |row: &mut Subject| row.started = None)?;
            if let Some(previous) = previous_agent_id {
                note(rows, fact, *previous, *returned_at, What::TaskLost { task_id });
            }
        }
        TaskEvent::TaskStarted { agent_id, started_at, .. } => {
            let since = Since { at: *started_at, position: fact.position };
            rows.update(fact.subject, |row: &mut Subject| row.started = row.started.or(Some(since)))?;
            if let Some(agent) = agent_id {
                note(rows, fact, *agent, *started_at, What::TaskStarted { task_id });
            }
        }
        TaskEvent::TaskCompleted { agent_id, completed_at, .. } => {
            if let Some(agent) = agent_id {
                note(rows, fact, *agent, *completed_at, What::TaskCompleted { task_id });
            }
        }
        TaskEvent::TaskHandedOver { from_agent_id, to_agent_id, handed_over_at, .. } => {
            let known = known(fact, rows)?;
            let (issue, started) = (known.issue(), known.started);
            if let Some(previous) = from_agent_id {
                note(rows, fact, *previous, *handed_over_at, What::TaskLost { task_id });
            }
            note(rows, fact, *to_agent_id, *handed_over_at, What::TaskAssigned { task_id, issue, started });
        }
        TaskEvent::TaskReset { previous_agent_id, reset_at, .. } => {
            rows.update(fact.subject, |row: &mut Subject| row.started = None)?;
            if let Some(previous) = previous_agent_id {
                note(rows, fact, *previous, *reset_at, What::TaskLost { task_id });
            }
        }
        TaskEvent::TaskDetailsChanged { .. }
        | TaskEvent::TaskPaused { .. }
        | TaskEvent::TaskBlocked { .. }
        | TaskEvent::TaskCancelled { .. }
        | TaskEvent::TaskAddedToEpic { .. }
        | TaskEvent::TaskSubmitted { .. }
        | TaskEvent::TaskChangesRequested { .. }
        | TaskEvent::TaskRebaseRequested { .. }
        | TaskEvent::TaskRebased { .. }
        | TaskEvent::TaskApproved { .. }
        | TaskEvent::TaskMergeFailed { .. }
        | TaskEvent::TaskFailed { .. } => {}
    }
    Ok(())
}

fn session(fact: &Fact, event: &SessionEvent, rows: &mut Rows) -> Result<(), FoldError> {
    match event {
        SessionEvent::SessionStarted { workspace_id, project_id, agent_id, .. } => {
            rows.put(subject(fact, *workspace_id, *project_id, Some(*agent_id)));
        }
        SessionEvent::ReviewResponded { content, .. } => {
            let of_same_workspace = |it: &&Subject| Some(it.workspace_id) == fact.workspace_id;
            let reviewed = rows.get::<Subject>(content.pull_request_id.0)?.filter(of_same_workspace);
            let author = reviewed.and_then(|it| it.agent_id).filter(|it| *it != content.reviewer.agent_id);
            if let Some(author) = author {
                let (pull_request_id, decision) = (content.pull_request_id, content.decision);
                note(rows, fact, author, content.reviewed_at, What::Reviewed { pull_request_id, decision });
            }
        }
        SessionEvent::SessionLogged { .. }
        | SessionEvent::ProblemReported { .. }
        | SessionEvent::AdviceGiven { .. }
        | SessionEvent::QuestionAsked { .. }
        | SessionEvent::ReviewRequested { .. }
        | SessionEvent::SessionStopped { .. }
        | SessionEvent::SessionRevoked { .. } => {}
    }
    Ok(())
}

fn pull_request(fact: &Fact, event: &PullRequestEvent, rows: &mut Rows) -> Result<(), FoldError> {
    if let PullRequestEvent::PullRequestOpened { workspace_id, project_id, agent_id, .. } = event {
        rows.put(subject(fact, *workspace_id, *project_id, *agent_id));
    }
    let Subject { project_id, agent_id: Some(author), .. } = *known(fact, rows)? else { return Ok(()) };
    let Some((at, what)) = said(PullRequestId(fact.subject), author, event) else { return Ok(()) };
    if let What::Merged { sha: Some(sha), .. } = &what {
        rows.put(OwnCommit { agent_id: author, project_id, sha: sha.clone(), position: fact.position });
    }
    note(rows, fact, author, at, what);
    Ok(())
}

/// What an event says of the author of a pull request, and when.
fn said(pull_request_id: PullRequestId, author: AgentId, event: &PullRequestEvent) -> Option<(DateTime<Utc>, What)> {
    match event {
        PullRequestEvent::PullRequestOpened { linked_task_id, labels, additions, deletions, opened_at, .. } => {
            let (task_id, bug) = (*linked_task_id, is_bug(labels));
            let (additions, deletions) = (*additions, *deletions);
            Some((*opened_at, What::Opened { pull_request_id, task_id, bug, additions, deletions }))
        }
        PullRequestEvent::PullRequestDetailsChanged {
            title: _,
            linked_task_id,
            labels,
            additions,
            deletions,
            changed_files: _,
            updated_at,
        } => {
            let (task_id, bug) = (*linked_task_id, labels.as_deref().map(is_bug));
            let (additions, deletions) = (*additions, *deletions);
            let is_news = task_id.is_some() || bug.is_some() || additions.is_some() || deletions.is_some();
            is_news.then_some((*updated_at, What::Changed { pull_request_id, task_id, bug, additions, deletions }))
        }
        PullRequestEvent::PullRequestReviewed { reviewer_agent_id, decision, submitted_at, .. } => {
            let by_another = *reviewer_agent_id != Some(author);
            by_another.then_some((*submitted_at, What::Reviewed { pull_request_id, decision: *decision }))
        }
        PullRequestEvent::PullRequestLintFailed { completed_at, .. } => {
            Some((*completed_at, What::LintFailed { pull_request_id }))
        }
        // What a linter has found stays found, also when it is mended.
        PullRequestEvent::PullRequestLintPassed { .. } => None,
        PullRequestEvent::PullRequestClosed { closed_at, .. } => Some((*closed_at, What::Rejected { pull_request_id })),
        PullRequestEvent::PullRequestReopened { reopened_at } => {
            Some((*reopened_at, What::Reopened { pull_request_id }))
        }
        PullRequestEvent::PullRequestMerged { merge_commit_sha, merged_at, .. } => {
            Some((*merged_at, What::Merged { pull_request_id, sha: merge_commit_sha.clone() }))
        }
    }
}

fn repository(fact: &Fact, event: &RepositoryEvent, rows: &mut Rows) {
    let position = fact.position;
    match event {
        RepositoryEvent::CommitsPushed { project_id, commits, agent_id: Some(agent_id), .. } => {
            for sha in commits {
                let (agent_id, project_id, sha) = (*agent_id, *project_id, sha.clone());
                rows.put(OwnCommit { agent_id, project_id, sha, position });
            }
        }
        RepositoryEvent::DeploymentStatusReported { project_id, deployment_id, state, sha, .. }
            if state.is_failure() =>
        {
            let (project_id, deployment_id, sha) = (*project_id, *deployment_id, sha.clone());
            rows.put(FailedDeployment { project_id, deployment_id, position, sha });
        }
        RepositoryEvent::IssueLabelled { project_id, issue, labels, labelled_at, .. } => {
            let issue = Issue { project_id: *project_id, number: issue.number };
            rows.put(Labelled { issue, position, labelled_at: *labelled_at, bug: is_bug(labels) });
        }
        RepositoryEvent::CommitsPushed { .. }
        | RepositoryEvent::DeploymentStatusReported { .. }
        | RepositoryEvent::IssueCommented { .. }
        | RepositoryEvent::IssueAssigned { .. } => {}
    }
}

fn is_bug(labels: &[String]) -> bool {
    labels.iter().any(|label| label.eq_ignore_ascii_case(BUG))
}

fn known<'a>(fact: &Fact, rows: &'a mut Rows) -> Result<&'a Subject, FoldError> {
    rows.get(fact.subject)?.ok_or_else(|| FoldError::NoRow(Subject::TABLE, fact.subject.to_string()))
}

fn subject(fact: &Fact, workspace_id: WorkspaceId, project_id: ProjectId, agent_id: Option<AgentId>) -> Subject {
    Subject { id: fact.subject, workspace_id, project_id, agent_id, issue_number: None, started: None }
}

fn note(rows: &mut Rows, fact: &Fact, agent_id: AgentId, at: DateTime<Utc>, what: What) {
    rows.put(Noted { agent_id, position: fact.position, at, what });
}
