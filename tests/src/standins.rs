//! Stand-ins for a whole factory in this process: every agent is a task that calls its tools, and the bench says yes.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use commands::factory::{
    AddTask, AppointSupervisor, AppointWorker, ApproveTask, CompleteEpic, CreateEpic, FinishErrand, RebaseTask,
    SubmitEpic, SubmitTask, UpdateTaskState,
};
use commands::tool_call::{CallTool, SucceedTool};
use commands::{Actor, CommandError, Context, Decision, Executor};
use domain::epic::{Epic, LiveEpic};
use domain::errand::WorkResult;
use domain::post::Profiles;
use domain::task::{FactoryTask, Task, TaskState};
use domain::{AgentId, Entity, EpicId, ErrandId, ProjectId, TaskId, ToolCallId, UserId};
use serde_json::json;
use store::StreamId;
use tokio::sync::watch;
use uuid::Uuid;

use crate::fleet::{Fleet, new};

/// How often a stand-in asks again when another was faster.
const PATIENCE: usize = 50;

/// A workspace and a project whose epics stand-ins carry out.
pub struct Factory {
    /// Runs the commands.
    pub executor: Arc<Executor>,
    owner: UserId,
    project: ProjectId,
    took_ms: Mutex<Vec<f64>>,
}

/// What a run took.
#[derive(Debug, Clone)]
pub struct Ran {
    /// From the first epic's creation to the last one's completion.
    pub seconds: f64,
    /// Tasks that were merged.
    pub tasks: usize,
    /// How long each tool call took, with its records.
    pub tool_ms: Vec<f64>,
}

impl Factory {
    /// A new workspace with one project.
    pub async fn new(fleet: &Fleet, slug: &str) -> Result<Arc<Self>, CommandError> {
        let workspace = fleet.workspace(slug).await?;
        let project = fleet.project(workspace, "shop").await?;
        let executor = Arc::clone(&fleet.executor);
        Ok(Arc::new(Self { executor, owner: fleet.owner, project, took_ms: Mutex::default() }))
    }

    /// Carries out so many epics side by side, each with so many workers, to the end.
    pub async fn run(self: &Arc<Self>, epics: usize, workers: usize) -> Result<Ran, CommandError> {
        let begun = Instant::now();
        let running: Vec<_> = (0..epics)
            .map(|n| {
                let factory = Arc::clone(self);
                tokio::spawn(async move { factory.epic(n, workers).await })
            })
            .collect();
        for epic in running {
            epic.await.map_err(|panic| CommandError::Fault(panic.to_string()))??;
        }
        let tool_ms = std::mem::take(&mut *self.took_ms.lock().unwrap_or_else(PoisonError::into_inner));
        Ok(Ran { seconds: begun.elapsed().as_secs_f64(), tasks: epics * workers, tool_ms })
    }

    async fn epic(self: &Arc<Self>, n: usize, workers: usize) -> Result<(), CommandError> {
        let (epic_id, profiles) = (EpicId(Uuid::now_v7()), Profiles::default());
        let create = CreateEpic {
            by: self.owner,
            epic_id,
            project_id: self.project,
            bench: None,
            title: format!("Epic {n}"),
            description: "Carry it out".to_owned(),
            design: "# As it comes".to_owned(),
        };
        self.owner_runs(&create).await?;
        let appoint = AppointSupervisor { by: None, epic_id, profiles: profiles.clone() };
        let supervisor = self.system_runs(&appoint).await?;
        self.launched(supervisor.launch).await?;
        let by = supervisor.agent_id;
        let (news, heard) = watch::channel(0_u64);
        let news = Arc::new(news);
        let mut at_work = Vec::new();
        for n in 0..workers {
            let title = format!("Task {n}");
            let add = AddTask { by, task_id: TaskId(Uuid::now_v7()), title, description: "Do it".to_owned() };
            let task_id = self.tool(by, "mcp__epic__create_task", &add).await?;
            let worker = self.system_runs(&AppointWorker { task_id, profiles: profiles.clone() }).await?;
            self.launched(worker.launch).await?;
            let (factory, news, heard) = (Arc::clone(self), Arc::clone(&news), heard.clone());
            at_work.push(tokio::spawn(async move { factory.work(worker.agent_id, task_id, news, heard).await }));
        }
        self.supervise(by, epic_id, &news, heard).await?;
        for worker in at_work {
            worker.await.map_err(|panic| CommandError::Fault(panic.to_string()))??;
        }
        let submit = SubmitEpic { by, title: "All of it".to_owned(), description: "Done".to_owned() };
        let errand_id = self.tool(by, "mcp__epic__create_epic_pr", &submit).await?;
        let pr_url = format!("muster://pull/{epic_id}");
        self.finish(errand_id, WorkResult::EpicPullRequestOpened { pr_url, head: None }).await?;
        self.owner_runs(&CompleteEpic { by: self.owner, epic_id, merge: false }).await?;
        Ok(())
    }

    /// Approves whatever is first in the queue until nothing is left to do.
    async fn supervise(
        &self,
        by: AgentId,
        epic_id: EpicId,
        news: &watch::Sender<u64>,
        mut heard: watch::Receiver<u64>,
    ) -> Result<(), CommandError> {
        loop {
            heard.mark_unchanged();
            let epic = self.epic_now(epic_id).await?;
            if epic.open_tasks.is_empty() {
                return Ok(());
            }
            let Some(first) = epic.queue.first() else {
                let _ = heard.changed().await;
                continue;
            };
            let approve = ApproveTask { by, task_id: first.task_id, pr_url: first.pr_url.clone() };
            let errand_id = self.tool(by, "mcp__epic__approve_pr", &approve).await?;
            self.finish(errand_id, WorkResult::Merged { merge_commit: commit() }).await?;
            news.send_modify(|it| *it += 1);
        }
    }

    /// Does a task, and rebases it as often as is asked, until it is merged.
    async fn work(
        &self,
        by: AgentId,
        task_id: TaskId,
        news: Arc<watch::Sender<u64>>,
        mut heard: watch::Receiver<u64>,
    ) -> Result<(), CommandError> {
        let start = UpdateTaskState { by, to: TaskState::InProgress };
        self.tool(by, "mcp__task__update_state", &start).await?;
        let submit = SubmitTask { by, title: "A task".to_owned(), description: "Done".to_owned() };
        let errand_id = self.tool(by, "mcp__task__create_pr", &submit).await?;
        let opened = WorkResult::PullRequestOpened { pr_url: format!("muster://pull/{task_id}"), head: Some(commit()) };
        self.finish(errand_id, opened).await?;
        news.send_modify(|it| *it += 1);
        loop {
            heard.mark_unchanged();
            match self.task_now(task_id).await?.state {
                TaskState::Completed => return Ok(()),
                TaskState::NeedsRebase => {
                    let errand_id = self.tool(by, "mcp__git__rebase", &RebaseTask { by }).await?;
                    self.finish(errand_id, WorkResult::Rebased { pr_url: None, head: Some(commit()) }).await?;
                    news.send_modify(|it| *it += 1);
                }
                TaskState::Failed => return Err(CommandError::Fault(format!("task {task_id} failed"))),
                TaskState::Pending | TaskState::InProgress | TaskState::PendingReview | TaskState::Approved => {
                    let _ = heard.changed().await;
                }
            }
        }
    }

    async fn launched(&self, errand: Option<ErrandId>) -> Result<(), CommandError> {
        match errand {
            Some(errand_id) => self.finish(errand_id, WorkResult::Launched { started: false }).await,
            None => Ok(()),
        }
    }

    async fn finish(&self, errand_id: ErrandId, result: WorkResult) -> Result<(), CommandError> {
        self.system_runs(&FinishErrand { errand_id, result }).await.map(drop)
    }

    /// A tool call as the server makes it: on record before, done, on record after.
    async fn tool<D: Decision>(&self, by: AgentId, tool: &str, decision: &D) -> Result<D::Outcome, CommandError> {
        let begun = Instant::now();
        let call_id: ToolCallId = new();
        // Of two calls that are the same, the second would be the first again.
        let call = CallTool { call_id, by, tool: tool.to_owned(), input: json!({ "call": call_id }) };
        self.patiently(Actor::Agent(by), &call).await?;
        let outcome = self.patiently(Actor::Agent(by), decision).await?;
        let succeed = SucceedTool { call_id, output: json!({ "success": true }) };
        self.patiently(Actor::Agent(by), &succeed).await?;
        let took = begun.elapsed().as_secs_f64() * 1_000.0;
        self.took_ms.lock().unwrap_or_else(PoisonError::into_inner).push(took);
        Ok(outcome)
    }

    async fn owner_runs<D: Decision>(&self, decision: &D) -> Result<D::Outcome, CommandError> {
        self.patiently(Actor::User(self.owner), decision).await
    }

    async fn system_runs<D: Decision>(&self, decision: &D) -> Result<D::Outcome, CommandError> {
        self.patiently(Actor::System("standins"), decision).await
    }

    async fn patiently<D: Decision>(&self, actor: Actor, decision: &D) -> Result<D::Outcome, CommandError> {
        let mut tries = 0;
        loop {
            let context = Context::new(actor, self.executor.log().clock().now());
            match self.executor.run(&context, decision).await {
                Err(CommandError::Conflict) if tries < PATIENCE => tries += 1,
                ended => return ended.map(|done| done.outcome),
            }
        }
    }

    async fn epic_now(&self, id: EpicId) -> Result<LiveEpic, CommandError> {
        let epic: Epic = self.state_of(id.0).await?;
        epic.live().cloned().map_err(|refusal| CommandError::Fault(refusal.to_string()))
    }

    async fn task_now(&self, id: TaskId) -> Result<FactoryTask, CommandError> {
        let task: Task = self.state_of(id.0).await?;
        let factory = task.live().ok().and_then(|it| it.factory.clone());
        factory.ok_or_else(|| CommandError::Fault(format!("{id} is no task of an epic")))
    }

    async fn state_of<A: Entity>(&self, id: Uuid) -> Result<A, CommandError> {
        let mut state = A::default();
        for event in self.executor.log().read_stream(&StreamId::new(A::TYPE, id), 1, None).await? {
            let decoded = domain::decode::<A::Event>(&event.event_type, &event.event_version, &event.payload);
            state.apply(decoded.map_err(|error| CommandError::Fault(error.to_string()))?);
        }
        Ok(state)
    }
}

/// A hash that no commit has.
fn commit() -> String {
    Uuid::now_v7().simple().to_string() + "00000000"
}
