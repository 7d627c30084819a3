//! What an agent's scores do.

use domain::AgentId;
use domain::scorecard::ScorecardEvent;
use domain::scores::{Metrics, kpi};
use serde_json::{Value, json};

use super::{Said, joined, with_optional};
use crate::timeline::subjects::Subject;

pub(super) fn said(event: &ScorecardEvent, subject: &Subject) -> Said {
    let about = json!({ "agentId": subject.id, "agentName": subject.name });
    let agent = Some(AgentId(subject.id));
    let said = match event {
        ScorecardEvent::KpiRecalculated { metrics, previous, reason, calculated_at, .. } => {
            let changes = kpi::changes(previous.as_ref(), metrics)
                .into_iter()
                .map(|it| json!({ "metric": it.metric, "oldValue": it.old, "newValue": it.new, "change": it.change }));
            let content = json!({
                "newKPIs": shown(metrics),
                "changes": changes.collect::<Vec<_>>(),
                "reason": reason,
                "recalculatedAt": calculated_at,
            });
            let previous = previous.as_ref().map(shown);
            Said::new(*calculated_at, with_optional(joined(about, content), [("previousKPIs", json!(previous))]))
        }
        ScorecardEvent::TrustScoreChanged {
            kpi_id: _,
            previous,
            new,
            change,
            reason,
            factors,
            breakdown: _,
            previous_status,
            new_status,
            triggers: _,
            changed_at,
        } => {
            let content = json!({
                "previousTrustScore": previous,
                "newTrustScore": new,
                "change": change,
                "reason": reason,
                "factors": factors,
                "changedAt": changed_at,
            });
            let statuses = [("previousStatus", json!(previous_status)), ("newStatus", json!(new_status))];
            Said::new(*changed_at, with_optional(joined(about, content), statuses))
        }
    };
    said.to(agent).about(agent)
}

fn shown(metrics: &Metrics) -> Value {
    json!({
        "tasksCompleted": metrics.tasks_completed,
        "codeQualityScore": metrics.code_quality_score,
        "positiveFeedbackCount": metrics.positive_feedback_count,
        "featureCompletionRate": metrics.feature_completion_rate,
        "bugsIntroduced": metrics.bugs_introduced,
        "deploymentFailures": metrics.deployment_failures,
        "codeChurn": metrics.code_churn,
        "averageTaskDuration": metrics.average_task_duration,
    })
}
