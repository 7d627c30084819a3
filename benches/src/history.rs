//! A long and believable history, made fast: real events of a working fleet, many commits in flight at a time.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use anyhow::{Result, ensure};
use chrono::{DateTime, Utc};
use cqrs_es::event_sink::EventSink;
use cqrs_es::{Aggregate, DomainEvent};
use domain::agent::AgentStatus;
use domain::pull_request::{PullRequest, PullRequestEvent};
use domain::scorecard::{RecordKpi, RecordTrust, Scorecard, ScorecardCommand};
use domain::scores::{KpiInputs, ScorePolicy};
use domain::session::{
    AgentSnapshot, NamedAgent, ProblemCategory, ProblemContext, ProblemReport, PulledCounts, Question, QuestionContext,
    ReviewResponse, Session, SessionEvent, Urgency,
};
use domain::task::{Assigner, CompletionCause, Priority, Task, TaskEvent};
use domain::wiki::{Author, WikiEntry, WikiEvent};
use domain::{
    AgentId, ProjectId, PullRequestId, ReviewDecision, SessionId, Settings, Severity, Slug, TaskId, UserId,
    WikiEntryId, WorkspaceId,
};
use muster_tests::fleet::{Fleet, new};
use serde_json::json;
use store::{Commit, EventLog, NewEvent, StreamAppend, StreamId};
use uuid::Uuid;

/// Agents that work at the same time, and so commits in flight.
const AGENTS: usize = 96;
const PROJECTS: usize = 8;
/// What an agent says it does in one half of a session.
const LOGS: usize = 20;
const SAID: &str = "Read the basket service and its tests; the merge happens in two places, and only one of them keeps \
    the quantities. Next: one function for both, with a test for each of the four cases.";

/// Who works: people and agents that real commands have made.
#[derive(Debug, Clone)]
pub(crate) struct Crew {
    pub(crate) owner: UserId,
    pub(crate) workspace: WorkspaceId,
    pub(crate) projects: Vec<ProjectId>,
    /// The first one hears of the others' problems.
    pub(crate) agents: Vec<AgentId>,
}

impl Crew {
    /// Makes an owner, a workspace, projects and agents.
    pub(crate) async fn found(log: &Arc<EventLog>) -> Result<Self> {
        let fleet = Fleet::on(log.clone());
        let workspace = fleet.workspace(&format!("acme-{}", fleet.owner.0.simple())).await?;
        let (mut projects, mut agents) = (vec![], vec![]);
        for n in 0..PROJECTS {
            projects.push(fleet.project(workspace, &format!("shop-{n}")).await?);
        }
        for n in 0..AGENTS {
            let supervisor = agents.first().copied();
            agents.push(fleet.agent(workspace, Some(projects[n % PROJECTS]), &format!("dev-{n}"), supervisor).await?);
        }
        Ok(Self { owner: fleet.owner, workspace, projects, agents })
    }
}

/// Appends at least so many events of the crew at work. Reactors are told that they have dealt with all of it.
pub(crate) async fn fill(log: &Arc<EventLog>, crew: &Crew, events: usize) -> Result<()> {
    ensure!(!crew.agents.is_empty() && !crew.projects.is_empty(), "nobody is there to work");
    let missing = Arc::new(AtomicI64::new(i64::try_from(events)?));
    let crew = Arc::new(crew.clone());
    let mut work = tokio::task::JoinSet::new();
    for n in 0..crew.agents.len() {
        let (log, missing, mut worker) = (log.clone(), missing.clone(), Worker::new(crew.clone(), n));
        work.spawn(async move {
            while missing.load(Ordering::Relaxed) > 0 {
                let mut appends = worker.finish().await;
                worker.begin(&mut appends);
                missing.fetch_sub(commit(&log, appends).await?, Ordering::Relaxed);
            }
            commit(&log, worker.finish().await).await
        });
    }
    while let Some(done) = work.join_next().await {
        done??;
    }
    let head = log.head().await?.position;
    for reactor in reactors::all() {
        let from = log.reactor_checkpoint(reactor.name()).await?;
        log.move_reactor_checkpoint(reactor.name(), from, head).await?;
    }
    Ok(())
}

async fn commit(log: &EventLog, appends: Vec<StreamAppend>) -> Result<i64> {
    if appends.is_empty() {
        return Ok(0);
    }
    let receipt = log.commit(Commit { appends, ..Commit::default() }).await?;
    Ok(receipt.last - receipt.first + 1)
}

/// An agent at work: one session after the other, each with two tasks.
struct Worker {
    crew: Arc<Crew>,
    number: usize,
    agent: AgentId,
    project: ProjectId,
    turn: usize,
    open: Option<Open>,
    scorecard: Scorecard,
    /// How long its scorecard is.
    recorded: i64,
}

/// What the agent is in the middle of.
struct Open {
    session: SessionId,
    said: i64,
    tasks: [TaskId; 2],
}

impl Worker {
    fn new(crew: Arc<Crew>, number: usize) -> Self {
        let (agent, project) = (crew.agents[number], crew.projects[number % crew.projects.len()]);
        Self { crew, number, agent, project, turn: 0, open: None, scorecard: Scorecard::Blank, recorded: 0 }
    }

    /// Takes up two tasks in a new session.
    fn begin(&mut self, appends: &mut Vec<StreamAppend>) {
        let now = Utc::now();
        let (session, tasks) = (new(), [new(), new()]);
        for task in tasks {
            let events = self.task_begun(task, session, now);
            appends.push(self.append::<Task>(task.0, 0, events));
        }
        let started = SessionEvent::SessionStarted {
            session_id: session,
            workspace_id: self.crew.workspace,
            project_id: self.project,
            agent_id: self.agent,
            is_organization_level: false,
            pulled: PulledCounts { tasks: 2, messages: 1, role_changes: 0 },
            delivered_up_to: 0,
            agent_snapshot: AgentSnapshot { capabilities: vec!["rust".into(), "sql".into()], ..Default::default() },
            started_at: now,
        };
        let mut events = vec![started];
        events.extend(logs(now));
        events.extend(self.told(tasks[0], now));
        let said = events.len() as i64;
        appends.push(self.append::<Session>(session.0, 0, events));
        self.open = Some(Open { session, said, tasks });
    }

    /// Ends the session, and what comes of it; nothing when there is none.
    async fn finish(&mut self) -> Vec<StreamAppend> {
        let Some(Open { session, said, tasks }) = self.open.take() else { return vec![] };
        let (now, turn) = (Utc::now(), self.turn);
        self.turn += 1;
        let mut appends = vec![];
        for task in tasks {
            appends.push(self.append::<Task>(task.0, 3, vec![self.completed(session, now)]));
        }
        let pull_request: PullRequestId = new();
        let mut events = logs(now);
        if turn % 2 == 0 {
            let opened = self.pull_request(pull_request, tasks[0], now);
            appends.push(self.append::<PullRequest>(pull_request.0, 0, opened));
            events.push(self.reviewed(pull_request, now));
        }
        events.push(SessionEvent::SessionStopped {
            duration_seconds: 1_800,
            tasks_worked_on: tasks.to_vec(),
            summary: Some("Merged the two baskets and wrote the tests.".to_owned()),
            stopped_at: now,
        });
        appends.push(self.append::<Session>(session.0, said, events));
        if turn % 4 == 0 {
            appends.extend(self.score(turn, now).await);
        }
        if turn % 16 == 0 {
            appends.push(self.wiki(now));
        }
        appends
    }

    fn task_begun(&self, task: TaskId, session: SessionId, now: DateTime<Utc>) -> Vec<TaskEvent> {
        vec![
            TaskEvent::TaskCreated {
                task_id: task,
                workspace_id: self.crew.workspace,
                project_id: self.project,
                github_issue: None,
                title: title(self.turn),
                description: Some(SAID.to_owned()),
                priority: Priority::P1,
                deadline: None,
                success_criteria: vec!["All four cases have a test".to_owned()],
                metadata: Settings::new(),
                created_at: now,
            },
            TaskEvent::TaskAssigned {
                agent_id: self.agent,
                previous_agent_id: None,
                assigned_by: Assigner::User(self.crew.owner),
                title: title(self.turn),
                priority: Priority::P1,
                deadline: None,
                assigned_at: now,
            },
            TaskEvent::TaskStarted {
                agent_id: Some(self.agent),
                session_id: Some(session),
                title: title(self.turn),
                started_at: now,
            },
        ]
    }

    fn completed(&self, session: SessionId, now: DateTime<Utc>) -> TaskEvent {
        TaskEvent::TaskCompleted {
            agent_id: Some(self.agent),
            session_id: Some(session),
            assigned_by: Some(Assigner::User(self.crew.owner)),
            title: title(self.turn),
            cause: CompletionCause::Agent,
            success_criteria_met: vec!["All four cases have a test".to_owned()],
            duration_minutes: 30,
            completed_at: now,
        }
    }

    /// What the agent asks and reports: its supervisor hears of it.
    fn told(&self, task: TaskId, now: DateTime<Utc>) -> Vec<SessionEvent> {
        let context = QuestionContext { related_task: Some(task), ..Default::default() };
        let question = "Does the basket survive a restart of the service?".to_owned();
        let content = ProblemReport {
            title: "The basket loses quantities".to_owned(),
            description: SAID.to_owned(),
            context: ProblemContext { file: Some("src/basket.rs".to_owned()), ..Default::default() },
            severity: Severity::Medium,
            category: ProblemCategory::Bug,
        };
        let mentions = vec![self.crew.agents[0]];
        vec![
            SessionEvent::QuestionAsked {
                content: Question { question, context, urgency: Urgency::Low },
                mentions: mentions.clone(),
                published_at: now,
            },
            SessionEvent::ProblemReported { content, mentions, published_at: now },
        ]
    }

    fn reviewed(&self, pull_request_id: PullRequestId, now: DateTime<Utc>) -> SessionEvent {
        let reviewer = NamedAgent { agent_id: self.crew.agents[0], agent_name: "dev-0".to_owned() };
        let content = ReviewResponse {
            pull_request_id,
            reviewer,
            decision: ReviewDecision::Approve,
            comments: Some("Reads well".to_owned()),
            requested_changes: None,
            reviewed_at: now,
        };
        SessionEvent::ReviewResponded { content, mentions: vec![self.agent], published_at: now }
    }

    fn pull_request(&self, id: PullRequestId, task: TaskId, now: DateTime<Utc>) -> Vec<PullRequestEvent> {
        let (number, repository) = (self.turn as i64 + 1, "acme/shop".to_owned());
        let url = format!("https://github.com/acme/shop/pull/{number}");
        let login = domain::github::Login::new(format!("dev-{}", self.number));
        vec![
            PullRequestEvent::PullRequestOpened {
                pull_request_id: id,
                workspace_id: self.crew.workspace,
                project_id: self.project,
                number,
                url: url.clone(),
                title: title(self.turn),
                author: login.clone(),
                agent_id: Some(self.agent),
                linked_task_id: Some(task),
                repository: repository.clone(),
                labels: vec![],
                additions: 120,
                deletions: 40,
                changed_files: 4,
                opened_at: now,
                updated_at: now,
            },
            PullRequestEvent::PullRequestReviewed {
                review_id: number,
                reviewer: domain::github::Login::new("dev-0"),
                reviewer_agent_id: Some(self.crew.agents[0]),
                decision: ReviewDecision::Approve,
                submitted_at: now,
            },
            PullRequestEvent::PullRequestMerged {
                number,
                url,
                repository,
                title: title(self.turn),
                merged_by: login,
                merge_commit_sha: Some(id.0.simple().to_string()),
                agent_id: Some(self.agent),
                linked_task_id: Some(task),
                merged_at: now,
            },
        ]
    }

    /// The agent's KPIs, and the trust that follows from them, as the scorecard itself decides.
    async fn score(&mut self, turn: usize, now: DateTime<Utc>) -> Option<StreamAppend> {
        let completed_tasks = u32::try_from(turn % 20).unwrap_or_default();
        let (kpi_id, policy) = (new(), ScorePolicy::default());
        let kpi = RecordKpi {
            kpi_id,
            agent_id: self.agent,
            workspace_id: self.crew.workspace,
            inputs: KpiInputs { completed_tasks, ..KpiInputs::default() },
            position: turn as i64,
            policy: policy.clone(),
            reason: "Session stopped".to_owned(),
            now,
        };
        let reason = "KPIs recalculated".to_owned();
        let trust = RecordTrust { kpi_id, status: AgentStatus::Active, policy, reason, now };
        let sink = EventSink::default();
        for command in [ScorecardCommand::RecordKpi(kpi), ScorecardCommand::RecordTrust(trust)] {
            self.scorecard.handle(command, &(), &sink).await.ok()?;
        }
        let events = sink.collect().await;
        let append = self.append::<Scorecard>(self.agent.0, self.recorded, events);
        self.recorded += append.events.len() as i64;
        Some(append)
    }

    fn wiki(&self, now: DateTime<Utc>) -> StreamAppend {
        let entry_id: WikiEntryId = new();
        let slug = Slug::parse(format!("basket-{}-{}", self.number, self.turn)).expect("a slug");
        let proposed = WikiEvent::WikiEntryProposed {
            entry_id,
            workspace_id: self.crew.workspace,
            project_id: Some(self.project),
            proposed_by: Author::Agent(self.agent),
            title: "How baskets are merged".to_owned(),
            slug,
            content: SAID.to_owned(),
            tags: vec!["basket".to_owned(), "merge".to_owned()],
            version: 1,
            parent_entry_id: None,
            proposed_at: now,
        };
        let approved = WikiEvent::WikiEntryApproved { approved_by: self.crew.owner, approved_at: now };
        self.append::<WikiEntry>(entry_id.0, 0, vec![proposed, approved])
    }

    fn append<A: Aggregate>(&self, id: Uuid, expected: i64, events: Vec<A::Event>) -> StreamAppend {
        let events = events.iter().map(|event| {
            let command = Uuid::now_v7();
            let metadata = json!({
                "actor_type": "agent", "actor_id": self.agent, "command_id": command, "correlation_id": command,
            });
            NewEvent {
                event_id: Uuid::now_v7(),
                event_type: event.event_type(),
                event_version: event.event_version(),
                payload: serde_json::to_string(event).expect("an event is always JSON"),
                metadata: metadata.to_string(),
                workspace_id: Some(self.crew.workspace.0),
            }
        });
        StreamAppend { stream: StreamId::new(A::TYPE, id), expected, events: events.collect() }
    }
}

fn logs(now: DateTime<Utc>) -> Vec<SessionEvent> {
    let said = |n| SessionEvent::SessionLogged { message: format!("{n}. {SAID}"), context: None, logged_at: now };
    (1..=LOGS).map(said).collect()
}

fn title(turn: usize) -> String {
    format!("Keep the basket when the customer signs in ({turn})")
}
