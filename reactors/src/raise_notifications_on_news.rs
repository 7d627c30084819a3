//! When something happens in the factory that people should know, the owner of the workspace is notified.

use std::pin::Pin;

use commands::CommandError;
use commands::notification::{News, RaiseNotification};
use domain::epic::EpicEvent;
use domain::notification_settings::Preferences;
use domain::post::PostEvent;
use domain::task::TaskEvent;
use domain::tool_call::{Escalation, ToolCallEvent};
use domain::{AgentId, EpicId, TaskId};
use projections::{Fact, FactOf};

use crate::{Reaction, Reactor};

/// Notifies the owner of a workspace.
#[derive(Debug, Clone)]
pub struct RaiseNotificationsOnNews {
    /// How people are told who have not said how.
    pub everybody: Preferences,
}

impl Reactor for RaiseNotificationsOnNews {
    fn name(&self) -> &'static str {
        "raise_notifications_on_news"
    }

    fn cares_about(&self, fact: &Fact) -> bool {
        news(fact).is_some()
    }

    // The aggregates themselves say what things are called.
    fn reads(&self) -> &'static [&'static str] {
        &[]
    }

    fn react<'a>(
        &'a self,
        reaction: Reaction<'a>,
    ) -> Pin<Box<dyn Future<Output = Result<(), CommandError>> + Send + 'a>> {
        Box::pin(async move {
            if let (Some(news), Some(workspace_id)) = (news(reaction.fact), reaction.fact.workspace_id) {
                let raise = RaiseNotification { workspace_id, news, everybody: self.everybody.clone() };
                reaction.run(reaction.fact.subject, &raise).await?;
            }
            Ok(())
        })
    }
}

/// What people may want to hear of an event, as the document lists it.
fn news(fact: &Fact) -> Option<News> {
    let subject = fact.subject;
    match &fact.of {
        FactOf::Task(TaskEvent::TaskSubmitted { pr_url, .. }) => {
            Some(News::TaskSubmitted { task_id: TaskId(subject), pr_url: pr_url.clone() })
        }
        FactOf::Task(TaskEvent::TaskRebased { .. }) => Some(News::TaskRebased { task_id: TaskId(subject) }),
        // Whoever gave the epic up knows what falls with it.
        FactOf::Task(TaskEvent::TaskFailed { reason, attempts, with_epic: false, .. }) => {
            Some(News::TaskFailed { task_id: TaskId(subject), reason: reason.clone(), attempts: *attempts })
        }
        FactOf::Epic(EpicEvent::EpicSubmitted { pr_url, .. }) => {
            Some(News::EpicSubmitted { epic_id: EpicId(subject), pr_url: pr_url.clone() })
        }
        FactOf::Post(PostEvent::AgentDeclaredDead { .. }) => Some(News::AgentDied { agent_id: AgentId(subject) }),
        FactOf::ToolCall(ToolCallEvent::ToolFailed { agent_id, tool, error, escalated_to, .. })
            if *escalated_to == Some(Escalation::Human) =>
        {
            Some(News::ToolFailed { agent_id: *agent_id, tool: tool.clone(), error: error.clone() })
        }
        _ => None,
    }
}
