//! The public names of events: what each domain event is called on the timeline.

use domain::agent::AgentEvent;
use domain::project::ProjectEvent;
use domain::pull_request::PullRequestEvent;
use domain::repository::RepositoryEvent;
use domain::scorecard::ScorecardEvent;
use domain::session::SessionEvent;
use domain::task::TaskEvent;
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
                    | UserEvent::UserReinstated { .. },
                ) => None,
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
        WorkspaceDetailsChanged => "workspace_updated",
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
