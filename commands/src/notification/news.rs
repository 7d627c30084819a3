//! What people are told of the factory, in the document's words.

use domain::epic::Epic;
use domain::notification::NotificationKind;
use domain::post::{AgentKind, Post};
use domain::task::Task;
use domain::{AgentId, EpicId, TaskId};

use crate::factory::failed_tasks;
use crate::{Desk, Stop};

/// Something that happened in the factory, and that people may want to hear of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum News {
    /// A worker submitted its pull request.
    TaskSubmitted {
        /// Which task.
        task_id: TaskId,
        /// Where the pull request is.
        pr_url: String,
    },
    /// A worker followed its epic's branch, and its pull request waits again.
    TaskRebased {
        /// Which task.
        task_id: TaskId,
    },
    /// A task failed for good.
    TaskFailed {
        /// Which task.
        task_id: TaskId,
        /// Why.
        reason: String,
        /// How often a worker of it has died.
        attempts: u32,
    },
    /// A supervisor submitted its epic.
    EpicSubmitted {
        /// Which epic.
        epic_id: EpicId,
        /// Where the pull request is.
        pr_url: String,
    },
    /// An agent died. Of a worker that is no news: its task goes on, or fails.
    AgentDied {
        /// Which agent.
        agent_id: AgentId,
    },
    /// A tool failed in a way that only people can put right.
    ToolFailed {
        /// Whose tool.
        agent_id: AgentId,
        /// Which tool.
        tool: String,
        /// What went wrong.
        error: String,
    },
}

/// News as it is told.
pub(super) struct Told {
    pub(super) kind: NotificationKind,
    pub(super) title: String,
    pub(super) message: String,
}

impl News {
    /// How it is told; none if it is no news after all.
    pub(super) async fn told(&self, desk: &mut Desk<'_>) -> Result<Option<Told>, Stop> {
        let told = |kind, title: String, message: String| Ok(Some(Told { kind, title, message }));
        match self {
            Self::TaskSubmitted { task_id, pr_url } => {
                let (title, branch) = task(desk, *task_id).await?;
                let message = format!("✅ PR ready for review\nBranch: {branch}\nPR: {pr_url}");
                told(NotificationKind::TaskDone, format!("Task PR Created: {title}"), message)
            }
            Self::TaskRebased { task_id } => {
                let (title, branch) = task(desk, *task_id).await?;
                let message = format!("✅ Rebased and ready for review\nBranch: {branch}");
                told(NotificationKind::TaskDone, format!("Task Rebased: {title}"), message)
            }
            Self::TaskFailed { task_id, reason, attempts } => {
                let (title, _) = task(desk, *task_id).await?;
                let after = match attempts {
                    0 => String::new(),
                    1 => " after 1 attempt".to_owned(),
                    many => format!(" after {many} attempts"),
                };
                let message = format!("❌ '{title}' failed{after}\nLast error: {reason}\nRequires manual intervention");
                told(NotificationKind::TaskFailed, format!("Task Failed: {title}"), message)
            }
            Self::EpicSubmitted { epic_id, pr_url } => {
                let epic = desk.load::<Epic>(epic_id.0).await?.state.live()?.clone();
                let (title, failed) = (&epic.title, failed_tasks(desk, &epic).await?);
                let (done, titled) = if failed.is_empty() {
                    (format!("✅ All tasks completed for '{title}'"), format!("Epic Complete: {title}"))
                } else {
                    let done = format!("⚠️ Not all tasks completed for '{title}'\nFailed: {}", failed.join(", "));
                    (done, format!("Epic Ready, Tasks Failed: {title}"))
                };
                let message = format!("{done}\nEpic PR: {pr_url}\nReady for your review");
                told(NotificationKind::EpicDone, titled, message)
            }
            Self::AgentDied { agent_id } => {
                let post = desk.load::<Post>(agent_id.0).await?;
                let Post::Live(post) = &*post.state else { return Ok(None) };
                let (who, epic_id) = match post.kind {
                    AgentKind::Worker => return Ok(None),
                    AgentKind::Supervisor => ("Supervisor", post.epic_id),
                    AgentKind::Orchestrator => ("Orchestrator", None),
                };
                let epic = match epic_id {
                    Some(id) => format!("\nEpic: {}", epic(desk, id).await?),
                    None => String::new(),
                };
                let message = format!("❌ {who} agent crashed unexpectedly{epic}\nCheck decision logs for details");
                told(NotificationKind::CriticalError, "CRITICAL: Agent Error".to_owned(), message)
            }
            Self::ToolFailed { agent_id, tool, error } => {
                let message = format!("❌ {error}\nAgent: {agent_id}\nCheck decision logs for details");
                told(NotificationKind::CriticalError, format!("CRITICAL: {tool} failed"), message)
            }
        }
    }
}

/// What a task is called, and its branch.
async fn task(desk: &mut Desk<'_>, id: TaskId) -> Result<(String, String), Stop> {
    let task = desk.load::<Task>(id.0).await?;
    let live = task.state.live()?;
    let branch = live.factory.as_ref().map_or_else(String::new, |it| it.worktree_name.to_string());
    Ok((live.title.clone(), branch))
}

/// What an epic is called.
async fn epic(desk: &mut Desk<'_>, id: EpicId) -> Result<String, Stop> {
    let epic = desk.load::<Epic>(id.0).await?;
    Ok(epic.state.live()?.title.clone())
}
