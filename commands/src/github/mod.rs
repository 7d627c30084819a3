//! What GitHub tells: one delivery may concern a pull request, a repository and a task, and lands in one commit.
//!
//! **A delivery that says nothing new changes nothing**, whoever sends it and however late: the aggregates know by
//! GitHub's own ids and times what they have seen.

mod issues;
mod news;
mod pull_requests;
mod pushes;

use domain::agent::{Agent, LiveAgent};
use domain::github::{Login, agent_of};
use domain::project::Project;
use domain::pull_request::PullRequest;
use domain::repository::RepositoryOf;
use domain::task::{GithubIssue, Task};
use domain::{AgentId, ProjectId, PullRequestId, RepositoryUrl, Scope, TaskId};

pub use news::{
    Check, Comment, Deployment, IssueNews, IssueNow, IssueTurn, News, PullRequestNow, PullRequestTurn, Push, Review,
};

use issues::take_comment;
use pull_requests::take_check;
use pushes::take_deployment;

use crate::{Decision, Desk, Stop};

/// The most issues of one text that are looked at.
const MOST_REFERENCES: usize = 20;

/// One delivery of GitHub's.
#[derive(Debug, Clone)]
pub struct TakeDelivery {
    /// Where it happened; a repository that is no project's is nobody's business.
    pub repository: RepositoryUrl,
    /// The agents that accounts may belong to, as a read model has it: looked at again before they count.
    pub accounts: Vec<(Login, AgentId)>,
    /// The id of the task, should the delivery make one.
    pub new_task_id: TaskId,
    /// What happened.
    pub news: News,
}

impl Decision for TakeDelivery {
    /// Whether it was news.
    type Outcome = bool;

    fn name(&self) -> &'static str {
        "github.webhook"
    }

    async fn decide(&self, desk: &mut Desk<'_>) -> Result<bool, Stop> {
        let Some(of) = self.project(desk).await? else { return Ok(false) };
        match &self.news {
            News::PullRequest { now, turn } => self.take_pull_request(desk, of, now, turn).await?,
            News::Review(it) => self.take_review(desk, of, it).await?,
            News::Check(it) => take_check(desk, of, it).await?,
            News::Issue(it) => self.take_issue(desk, of, it).await?,
            News::Comment(it) => take_comment(desk, of, it).await?,
            News::Push(it) => self.take_push(desk, of, it).await?,
            News::Deployment(it) => take_deployment(desk, of, it).await?,
        }
        Ok(!desk.is_clear())
    }
}

impl TakeDelivery {
    /// The project whose repository this is.
    async fn project(&self, desk: &mut Desk<'_>) -> Result<Option<RepositoryOf>, Stop> {
        let key = self.repository.key();
        let Some(id) = desk.holder::<Project>(Scope::repositories().claim(&key)).await? else { return Ok(None) };
        let project = desk.load::<Project>(id).await?;
        let Ok(live) = project.state.live() else { return Ok(None) };
        if live.repository_url.as_ref().map(RepositoryUrl::key) != Some(key) {
            return Ok(None);
        }
        // The repository may go to another project meanwhile, and what happens in it with it.
        desk.rely_on(&project);
        Ok(Some(RepositoryOf { workspace_id: live.workspace_id, project_id: live.project_id }))
    }

    /// The agent whose account this is, if it works in the project.
    async fn agent(&self, desk: &mut Desk<'_>, of: RepositoryOf, login: &Login) -> Result<Option<LiveAgent>, Stop> {
        let key = login.key();
        let Some((_, id)) = self.accounts.iter().find(|(it, _)| it.key() == key) else { return Ok(None) };
        let agent = desk.load::<Agent>(id.0).await?;
        let Ok(live) = agent.state.live() else { return Ok(None) };
        let has_account = agent_of(login, [(live.agent_id, &live.code, &live.settings)]).is_some();
        if !has_account || !live.reaches(of.project_id, of.workspace_id) {
            return Ok(None);
        }
        desk.rely_on(&agent);
        Ok(Some(live.clone()))
    }
}

/// The task that is an issue of a project. It is that for ever.
async fn task_of(desk: &Desk<'_>, project: ProjectId, number: i64) -> Result<Option<TaskId>, Stop> {
    let holder = desk.holder::<Task>(GithubIssue::claim_by_number(project, number)).await?;
    Ok(holder.map(TaskId))
}

/// The task that a pull request is linked to.
async fn task_of_pull_request(desk: &mut Desk<'_>, project: ProjectId, number: i64) -> Result<Option<TaskId>, Stop> {
    let found = desk.load::<PullRequest>(PullRequestId::of(project, number).0).await?;
    Ok(found.state.known().ok().and_then(|known| known.linked_task_id))
}
