//! Every error code that an answer can carry, with its status: the document's first, then the design's own.

use axum::http::StatusCode;

macro_rules! codes {
    ($($(#[$doc:meta])* $name:ident = $status:literal $text:literal)+) => {
        /// What went wrong, in the words that clients match on.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Code {
            $($(#[$doc])* $name,)+
        }

        impl Code {
            /// All of them.
            pub const ALL: &'static [Code] = &[$(Code::$name),+];

            /// The code as it stands in an error body.
            pub fn text(self) -> &'static str {
                match self { $(Code::$name => $text,)+ }
            }

            /// The status it is answered with.
            pub fn status(self) -> StatusCode {
                let status = match self { $(Code::$name => $status,)+ };
                StatusCode::from_u16(status).expect("the table holds real statuses")
            }
        }
    };
}

codes! {
    /// Another account has this e-mail address.
    AuthEmailAlreadyExists = 409 "AUTH_EMAIL_ALREADY_EXISTS"
    /// The password is too short.
    AuthWeakPassword = 400 "AUTH_WEAK_PASSWORD"
    /// The e-mail address or the password is wrong.
    AuthInvalidCredentials = 401 "AUTH_INVALID_CREDENTIALS"
    /// The account may not be used for now.
    AuthAccountSuspended = 403 "AUTH_ACCOUNT_SUSPENDED"
    /// Nobody is signed in, or the cookie or key is not a good one.
    AuthInvalidToken = 401 "AUTH_INVALID_TOKEN"
    /// The session has run out.
    AuthSessionExpired = 401 "AUTH_SESSION_EXPIRED"
    /// This server offers no sign-in with GitHub.
    AuthGithubNotConfigured = 404 "AUTH_GITHUB_NOT_CONFIGURED"
    /// The sign-in with GitHub was not begun in this browser, took too long, or has been finished before.
    AuthGithubStateInvalid = 400 "AUTH_GITHUB_STATE_INVALID"
    /// The person or GitHub refused the sign-in.
    AuthGithubDenied = 403 "AUTH_GITHUB_DENIED"
    /// GitHub knows no verified primary e-mail address of the person.
    AuthGithubEmailUnverified = 403 "AUTH_GITHUB_EMAIL_UNVERIFIED"
    /// GitHub could not be asked, or gave an answer that makes no sense.
    AuthGithubFailed = 502 "AUTH_GITHUB_FAILED"

    /// This server takes no webhooks from GitHub.
    GithubWebhookNotConfigured = 404 "GITHUB_WEBHOOK_NOT_CONFIGURED"
    /// The webhook is not signed with the secret that GitHub and this server share.
    GithubWebhookSignatureInvalid = 401 "GITHUB_WEBHOOK_SIGNATURE_INVALID"

    /// There is no such workspace.
    WorkspaceNotFound = 404 "WORKSPACE_NOT_FOUND"
    /// The workspace is out of the caller's reach.
    WorkspaceAccessDenied = 403 "WORKSPACE_ACCESS_DENIED"
    /// Another workspace has the slug.
    WorkspaceSlugAlreadyExists = 409 "WORKSPACE_SLUG_ALREADY_EXISTS"
    /// The slug is not one.
    WorkspaceInvalidSlug = 400 "WORKSPACE_INVALID_SLUG"
    /// The workspace still has projects or agents.
    WorkspaceNotEmpty = 400 "WORKSPACE_NOT_EMPTY"

    /// There is no such project.
    ProjectNotFound = 404 "PROJECT_NOT_FOUND"
    /// The project is out of the caller's reach.
    ProjectAccessDenied = 403 "PROJECT_ACCESS_DENIED"
    /// Another project of the workspace has the slug.
    ProjectSlugAlreadyExists = 409 "PROJECT_SLUG_ALREADY_EXISTS"
    /// Another project has the repository.
    ProjectRepositoryAlreadyLinked = 409 "PROJECT_REPOSITORY_ALREADY_LINKED"
    /// GitHub has no installation of this number.
    ProjectInvalidGithubInstallation = 400 "PROJECT_INVALID_GITHUB_INSTALLATION"
    /// Agents may still work in the project.
    ProjectHasActiveAgents = 400 "PROJECT_HAS_ACTIVE_AGENTS"
    /// The project has tasks that are not over.
    ProjectHasActiveTasks = 400 "PROJECT_HAS_ACTIVE_TASKS"

    /// There is no such agent.
    AgentNotFound = 404 "AGENT_NOT_FOUND"
    /// The agent is out of the caller's reach.
    AgentAccessDenied = 403 "AGENT_ACCESS_DENIED"
    /// Another agent of the workspace has the code.
    AgentCodeAlreadyExists = 409 "AGENT_CODE_ALREADY_EXISTS"
    /// The agent's level and project do not fit.
    AgentInvalidLevel = 400 "AGENT_INVALID_LEVEL"
    /// The agent may not work.
    AgentInactive = 403 "AGENT_INACTIVE"

    /// The agent has an active session.
    AgentHasActiveSession = 400 "AGENT_HAS_ACTIVE_SESSION"
    /// The agent has tasks that are not over.
    AgentHasAssignedTasks = 400 "AGENT_HAS_ASSIGNED_TASKS"
    /// Only agents of the organization level may do this.
    AgentNotOrganizationLevel = 403 "AGENT_NOT_ORGANIZATION_LEVEL"
    /// The session is another agent's.
    AgentSessionMismatch = 403 "AGENT_SESSION_MISMATCH"

    /// There is no such session.
    SessionNotFound = 404 "SESSION_NOT_FOUND"
    /// The session is out of the caller's reach.
    SessionAccessDenied = 403 "SESSION_ACCESS_DENIED"
    /// The session is over.
    SessionAlreadyStopped = 400 "SESSION_ALREADY_STOPPED"

    /// There is no such task.
    TaskNotFound = 404 "TASK_NOT_FOUND"
    /// The task is out of the caller's reach, or another agent's.
    TaskAccessDenied = 403 "TASK_ACCESS_DENIED"
    /// The GitHub issue is linked to another task.
    TaskAlreadyExists = 409 "TASK_ALREADY_EXISTS"
    /// The agent does not work in the task's project.
    TaskInvalidAgentAssignment = 400 "TASK_INVALID_AGENT_ASSIGNMENT"
    /// A task does not go from its status to that one; `details` names both.
    TaskInvalidTransition = 400 "TASK_INVALID_TRANSITION"

    /// A task of an epic does not go from its state to that one; `details` names both.
    TaskInvalidStateTransition = 409 "TASK_INVALID_STATE_TRANSITION"
    /// The task is part of an epic, whose agents move it.
    TaskInEpic = 409 "TASK_IN_EPIC"
    /// The task is not an open task of that epic, or of any.
    TaskNotInEpic = 409 "TASK_NOT_IN_EPIC"
    /// The pull request that was reviewed is not the one that the task has.
    TaskPullRequestMismatch = 409 "TASK_PULL_REQUEST_MISMATCH"

    /// There is no such epic.
    EpicNotFound = 404 "EPIC_NOT_FOUND"
    /// The epic is out of the caller's reach.
    EpicAccessDenied = 403 "EPIC_ACCESS_DENIED"
    /// An epic does not go from its state to that one; `details` names both.
    EpicInvalidStateTransition = 409 "EPIC_INVALID_STATE_TRANSITION"
    /// Only an epic in progress allows this; `details` names its state.
    EpicNotInProgress = 409 "EPIC_NOT_IN_PROGRESS"
    /// Only the first pull request in the review queue is reviewed; `details` names its task.
    EpicNotFirstInQueue = 409 "EPIC_NOT_FIRST_IN_QUEUE"
    /// Tasks of the epic are not over; `details` says how many.
    EpicTasksOpen = 409 "EPIC_TASKS_OPEN"
    /// No task of the epic was merged.
    EpicNothingMerged = 409 "EPIC_NOTHING_MERGED"

    /// The agent has no place in the factory.
    AgentNotPosted = 404 "AGENT_NOT_POSTED"
    /// The agent was relieved of its post, or its work there is over.
    AgentRelieved = 403 "AGENT_RELIEVED"
    /// The agent was started already, or was heard of though its bench did not start it.
    AgentAlreadyLaunched = 409 "AGENT_ALREADY_LAUNCHED"
    /// Agents of this kind may not use the tool, nor the route that shows the same.
    ToolNotAllowed = 403 "TOOL_NOT_ALLOWED"

    /// Other work on the same task, epic or agent is under way.
    ErrandUnderway = 409 "ERRAND_UNDERWAY"

    /// There is no such wiki entry.
    WikiEntryNotFound = 404 "WIKI_ENTRY_NOT_FOUND"
    /// The wiki entry is out of the caller's reach.
    WikiEntryAccessDenied = 403 "WIKI_ENTRY_ACCESS_DENIED"
    /// Another wiki entry has the slug.
    WikiEntrySlugAlreadyExists = 409 "WIKI_ENTRY_SLUG_ALREADY_EXISTS"
    /// The wiki entry is approved.
    WikiEntryAlreadyApproved = 400 "WIKI_ENTRY_ALREADY_APPROVED"
    /// The wiki entry is rejected.
    WikiEntryAlreadyRejected = 400 "WIKI_ENTRY_ALREADY_REJECTED"
    /// The wiki entry is not the current version of its slug.
    WikiEntryNotCurrent = 409 "WIKI_ENTRY_NOT_CURRENT"

    /// There is no such mail.
    MailNotFound = 404 "MAIL_NOT_FOUND"
    /// The mail is out of the caller's reach.
    MailAccessDenied = 403 "MAIL_ACCESS_DENIED"
    /// The mail is an agent's: its owner may look at it, but only the agent reads it.
    MailNotAddressee = 403 "MAIL_NOT_ADDRESSEE"
    /// Nothing is left of the mail without what is not text.
    MailEmpty = 400 "MAIL_EMPTY"
    /// Muster wrote the mail, and reads no answers.
    MailNoReply = 400 "MAIL_NO_REPLY"

    /// No KPIs of the agent were calculated yet.
    KpiNotFound = 404 "KPI_NOT_FOUND"

    /// There is no such timeline entry.
    EventNotFound = 404 "EVENT_NOT_FOUND"
    /// The timeline entry is out of the caller's reach.
    EventAccessDenied = 403 "EVENT_ACCESS_DENIED"

    /// Nothing was recorded of such an aggregate, or not yet at that moment.
    AggregateNotFound = 404 "AGGREGATE_NOT_FOUND"
    /// The aggregate is out of the caller's reach.
    AggregateAccessDenied = 403 "AGGREGATE_ACCESS_DENIED"
    /// The answer would take more events of one stream than are read for one.
    HistoryTooLong = 400 "HISTORY_TOO_LONG"

    /// Only the workspace's owner may do this.
    NotCeo = 403 "NOT_CEO"
    /// Something is broken on our side.
    InternalError = 500 "INTERNAL_ERROR"
    /// The request is not well formed; `details` names every bad field.
    ValidationError = 400 "VALIDATION_ERROR"

    /// There is no such route.
    NotFound = 404 "NOT_FOUND"
    /// The route has another method.
    MethodNotAllowed = 405 "METHOD_NOT_ALLOWED"
    /// The server shows the past, which takes no commands and does not move.
    ServingThePast = 405 "SERVING_THE_PAST"
    /// The answer would take more events of the past than are read for one; `muster serve --as-of` has no such limit.
    PastTooLong = 400 "PAST_TOO_LONG"
    /// Another change came first.
    ConcurrencyConflict = 409 "CONCURRENCY_CONFLICT"
    /// The `Idempotency-Key` was used for another request.
    IdempotencyKeyReused = 422 "IDEMPOTENCY_KEY_REUSED"
    /// The body is too large.
    PayloadTooLarge = 413 "PAYLOAD_TOO_LARGE"
    /// The body is not JSON by its content type.
    UnsupportedMediaType = 415 "UNSUPPORTED_MEDIA_TYPE"
    /// Too many requests.
    RateLimited = 429 "RATE_LIMITED"
    /// The store does not answer, or a read model is not there yet.
    Unavailable = 503 "UNAVAILABLE"
    /// A browser sent the command from another site.
    CrossSiteRequest = 403 "CROSS_SITE_REQUEST"
    /// The cursor is from an earlier life of the log.
    CursorStale = 410 "CURSOR_STALE"
}
