//! Of pull requests and repositories, as GitHub tells of them.

use domain::ReviewDecision;
use domain::github::Login;
use domain::pull_request::{
    CheckPullRequest, ClosePullRequest, DescribePullRequest, GithubPullRequest, MergePullRequest, PullRequestCommand,
    ReopenPullRequest, ReviewPullRequest, Standing,
};
use domain::repository::{
    AssignIssue, CommentOnIssue, DeploymentState, LabelIssue, PushCommits, ReportDeployment, RepositoryCommand,
    RepositoryOf,
};
use domain::task::GithubIssue;
use proptest::collection::vec;
use proptest::prelude::*;

use super::{at, id};

/// What happens to a pull request on GitHub, in an order in which it can happen.
pub(crate) fn pull_request_commands() -> impl Strategy<Value = Vec<PullRequestCommand>> {
    vec((0..7_u8, 0..3_i64), 0..14).prop_map(|steps| {
        let mut standing = Standing::Open;
        let tell = |(minute, (step, number)): (usize, (u8, i64))| told(minute as i64, step, number, &mut standing);
        steps.into_iter().enumerate().map(tell).collect()
    })
}

fn told(minute: i64, step: u8, number: i64, standing: &mut Standing) -> PullRequestCommand {
    let now_is = described(minute, number);
    let (ada, now) = (Login::new("ada"), at(minute));
    match (step, *standing) {
        (0, Standing::Open) => {
            *standing = Standing::Closed;
            PullRequestCommand::Close(ClosePullRequest { now_is, closed_by: ada, closed_at: now })
        }
        (0 | 1, Standing::Closed) => {
            *standing = Standing::Open;
            PullRequestCommand::Reopen(ReopenPullRequest { now_is })
        }
        (1, Standing::Open) => {
            *standing = Standing::Merged;
            PullRequestCommand::Merge(MergePullRequest {
                now_is,
                merged_by: ada,
                merge_commit_sha: None,
                merged_at: now,
            })
        }
        (2, _) => PullRequestCommand::Review(ReviewPullRequest {
            review_id: number,
            reviewer: ada,
            reviewer_agent_id: None,
            decision: ReviewDecision::Approve,
            submitted_at: now,
        }),
        (3, _) => PullRequestCommand::Check(CheckPullRequest {
            check_id: number,
            check_name: "lint".to_owned(),
            failed: minute % 2 == 0,
            completed_at: now,
        }),
        _ => PullRequestCommand::Describe(DescribePullRequest { now_is }),
    }
}

fn described(minute: i64, additions: i64) -> GithubPullRequest {
    GithubPullRequest {
        workspace_id: id(10),
        project_id: id(20),
        number: 7,
        url: "https://github.com/acme/shop/pull/7".to_owned(),
        title: "Add a basket".to_owned(),
        author: Login::new("dev-1"),
        agent_id: Some(id(30)),
        linked_task_id: None,
        repository: "acme/shop".to_owned(),
        labels: vec![],
        additions,
        deletions: 0,
        changed_files: 1,
        opened_at: at(0),
        updated_at: at(minute),
    }
}

pub(crate) fn repository_command() -> impl Strategy<Value = RepositoryCommand> {
    let of = RepositoryOf { workspace_id: id(10), project_id: id(20) };
    let issue = |number| GithubIssue { id: 9000 + number, number };
    let push = (0..4_i64, "[ab]").prop_map(move |(minute, head_sha)| {
        RepositoryCommand::Push(PushCommits {
            of,
            git_ref: "refs/heads/main".to_owned(),
            commits: vec![head_sha.clone()],
            head_sha,
            pusher: Login::new("dev-1"),
            agent_id: None,
            pushed_at: at(minute),
        })
    });
    let deploy = (0..6_i64).prop_map(move |status_id| {
        RepositoryCommand::ReportDeployment(ReportDeployment {
            of,
            deployment_id: 5,
            status_id,
            state: DeploymentState::Failure,
            sha: "a".to_owned(),
            environment: "production".to_owned(),
            reported_at: at(status_id),
        })
    });
    let comment = (0..6_i64).prop_map(move |comment_id| {
        RepositoryCommand::Comment(CommentOnIssue {
            of,
            comment_id,
            issue_number: 12,
            url: "https://github.com/acme/shop/issues/12".to_owned(),
            author: Login::new("ada"),
            body: "How far is it?".to_owned(),
            task_id: None,
            agent_id: None,
            commented_at: at(comment_id),
        })
    });
    let assign = (0..3_i64, 12..14_i64, "[ab]").prop_map(move |(minute, number, assignee)| {
        RepositoryCommand::AssignIssue(AssignIssue {
            of,
            issue: issue(number),
            url: "https://github.com/acme/shop/issues/12".to_owned(),
            title: "Add a basket".to_owned(),
            assignee: Login::new(assignee),
            agent_id: None,
            repository: "acme/shop".to_owned(),
            assigned_at: at(minute),
        })
    });
    let label = (0..3_i64, 12..14_i64).prop_map(move |(minute, number)| {
        let labels = vec!["bug".to_owned()];
        RepositoryCommand::LabelIssue(LabelIssue { of, issue: issue(number), labels, labelled_at: at(minute) })
    });
    prop_oneof![push, deploy, comment, assign, label]
}
