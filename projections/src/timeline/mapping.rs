//! The public names of events: what each domain event is called on the timeline.

use domain::agent::AgentEvent;
use domain::decision::DecisionEvent;
use domain::epic::EpicEvent;
use domain::errand::ErrandEvent;
use domain::mail::MailEvent;
use domain::notification::NotificationEvent;
use domain::post::PostEvent;
use domain::project::ProjectEvent;
use domain::pull_request::PullRequestEvent;
use domain::repository::RepositoryEvent;
use domain::scorecard::ScorecardEvent;
use domain::session::SessionEvent;
use domain::task::TaskEvent;
use domain::tool_call::ToolCallEvent;
use domain::user::UserEvent;
use domain::wiki::WikiEvent;
use domain::workspace::WorkspaceEvent;

use crate::FactOf;

macro_rules! timeline_types {
    ($($aggregate:ident $events:ident {
        $($($event:ident)|+ => $name:literal,)+
        $(- $($quiet:ident)|+,)?
    })+) => {
        /// Every type that an entry can have.
        pub const TYPES: &[&str] = &[$($($name,)+)+];

        /// The type of the entry that an event becomes; none for events that are on no workspace's timeline.
        pub(super) fn type_of(of: &FactOf) -> Option<&'static str> {
            match of {
                // A user belongs to no workspace.
                FactOf::User(
                    UserEvent::UserSignedUp { .. }
                    | UserEvent::UserSuspended { .. }
                    | UserEvent::UserReinstated { .. }
                    | UserEvent::UserDeleted { .. },
                ) => None,
                // In the decision log, and settings are a person's.
                FactOf::Decision(DecisionEvent::DecisionLogged { .. }) | FactOf::NotificationSettings(_) => None,
                $(
                    $(FactOf::$aggregate($($events::$event { .. })|+) => Some($name),)+
                    $(FactOf::$aggregate($($events::$quiet { .. })|+) => None,)?
                )+
            }
        }
    };
}

timeline_types! {
    Workspace WorkspaceEvent {
        WorkspaceCreated => "workspace_created",
        WorkspaceDetailsChanged | WorkspaceTextSealed | WorkspaceTextErased => "workspace_updated",
        WorkspaceDeleted => "workspace_deleted",
    }
    Project ProjectEvent {
        ProjectCreated => "project_created",
        ProjectDetailsChanged => "project_updated",
        ProjectDeleted => "project_deleted",
    }
    Agent AgentEvent {
        AgentCreated => "agent_created",
        AgentDetailsChanged | AgentSupervisorLost => "agent_updated",
        AgentStatusChanged => "agent_status_changed",
        AgentCredentialsRotated => "agent_credentials_rotated",
        AgentDeleted => "agent_deleted",
    }
    Session SessionEvent {
        SessionStarted => "session_start",
        SessionLogged => "session_log",
        ProblemReported => "problem_report",
        AdviceGiven => "advice_given",
        QuestionAsked => "question_asked",
        ReviewRequested => "review_requested",
        ReviewResponded => "review_response",
        SessionStopped | SessionRevoked => "session_stop",
    }
    Task TaskEvent {
        TaskCreated => "task_created",
        TaskDetailsChanged | TaskReturned | TaskPaused | TaskCancelled => "task_updated",
        TaskAssigned => "task_assigned",
        TaskStarted => "task_started",
        TaskBlocked => "task_blocked",
        TaskCompleted => "task_completed",
        TaskSubmitted => "task_submitted",
        TaskChangesRequested => "task_changes_requested",
        TaskRebaseRequested => "task_rebase_requested",
        TaskRebased => "task_rebased",
        TaskApproved => "task_approved",
        TaskMergeFailed => "task_merge_failed",
        TaskHandedOver => "task_handed_over",
        TaskReset => "task_reset",
        TaskFailed => "task_failed",
        // It was created in the same commit.
        - TaskAddedToEpic,
    }
    Epic EpicEvent {
        EpicCreated => "epic_created",
        EpicDetailsChanged => "epic_updated",
        EpicSubmitted => "epic_submitted",
        EpicChangesRequested => "epic_changes_requested",
        EpicCompleted => "epic_completed",
        EpicFailed => "epic_failed",
        // What its tasks and its supervisor show.
        - EpicSupervisorAppointed | EpicTaskAdded | EpicReviewQueued | EpicReviewLeft | EpicTaskEnded,
    }
    Post PostEvent {
        AgentPosted => "agent_posted",
        AgentHealthChecked => "agent_health_checked",
        AgentReportedSilent => "agent_reported_silent",
        AgentDeclaredDead => "agent_declared_dead",
        AgentRelieved => "agent_relieved",
        AgentDischarged => "agent_discharged",
        AgentLaunchOrdered => "agent_launch_ordered",
        // A launch that failed shows as an errand that did.
        - AgentLaunched | AgentLaunchFailed,
    }
    Errand ErrandEvent {
        ErrandFailed => "errand_failed",
        // What comes of it shows.
        - ErrandOrdered | ErrandTried | ErrandDone | ErrandCancelled,
    }
    Wiki WikiEvent {
        WikiEntryProposed => "wiki_contribution",
        WikiEntryApproved => "wiki_approved",
        WikiEntryRejected => "wiki_rejected",
        // Not worth an entry.
        - WikiEntrySuperseded | WikiViewsCounted,
    }
    Scorecard ScorecardEvent {
        KpiRecalculated => "kpi_updated",
        TrustScoreChanged => "trust_score_changed",
    }
    PullRequest PullRequestEvent {
        PullRequestOpened => "github_pr_opened",
        PullRequestMerged => "github_pr_merged",
        PullRequestClosed => "github_pr_closed",
        // Not worth an entry.
        - PullRequestDetailsChanged | PullRequestReviewed | PullRequestLintFailed | PullRequestLintPassed
            | PullRequestReopened,
    }
    Repository RepositoryEvent {
        IssueAssigned => "github_issue_assigned",
        IssueCommented => "github_comment",
        // Not worth an entry.
        - CommitsPushed | DeploymentStatusReported | IssueLabelled,
    }
    Mail MailEvent {
        // To people only: what agents write to each other is in their inboxes.
        MailSent => "mail_received",
        - MailRead,
    }
    ToolCall ToolCallEvent {
        // Only where somebody was told of it: thousands of calls are in the decision log.
        ToolFailed => "tool_failed",
        - ToolCalled | ToolCallRepeated | ToolSucceeded,
    }
    Notification NotificationEvent {
        // What they tell of is on the timeline itself.
        NotificationFailed => "notification_failed",
        - NotificationRaised | NotificationWithheld | NotificationTaken | NotificationDelivered | NotificationDisallowed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_rows_of_the_table_share_a_name() {
        let names: std::collections::BTreeSet<_> = TYPES.iter().collect();
        assert_eq!(names.len(), TYPES.len());
    }
}
