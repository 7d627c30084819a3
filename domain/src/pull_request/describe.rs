//! Describe a pull request as it is now: opened, edited, labelled or pushed to.

use chrono::{DateTime, Utc};
use cqrs_es::Aggregate;

use super::{KnownPullRequest, PullRequest, PullRequestEvent};
use crate::difference::differing;
use crate::github::Login;
use crate::{AgentId, ProjectId, PullRequestId, TaskId, WorkspaceId};

/// A pull request as a body from GitHub describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GithubPullRequest {
    /// The workspace it belongs to.
    pub workspace_id: WorkspaceId,
    /// The project whose repository it is in.
    pub project_id: ProjectId,
    /// Its number there.
    pub number: i64,
    /// Where it is.
    pub url: String,
    /// What it is called.
    pub title: String,
    /// Who wrote it.
    pub author: Login,
    /// The agent who that is.
    pub agent_id: Option<AgentId>,
    /// The task that its title or body names.
    pub linked_task_id: Option<TaskId>,
    /// The repository's name, with its owner's.
    pub repository: String,
    /// Its labels.
    pub labels: Vec<String>,
    /// How many lines it adds.
    pub additions: i64,
    /// How many lines it deletes.
    pub deletions: i64,
    /// How many files it changes.
    pub changed_files: i64,
    /// When it was opened.
    pub opened_at: DateTime<Utc>,
    /// When it was last changed.
    pub updated_at: DateTime<Utc>,
}

impl GithubPullRequest {
    /// The id of its stream.
    pub fn id(&self) -> PullRequestId {
        PullRequestId::of(self.project_id, self.number)
    }
}

/// Takes note of a pull request, or of its new details.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DescribePullRequest {
    /// As it is now.
    pub now_is: GithubPullRequest,
}

pub(crate) fn decide(pull_request: &PullRequest, command: DescribePullRequest) -> Vec<PullRequestEvent> {
    events_for(pull_request, command.now_is)
}

/// What makes the pull request as it is described.
fn events_for(pull_request: &PullRequest, now_is: GithubPullRequest) -> Vec<PullRequestEvent> {
    match pull_request {
        PullRequest::Absent => vec![opened(now_is)],
        PullRequest::Known(known) => new_details(known, now_is).into_iter().collect(),
    }
}

/// What makes the pull request as it is described, and then what follows from that.
pub(super) fn described_and(
    pull_request: &PullRequest,
    now_is: GithubPullRequest,
    follow: impl FnOnce(&KnownPullRequest) -> Option<PullRequestEvent>,
) -> Vec<PullRequestEvent> {
    let mut events = events_for(pull_request, now_is);
    let mut described = pull_request.clone();
    for event in &events {
        described.apply(event.clone());
    }
    events.extend(described.known().ok().and_then(follow));
    events
}

fn opened(it: GithubPullRequest) -> PullRequestEvent {
    PullRequestEvent::PullRequestOpened {
        pull_request_id: it.id(),
        workspace_id: it.workspace_id,
        project_id: it.project_id,
        number: it.number,
        url: it.url,
        title: it.title,
        author: it.author,
        agent_id: it.agent_id,
        linked_task_id: it.linked_task_id,
        repository: it.repository,
        labels: it.labels,
        additions: it.additions,
        deletions: it.deletions,
        changed_files: it.changed_files,
        opened_at: it.opened_at,
        updated_at: it.updated_at,
    }
}

fn new_details(known: &KnownPullRequest, it: GithubPullRequest) -> Option<PullRequestEvent> {
    if it.updated_at <= known.updated_at {
        return None;
    }
    let title = differing(Some(it.title), &known.title);
    let linked_task_id = differing(it.linked_task_id, &known.linked_task_id);
    let labels = differing(Some(it.labels), &known.labels);
    let additions = differing(Some(it.additions), &known.additions);
    let deletions = differing(Some(it.deletions), &known.deletions);
    let changed_files = differing(Some(it.changed_files), &known.changed_files);
    let changed = title.is_some()
        || linked_task_id.is_some()
        || labels.is_some()
        || additions.is_some()
        || deletions.is_some()
        || changed_files.is_some();
    changed.then_some(PullRequestEvent::PullRequestDetailsChanged {
        title,
        linked_task_id,
        labels,
        additions,
        deletions,
        changed_files,
        updated_at: it.updated_at,
    })
}

#[cfg(test)]
mod tests {
    use super::super::examples::{github, labelled, opened};
    use super::*;
    use crate::examples::{after, at, given, id};
    use crate::pull_request::PullRequestCommand;
    use crate::{Entity, PullRequestId};

    fn describe(now_is: GithubPullRequest) -> PullRequestCommand {
        PullRequestCommand::Describe(DescribePullRequest { now_is })
    }

    fn with_label() -> GithubPullRequest {
        GithubPullRequest { labels: vec!["bug".to_owned()], updated_at: at(1), ..github() }
    }

    #[test]
    fn a_pull_request_is_opened_once() {
        given::<PullRequest>([]).when(describe(github())).then_expect_events(vec![opened()]);
        given::<PullRequest>([opened()]).when(describe(github())).then_expect_events(vec![]);
    }

    #[test]
    fn only_what_differs_is_in_the_event() {
        given::<PullRequest>([opened()]).when(describe(with_label())).then_expect_events(vec![labelled()]);
    }

    #[test]
    fn an_old_description_changes_nothing() {
        given::<PullRequest>([opened(), labelled()]).when(describe(github())).then_expect_events(vec![]);
        let other = GithubPullRequest { labels: vec![], ..with_label() };
        given::<PullRequest>([opened(), labelled()]).when(describe(other)).then_expect_events(vec![]);
    }

    #[test]
    fn a_task_named_later_is_linked_later() {
        let now_is = GithubPullRequest { linked_task_id: Some(id(61)), updated_at: at(1), ..github() };
        let state: PullRequest = after([opened()]);
        let events = decide(&state, DescribePullRequest { now_is });
        let linked: PullRequest = after([vec![opened()], events].concat());
        assert_eq!(linked.known().map(|known| known.linked_task_id), Ok(Some(id(61))));
    }

    #[test]
    fn a_pull_request_belongs_to_the_workspace_of_its_project() {
        let known: PullRequest = after([opened()]);
        assert_eq!(known.workspace(), Some(id(10)));
        assert_eq!(known.known().map(|known| known.pull_request_id), Ok(PullRequestId::of(id(20), 7)));
    }
}
