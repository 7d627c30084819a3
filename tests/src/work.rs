//! An agent at work: tasks, pull requests, deployments and sessions, made with real commands at the time of a clock.

use std::sync::Arc;

use chrono::{DateTime, TimeDelta, Utc};
use commands::session::{StartSession, StopSession};
use commands::task::{AssignTask, CreateTask, Move, MoveTask};
use commands::{Actor, CommandError, Context, Decision, Executor, On};
use domain::github::Login;
use domain::pull_request::{
    CheckPullRequest, ClosePullRequest, DescribePullRequest, GithubPullRequest, MergePullRequest, PullRequest,
    PullRequestCommand, ReviewPullRequest,
};
use domain::repository::{
    DeploymentState, LabelIssue, PushCommits, ReportDeployment, Repository, RepositoryCommand, RepositoryOf,
};
use domain::session::{Caller, NamedAgent, Publication, Publish, ReviewResponse, Session, SessionCommand};
use domain::task::GithubIssue;
use domain::{AgentId, ProjectId, PullRequestId, ReviewDecision, SessionId, Settings, TaskId, UserId, WorkspaceId};
use store::Clock;

use crate::fleet::new;

/// An agent, where it works, and for whom.
#[derive(Clone)]
pub struct Work {
    /// Runs the commands.
    pub executor: Arc<Executor>,
    /// Tells when they are given.
    pub clock: Clock,
    /// Owns the workspace.
    pub owner: UserId,
    /// Where the agent belongs.
    pub workspace_id: WorkspaceId,
    /// Where it works.
    pub project_id: ProjectId,
    /// Who works.
    pub agent_id: AgentId,
}

impl Work {
    /// The same place, another agent.
    pub fn of(&self, agent_id: AgentId) -> Self {
        Self { agent_id, ..self.clone() }
    }

    /// Lets time pass.
    pub fn pass(&self, time: TimeDelta) {
        self.clock.set(self.clock.now() + time);
    }

    /// Adds a task, with the issue that it is, and gives it to the agent.
    pub async fn task(&self, issue: Option<i64>) -> TaskId {
        let task_id = new();
        let create = CreateTask {
            by: self.owner,
            task_id,
            project_id: self.project_id,
            github_issue: issue.map(self::issue),
            title: "Add a basket".to_owned(),
            description: None,
            priority: None,
            deadline: None,
            success_criteria: vec![],
            metadata: Settings::new(),
        };
        self.run(&create).await.expect("a task");
        self.assign(task_id).await;
        task_id
    }

    /// Gives a task to the agent; says where the log then is.
    pub async fn assign(&self, task_id: TaskId) -> i64 {
        let assign = AssignTask { by: self.owner, task_id, agent_id: self.agent_id };
        self.run(&assign).await.expect("an assignment")
    }

    /// The agent begins with its task.
    pub async fn start(&self, task_id: TaskId) -> i64 {
        self.moves(task_id, Move::Start).await
    }

    /// The agent is done with its task.
    pub async fn complete(&self, task_id: TaskId) -> i64 {
        self.moves(task_id, Move::Complete { success_criteria_met: vec![] }).await
    }

    /// The agent opens a pull request that adds so many lines.
    pub async fn opens(&self, number: i64, task_id: Option<TaskId>, additions: i64, labels: &[&str]) -> i64 {
        let now_is = self.pull_request(number, task_id, additions, labels);
        self.tell(number, PullRequestCommand::Describe(DescribePullRequest { now_is })).await
    }

    /// Somebody reviews a pull request on GitHub.
    pub async fn reviews(&self, number: i64, review_id: i64, decision: ReviewDecision) -> i64 {
        let reviewer = Login::new("ada");
        let submitted_at = self.now();
        let review = ReviewPullRequest { review_id, reviewer, reviewer_agent_id: None, decision, submitted_at };
        self.tell(number, PullRequestCommand::Review(review)).await
    }

    /// A linter finds something in a pull request.
    pub async fn lint_fails(&self, number: i64) -> i64 {
        let (check_name, completed_at) = ("lint".to_owned(), self.now());
        let check = CheckPullRequest { check_id: number, check_name, failed: true, completed_at };
        self.tell(number, PullRequestCommand::Check(check)).await
    }

    /// A pull request is closed without a merge.
    pub async fn rejects(&self, number: i64) -> i64 {
        let now_is = self.pull_request(number, None, 1, &[]);
        let close = ClosePullRequest { now_is, closed_by: Login::new("ada"), closed_at: self.now() };
        self.tell(number, PullRequestCommand::Close(close)).await
    }

    /// A pull request is merged as a commit.
    pub async fn merges(&self, number: i64, additions: i64, sha: &str) -> i64 {
        let now_is = self.pull_request(number, None, additions, &[]);
        let (merged_by, merge_commit_sha) = (Login::new("ada"), Some(sha.to_owned()));
        let merge = MergePullRequest { now_is, merged_by, merge_commit_sha, merged_at: self.now() };
        self.tell(number, PullRequestCommand::Merge(merge)).await
    }

    /// The agent pushes a commit.
    pub async fn pushes(&self, sha: &str) -> i64 {
        self.hear(RepositoryCommand::Push(PushCommits {
            of: self.repository(),
            git_ref: "refs/heads/main".to_owned(),
            head_sha: sha.to_owned(),
            commits: vec![sha.to_owned()],
            pusher: Login::new("dev"),
            agent_id: Some(self.agent_id),
            pushed_at: self.now(),
        }))
        .await
    }

    /// A deployment of a commit fails.
    pub async fn fails_to_deploy(&self, deployment_id: i64, status_id: i64, sha: &str) -> i64 {
        self.hear(RepositoryCommand::ReportDeployment(ReportDeployment {
            of: self.repository(),
            deployment_id,
            status_id,
            state: DeploymentState::Failure,
            sha: sha.to_owned(),
            environment: "production".to_owned(),
            reported_at: self.now(),
        }))
        .await
    }

    /// An issue gets these labels.
    pub async fn labels(&self, issue: i64, labels: &[&str]) -> i64 {
        self.hear(RepositoryCommand::LabelIssue(LabelIssue {
            of: self.repository(),
            issue: self::issue(issue),
            labels: labels.iter().map(|it| (*it).to_owned()).collect(),
            labelled_at: self.now(),
        }))
        .await
    }

    /// The agent starts a session.
    pub async fn starts_session(&self) -> SessionId {
        let session_id = new();
        let (agent_id, project_id) = (self.agent_id, self.project_id);
        let start =
            StartSession { session_id, agent_id, project_id, tasks: 0, messages: 0, delivered_up_to: 0, told: None };
        self.run(&start).await.expect("a session");
        session_id
    }

    /// The agent stops its session; says where the log then is.
    pub async fn stops_session(&self, session_id: SessionId, tasks_worked_on: Vec<TaskId>) -> i64 {
        let stop = StopSession { by: self.caller(), session_id, tasks_worked_on, summary: None };
        self.run(&stop).await.expect("the end of a session")
    }

    /// The agent says in its session what it thinks of a pull request.
    pub async fn responds(&self, session_id: SessionId, number: i64, decision: ReviewDecision) -> i64 {
        let response = ReviewResponse {
            pull_request_id: PullRequestId::of(self.project_id, number),
            reviewer: NamedAgent { agent_id: self.agent_id, agent_name: "reviewer".to_owned() },
            decision,
            comments: None,
            requested_changes: None,
            reviewed_at: self.now(),
        };
        let (publication, now) = (Publication::ReviewResponse(response), self.now());
        let publish = Publish { by: self.caller(), publication, mentions: vec![], supervisor_agent_id: None, now };
        let command = SessionCommand::Publish(publish);
        self.run(&On::<Session> { name: "event.publish", id: session_id.0, command }).await.expect("a review")
    }

    async fn moves(&self, task_id: TaskId, to: Move) -> i64 {
        let step = MoveTask { by: self.caller(), task_id, session_id: None, to };
        self.run(&step).await.expect("a move")
    }

    async fn tell(&self, number: i64, command: PullRequestCommand) -> i64 {
        let id = PullRequestId::of(self.project_id, number).0;
        self.run(&On::<PullRequest> { name: "github.pullRequest", id, command }).await.expect("news of a pull request")
    }

    async fn hear(&self, command: RepositoryCommand) -> i64 {
        let id = self.project_id.0;
        self.run(&On::<Repository> { name: "github.repository", id, command }).await.expect("news of a repository")
    }

    async fn run(&self, decision: &impl Decision) -> Result<i64, CommandError> {
        let context = Context::new(Actor::User(self.owner), self.now());
        Ok(self.executor.run(&context, decision).await?.position)
    }

    fn now(&self) -> DateTime<Utc> {
        self.clock.now()
    }

    fn caller(&self) -> Caller {
        Caller { agent_id: self.agent_id, workspace_id: self.workspace_id }
    }

    fn repository(&self) -> RepositoryOf {
        RepositoryOf { workspace_id: self.workspace_id, project_id: self.project_id }
    }

    fn pull_request(&self, number: i64, task: Option<TaskId>, additions: i64, labels: &[&str]) -> GithubPullRequest {
        GithubPullRequest {
            workspace_id: self.workspace_id,
            project_id: self.project_id,
            number,
            url: format!("https://github.com/acme/shop/pull/{number}"),
            title: "Add a basket".to_owned(),
            author: Login::new("dev"),
            agent_id: Some(self.agent_id),
            linked_task_id: task,
            repository: "acme/shop".to_owned(),
            labels: labels.iter().map(|it| (*it).to_owned()).collect(),
            additions,
            deletions: 0,
            changed_files: 1,
            opened_at: self.now(),
            updated_at: self.now(),
        }
    }
}

fn issue(number: i64) -> GithubIssue {
    GithubIssue { id: 9000 + number, number }
}
