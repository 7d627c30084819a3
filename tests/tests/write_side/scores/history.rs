//! An agent's bad weeks and its way back, with every number compared to the document's own arithmetic.

use domain::agent::AgentStatus;
use domain::scores::Metrics;
use domain::{ReviewDecision, TaskId};
use muster_tests::both_stores;
use muster_tests::stores::Bench;
use projections::scorecards;

use super::story::{Place, Running, days, minutes};
use super::typescript::{self, PullRequest, Record, Task};

both_stores!(an_agent_falls_into_probation_and_works_its_way_out);

/// The same life twice: as Muster has it, and as the document counts it.
struct Life {
    place: Place,
    running: Running,
    tasks: Vec<(TaskId, Task)>,
    pull_requests: Vec<PullRequest>,
    failures: usize,
    expected: Vec<Record>,
    status: AgentStatus,
    seen: Vec<AgentStatus>,
}

async fn an_agent_falls_into_probation_and_works_its_way_out(bench: Bench) {
    let place = Place::new(bench).await;
    let running = place.start();
    let mut life = Life {
        place,
        running,
        tasks: vec![],
        pull_requests: vec![],
        failures: 0,
        expected: vec![],
        status: AgentStatus::Active,
        seen: vec![],
    };
    for issue in 1..=6 {
        life.is_given_a_task(issue).await;
    }
    life.commits_and_fails_to_deploy("bad").await;
    for number in 1..=3 {
        life.opens(number, 40 * number, number == 2).await;
        life.is_sent_back(number).await;
        life.is_rejected(number).await;
    }
    life.has_a_bug(0).await;
    life.is_given_a_task(7).await;
    assert_eq!(life.status, AgentStatus::Probation);
    life.waits(days(8));
    for task in 0..5 {
        life.does(task, 25 + task as i64).await;
    }
    for number in 4..=9 {
        life.opens(number, 7, false).await;
        life.is_approved(number).await;
        life.is_merged(number).await;
    }
    assert_eq!(life.status, AgentStatus::Active);
    life.seen.dedup();
    assert_eq!(life.seen, [AgentStatus::Active, AgentStatus::Probation, AgentStatus::Active]);
    life.place.stop(life.running).await;
}

impl Life {
    fn now(&self) -> f64 {
        self.place.work.clock.now().timestamp_millis() as f64
    }

    fn waits(&self, time: chrono::TimeDelta) {
        self.place.work.pass(time);
    }

    async fn is_given_a_task(&mut self, issue: i64) {
        self.waits(minutes(10));
        let id = self.place.work.task(Some(issue)).await;
        let assigned_at = Some(self.now());
        self.tasks.push((id, Task { assigned_at, started_at: None, completed_at: None, bug: false }));
        self.is_measured().await;
    }

    async fn does(&mut self, task: usize, took: i64) {
        let id = self.tasks[task].0;
        self.place.work.start(id).await;
        self.tasks[task].1.started_at = Some(self.now());
        self.waits(minutes(took));
        self.place.work.complete(id).await;
        self.tasks[task].1.completed_at = Some(self.now());
        self.is_measured().await;
    }

    async fn has_a_bug(&mut self, task: usize) {
        self.place.work.labels(task as i64 + 1, &["urgent", "bug"]).await;
        self.tasks[task].1.bug = true;
    }

    async fn commits_and_fails_to_deploy(&mut self, sha: &str) {
        self.place.work.pushes(sha).await;
        // One deployment that fails twice, and one of somebody else's commit.
        self.place.work.fails_to_deploy(1, 1, sha).await;
        self.place.work.fails_to_deploy(1, 2, sha).await;
        self.place.work.fails_to_deploy(2, 3, "elsewhere").await;
        self.failures += 1;
    }

    async fn opens(&mut self, number: i64, lines: i64, bug: bool) {
        self.waits(minutes(30));
        let labels: &[&str] = if bug { &["bug"] } else { &[] };
        self.place.work.opens(number, None, lines, labels).await;
        let (created_at, lines) = (self.now(), lines as f64);
        let (closed, reviews, linting_errors) = (None, vec![], 0);
        self.pull_requests.push(PullRequest { created_at, closed, reviews, linting_errors, bug, lines, task: None });
    }

    async fn is_sent_back(&mut self, number: i64) {
        self.waits(minutes(1));
        self.place.work.reviews(number, 10 * number, ReviewDecision::RequestChanges).await;
        self.place.work.lint_fails(number).await;
        let it = &mut self.pull_requests[number as usize - 1];
        it.reviews.push("request_changes");
        it.linting_errors += 1;
    }

    async fn is_approved(&mut self, number: i64) {
        self.waits(minutes(1));
        self.place.work.reviews(number, 10 * number, ReviewDecision::Approve).await;
        self.pull_requests[number as usize - 1].reviews.push("approve");
    }

    async fn is_rejected(&mut self, number: i64) {
        self.place.work.rejects(number).await;
        let now = self.now();
        let it = &mut self.pull_requests[number as usize - 1];
        it.closed = Some((now, false));
        // A body from GitHub describes the whole pull request: this one has a line and no label.
        (it.lines, it.bug) = (1.0, false);
    }

    async fn is_merged(&mut self, number: i64) {
        self.place.work.merges(number, 7, &format!("merge-{number}")).await;
        self.pull_requests[number as usize - 1].closed = Some((self.now(), true));
        self.is_measured().await;
    }

    /// Calculates what the document expects, and compares everything with it.
    async fn is_measured(&mut self) {
        self.place.settled(&self.running.1).await;
        let tasks: Vec<Task> = self.tasks.iter().map(|(_, task)| task.clone()).collect();
        let latest =
            typescript::calculate_kpis(&tasks, &self.pull_requests, self.failures, self.now(), self.expected.first());
        self.expected.insert(0, latest);
        self.expected.truncate(10);
        let trust = typescript::calculate_trust_score(&self.expected);
        let next = match self.status {
            AgentStatus::Active
                if typescript::should_trigger(trust, &self.expected[0], &tasks, &self.pull_requests) =>
            {
                AgentStatus::Probation
            }
            AgentStatus::Probation if typescript::can_recover(trust, &self.expected) => AgentStatus::Active,
            same => same,
        };
        self.status = next;
        self.seen.push(next);
        assert_eq!(self.place.standing(&self.running.0).await, (trust, next), "after {} records", self.seen.len());
        let kpi = scorecards::latest(self.place.views(), self.place.work.agent_id).await.unwrap().unwrap();
        assert_eq!(kpi.metrics, metrics(&self.expected[0]), "after {} records", self.seen.len());
        let trends = serde_json::to_value(kpi.trends).unwrap();
        assert_eq!(trends["tasks_completed"], self.expected[0].tasks_completed_trend);
        assert_eq!(trends["code_quality"], self.expected[0].code_quality_trend);
        assert_eq!(trends["overall"], self.expected[0].overall_trend);
    }
}

fn metrics(expected: &Record) -> Metrics {
    let it = &expected.metrics;
    Metrics {
        tasks_completed: it.tasks_completed as u32,
        code_quality_score: it.code_quality_score,
        positive_feedback_count: it.positive_feedback_count as u32,
        feature_completion_rate: it.feature_completion_rate,
        bugs_introduced: it.bugs_introduced as u32,
        deployment_failures: it.deployment_failures as u32,
        code_churn: it.code_churn as i64,
        average_task_duration: it.average_task_duration as i64,
    }
}
