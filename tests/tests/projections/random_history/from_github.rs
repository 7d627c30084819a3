//! What GitHub tells at random, sometimes late: pull requests and repositories.

use chrono::{DateTime, TimeDelta, Utc};
use domain::github::Login;
use domain::pull_request::*;
use domain::repository::*;
use domain::task::GithubIssue;
use domain::{ProjectId, WorkspaceId};

use super::page::Stream;
use super::world::{BY_GITHUB, REVIEWS, World};

const LABELS: [&str; 3] = ["bug", "Bug", "feature"];
const STATES: [DeploymentState; 3] = [DeploymentState::Success, DeploymentState::Failure, DeploymentState::Error];

impl World {
    /// Now, or some minutes ago.
    fn lately(&mut self) -> DateTime<Utc> {
        self.page.now - TimeDelta::minutes(self.dice.below(3) as i64)
    }

    /// Few enough that deployments are of commits that were pushed or merged.
    fn sha(&mut self) -> String {
        format!("{:040x}", self.dice.below(3000))
    }

    fn described(&mut self, workspace_id: WorkspaceId, project_id: ProjectId, number: i64) -> GithubPullRequest {
        let updated_at = self.lately();
        GithubPullRequest {
            workspace_id,
            project_id,
            number,
            url: format!("https://github.com/acme/shop/pull/{number}"),
            title: self.dice.text(),
            author: Login::new("dev"),
            agent_id: Some(self.agent().agent_id).filter(|_| self.dice.below(4) > 0),
            linked_task_id: Some(self.task().task_id).filter(|_| self.dice.below(2) > 0),
            repository: "acme/shop".to_owned(),
            labels: vec![self.dice.of(&LABELS).to_owned()],
            additions: self.dice.number(500),
            deletions: self.dice.number(500),
            changed_files: self.dice.number(9),
            opened_at: updated_at,
            updated_at,
        }
    }

    pub(super) async fn open_pull_request(&mut self) {
        let ((workspace, project), number) = (self.project(), self.pull_requests.len() as i64 + 1);
        let now_is = self.described(workspace, project, number);
        let id = now_is.id().0;
        let describe = PullRequestCommand::Describe(DescribePullRequest { now_is });
        self.page.begin(&mut self.pull_requests, id, BY_GITHUB, describe).await;
    }

    pub(super) async fn tell_of_pull_request(&mut self) {
        let at = self.dice.pick(&self.pull_requests);
        let known = self.pull_requests[at].state.known().unwrap().clone();
        let now_is = self.described(known.workspace_id, known.project_id, known.number);
        let (when, id, ada) = (self.lately(), self.dice.number(1_000_000), Login::new("ada"));
        let command = match self.dice.below(16) {
            0..=2 => return self.open_pull_request().await,
            3..=5 => PullRequestCommand::Describe(DescribePullRequest { now_is }),
            6 => PullRequestCommand::Close(ClosePullRequest { now_is, closed_by: ada, closed_at: when }),
            7 => PullRequestCommand::Reopen(ReopenPullRequest { now_is }),
            8 => {
                let merge_commit_sha = Some(self.sha());
                PullRequestCommand::Merge(MergePullRequest {
                    now_is,
                    merged_by: ada,
                    merge_commit_sha,
                    merged_at: when,
                })
            }
            9..=11 => {
                let (check_name, failed) = ("lint".to_owned(), self.dice.below(2) == 0);
                PullRequestCommand::Check(CheckPullRequest { check_id: id, check_name, failed, completed_at: when })
            }
            _ => PullRequestCommand::Review(ReviewPullRequest {
                review_id: id,
                reviewer: ada,
                reviewer_agent_id: Some(self.agent().agent_id).filter(|_| self.dice.below(2) == 0),
                decision: self.dice.of(&REVIEWS),
                submitted_at: when,
            }),
        };
        self.page.run(&mut self.pull_requests[at], BY_GITHUB, command).await;
    }

    pub(super) async fn tell_of_repository(&mut self) {
        let (task, agent_id, when) = (self.task(), Some(self.agent().agent_id), self.lately());
        let of = RepositoryOf { workspace_id: task.workspace_id, project_id: task.project_id };
        let issue = task.github_issue.unwrap_or(GithubIssue { id: 1, number: 1_000_000 });
        let (url, words, sha) =
            (format!("https://github.com/acme/shop/{}", issue.number), self.dice.text(), self.sha());
        let command = match self.dice.below(5) {
            0 => RepositoryCommand::Push(PushCommits {
                of,
                git_ref: "refs/heads/main".to_owned(),
                commits: vec![self.sha(), sha.clone()],
                head_sha: sha,
                pusher: Login::new("dev"),
                agent_id,
                pushed_at: when,
            }),
            1 => RepositoryCommand::ReportDeployment(ReportDeployment {
                of,
                deployment_id: self.dice.number(500),
                status_id: self.dice.number(1_000_000),
                state: self.dice.of(&STATES),
                sha,
                environment: words,
                reported_at: when,
            }),
            2 => RepositoryCommand::Comment(CommentOnIssue {
                of,
                comment_id: self.dice.number(1_000_000),
                issue_number: issue.number,
                url,
                author: Login::new("ada"),
                body: words,
                task_id: Some(task.task_id),
                agent_id: task.assigned_agent_id,
                commented_at: when,
            }),
            3 => RepositoryCommand::AssignIssue(AssignIssue {
                of,
                issue,
                url,
                title: words,
                assignee: Login::new("dev"),
                agent_id,
                repository: "acme/shop".to_owned(),
                assigned_at: when,
            }),
            _ => {
                let labels = vec![self.dice.of(&LABELS).to_owned()];
                RepositoryCommand::LabelIssue(LabelIssue { of, issue, labels, labelled_at: when })
            }
        };
        let repository = self.repositories.entry(of.project_id).or_insert_with(|| Stream::new(of.project_id.0));
        self.page.run(repository, BY_GITHUB, command).await;
    }
}
