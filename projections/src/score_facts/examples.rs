//! Facts about scores to fold in tests: at least one for every table of scores.

use domain::agent::AgentStatus;
use domain::github::Login;
use domain::repository::{DeploymentState, RepositoryEvent};
use domain::scorecard::ScorecardEvent;
use domain::scores::{KpiInputs, KpiRecord, ScorePolicy, Trigger, kpi, trust};
use domain::task::{Assigner, GithubIssue, Priority, TaskEvent};
use domain::{KpiId, UserId};
use uuid::Uuid;

use crate::FactOf;
use crate::examples::{AGENT_ID, OWNER_ID, PROJECT_ID, WORKSPACE_ID, at, id, task};

/// An agent is given a task, pushes, fails, is measured and judged; the task and the agent exist.
pub(crate) fn measured() -> Vec<(Uuid, FactOf)> {
    vec![task_assigned(), pushed(), failed(), labelled(), kpi_recalculated(), trust_changed(42.5)]
}

fn task_assigned() -> (Uuid, FactOf) {
    task(TaskEvent::TaskAssigned {
        agent_id: AGENT_ID,
        previous_agent_id: None,
        assigned_by: Assigner::User(UserId(OWNER_ID.0)),
        title: "Add a basket".into(),
        priority: Priority::P2,
        deadline: None,
        assigned_at: at(1),
    })
}

fn pushed() -> (Uuid, FactOf) {
    repository(RepositoryEvent::CommitsPushed {
        workspace_id: WORKSPACE_ID,
        project_id: PROJECT_ID,
        git_ref: "refs/heads/main".into(),
        head_sha: "abc".into(),
        commits: vec!["abc".into()],
        pusher: Login::new("dev-1"),
        agent_id: Some(AGENT_ID),
        pushed_at: at(2),
    })
}

fn failed() -> (Uuid, FactOf) {
    repository(RepositoryEvent::DeploymentStatusReported {
        workspace_id: WORKSPACE_ID,
        project_id: PROJECT_ID,
        deployment_id: 5,
        status_id: 50,
        state: DeploymentState::Failure,
        sha: "abc".into(),
        environment: "production".into(),
        reported_at: at(3),
    })
}

fn labelled() -> (Uuid, FactOf) {
    repository(RepositoryEvent::IssueLabelled {
        workspace_id: WORKSPACE_ID,
        project_id: PROJECT_ID,
        issue: GithubIssue { id: 9001, number: 12 },
        labels: vec!["bug".into()],
        labelled_at: at(4),
    })
}

fn repository(event: RepositoryEvent) -> (Uuid, FactOf) {
    (PROJECT_ID.0, FactOf::Repository(event))
}

fn kpi_recalculated() -> (Uuid, FactOf) {
    let KpiRecord { kpi_id, metrics, trends } = record();
    let event = ScorecardEvent::KpiRecalculated {
        kpi_id,
        agent_id: AGENT_ID,
        workspace_id: WORKSPACE_ID,
        metrics,
        previous: None,
        trends,
        reason: "Task assigned".into(),
        formula_version: 1,
        position: 5,
        inputs: KpiInputs::default(),
        calculated_at: at(5),
    };
    (AGENT_ID.0, FactOf::Scorecard(event))
}

/// The trust in the agent becomes this.
pub(crate) fn trust_changed(new: f64) -> (Uuid, FactOf) {
    let event = ScorecardEvent::TrustScoreChanged {
        kpi_id: record().kpi_id,
        previous: 50.0,
        new,
        change: new - 50.0,
        reason: "Automatic probation trigger activated".into(),
        factors: vec![],
        breakdown: trust::judge(&[record()], &ScorePolicy::default()).expect("a score"),
        previous_status: Some(AgentStatus::Active),
        new_status: Some(AgentStatus::Probation),
        triggers: vec![Trigger::RecentBugs],
        changed_at: at(6),
    };
    (AGENT_ID.0, FactOf::Scorecard(event))
}

fn record() -> KpiRecord {
    let policy = ScorePolicy::default();
    let metrics = kpi::metrics(&KpiInputs::default(), &policy);
    KpiRecord { kpi_id: KpiId(id(90)), trends: kpi::trends(None, &metrics, &policy), metrics }
}
