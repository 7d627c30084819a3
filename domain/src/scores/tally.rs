//! The tally: an agent's facts, counted, with the log positions that count.

use std::cmp::Reverse;

use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};

use super::{Facts, Moment, Outcome, PullRequestFact, ScorePolicy, TaskFact};
use crate::ReviewDecision;
use crate::minutes::minutes_between;

/// What is counted: enough to compute every metric again.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct KpiInputs {
    /// Tasks that are done.
    pub completed_tasks: u32,
    /// Tasks that were assigned long enough ago to expect them done.
    pub due_tasks: u32,
    /// Those of them that are done.
    pub due_tasks_completed: u32,
    /// Pull requests that the first review approved.
    pub approved_on_first_review: u32,
    /// Requests for changes.
    pub changes_requested: u32,
    /// Pull requests in which a linter found something.
    pub with_lint_errors: u32,
    /// Tasks that are bugs.
    pub bug_tasks: u32,
    /// Pull requests that are bugs.
    pub bug_pull_requests: u32,
    /// Deployments that failed.
    pub failed_deployments: u32,
    /// Lines added of late.
    pub lines_added: i64,
    /// Lines deleted of late.
    pub lines_deleted: i64,
    /// Tasks done whose start is known.
    pub timed_tasks: u32,
    /// The whole minutes that those took.
    pub timed_minutes: i64,
    /// Pull requests rejected one after another, up to now.
    pub rejections_in_a_row: u32,
    /// Bugs in the tasks that were completed last.
    pub recent_bugs: u32,
}

/// The log positions that count for each metric, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "the fields are the metrics")]
pub struct Counted {
    pub tasks_completed: Vec<i64>,
    pub code_quality_score: Vec<i64>,
    pub positive_feedback_count: Vec<i64>,
    pub feature_completion_rate: Vec<i64>,
    pub bugs_introduced: Vec<i64>,
    pub deployment_failures: Vec<i64>,
    pub code_churn: Vec<i64>,
    pub average_task_duration: Vec<i64>,
    pub rejections_in_a_row: Vec<i64>,
    pub recent_bugs: Vec<i64>,
}

/// The counts, and the log positions that they come from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// The counts.
    pub inputs: KpiInputs,
    /// Where they come from.
    pub counted: Counted,
}

/// Counts an agent's facts as they stand at a moment.
pub fn tally(facts: &Facts, now: DateTime<Utc>, policy: &ScorePolicy) -> Tally {
    let mut tally = Tally::default();
    tally.count_tasks(facts, now, policy);
    tally.count_pull_requests(facts, now, policy);
    tally.count_bugs(facts, policy);
    for failure in facts.own_failures() {
        tally.inputs.failed_deployments += 1;
        tally.counted.deployment_failures.push(failure.position);
    }
    tally.counted.put_in_order();
    tally
}

impl Tally {
    fn count_tasks(&mut self, facts: &Facts, now: DateTime<Utc>, policy: &ScorePolicy) {
        let (inputs, counted) = (&mut self.inputs, &mut self.counted);
        let grace = TimeDelta::days(policy.completion_days);
        for task in &facts.tasks {
            if let Some(assigned) = task.assigned.filter(|assigned| now - assigned.at > grace) {
                inputs.due_tasks += 1;
                counted.feature_completion_rate.push(assigned.position);
                if let Some(completed) = task.completed {
                    inputs.due_tasks_completed += 1;
                    counted.feature_completion_rate.push(completed.position);
                }
            }
            let Some(completed) = task.completed else { continue };
            inputs.completed_tasks += 1;
            counted.tasks_completed.push(completed.position);
            if let Some(started) = task.started {
                inputs.timed_tasks += 1;
                inputs.timed_minutes += minutes_between(started.at, completed.at);
                counted.average_task_duration.extend([started.position, completed.position]);
            }
        }
    }

    fn count_pull_requests(&mut self, facts: &Facts, now: DateTime<Utc>, policy: &ScorePolicy) {
        let (inputs, counted) = (&mut self.inputs, &mut self.counted);
        let churn_since = now - TimeDelta::days(policy.churn_days);
        for pull_request in &facts.pull_requests {
            let first = pull_request.first_verdict();
            if let Some(first) = first.filter(|review| review.decision == ReviewDecision::Approve) {
                inputs.approved_on_first_review += 1;
                counted.positive_feedback_count.push(first.given.position);
                counted.code_quality_score.push(first.given.position);
            }
            for request in pull_request.change_requests() {
                inputs.changes_requested += 1;
                counted.code_quality_score.push(request.given.position);
            }
            if !pull_request.lint_failures.is_empty() {
                inputs.with_lint_errors += 1;
                counted.code_quality_score.extend(&pull_request.lint_failures);
            }
            if pull_request.opened.at >= churn_since {
                inputs.lines_added += pull_request.additions;
                inputs.lines_deleted += pull_request.deletions;
                counted.code_churn.push(pull_request.sized);
            }
        }
        for rejected in rejected_in_a_row(&facts.pull_requests) {
            inputs.rejections_in_a_row += 1;
            counted.rejections_in_a_row.push(rejected.position);
        }
    }

    fn count_bugs(&mut self, facts: &Facts, policy: &ScorePolicy) {
        let (inputs, counted) = (&mut self.inputs, &mut self.counted);
        let bug_tasks = facts.tasks.iter().filter_map(|task| task.bug);
        let bug_pull_requests = facts.pull_requests.iter().filter_map(|it| it.bug);
        inputs.bug_tasks = bug_tasks.clone().count() as u32;
        inputs.bug_pull_requests = bug_pull_requests.clone().count() as u32;
        counted.bugs_introduced.extend(bug_tasks.chain(bug_pull_requests));

        let recent = completed_last(&facts.tasks, policy.probation.recent_tasks);
        let is_recent = |it: &&PullRequestFact| recent.iter().any(|task| it.task_id == Some(task.task_id));
        let in_tasks = recent.iter().filter_map(|task| task.bug);
        let in_pull_requests = facts.pull_requests.iter().filter(is_recent).filter_map(|it| it.bug);
        counted.recent_bugs.extend(in_tasks.chain(in_pull_requests));
        inputs.recent_bugs = counted.recent_bugs.len() as u32;
    }
}

/// When pull requests were rejected since one was last merged.
fn rejected_in_a_row(pull_requests: &[PullRequestFact]) -> Vec<Moment> {
    let mut ends: Vec<(Moment, bool)> = pull_requests
        .iter()
        .filter_map(|it| match it.outcome {
            Outcome::Open => None,
            Outcome::Rejected(end) => Some((end, true)),
            Outcome::Merged(end) => Some((end, false)),
        })
        .collect();
    ends.sort_by_key(|(end, _)| Reverse(*end));
    ends.into_iter().take_while(|(_, rejected)| *rejected).map(|(end, _)| end).collect()
}

fn completed_last(tasks: &[TaskFact], number: usize) -> Vec<&TaskFact> {
    let mut completed: Vec<_> = tasks.iter().filter(|task| task.completed.is_some()).collect();
    completed.sort_by_key(|task| Reverse(task.completed));
    completed.truncate(number);
    completed
}

impl Counted {
    fn put_in_order(&mut self) {
        for positions in [
            &mut self.tasks_completed,
            &mut self.code_quality_score,
            &mut self.positive_feedback_count,
            &mut self.feature_completion_rate,
            &mut self.bugs_introduced,
            &mut self.deployment_failures,
            &mut self.code_churn,
            &mut self.average_task_duration,
            &mut self.rejections_in_a_row,
            &mut self.recent_bugs,
        ] {
            positions.sort_unstable();
            positions.dedup();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::examples::{at, id};
    use crate::scores::{DeploymentFact, PushFact, ReviewFact};

    const DAY: i64 = 24 * 60;

    fn moment(minute: i64, position: i64) -> Moment {
        Moment { at: at(minute), position }
    }

    fn task(number: u128, completed: Option<Moment>) -> TaskFact {
        let assigned = Some(moment(0, 1));
        TaskFact { task_id: id(number), assigned, started: Some(moment(10, 2)), completed, bug: None }
    }

    fn pull_request(outcome: Outcome) -> PullRequestFact {
        PullRequestFact {
            pull_request_id: id(80),
            task_id: None,
            opened: moment(0, 10),
            outcome,
            merge_commit_sha: None,
            reviews: vec![],
            lint_failures: vec![],
            bug: None,
            additions: 30,
            deletions: 4,
            sized: 11,
        }
    }

    fn of_pull_requests(pull_requests: Vec<PullRequestFact>) -> Facts {
        Facts { pull_requests, ..Default::default() }
    }

    fn counted(facts: Facts, days: i64) -> Tally {
        tally(&facts, at(days * DAY), &ScorePolicy::default())
    }

    #[test]
    fn a_task_is_due_when_it_was_assigned_more_than_seven_days_ago() {
        let facts = Facts { tasks: vec![task(60, None), task(61, Some(moment(70, 3)))], ..Default::default() };
        assert_eq!(counted(facts.clone(), 7).inputs.due_tasks, 0);
        let Tally { inputs, counted } = counted(facts, 8);
        assert_eq!((inputs.due_tasks, inputs.due_tasks_completed), (2, 1));
        assert_eq!(counted.feature_completion_rate, [1, 3]);
    }

    #[test]
    fn a_task_takes_from_its_start_to_its_end() {
        let unstarted = TaskFact { started: None, ..task(61, Some(moment(70, 4))) };
        let facts = Facts { tasks: vec![task(60, Some(moment(70, 3))), unstarted], ..Default::default() };
        let Tally { inputs, counted } = counted(facts, 1);
        assert_eq!((inputs.completed_tasks, inputs.timed_tasks, inputs.timed_minutes), (2, 1, 60));
        assert_eq!((counted.tasks_completed, counted.average_task_duration), (vec![3, 4], vec![2, 3]));
    }

    #[test]
    fn the_first_verdict_counts_whenever_it_is_told_and_comments_are_none() {
        let review = |decision, minute, position| ReviewFact { decision, given: moment(minute, position) };
        let (approve, ask) = (ReviewDecision::Approve, ReviewDecision::RequestChanges);
        let comment = review(ReviewDecision::Comment, 1, 20);
        for (reviews, expected) in [
            (vec![comment, review(ask, 3, 21), review(approve, 2, 22)], (1, 1)),
            (vec![review(ask, 2, 21), review(ask, 3, 22), review(approve, 4, 23)], (0, 2)),
            (vec![comment], (0, 0)),
        ] {
            let facts = of_pull_requests(vec![PullRequestFact { reviews, ..pull_request(Outcome::Open) }]);
            let inputs = counted(facts, 1).inputs;
            assert_eq!((inputs.approved_on_first_review, inputs.changes_requested), expected);
        }
    }

    #[test]
    fn a_pull_request_has_lint_errors_or_has_not() {
        let with_errors = PullRequestFact { lint_failures: vec![21, 20], ..pull_request(Outcome::Open) };
        let Tally { inputs, counted } = counted(of_pull_requests(vec![with_errors]), 1);
        assert_eq!((inputs.with_lint_errors, counted.code_quality_score), (1, vec![20, 21]));
    }

    #[test]
    fn churn_is_of_the_last_thirty_days() {
        let facts = of_pull_requests(vec![pull_request(Outcome::Open)]);
        let lines = |days| {
            let inputs = counted(facts.clone(), days).inputs;
            (inputs.lines_added, inputs.lines_deleted)
        };
        assert_eq!((lines(30), lines(31)), ((30, 4), (0, 0)));
    }

    #[test]
    fn a_merge_ends_a_row_of_rejections() {
        let (rejected, merged) = (Outcome::Rejected, Outcome::Merged);
        for (outcomes, expected) in [
            (vec![rejected(moment(3, 23)), rejected(moment(2, 22)), merged(moment(1, 21))], 2),
            (vec![merged(moment(3, 23)), rejected(moment(2, 22))], 0),
            (vec![Outcome::Open, rejected(moment(2, 22))], 1),
        ] {
            let facts = of_pull_requests(outcomes.into_iter().map(pull_request).collect());
            assert_eq!(counted(facts, 1).inputs.rejections_in_a_row, expected);
        }
    }

    #[test]
    fn a_failed_deployment_counts_once_for_whoever_pushed_or_wrote_its_commit() {
        let failed =
            |deployment_id, sha: &str, position| DeploymentFact { deployment_id, sha: sha.to_owned(), position };
        let merged = PullRequestFact { merge_commit_sha: Some("m1".to_owned()), ..pull_request(Outcome::Open) };
        let facts = Facts {
            pull_requests: vec![merged],
            pushes: vec![PushFact { commits: vec!["p1".to_owned()], position: 30 }],
            failed_deployments: vec![failed(1, "p1", 31), failed(1, "p1", 32), failed(2, "m1", 33), failed(3, "x", 34)],
            ..Default::default()
        };
        let Tally { inputs, counted } = counted(facts, 1);
        assert_eq!((inputs.failed_deployments, counted.deployment_failures), (2, vec![31, 33]));
    }

    #[test]
    fn recent_bugs_are_those_of_the_ten_tasks_completed_last_and_their_pull_requests() {
        let tasks = (0..12).map(|i| TaskFact { bug: Some(100 + i), ..task(60 + i as u128, Some(moment(i, 50 + i))) });
        let of = |task: u128, bug| PullRequestFact { task_id: Some(id(task)), bug, ..pull_request(Outcome::Open) };
        let pull_requests = vec![of(60, Some(200)), of(71, Some(201)), of(71, None)];
        let facts = Facts { tasks: tasks.collect(), pull_requests, ..Default::default() };
        let Tally { inputs, counted } = counted(facts, 1);
        assert_eq!((inputs.bug_tasks, inputs.bug_pull_requests, inputs.recent_bugs), (12, 2, 11));
        assert_eq!(counted.recent_bugs.first(), Some(&102));
        assert_eq!(counted.recent_bugs.last(), Some(&201));
    }
}
