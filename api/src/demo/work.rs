//! What agents of the story do all day: take tasks, hold sessions, open pull requests, write pages.

use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use commands::session::{StartSession, StopSession};
use commands::task::{AssignTask, CreateTask, Move, MoveTask};
use commands::wiki::{ApproveEntry, ProposeEntry};
use commands::{Actor, Context, Decision, On};
use domain::github::Login;
use domain::pull_request::{
    CheckPullRequest, GithubPullRequest, MergePullRequest, PullRequest, PullRequestCommand, ReviewPullRequest,
};
use domain::session::{Caller, LogProgress, Session, SessionCommand};
use domain::task::{GithubIssue, Priority};
use domain::wiki::{self, Author};
use domain::{AgentId, ProjectId, ReviewDecision, SessionId, Settings, Slug, TaskId, UserId, WikiEntryId, WorkspaceId};
use uuid::Uuid;

use super::story::Story;

/// How long the story waits for what follows from it.
const PATIENCE: Duration = Duration::from_secs(10);

/// An agent at work.
#[derive(Clone, Copy)]
pub(super) struct Worker {
    pub(super) agent_id: AgentId,
    pub(super) workspace_id: WorkspaceId,
    pub(super) project_id: ProjectId,
    pub(super) login: &'static str,
}

/// A pull request of the story.
pub(super) struct Proposal<'a> {
    pub(super) number: i64,
    pub(super) title: &'a str,
    pub(super) task: Option<TaskId>,
    /// How often changes are requested before it is approved.
    pub(super) rounds: usize,
    pub(super) fails_lint: bool,
}

impl Story<'_> {
    /// A task from an issue on GitHub, given to an agent.
    pub(super) async fn give(
        &self,
        owner: UserId,
        worker: &Worker,
        number: i64,
        title: &str,
        priority: Priority,
    ) -> anyhow::Result<TaskId> {
        let task_id = TaskId(Uuid::now_v7());
        let create = CreateTask {
            by: owner,
            task_id,
            project_id: worker.project_id,
            github_issue: Some(GithubIssue { id: 880_000 + number, number }),
            title: title.to_owned(),
            description: None,
            priority: Some(priority),
            deadline: Some(self.now() + TimeDelta::days(4)),
            success_criteria: vec!["tests pass".to_owned(), "reviewed".to_owned()],
            metadata: Settings::new(),
        };
        self.tell(owner, &create).await?;
        self.tell(owner, &AssignTask { by: owner, task_id, agent_id: worker.agent_id }).await?;
        self.settle().await?;
        Ok(task_id)
    }

    /// A session in which a task is done, an hour and a half from now.
    pub(super) async fn work_on(&self, worker: &Worker, task_id: TaskId, said: &[&str]) -> anyhow::Result<()> {
        let by = Caller { agent_id: worker.agent_id, workspace_id: worker.workspace_id };
        let session_id = SessionId(Uuid::now_v7());
        let start = StartSession {
            session_id,
            agent_id: worker.agent_id,
            project_id: worker.project_id,
            tasks: 1,
            messages: 0,
            delivered_up_to: self.head().await?,
            told: None,
        };
        self.tell_as(worker, &start).await?;
        let advance = |to| MoveTask { by, task_id, session_id: Some(session_id), to };
        self.tell_as(worker, &advance(Move::Start)).await?;
        for line in said {
            self.later(TimeDelta::minutes(90 / said.len().max(1) as i64));
            let log = LogProgress { by, message: (*line).to_owned(), context: None, now: self.now() };
            let log = SessionCommand::Log(log);
            self.tell_as(worker, &On::<Session> { name: "session.log", id: session_id.0, command: log }).await?;
        }
        let met = vec!["tests pass".to_owned(), "reviewed".to_owned()];
        self.tell_as(worker, &advance(Move::Complete { success_criteria_met: met })).await?;
        self.settle().await?;
        let summary = said.last().map(|it| (*it).to_owned());
        let stop = StopSession { by, session_id, tasks_worked_on: vec![task_id], summary };
        self.tell_as(worker, &stop).await?;
        self.settle().await
    }

    /// A pull request from its opening to its merge, as GitHub tells of it.
    pub(super) async fn propose(&self, worker: &Worker, proposal: Proposal<'_>) -> anyhow::Result<()> {
        let opened_at = self.now();
        let now_is = |updated_at| GithubPullRequest {
            workspace_id: worker.workspace_id,
            project_id: worker.project_id,
            number: proposal.number,
            url: format!("https://github.com/muster-demo/fleet/pull/{}", proposal.number),
            title: proposal.title.to_owned(),
            author: Login::new(worker.login),
            agent_id: Some(worker.agent_id),
            linked_task_id: proposal.task,
            repository: "muster-demo/fleet".to_owned(),
            labels: vec![],
            additions: 40 + proposal.number % 90,
            deletions: proposal.number % 35,
            changed_files: 1 + proposal.number % 7,
            opened_at,
            updated_at,
        };
        let id = now_is(opened_at).id().0;
        let told = |command| On::<PullRequest> { name: "github.pull_request", id, command };
        let describe = domain::pull_request::DescribePullRequest { now_is: now_is(opened_at) };
        self.tell_as_github(&told(PullRequestCommand::Describe(describe))).await?;
        if proposal.fails_lint {
            self.later(TimeDelta::minutes(6));
            let check = CheckPullRequest {
                check_id: 70_000 + proposal.number,
                check_name: "lint".to_owned(),
                failed: true,
                completed_at: self.now(),
            };
            self.tell_as_github(&told(PullRequestCommand::Check(check))).await?;
        }
        for round in 0..=proposal.rounds {
            self.later(TimeDelta::minutes(25));
            let last = round == proposal.rounds;
            let review = ReviewPullRequest {
                review_id: 10 * (90_000 + proposal.number) + round as i64,
                reviewer: Login::new("ada-architect"),
                reviewer_agent_id: None,
                decision: if last { ReviewDecision::Approve } else { ReviewDecision::RequestChanges },
                submitted_at: self.now(),
            };
            self.tell_as_github(&told(PullRequestCommand::Review(review))).await?;
        }
        self.later(TimeDelta::minutes(5));
        let merge = MergePullRequest {
            now_is: now_is(self.now()),
            merged_by: Login::new("ada-architect"),
            merge_commit_sha: None,
            merged_at: self.now(),
        };
        self.tell_as_github(&told(PullRequestCommand::Merge(merge))).await?;
        self.settle().await
    }

    /// A page that an organization agent writes and the owner approves.
    pub(super) async fn page(
        &self,
        owner: UserId,
        workspace_id: WorkspaceId,
        author: AgentId,
        title: &str,
        slug: &str,
        content: &str,
    ) -> anyhow::Result<()> {
        let entry_id = WikiEntryId(Uuid::now_v7());
        let entry = wiki::ProposeEntry {
            entry_id,
            workspace_id,
            project_id: None,
            by: Author::Agent(author),
            level: None,
            title: title.to_owned(),
            slug: Slug::parse(slug)?,
            content: content.to_owned(),
            tags: vec!["handbook".to_owned()],
            now: self.now(),
        };
        self.tell_by(Actor::Agent(author), &ProposeEntry { entry }).await?;
        self.later(TimeDelta::minutes(40));
        self.tell(owner, &ApproveEntry { by: owner, entry_id }).await
    }

    /// Waits until everything has followed that follows, so that it stands at its own time in the log.
    async fn settle(&self) -> anyhow::Result<()> {
        loop {
            let head = self.head().await?;
            for reactor in self.app.reactors.status() {
                if !self.app.reactors.wait_for(reactor.name, head, PATIENCE).await {
                    anyhow::bail!("{} does not keep up: {:?}", reactor.name, reactor.last_error);
                }
            }
            if self.head().await? == head {
                return Ok(());
            }
        }
    }

    async fn head(&self) -> anyhow::Result<i64> {
        Ok(self.app.log.head().await?.position)
    }

    fn now(&self) -> DateTime<Utc> {
        self.clock.now()
    }

    async fn tell_as<D: Decision>(&self, worker: &Worker, decision: &D) -> anyhow::Result<()> {
        self.tell_by(Actor::Agent(worker.agent_id), decision).await
    }

    async fn tell_as_github<D: Decision>(&self, decision: &D) -> anyhow::Result<()> {
        self.tell_by(Actor::System("github"), decision).await
    }

    async fn tell_by<D: Decision>(&self, actor: Actor, decision: &D) -> anyhow::Result<()> {
        self.app.executor.run(&Context::new(actor, self.now()), decision).await?;
        Ok(())
    }
}
