//! News of pull requests: described, reviewed, checked, closed or merged. A merge completes the task.

use chrono::TimeDelta;
use domain::github::issue_references;
use domain::pull_request::{
    CheckPullRequest, ClosePullRequest, DescribePullRequest, GithubPullRequest, MergePullRequest, PullRequest,
    PullRequestCommand, PullRequestEvent, ReopenPullRequest, ReviewPullRequest,
};
use domain::repository::RepositoryOf;
use domain::task::{CompleteTaskOnGithub, CompletionCause, Task, TaskCommand};
use domain::{ProjectId, PullRequestId, TaskId};

use super::{Check, MOST_REFERENCES, PullRequestNow, PullRequestTurn, Review, TakeDelivery, task_of};
use crate::{Desk, Stop};

impl TakeDelivery {
    pub(super) async fn take_pull_request(
        &self,
        desk: &mut Desk<'_>,
        of: RepositoryOf,
        now: &PullRequestNow,
        turn: &PullRequestTurn,
    ) -> Result<(), Stop> {
        let now_is = self.described(desk, of, now).await?;
        let id = now_is.id().0;
        let command = match turn.clone() {
            PullRequestTurn::Described => PullRequestCommand::Describe(DescribePullRequest { now_is }),
            PullRequestTurn::Reopened => PullRequestCommand::Reopen(ReopenPullRequest { now_is }),
            PullRequestTurn::Closed { by: closed_by, at: closed_at } => {
                PullRequestCommand::Close(ClosePullRequest { now_is, closed_by, closed_at })
            }
            PullRequestTurn::Merged { by: merged_by, commit: merge_commit_sha, at: merged_at } => {
                PullRequestCommand::Merge(MergePullRequest { now_is, merged_by, merge_commit_sha, merged_at })
            }
        };
        for event in desk.run::<PullRequest>(id, command).await? {
            if let PullRequestEvent::PullRequestMerged { number, linked_task_id: Some(task), merged_at, .. } = event {
                let cause = CompletionCause::PullRequestMerged { number };
                let complete = TaskCommand::CompleteOnGithub(CompleteTaskOnGithub { cause, now: merged_at });
                desk.run::<Task>(task.0, complete).await?;
            }
        }
        Ok(())
    }

    pub(super) async fn take_review(&self, desk: &mut Desk<'_>, of: RepositoryOf, it: &Review) -> Result<(), Stop> {
        let id = PullRequestId::of(of.project_id, it.of.number).0;
        if desk.load::<PullRequest>(id).await?.state.known().is_err() {
            let mut now_is = self.described(desk, of, &it.of).await?;
            // The body does not show all of it: any that does is to count as newer.
            now_is.updated_at = now_is.opened_at - TimeDelta::seconds(1);
            let describe = PullRequestCommand::Describe(DescribePullRequest { now_is });
            desk.run::<PullRequest>(id, describe).await?;
        }
        let review = ReviewPullRequest {
            review_id: it.review_id,
            reviewer: it.reviewer.clone(),
            reviewer_agent_id: self.agent(desk, of, &it.reviewer).await?.map(|agent| agent.agent_id),
            decision: it.decision,
            submitted_at: it.submitted_at,
        };
        desk.run::<PullRequest>(id, PullRequestCommand::Review(review)).await.map(drop)
    }

    async fn described(
        &self,
        desk: &mut Desk<'_>,
        of: RepositoryOf,
        now: &PullRequestNow,
    ) -> Result<GithubPullRequest, Stop> {
        Ok(GithubPullRequest {
            workspace_id: of.workspace_id,
            project_id: of.project_id,
            number: now.number,
            url: now.url.clone(),
            title: now.title.clone(),
            author: now.author.clone(),
            agent_id: self.agent(desk, of, &now.author).await?.map(|agent| agent.agent_id),
            linked_task_id: task_named(desk, of.project_id, now).await?,
            repository: now.repository.clone(),
            labels: now.labels.clone(),
            additions: now.additions,
            deletions: now.deletions,
            changed_files: now.changed_files,
            opened_at: now.opened_at,
            updated_at: now.updated_at,
        })
    }
}

/// The first task that the pull request names.
async fn task_named(desk: &Desk<'_>, project: ProjectId, now: &PullRequestNow) -> Result<Option<TaskId>, Stop> {
    for number in issue_references(&now.title, &now.body).into_iter().take(MOST_REFERENCES) {
        if let Some(task) = task_of(desk, project, number).await? {
            return Ok(Some(task));
        }
    }
    Ok(None)
}

/// A check says too little about a pull request that is not known: it is then not taken.
pub(super) async fn take_check(desk: &mut Desk<'_>, of: RepositoryOf, it: &Check) -> Result<(), Stop> {
    for number in &it.pull_requests {
        let id = PullRequestId::of(of.project_id, *number).0;
        if desk.load::<PullRequest>(id).await?.state.known().is_ok() {
            let check = CheckPullRequest {
                check_id: it.check_id,
                check_name: it.name.clone(),
                failed: it.failed,
                completed_at: it.completed_at,
            };
            desk.run::<PullRequest>(id, PullRequestCommand::Check(check)).await?;
        }
    }
    Ok(())
}
