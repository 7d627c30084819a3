//! News of issues: an issue is a task of the project, and what is said about it reaches the task's agent.

use domain::Settings;
use domain::github::Login;
use domain::repository::{AssignIssue, CommentOnIssue, LabelIssue, Repository, RepositoryCommand, RepositoryOf};
use domain::task::{AssignTaskOnGithub, CompleteTaskOnGithub, CompletionCause, CreateTask, Task, TaskCommand};

use super::{Comment, IssueNews, IssueNow, IssueTurn, TakeDelivery, task_of, task_of_pull_request};
use crate::{Desk, Stop};

impl TakeDelivery {
    pub(super) async fn take_issue(&self, desk: &mut Desk<'_>, of: RepositoryOf, it: &IssueNews) -> Result<(), Stop> {
        let IssueNews { now, turn } = it;
        match turn {
            IssueTurn::Opened => {
                if task_of(desk, of.project_id, now.issue.number).await?.is_none() {
                    self.create_task(desk, of, now).await?;
                }
                if now.labels.is_empty() { Ok(()) } else { label(desk, of, now).await }
            }
            IssueTurn::Labelled => label(desk, of, now).await,
            IssueTurn::Assigned { assignee, by } => self.assign(desk, of, now, assignee, by).await,
            IssueTurn::Closed { at } => {
                let Some(task) = task_of(desk, of.project_id, now.issue.number).await? else { return Ok(()) };
                let complete = CompleteTaskOnGithub { cause: CompletionCause::IssueClosed, now: *at };
                desk.run::<Task>(task.0, TaskCommand::CompleteOnGithub(complete)).await.map(drop)
            }
        }
    }

    async fn assign(
        &self,
        desk: &mut Desk<'_>,
        of: RepositoryOf,
        now: &IssueNow,
        assignee: &Login,
        by: &Login,
    ) -> Result<(), Stop> {
        let agent = self.agent(desk, of, assignee).await?;
        let assign = AssignIssue {
            of,
            issue: now.issue,
            url: now.url.clone(),
            title: now.title.clone(),
            assignee: assignee.clone(),
            agent_id: agent.as_ref().map(|agent| agent.agent_id),
            repository: now.repository.clone(),
            assigned_at: now.updated_at,
        };
        let news = desk.run::<Repository>(of.project_id.0, RepositoryCommand::AssignIssue(assign)).await?;
        // What was said before must not undo what the owner has done since.
        let Some(agent) = agent.filter(|_| !news.is_empty()) else { return Ok(()) };
        let task = match task_of(desk, of.project_id, now.issue.number).await? {
            Some(task) => task,
            None => {
                self.create_task(desk, of, now).await?;
                self.new_task_id
            }
        };
        let assign = AssignTaskOnGithub { by: by.clone(), agent, now: now.updated_at };
        desk.run::<Task>(task.0, TaskCommand::AssignOnGithub(assign)).await.map(drop)
    }

    async fn create_task(&self, desk: &mut Desk<'_>, of: RepositoryOf, now: &IssueNow) -> Result<(), Stop> {
        let create = CreateTask {
            task_id: self.new_task_id,
            workspace_id: of.workspace_id,
            project_id: of.project_id,
            github_issue: Some(now.issue),
            title: now.title.clone(),
            description: now.body.clone(),
            priority: None,
            deadline: None,
            success_criteria: vec![],
            metadata: Settings::new(),
            now: now.updated_at,
        };
        desk.run::<Task>(self.new_task_id.0, TaskCommand::Create(create)).await.map(drop)
    }
}

async fn label(desk: &mut Desk<'_>, of: RepositoryOf, now: &IssueNow) -> Result<(), Stop> {
    let label = LabelIssue { of, issue: now.issue, labels: now.labels.clone(), labelled_at: now.updated_at };
    desk.run::<Repository>(of.project_id.0, RepositoryCommand::LabelIssue(label)).await.map(drop)
}

pub(super) async fn take_comment(desk: &mut Desk<'_>, of: RepositoryOf, it: &Comment) -> Result<(), Stop> {
    let task_id = match it.on_pull_request {
        true => task_of_pull_request(desk, of.project_id, it.number).await?,
        false => task_of(desk, of.project_id, it.number).await?,
    };
    let agent_id = match task_id {
        Some(id) => {
            let task = desk.load::<Task>(id.0).await?;
            // The agent that has the task now is the one to hear of it.
            desk.rely_on(&task);
            task.state.live().ok().and_then(|live| live.assigned_agent_id)
        }
        None => None,
    };
    let comment = CommentOnIssue {
        of,
        comment_id: it.comment_id,
        issue_number: it.number,
        url: it.url.clone(),
        author: it.author.clone(),
        body: it.body.clone(),
        task_id,
        agent_id,
        commented_at: it.commented_at,
    };
    desk.run::<Repository>(of.project_id.0, RepositoryCommand::Comment(comment)).await.map(drop)
}
