//! What an agent's facts amount to: its tasks and pull requests, each as it stands after all of them.

use std::collections::BTreeMap;

use domain::scores::{DeploymentFact, Facts, Moment, Outcome, PullRequestFact, PushFact, ReviewFact, TaskFact};
use domain::{PullRequestId, TaskId};

use super::rows::{FailedDeployment, Issue, Labelled, Noted, OwnCommit, What};

/// A failed deployment of a commit that is the agent's.
pub(super) struct OwnFailure {
    pub(super) failure: FailedDeployment,
    pub(super) commit: OwnCommit,
}

/// An agent's tasks and pull requests, as they stand after some of its facts.
#[derive(Debug, Clone, Default)]
pub(super) struct Work {
    tasks: BTreeMap<TaskId, (TaskFact, Option<Issue>)>,
    pull_requests: BTreeMap<PullRequestId, PullRequestFact>,
}

/// The facts that rows in the order of the log amount to.
pub(super) fn facts(noted: Vec<Noted>, labelled: Vec<Labelled>, failed: Vec<OwnFailure>) -> Facts {
    let mut work = Work::default();
    for it in noted {
        work.note(it);
    }
    work.with(labelled, failed)
}

/// The issues that are bugs, each with the position since which it is one. Of two labellings the later counts.
fn bugs(mut labelled: Vec<Labelled>) -> BTreeMap<Issue, i64> {
    labelled.sort_by_key(|it| (it.labelled_at, it.position));
    let mut bugs = BTreeMap::new();
    for it in labelled {
        if it.bug {
            bugs.entry(it.issue).or_insert(it.position);
        } else {
            bugs.remove(&it.issue);
        }
    }
    bugs
}

impl Work {
    /// The facts that it amounts to, together with what is known of issues and deployments.
    pub(super) fn with(self, labelled: Vec<Labelled>, failed: Vec<OwnFailure>) -> Facts {
        let bugs = bugs(labelled);
        let with_bug = |(mut task, issue): (TaskFact, Option<Issue>)| {
            task.bug = issue.and_then(|issue| bugs.get(&issue).copied());
            task
        };
        let (mut pushes, mut failed_deployments) = (vec![], vec![]);
        for OwnFailure { failure, commit } in failed {
            pushes.push(PushFact { commits: vec![commit.sha], position: commit.position });
            let FailedDeployment { deployment_id, position, sha, .. } = failure;
            failed_deployments.push(DeploymentFact { deployment_id, sha, position });
        }
        Facts {
            tasks: self.tasks.into_values().map(with_bug).collect(),
            pull_requests: self.pull_requests.into_values().collect(),
            pushes,
            failed_deployments,
        }
    }

    /// Takes the next fact in the order of the log.
    pub(super) fn note(&mut self, Noted { agent_id: _, position, at, what }: Noted) {
        let moment = Moment { at, position };
        match what {
            What::TaskAssigned { task_id, issue, started } => {
                let (assigned, started) = (Some(moment), started.map(Into::into));
                self.tasks
                    .insert(task_id, (TaskFact { task_id, assigned, started, completed: None, bug: None }, issue));
            }
            What::TaskLost { task_id } => drop(self.tasks.remove(&task_id)),
            What::TaskStarted { task_id } => self.task(task_id, |it| it.started = it.started.or(Some(moment))),
            What::TaskCompleted { task_id } => self.task(task_id, |it| it.completed = Some(moment)),
            What::Opened { pull_request_id, task_id, bug, additions, deletions } => {
                let opened = PullRequestFact {
                    pull_request_id,
                    task_id,
                    opened: moment,
                    outcome: Outcome::Open,
                    merge_commit_sha: None,
                    reviews: vec![],
                    lint_failures: vec![],
                    bug: bug.then_some(position),
                    additions,
                    deletions,
                    sized: position,
                };
                self.pull_requests.insert(pull_request_id, opened);
            }
            What::Changed { pull_request_id, task_id, bug, additions, deletions } => {
                self.pull_request(pull_request_id, |it| {
                    it.task_id = task_id.or(it.task_id);
                    it.bug = match bug {
                        Some(true) => it.bug.or(Some(position)),
                        Some(false) => None,
                        None => it.bug,
                    };
                    if additions.is_some() || deletions.is_some() {
                        it.sized = position;
                    }
                    it.additions = additions.unwrap_or(it.additions);
                    it.deletions = deletions.unwrap_or(it.deletions);
                });
            }
            What::Reviewed { pull_request_id, decision } => {
                self.pull_request(pull_request_id, |it| it.reviews.push(ReviewFact { decision, given: moment }));
            }
            What::LintFailed { pull_request_id } => {
                self.pull_request(pull_request_id, |it| it.lint_failures.push(position));
            }
            What::Rejected { pull_request_id } => {
                self.pull_request(pull_request_id, |it| it.outcome = Outcome::Rejected(moment));
            }
            What::Reopened { pull_request_id } => {
                self.pull_request(pull_request_id, |it| it.outcome = Outcome::Open);
            }
            What::Merged { pull_request_id, sha } => self.pull_request(pull_request_id, |it| {
                it.outcome = Outcome::Merged(moment);
                it.merge_commit_sha = sha;
            }),
        }
    }

    fn task(&mut self, id: TaskId, change: impl FnOnce(&mut TaskFact)) {
        if let Some((task, _)) = self.tasks.get_mut(&id) {
            change(task);
        }
    }

    fn pull_request(&mut self, id: PullRequestId, change: impl FnOnce(&mut PullRequestFact)) {
        if let Some(it) = self.pull_requests.get_mut(&id) {
            change(it);
        }
    }
}
