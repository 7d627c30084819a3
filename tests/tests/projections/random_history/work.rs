//! What agents do at random: sessions, tasks, the wiki, and the scores that come of it.

use chrono::TimeDelta;
use domain::agent::{AgentLevel, LiveAgent};
use domain::github::Login;
use domain::scorecard::*;
use domain::scores::{KpiInputs, ScorePolicy};
use domain::session::*;
use domain::task::*;
use domain::wiki::*;
use domain::*;

use super::page::{Actor, Stream};
use super::world::{BY_GITHUB, BY_OWNER, OWNER, REVIEWS, World};

const SEVERITIES: [Severity; 4] = [Severity::Low, Severity::Medium, Severity::High, Severity::Critical];
const PRIORITIES: [Priority; 4] = [Priority::P0, Priority::P1, Priority::P2, Priority::P3];

impl World {
    pub(super) async fn start_session(&mut self) {
        let (id, agent, (workspace, project)) = (self.dice.id(), self.agent(), self.project());
        let by = ("agent", agent.agent_id.0);
        let start = StartSession {
            session_id: SessionId(id),
            // Those of a project work in no other.
            project_id: agent.project_id.unwrap_or(project),
            project_workspace_id: if agent.project_id.is_some() { agent.workspace_id } else { workspace },
            agent,
            pulled: PulledCounts { tasks: 1, messages: 2, role_changes: 0 },
            delivered_up_to: self.page.written as i64,
            now: self.page.now,
        };
        self.page.begin(&mut self.sessions, id, by, SessionCommand::Start(start)).await;
    }

    /// Several commands in a row in one session, or the beginning of another.
    pub(super) async fn work_in_session(&mut self) {
        if self.sessions.len() < 10 || self.dice.below(4) == 0 {
            return self.start_session().await;
        }
        let at = self.dice.pick(&self.sessions);
        for _ in 0..self.dice.number(10) {
            let Session::Open(open) = self.sessions[at].state.clone() else { break };
            let by = Caller { agent_id: open.agent_id, workspace_id: open.workspace_id };
            let now = self.page.now;
            let command = match self.dice.below(40) {
                0 => SessionCommand::Revoke(RevokeSession { reason: self.dice.text(), now }),
                1 => {
                    let (tasks_worked_on, summary) = (vec![self.task().task_id], self.dice.maybe());
                    SessionCommand::Stop(StopSession { by, tasks_worked_on, summary, now })
                }
                2..=9 => {
                    let (publication, supervisor) = (self.publication(&open), Some(self.agent().agent_id));
                    let mentions = vec![self.agent().agent_id, self.agent().agent_id];
                    SessionCommand::Publish(Publish { by, publication, mentions, supervisor_agent_id: supervisor, now })
                }
                _ => {
                    let (message, context) = (self.dice.text(), Some(self.dice.settings()));
                    SessionCommand::Log(LogProgress { by, message, context, now })
                }
            };
            self.page.run(&mut self.sessions[at], ("agent", open.agent_id.0), command).await;
        }
        if matches!(self.sessions[at].state, Session::Stopped { .. }) {
            self.sessions.swap_remove(at);
        }
    }

    fn publication(&mut self, by: &OpenSession) -> Publication {
        let author = NamedAgent { agent_id: by.agent_id, agent_name: self.dice.text() };
        let (title, words, related_task) = (self.dice.text(), self.dice.text(), Some(self.task().task_id));
        let at = self.dice.pick(&self.pull_requests);
        let pull_request = self.pull_requests[at].state.known().unwrap().clone();
        let pull_request_id = pull_request.pull_request_id;
        match self.dice.below(5) {
            0 => Publication::Problem(ProblemReport {
                title,
                description: words,
                context: ProblemContext { error: self.dice.maybe(), ..Default::default() },
                severity: self.dice.of(&SEVERITIES),
                category: ProblemCategory::Bug,
            }),
            1 => {
                let confidence = Confidence::new(0.1 * self.dice.number(9) as f64).unwrap();
                Publication::Advice(Advice { topic: title, advice: words, context: None, related_task, confidence })
            }
            2 => {
                let context = QuestionContext { related_task, ..Default::default() };
                Publication::Question(Question { question: words, context, urgency: Urgency::High })
            }
            3 => Publication::ReviewRequest(ReviewRequest {
                pull_request_id,
                github_pull_request_number: pull_request.number,
                github_pull_request_url: words,
                title,
                description: self.dice.maybe(),
                changed_files: pull_request.changed_files,
                additions: pull_request.additions,
                deletions: pull_request.deletions,
                requested_by: author,
            }),
            _ => Publication::ReviewResponse(ReviewResponse {
                pull_request_id,
                reviewer: author,
                decision: self.dice.of(&REVIEWS),
                comments: self.dice.maybe(),
                requested_changes: None,
                reviewed_at: self.page.now,
            }),
        }
    }

    pub(super) async fn create_task(&mut self) {
        let (id, (workspace_id, project_id)) = (self.dice.id(), self.project());
        let number = self.tasks.len() as i64 + 1;
        let create = CreateTask {
            task_id: TaskId(id),
            workspace_id,
            project_id,
            github_issue: (self.dice.below(2) == 0).then_some(GithubIssue { id: 9000 + number, number }),
            title: self.dice.text(),
            description: self.dice.maybe(),
            priority: Some(self.dice.of(&PRIORITIES)),
            deadline: Some(self.page.now + TimeDelta::hours(self.dice.number(99))),
            success_criteria: vec![self.dice.text()],
            metadata: self.dice.settings(),
            now: self.page.now,
        };
        self.page.begin(&mut self.tasks, id, BY_OWNER, TaskCommand::Create(create)).await;
    }

    /// An agent that may have the task, if one is soon found.
    fn agent_for(&mut self, task: &LiveTask) -> LiveAgent {
        let reaches = |it: &LiveAgent| it.reaches(task.project_id, task.workspace_id);
        let mut tries = (0..8).map(|_| self.agent());
        tries.find(reaches).unwrap_or_else(|| self.agent())
    }

    pub(super) async fn work_on_tasks(&mut self) {
        let (at, now) = (self.dice.pick(&self.tasks), self.page.now);
        let task = self.tasks[at].state.live().unwrap().clone();
        let agent = self.agent_for(&task);
        let Some(by) = task.assigned_agent_id.filter(|_| self.dice.below(4) > 0) else {
            let command = match self.dice.below(12) {
                0..=2 => return self.create_task().await,
                3 => {
                    let (cause, by) = (CompletionCause::IssueClosed, Login::new("ada"));
                    let on_github = [
                        TaskCommand::CompleteOnGithub(CompleteTaskOnGithub { cause, now }),
                        TaskCommand::AssignOnGithub(AssignTaskOnGithub { by, agent, now }),
                    ];
                    let command = self.dice.of(&on_github);
                    self.page.run(&mut self.tasks[at], BY_GITHUB, command).await;
                    return;
                }
                4..=7 => TaskCommand::Change(Box::new(ChangeTask {
                    by: OWNER,
                    title: self.dice.maybe(),
                    description: self.dice.maybe(),
                    priority: Some(self.dice.of(&PRIORITIES)),
                    deadline: None,
                    success_criteria: None,
                    metadata: Some(self.dice.settings()),
                    agent: None,
                    status: Some(self.dice.of(&TaskStatus::ALL)).filter(|it| !it.is_over() || self.dice.below(4) == 0),
                    now,
                })),
                _ => TaskCommand::Assign(AssignTask { by: OWNER, agent, now }),
            };
            self.page.run(&mut self.tasks[at], BY_OWNER, command).await;
            return;
        };
        let holder = self.page.claims.get(&active_session(by));
        let session_id = holder.map(|(_, id)| SessionId(*id));
        let command = match self.dice.below(9) {
            0..=3 => TaskCommand::Start(StartTask { by, session_id, now }),
            4..=7 => {
                let (blocker, severity) = (self.dice.text(), self.dice.of(&SEVERITIES));
                let requires_attention = self.dice.below(2) == 0;
                TaskCommand::Block(BlockTask { by, session_id, blocker, severity, requires_attention, now })
            }
            _ => {
                let success_criteria_met = vec![self.dice.text()];
                TaskCommand::Complete(CompleteTask { by, session_id, success_criteria_met, now })
            }
        };
        self.page.run(&mut self.tasks[at], ("agent", by.0), command).await;
    }

    pub(super) async fn propose_entry(&mut self) {
        let (id, (workspace_id, project_id), agent) = (self.dice.id(), self.project(), self.agent());
        let is_peer = agent.workspace_id == workspace_id && agent.is_organization_level();
        let (by, actor): (Author, Actor) = match is_peer {
            true => (Author::Agent(agent.agent_id), ("agent", agent.agent_id.0)),
            false => (Author::User(OWNER), BY_OWNER),
        };
        let propose = ProposeEntry {
            entry_id: WikiEntryId(id),
            workspace_id,
            project_id: (self.dice.below(2) == 0).then_some(project_id),
            by,
            level: is_peer.then_some(AgentLevel::Organization),
            title: self.dice.text(),
            slug: Slug::parse(format!("entry-{}", self.dice.below(2000))).unwrap(),
            content: self.dice.text(),
            tags: vec![self.dice.text(), "rust".to_owned()],
            now: self.page.now,
        };
        self.page.begin(&mut self.entries, id, actor, WikiCommand::Propose(propose)).await;
    }

    pub(super) async fn work_on_wiki(&mut self) {
        let (at, by, now) = (self.dice.pick(&self.entries), OWNER, self.page.now);
        let parent = self.entries[at].state.clone();
        let command = match self.dice.below(10) {
            0..=2 => return self.propose_entry().await,
            3..=4 => {
                let (id, by) = (self.dice.id(), Author::User(OWNER));
                let (title, content, tags) = (self.dice.maybe(), self.dice.maybe(), None);
                let next = ProposeNextVersion { entry_id: WikiEntryId(id), parent, by, title, content, tags, now };
                let next = WikiCommand::ProposeNext(Box::new(next));
                return self.page.begin(&mut self.entries, id, BY_OWNER, next).await;
            }
            5 => WikiCommand::Reject(RejectEntry { by, reason: self.dice.text(), now }),
            6..=7 => WikiCommand::CountViews(CountViews { views: self.dice.number(50) as u64, last_viewed_at: now }),
            _ => return self.approve_entry(at).await,
        };
        self.page.run(&mut self.entries[at], BY_OWNER, command).await;
    }

    /// The version before gives way in the same commit.
    async fn approve_entry(&mut self, at: usize) {
        let now = self.page.now;
        let WikiEntry::Pending(version) = self.entries[at].state.clone() else { return };
        if !self.page.is_open(&self.entries[at]) {
            return;
        }
        if let Some(parent) = version.parent_entry_id {
            let supersede = WikiCommand::Supersede(SupersedeEntry { by_entry_id: version.entry_id, now });
            let before = self.entries.iter_mut().find(|it| it.id == parent.0).unwrap();
            if self.page.run(before, BY_OWNER, supersede).await.is_empty() {
                return;
            }
        }
        let approve = WikiCommand::Approve(ApproveEntry { by: OWNER, now });
        self.page.run(&mut self.entries[at], BY_OWNER, approve).await;
    }

    pub(super) async fn keep_score(&mut self) {
        let (agent, now, id) = (self.agent(), self.page.now, self.dice.id());
        let by = ("system", id);
        let inputs = KpiInputs {
            completed_tasks: self.dice.below(20) as u32,
            approved_on_first_review: self.dice.below(20) as u32,
            changes_requested: self.dice.below(20) as u32,
            rejections_in_a_row: self.dice.below(5) as u32,
            lines_added: self.dice.number(5000),
            ..Default::default()
        };
        let record = RecordKpi {
            kpi_id: KpiId(id),
            agent_id: agent.agent_id,
            workspace_id: agent.workspace_id,
            inputs,
            position: self.page.written as i64,
            policy: ScorePolicy::default(),
            reason: self.dice.text(),
            now,
        };
        let card = self.scorecards.entry(agent.agent_id).or_insert_with(|| Stream::new(agent.agent_id.0));
        self.page.run(card, by, ScorecardCommand::RecordKpi(record)).await;
        let (kpi_id, reason, policy) = (KpiId(id), self.dice.text(), ScorePolicy::default());
        let judge = RecordTrust { kpi_id, status: agent.status, policy, reason, now };
        let judged = self.page.run(card, by, ScorecardCommand::RecordTrust(judge)).await;
        if let Some(ScorecardEvent::TrustScoreChanged { new_status: Some(status), .. }) = judged.first() {
            let change = self.change_agent(Some(*status), None);
            let at = self.agents.iter().position(|it| it.id == agent.agent_id.0).unwrap();
            self.page.run(&mut self.agents[at], by, change).await;
        }
    }
}
