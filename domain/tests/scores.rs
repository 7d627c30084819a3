//! The crate's scores agree, bit for bit, with the document's algorithm on random histories.

mod typescript;

use chrono::{DateTime, TimeDelta, Utc};
use domain::ReviewDecision;
use domain::agent::AgentStatus;
use domain::scores::{
    DeploymentFact, Facts, KpiRecord, Moment, Outcome, PullRequestFact, PushFact, ReviewFact, ScorePolicy, TaskFact,
    kpi, probation, tally, trust,
};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::{option, sample};
use uuid::Uuid;

const DAYS: i64 = 60;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn kpis_trust_and_probation_are_the_documents(
        life in prop_oneof![life(), good_life()],
        glances in vec(1..DAYS, 1..14),
    ) {
        let policy = ScorePolicy::default();
        let (mut records, mut expected): (Vec<KpiRecord>, Vec<typescript::Record>) = (vec![], vec![]);
        let mut glances = glances;
        glances.sort_unstable();
        for day in glances {
            let now = minute(day * 24 * 60);
            let seen = life.until(day * 24 * 60);
            let inputs = tally(&seen.facts(), now, &policy).inputs;
            let metrics = kpi::metrics(&inputs, &policy);
            let trends = kpi::trends(records.first().map(|it| &it.metrics), &metrics, &policy);
            records.insert(0, KpiRecord { kpi_id: Uuid::nil().into(), metrics, trends });
            records.truncate(10);

            let (tasks, prs) = (seen.typescript_tasks(), seen.typescript_prs());
            let record = typescript::calculate_kpis(&tasks, &prs, seen.failures, millis(now), expected.first());
            expected.insert(0, record);
            expected.truncate(10);

            let latest = &expected[0];
            prop_assert_eq!(records[0].metrics.named().map(|(_, value)| value), values(&latest.metrics));
            prop_assert_eq!(named(&records[0]), [latest.tasks_completed_trend, latest.code_quality_trend, latest.overall_trend]);

            let score = trust::judge(&records, &policy).expect("a score").score;
            prop_assert_eq!(score, typescript::calculate_trust_score(&expected));

            let next = |status| probation::next_status(status, score, &records, &inputs, &policy).map(|it| it.0);
            let triggered = typescript::should_trigger(score, latest, &tasks, &prs);
            prop_assert_eq!(next(AgentStatus::Active), triggered.then_some(AgentStatus::Probation));
            let recovered = typescript::can_recover(score, &expected);
            prop_assert_eq!(next(AgentStatus::Probation), recovered.then_some(AgentStatus::Active));
        }
    }
}

fn values(it: &typescript::Metrics) -> [f64; 8] {
    [
        it.tasks_completed,
        it.code_quality_score,
        it.positive_feedback_count,
        it.feature_completion_rate,
        it.bugs_introduced,
        it.deployment_failures,
        it.code_churn,
        it.average_task_duration,
    ]
}

fn named(record: &KpiRecord) -> [String; 3] {
    let name = |it: serde_json::Value| it.as_str().expect("a name").to_owned();
    let trends = record.trends;
    [
        name(serde_json::to_value(trends.tasks_completed).expect("JSON")),
        name(serde_json::to_value(trends.code_quality).expect("JSON")),
        name(serde_json::to_value(trends.overall).expect("JSON")),
    ]
}

/// An agent's life, with every moment in seconds.
#[derive(Clone, Debug)]
struct Life {
    tasks: Vec<Job>,
    pull_requests: Vec<Change>,
    failures: usize,
}

#[derive(Clone, Debug)]
struct Job {
    assigned: i64,
    started: Option<i64>,
    completed: Option<i64>,
    bug: bool,
}

#[derive(Clone, Debug)]
struct Change {
    opened: i64,
    closed: Option<(i64, bool)>,
    reviews: Vec<ReviewDecision>,
    lint_failures: usize,
    bug: bool,
    lines: (i64, i64),
    task: Option<usize>,
}

fn life() -> impl Strategy<Value = Life> {
    let span = 0..DAYS * 24 * 60 * 60;
    let job = (span.clone(), option::of(0..90_000_i64), option::weighted(0.7, 0..900_000_i64), any_of(5)).prop_map(
        |(assigned, started, completed, bug)| {
            let started = started.map(|after| assigned + after);
            let completed = completed.map(|after| started.unwrap_or(assigned) + after);
            Job { assigned, started, completed, bug }
        },
    );
    let decision =
        sample::select(vec![ReviewDecision::Approve, ReviewDecision::RequestChanges, ReviewDecision::Comment]);
    let change = (
        span,
        option::of((0..900_000_i64, any_of(3))),
        vec(decision, 0..4),
        0..2_usize,
        any_of(6),
        (0..500_i64, 0..500_i64),
        option::of(0..12_usize),
    );
    let change = change.prop_map(|(opened, closed, reviews, lint_failures, bug, lines, task)| Change {
        opened,
        closed: closed.map(|(after, rejected)| (opened + after, !rejected)),
        reviews,
        lint_failures,
        bug,
        lines,
        task,
    });
    (vec(job, 0..14), vec(change, 0..10), 0..5_usize).prop_map(|(tasks, pull_requests, failures)| Life {
        tasks,
        pull_requests,
        failures,
    })
}

/// A life that gets better and better, so that probation may end.
fn good_life() -> impl Strategy<Value = Life> {
    const DAY: i64 = 24 * 60 * 60;
    let job = |i: i64| Job { assigned: i, started: Some(i), completed: Some(DAY / 2 + i), bug: false };
    let change = |i: i64, reviews| Change {
        opened: i * 8 * DAY,
        closed: Some((i * 8 * DAY + 60, true)),
        reviews,
        lint_failures: 0,
        bug: false,
        lines: (10, 1),
        task: None,
    };
    let reviews = prop_oneof![6 => Just(vec![ReviewDecision::Approve]), 1 => Just(vec![])];
    (4..7_i64, vec(reviews, 4..8), 0..2_usize).prop_map(move |(jobs, reviews, failures)| Life {
        tasks: (0..jobs).map(job).collect(),
        pull_requests: (0..).zip(reviews).map(|(i, reviews)| change(i, reviews)).collect(),
        failures,
    })
}

/// True once in so many times.
fn any_of(times: u32) -> impl Strategy<Value = bool> {
    proptest::bool::weighted(1.0 / f64::from(times))
}

impl Life {
    /// As it was known at a minute.
    fn until(&self, minute: i64) -> Self {
        let known = |second: &i64| *second <= minute * 60;
        let job =
            |it: &Job| Job { started: it.started.filter(known), completed: it.completed.filter(known), ..it.clone() };
        let change = |it: &Change| Change { closed: it.closed.filter(|(at, _)| known(at)), ..it.clone() };
        Self {
            tasks: self.tasks.iter().filter(|it| known(&it.assigned)).map(job).collect(),
            pull_requests: self.pull_requests.iter().filter(|it| known(&it.opened)).map(change).collect(),
            failures: self.failures,
        }
    }

    fn facts(&self) -> Facts {
        let failed = |number: usize| DeploymentFact {
            deployment_id: number as i64,
            sha: "own".to_owned(),
            position: number as i64,
        };
        Facts {
            tasks: self.tasks.iter().enumerate().map(|(i, it)| it.fact(i)).collect(),
            pull_requests: self.pull_requests.iter().enumerate().map(|(i, it)| it.fact(i)).collect(),
            pushes: vec![PushFact { commits: vec!["own".to_owned()], position: 1 }],
            failed_deployments: (0..self.failures).map(failed).collect(),
        }
    }

    fn typescript_tasks(&self) -> Vec<typescript::Task> {
        let task = |it: &Job| typescript::Task {
            assigned_at: Some(in_millis(it.assigned)),
            started_at: it.started.map(in_millis),
            completed_at: it.completed.map(in_millis),
            bug: it.bug,
        };
        self.tasks.iter().map(task).collect()
    }

    fn typescript_prs(&self) -> Vec<typescript::PullRequest> {
        let pr = |it: &Change| typescript::PullRequest {
            created_at: in_millis(it.opened),
            closed: it.closed.map(|(at, merged)| (in_millis(at), merged)),
            reviews: it.reviews.iter().map(word).collect(),
            linting_errors: it.lint_failures,
            bug: it.bug,
            lines: (it.lines.0 + it.lines.1) as f64,
            task: it.task,
        };
        self.pull_requests.iter().map(pr).collect()
    }
}

impl Job {
    fn fact(&self, number: usize) -> TaskFact {
        TaskFact {
            task_id: Uuid::from_u128(number as u128).into(),
            assigned: Some(moment(self.assigned)),
            started: self.started.map(moment),
            completed: self.completed.map(moment),
            bug: self.bug.then_some(number as i64),
        }
    }
}

impl Change {
    fn fact(&self, number: usize) -> PullRequestFact {
        let given = |(i, decision): (usize, &ReviewDecision)| ReviewFact {
            decision: *decision,
            given: moment(self.opened + i as i64),
        };
        PullRequestFact {
            pull_request_id: Uuid::from_u128(number as u128).into(),
            task_id: self.task.map(|it| Uuid::from_u128(it as u128).into()),
            opened: moment(self.opened),
            outcome: match self.closed {
                None => Outcome::Open,
                Some((at, true)) => Outcome::Merged(moment(at)),
                Some((at, false)) => Outcome::Rejected(moment(at)),
            },
            merge_commit_sha: None,
            // Told in any order: what counts is when they were given.
            reviews: self.reviews.iter().enumerate().map(given).rev().collect(),
            lint_failures: (0..self.lint_failures as i64).collect(),
            bug: self.bug.then_some(number as i64),
            additions: self.lines.0,
            deletions: self.lines.1,
            sized: 1,
        }
    }
}

fn word(decision: &ReviewDecision) -> &'static str {
    match decision {
        ReviewDecision::Approve => "approve",
        ReviewDecision::RequestChanges => "request_changes",
        ReviewDecision::Comment => "comment",
    }
}

fn minute(number: i64) -> DateTime<Utc> {
    DateTime::UNIX_EPOCH + TimeDelta::minutes(number)
}

fn moment(second: i64) -> Moment {
    Moment { at: DateTime::UNIX_EPOCH + TimeDelta::seconds(second), position: second }
}

fn millis(at: DateTime<Utc>) -> f64 {
    at.timestamp_millis() as f64
}

fn in_millis(second: i64) -> f64 {
    (second * 1000) as f64
}
