//! Scorecards.

use domain::agent::AgentStatus;
use domain::scorecard::ScorecardEvent;
use domain::scores::{Direction, Factor, KpiInputs, Metrics, OverallTrend, Trend, Trends, Trigger, TrustBreakdown};

use super::{id, noon, text};

pub(crate) fn events() -> Vec<ScorecardEvent> {
    vec![
        ScorecardEvent::KpiRecalculated {
            kpi_id: id(20),
            agent_id: id(4),
            workspace_id: id(2),
            metrics: Metrics { tasks_completed: 3, feature_completion_rate: 2.0 / 3.0, ..metrics() },
            previous: Some(metrics()),
            trends: Trends {
                tasks_completed: Trend::Up,
                code_quality: Trend::Stable,
                overall: OverallTrend::Improving,
            },
            reason: text("Task completed"),
            formula_version: 1,
            position: 78,
            inputs: KpiInputs {
                completed_tasks: 3,
                due_tasks: 3,
                due_tasks_completed: 2,
                approved_on_first_review: 1,
                changes_requested: 2,
                with_lint_errors: 1,
                bug_tasks: 1,
                bug_pull_requests: 1,
                failed_deployments: 1,
                lines_added: 30,
                lines_deleted: 4,
                timed_tasks: 2,
                timed_minutes: 121,
                rejections_in_a_row: 1,
                recent_bugs: 2,
            },
            calculated_at: noon(),
        },
        ScorecardEvent::TrustScoreChanged {
            kpi_id: id(20),
            previous: 50.0,
            new: 29.17,
            change: -20.83,
            reason: text("Automatic probation trigger activated"),
            factors: vec![Factor { factor: text("bugs_introduced"), impact: -8.0, direction: Direction::Negative }],
            breakdown: TrustBreakdown {
                code_quality: 10.0,
                completion_rate: 15.5,
                few_bugs: 0.0,
                few_failures: 6.67,
                base: 32.17,
                overall_trend: -5.0,
                code_quality_trend: 2.0,
                tasks_completed_trend: -1.0,
                trend: -4.0,
                consistency: 1.0,
                score: 29.17,
            },
            previous_status: Some(AgentStatus::Active),
            new_status: Some(AgentStatus::Probation),
            triggers: vec![Trigger::LowTrust, Trigger::RejectedInARow],
            changed_at: noon(),
        },
    ]
}

fn metrics() -> Metrics {
    Metrics {
        tasks_completed: 2,
        code_quality_score: 40.0,
        positive_feedback_count: 1,
        feature_completion_rate: 0.5,
        bugs_introduced: 2,
        deployment_failures: 1,
        code_churn: 34,
        average_task_duration: 61,
    }
}
