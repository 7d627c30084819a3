//! A shift at random: epics are written, tasks worked on and reviewed, the bench serves, and agents die.

use chrono::TimeDelta;
use commands::agent::NewKey;
use commands::factory::{
    AddTask, AppointOrchestrator, AppointSupervisor, AppointWorker, ApproveTask, CancelErrand, ChangeEpic, CheckHealth,
    CompleteEpic, CreateEpic, DeclareDead, FailEpic, FailErrand, FinishErrand, LaunchAgent, RebaseTask,
    ReportWaitingLaunch, RequestChanges, RequestEpicChanges, RotateForLaunch, SubmitEpic, SubmitTask, TryErrandAgain,
    UpdateTaskState, Verdict,
};
use domain::errand::{Work, WorkResult};
use domain::post::{AgentKind, Evidence, HealthRules, Profiles};
use domain::task::TaskState;
use domain::{CredentialId, EpicId, Party, TaskId};

use super::Factory;
use super::floor::Next;

const MOST_EPICS: usize = 6;
const MOST_TASKS: usize = 4;
const STATES: [TaskState; 5] =
    [TaskState::InProgress, TaskState::InProgress, TaskState::PendingReview, TaskState::Approved, TaskState::Completed];

impl Factory {
    /// One that is not over.
    fn epic(&mut self) -> Option<EpicId> {
        (!self.floor.epics.is_empty()).then(|| self.dice.of(&self.floor.epics))
    }

    pub(super) async fn look_after_epics(&mut self) {
        let (by, epics) = (self.fleet.owner, self.floor.epics.len());
        let (title, description, design) = (self.dice.text(), self.dice.text(), self.dice.text());
        let epic = self.epic().filter(|_| epics >= MOST_EPICS || self.dice.below(2) == 0);
        let Some(epic_id) = epic else {
            let (epic_id, project_id) = (EpicId(self.dice.id()), self.project);
            let create = CreateEpic { by, epic_id, project_id, bench: None, title, description, design };
            self.human(&create).await;
            return;
        };
        let reviewed = self.floor.in_review.first().copied().filter(|_| self.dice.below(4) > 0);
        let epic_id = reviewed.unwrap_or(epic_id);
        match self.dice.below(30) {
            0 => {
                let by = if self.dice.below(2) == 0 { Party::User(by) } else { self.party() };
                self.human(&FailEpic { by, epic_id, reason: title }).await;
            }
            1..=7 => {
                self.human(&RequestEpicChanges { by, epic_id, feedback: title }).await;
            }
            8..=24 => {
                let merge = self.dice.below(2) == 0;
                self.human(&CompleteEpic { by, epic_id, merge }).await;
            }
            _ => {
                let (title, description, design) = (Some(title), self.dice.maybe(), self.dice.maybe());
                self.human(&ChangeEpic { by, epic_id, title, description, design }).await;
            }
        }
    }

    /// Epics get supervisors, supervisors tasks, tasks workers.
    pub(super) async fn staff(&mut self) {
        let profiles = Profiles::default();
        match self.dice.below(12) {
            0 => {
                let appoint = AppointOrchestrator { workspace_id: self.workspace, bench: None, profiles };
                self.system(&appoint).await;
            }
            1..=2 => {
                let waits = self.floor.unstaffed.0.first().copied().filter(|_| self.dice.below(8) > 0);
                let Some(epic_id) = waits.or_else(|| self.epic()) else { return };
                let by = self.floor.somebody(AgentKind::Orchestrator, &mut self.dice).map(|it| it.agent_id);
                self.system(&AppointSupervisor { by, epic_id, profiles }).await;
            }
            3..=6 => {
                let Some(it) = self.floor.somebody(AgentKind::Supervisor, &mut self.dice) else { return };
                if it.epic_id.is_some_and(|epic| self.floor.tasks_of(epic) >= MOST_TASKS) {
                    return;
                }
                let (title, description) = (self.dice.text(), self.dice.text());
                let add = AddTask { by: it.agent_id, task_id: TaskId(self.dice.id()), title, description };
                self.agent(it.agent_id, &add).await;
            }
            // Mostly somebody who runs already.
            7..=8 => {
                let kind = self.dice.of(&[AgentKind::Orchestrator, AgentKind::Supervisor, AgentKind::Worker]);
                let Some(it) = self.floor.somebody(kind, &mut self.dice) else { return };
                let heard_of = self.dice.below(8) == 0;
                self.human(&LaunchAgent { by: self.fleet.owner, agent_id: it.agent_id, heard_of }).await;
            }
            _ => {
                let waits = self.floor.unstaffed.1.first().copied().filter(|_| self.dice.below(8) > 0);
                let Some(task_id) = waits.or_else(|| self.task().map(|it| it.1)) else { return };
                self.system(&AppointWorker { task_id, profiles }).await;
            }
        }
    }

    /// One of an epic, lately added.
    fn task(&mut self) -> Option<(EpicId, TaskId)> {
        let from = self.floor.tasks.len().saturating_sub(MOST_EPICS * MOST_TASKS);
        let latest = &self.floor.tasks[from..];
        (!latest.is_empty()).then(|| self.dice.of(latest))
    }

    /// Workers begin, submit and follow their epic's branch, mostly when it is time for it.
    pub(super) async fn work(&mut self) {
        let next = self.dice.of(&[Next::Begin, Next::Submit, Next::Rebase]);
        let anybody = self.floor.somebody(AgentKind::Worker, &mut self.dice).map(|it| (it, next));
        let busy = self.floor.busy(&mut self.dice).filter(|_| self.dice.below(5) > 0);
        let Some((worker, next)) = busy.or(anybody) else { return };
        let by = worker.agent_id;
        match next {
            Next::Begin => {
                let to = self.dice.of(&STATES);
                self.agent(by, &UpdateTaskState { by, to }).await;
            }
            Next::Submit => {
                let (title, description) = (self.dice.text(), self.dice.text());
                self.agent(by, &SubmitTask { by, title, description }).await;
            }
            Next::Rebase => {
                self.agent(by, &RebaseTask { by }).await;
            }
        }
    }

    /// Supervisors approve what is first in their queue, mostly, or want changes; those who are done submit their epic.
    pub(super) async fn review(&mut self) {
        let Some(supervisor) = self.floor.somebody(AgentKind::Supervisor, &mut self.dice) else { return };
        let by = supervisor.agent_id;
        let first = self.floor.queue.iter().find(|it| Some(it.0) == supervisor.epic_id).copied();
        let submits = if first.is_some() { 1 } else { 6 };
        if self.dice.below(8) < submits {
            let (title, description) = (self.dice.text(), self.dice.text());
            self.agent(by, &SubmitEpic { by, title, description }).await;
            return;
        }
        let any = self.task();
        let Some((_, task_id)) = first.filter(|_| self.dice.below(8) > 0).or(any) else { return };
        if self.dice.below(4) == 0 {
            let feedback = self.dice.text();
            self.agent(by, &RequestChanges { by, task_id, feedback }).await;
            return;
        }
        self.agent(by, &ApproveTask { by, task_id, pr_url: url(task_id) }).await;
    }

    /// The bench does what it has to do, mostly; now and then it speaks of what is over.
    pub(super) async fn serve_bench(&mut self) {
        let from = if self.dice.below(20) == 0 { &self.floor.over } else { &self.floor.errands };
        if from.is_empty() {
            return;
        }
        let at = self.dice.pick(from);
        let (errand_id, work) = from[at].clone();
        let (error, retry_at) = (self.dice.text(), self.now + TimeDelta::minutes(1));
        match self.dice.below(20) {
            0 => {
                self.system(&FailErrand { errand_id, error, details: None }).await;
            }
            1 => {
                self.system(&TryErrandAgain { errand_id, error, retry_at }).await;
            }
            2 => {
                self.system(&CancelErrand { errand_id, reason: error }).await;
            }
            3 => {
                self.system(&ReportWaitingLaunch { errand_id, since: self.now, waiting: 1 }).await;
            }
            4 => {
                let result = WorkResult::Stopped;
                self.system(&FinishErrand { errand_id, result }).await;
            }
            _ => {
                if let Work::Launch { agent_id } = work {
                    let credential_id = CredentialId(self.dice.id());
                    let key = NewKey { credential_id, key_hash: credential_id.0.as_bytes().to_vec() };
                    self.system(&RotateForLaunch { errand_id, agent_id, key }).await;
                }
                let result = self.result(&work);
                self.system(&FinishErrand { errand_id, result }).await;
            }
        }
    }

    fn result(&mut self, work: &Work) -> WorkResult {
        let (goes_well, files) = (self.dice.below(5) > 0, vec!["shop.rs".to_owned()]);
        let (head, merge_commit) = (Some("abc".to_owned()), "fff000".to_owned());
        match work {
            Work::Launch { .. } => WorkResult::Launched { started: goes_well },
            Work::Stop { .. } => WorkResult::Stopped,
            Work::OpenPullRequest { task_id, .. } => WorkResult::PullRequestOpened { pr_url: url(*task_id), head },
            Work::Merge { .. } if goes_well => WorkResult::Merged { merge_commit },
            Work::Merge { .. } => WorkResult::MergeConflicted { files },
            Work::Rebase { task_id } if goes_well => WorkResult::Rebased { pr_url: Some(url(*task_id)), head },
            Work::Rebase { .. } => WorkResult::RebaseConflicted { files },
            Work::OpenEpicPullRequest { epic_id, .. } => {
                WorkResult::EpicPullRequestOpened { pr_url: format!("local://epic/{epic_id}"), head }
            }
            Work::MergeEpic { .. } => WorkResult::EpicMerged { merge_commit },
        }
    }

    /// Agents are asked whether they are there, and some are dead.
    pub(super) async fn look_after_health(&mut self) {
        let kinds = [AgentKind::Worker, AgentKind::Supervisor, AgentKind::Supervisor, AgentKind::Orchestrator];
        let kind = self.dice.of(&kinds);
        let Some(it) = self.floor.somebody(kind, &mut self.dice) else { return };
        let agent_id = it.agent_id;
        let last_heartbeat = self.now - TimeDelta::minutes(self.dice.number(20));
        let (profiles, alive) = (Profiles::default(), self.dice.below(2) == 0);
        if self.dice.below(3) == 0 {
            let (process_alive, last_output_at) = (Some(alive), None);
            let evidence = Evidence { last_heartbeat, checks_missed: 2, process_alive, last_output_at };
            self.system(&DeclareDead { agent_id, evidence, profiles }).await;
            return;
        }
        let (process_alive, last_output_at) = (alive.then_some(true), alive.then_some(self.now));
        let (heard_of, rules) = (self.dice.below(3) > 0, HealthRules::default());
        let check = CheckHealth { agent_id, last_heartbeat, heard_of, process_alive, last_output_at, rules, profiles };
        if self.system(&check).await == Some(Verdict::Asked) && self.dice.below(2) == 0 {
            // It does not answer.
            self.now += TimeDelta::minutes(3);
            self.system(&CheckHealth { last_output_at: alive.then_some(self.now), ..check }).await;
        }
    }
}

/// Where the pull request of a task is.
fn url(task: TaskId) -> String {
    format!("local://pull/{task}")
}
