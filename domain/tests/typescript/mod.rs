//! The document's TypeScript, line by line in plain `f64`, on types of its own.
#![allow(clippy::manual_clamp, reason = "the document says min and max")]

/// Milliseconds, as JavaScript has them.
pub(crate) type Time = f64;

pub(crate) const DAY: Time = 24.0 * 60.0 * 60.0 * 1000.0;
pub(crate) const MINUTE: Time = 60.0 * 1000.0;

#[derive(Clone, Debug)]
pub(crate) struct Task {
    pub(crate) assigned_at: Option<Time>,
    pub(crate) started_at: Option<Time>,
    pub(crate) completed_at: Option<Time>,
    pub(crate) bug: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct PullRequest {
    pub(crate) created_at: Time,
    /// When it was closed, and whether it was merged.
    pub(crate) closed: Option<(Time, bool)>,
    /// `approve`, `request_changes` or `comment`, oldest first.
    pub(crate) reviews: Vec<&'static str>,
    pub(crate) linting_errors: usize,
    pub(crate) bug: bool,
    pub(crate) lines: f64,
    /// The index of its task.
    pub(crate) task: Option<usize>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Metrics {
    pub(crate) tasks_completed: f64,
    pub(crate) code_quality_score: f64,
    pub(crate) positive_feedback_count: f64,
    pub(crate) feature_completion_rate: f64,
    pub(crate) bugs_introduced: f64,
    pub(crate) deployment_failures: f64,
    pub(crate) code_churn: f64,
    pub(crate) average_task_duration: f64,
}

#[derive(Clone, Debug)]
pub(crate) struct Record {
    pub(crate) metrics: Metrics,
    pub(crate) tasks_completed_trend: &'static str,
    pub(crate) code_quality_trend: &'static str,
    pub(crate) overall_trend: &'static str,
}

pub(crate) fn calculate_kpis(
    tasks: &[Task],
    prs: &[PullRequest],
    deployment_failures: usize,
    now: Time,
    prev: Option<&Record>,
) -> Record {
    let completed: Vec<&Task> = tasks.iter().filter(|t| t.completed_at.is_some()).collect();

    let mut score = 50.0;
    for pr in prs {
        if approved_on_first_review(pr) {
            score += 10.0;
        }
        score -= 5.0 * pr.reviews.iter().filter(|r| **r == "request_changes").count() as f64;
        if pr.linting_errors > 0 {
            score -= 10.0;
        }
    }

    let mut due = 0.0;
    let mut done = 0.0;
    for task in tasks {
        if let Some(assigned_at) = task.assigned_at
            && (now - assigned_at) / DAY > 7.0
        {
            due += 1.0;
            if task.completed_at.is_some() {
                done += 1.0;
            }
        }
    }

    let mut churn = 0.0;
    for pr in prs {
        if pr.created_at >= now - 30.0 * DAY {
            churn += pr.lines;
        }
    }

    let mut durations = vec![];
    for task in &completed {
        if let (Some(started), Some(ended)) = (task.started_at, task.completed_at) {
            durations.push(math_round(f64::max(0.0, (ended - started) / MINUTE)));
        }
    }
    let average =
        if durations.is_empty() { 0.0 } else { math_round(durations.iter().sum::<f64>() / durations.len() as f64) };

    let curr = Metrics {
        tasks_completed: completed.len() as f64,
        code_quality_score: f64::max(0.0, f64::min(100.0, score)),
        positive_feedback_count: prs.iter().filter(|pr| approved_on_first_review(pr)).count() as f64,
        feature_completion_rate: if due == 0.0 { 1.0 } else { done / due },
        bugs_introduced: (tasks.iter().filter(|t| t.bug).count() + prs.iter().filter(|pr| pr.bug).count()) as f64,
        deployment_failures: deployment_failures as f64,
        code_churn: churn,
        average_task_duration: average,
    };
    let Some(prev) = prev.map(|it| &it.metrics) else {
        let stable = "stable";
        return Record {
            metrics: curr,
            tasks_completed_trend: stable,
            code_quality_trend: stable,
            overall_trend: stable,
        };
    };
    Record {
        tasks_completed_trend: compare(curr.tasks_completed, prev.tasks_completed, ["up", "down", "stable"]),
        code_quality_trend: compare(curr.code_quality_score, prev.code_quality_score, ["up", "down", "stable"]),
        overall_trend: compare(overall(&curr), overall(prev), ["improving", "declining", "stable"]),
        metrics: curr,
    }
}

fn approved_on_first_review(pr: &PullRequest) -> bool {
    pr.reviews.iter().find(|r| **r != "comment") == Some(&"approve")
}

fn compare(curr: f64, prev: f64, names: [&'static str; 3]) -> &'static str {
    if curr > prev {
        names[0]
    } else if curr < prev {
        names[1]
    } else {
        names[2]
    }
}

fn overall(m: &Metrics) -> f64 {
    (m.code_quality_score / 100.0 * 0.4)
        + (m.feature_completion_rate * 0.3)
        + (f64::max(0.0, 100.0 - m.bugs_introduced * 10.0) / 100.0 * 0.2)
        + (f64::max(0.0, 100.0 - m.deployment_failures * 10.0) / 100.0 * 0.1)
}

/// `history` has the newest record first, as `getKPIHistory(agentId, { limit: 10 })` gives it.
pub(crate) fn calculate_trust_score(history: &[Record]) -> f64 {
    if history.is_empty() {
        return 50.0;
    }
    let latest = &history[0];

    let mut base = 0.0;
    base += (latest.metrics.code_quality_score / 100.0) * 40.0;
    base += latest.metrics.feature_completion_rate * 30.0;
    base += f64::max(0.0, 20.0 - latest.metrics.bugs_introduced * 4.0);
    base += f64::max(0.0, 10.0 - latest.metrics.deployment_failures * 3.33);
    base = f64::max(0.0, f64::min(100.0, base));

    let mut modifier = 0.0;
    if history.len() > 1 {
        match latest.overall_trend {
            "improving" => modifier += 5.0,
            "declining" => modifier -= 5.0,
            _ => {}
        }
        match latest.code_quality_trend {
            "up" => modifier += 2.0,
            "down" => modifier -= 2.0,
            _ => {}
        }
        match latest.tasks_completed_trend {
            "up" => modifier += 1.0,
            "down" => modifier -= 1.0,
            _ => {}
        }
    }

    let mut bonus = 0.0;
    if history.len() >= 3 {
        let scores: Vec<f64> = history.iter().map(|kpi| overall(&kpi.metrics)).collect();
        let n = scores.len() as f64;
        let mut sum = 0.0;
        for s in &scores {
            sum += s;
        }
        let mean = sum / n;
        let mut squares = 0.0;
        for s in &scores {
            squares += (s - mean).powi(2);
        }
        bonus = f64::max(0.0, 5.0 - ((squares / n).sqrt() / 0.06));
    }

    let score = f64::max(0.0, f64::min(100.0, base + modifier + bonus));
    math_round(score * 100.0) / 100.0
}

pub(crate) fn should_trigger(trust: f64, latest: &Record, tasks: &[Task], prs: &[PullRequest]) -> bool {
    trust < 30.0
        || latest.metrics.code_quality_score < 20.0
        || consecutive_rejected_prs(prs) >= 3
        || recent_bugs_count(tasks, prs, 10) >= 5
}

pub(crate) fn can_recover(trust: f64, history: &[Record]) -> bool {
    let latest = &history[0];
    history.len() >= 3
        && trust >= 50.0
        && latest.metrics.code_quality_score >= 60.0
        && latest.metrics.tasks_completed >= 5.0
        && history[..3].iter().all(|kpi| kpi.overall_trend == "improving")
}

fn consecutive_rejected_prs(prs: &[PullRequest]) -> usize {
    let mut closed: Vec<(Time, bool)> = prs.iter().filter_map(|pr| pr.closed).collect();
    closed.sort_by(|a, b| b.0.total_cmp(&a.0));
    closed.iter().take_while(|(_, merged)| !merged).count()
}

fn recent_bugs_count(tasks: &[Task], prs: &[PullRequest], limit: usize) -> usize {
    let mut completed: Vec<(usize, Time)> =
        tasks.iter().enumerate().filter_map(|(i, t)| Some((i, t.completed_at?))).collect();
    completed.sort_by(|a, b| b.1.total_cmp(&a.1));
    let mut bugs = 0;
    for (i, _) in completed.into_iter().take(limit) {
        bugs += usize::from(tasks[i].bug);
        bugs += prs.iter().filter(|pr| pr.task == Some(i) && pr.bug).count();
    }
    bugs
}

/// `Math.round`: halves go up.
fn math_round(x: f64) -> f64 {
    let floor = x.floor();
    if x - floor >= 0.5 { floor + 1.0 } else { floor }
}
