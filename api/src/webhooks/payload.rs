//! Payloads: of all that GitHub's webhooks say, the little that something follows from.

use chrono::{DateTime, Utc};
use domain::github::Login;
use domain::repository::DeploymentState;
use serde::Deserialize;
use serde::de::IgnoredAny;

/// The most items of a list that are kept.
const LONGEST_LIST: usize = 2_048;
/// Of names, titles and addresses.
const LONGEST_LINE: usize = 500;
/// Of what people write.
const LONGEST_TEXT: usize = 65_536;
/// Who GitHub says did what deleted accounts did.
const GHOST: &str = "ghost";

#[derive(Deserialize)]
pub(super) struct Repository {
    id: i64,
    pub(super) html_url: Line,
    pub(super) full_name: Line,
    /// A number in a push, a text elsewhere.
    pushed_at: Option<serde_json::Value>,
}

impl Repository {
    pub(super) fn pushed_at(&self) -> Option<DateTime<Utc>> {
        self.pushed_at.as_ref()?.as_i64().and_then(|seconds| DateTime::from_timestamp(seconds, 0))
    }
}

#[derive(Deserialize)]
pub(super) struct Account {
    login: Line,
}

/// The name of an account, also of one that is gone.
pub(super) fn login(account: Option<Account>) -> Login {
    account.map_or_else(|| Login::new(GHOST), |it| Login::new(it.login.0))
}

#[derive(Deserialize)]
pub(super) struct Label {
    name: Line,
}

pub(super) fn names(labels: Vec<Label>) -> Vec<String> {
    labels.into_iter().take(LONGEST_LIST).map(|it| it.name.0).collect()
}

#[derive(Deserialize)]
pub(super) struct PullRequestBody {
    pub(super) action: String,
    pub(super) repository: Repository,
    pub(super) sender: Option<Account>,
    pub(super) pull_request: PullRequest,
}

#[derive(Deserialize)]
pub(super) struct PullRequest {
    pub(super) number: i64,
    pub(super) html_url: Line,
    pub(super) title: Line,
    pub(super) body: Option<Text>,
    pub(super) user: Option<Account>,
    #[serde(default)]
    pub(super) labels: Vec<Label>,
    #[serde(default)]
    pub(super) additions: i64,
    #[serde(default)]
    pub(super) deletions: i64,
    #[serde(default)]
    pub(super) changed_files: i64,
    pub(super) created_at: DateTime<Utc>,
    pub(super) updated_at: DateTime<Utc>,
    pub(super) closed_at: Option<DateTime<Utc>>,
    pub(super) merged_at: Option<DateTime<Utc>>,
    pub(super) merged_by: Option<Account>,
    pub(super) merge_commit_sha: Option<Line>,
}

#[derive(Deserialize)]
pub(super) struct ReviewBody {
    pub(super) action: String,
    pub(super) repository: Repository,
    pub(super) pull_request: PullRequest,
    pub(super) review: Review,
}

#[derive(Deserialize)]
pub(super) struct Review {
    pub(super) id: i64,
    pub(super) user: Option<Account>,
    pub(super) state: String,
    pub(super) submitted_at: Option<DateTime<Utc>>,
}

#[derive(Deserialize)]
pub(super) struct CheckRunBody {
    pub(super) action: String,
    pub(super) repository: Repository,
    pub(super) check_run: CheckRun,
}

#[derive(Deserialize)]
pub(super) struct CheckRun {
    pub(super) id: i64,
    pub(super) name: Line,
    pub(super) conclusion: Option<String>,
    pub(super) completed_at: Option<DateTime<Utc>>,
    #[serde(default)]
    pub(super) pull_requests: Vec<Checked>,
}

#[derive(Deserialize)]
pub(super) struct CheckSuiteBody {
    pub(super) action: String,
    pub(super) repository: Repository,
    pub(super) check_suite: CheckSuite,
}

#[derive(Deserialize)]
pub(super) struct CheckSuite {
    pub(super) id: i64,
    /// A suite has no name but that of its app.
    pub(super) app: Option<CheckApp>,
    pub(super) conclusion: Option<String>,
    pub(super) updated_at: DateTime<Utc>,
    #[serde(default)]
    pub(super) pull_requests: Vec<Checked>,
}

#[derive(Deserialize)]
pub(super) struct CheckApp {
    pub(super) name: Line,
}

/// A pull request that was checked; it may be another repository's, made from the same commit.
#[derive(Deserialize)]
pub(super) struct Checked {
    number: i64,
    base: Base,
}

#[derive(Deserialize)]
struct Base {
    repo: BaseRepository,
}

#[derive(Deserialize)]
struct BaseRepository {
    id: i64,
}

pub(super) fn numbers(checked: &[Checked], repository: &Repository) -> Vec<i64> {
    let own = checked.iter().filter(|it| it.base.repo.id == repository.id);
    own.map(|it| it.number).take(LONGEST_LIST).collect()
}

#[derive(Deserialize)]
pub(super) struct DeploymentBody {
    pub(super) repository: Repository,
    pub(super) deployment: Deployment,
    pub(super) deployment_status: DeploymentStatus,
}

#[derive(Deserialize)]
pub(super) struct Deployment {
    pub(super) id: i64,
    pub(super) sha: Line,
    pub(super) environment: Line,
}

#[derive(Deserialize)]
pub(super) struct DeploymentStatus {
    pub(super) id: i64,
    state: String,
    pub(super) created_at: DateTime<Utc>,
}

impl DeploymentStatus {
    /// GitHub has states that say nothing of how it went, and may get more of them.
    pub(super) fn state(&self) -> Option<DeploymentState> {
        serde_json::from_value(self.state.as_str().into()).ok()
    }
}

#[derive(Deserialize)]
pub(super) struct PushBody {
    #[serde(rename = "ref")]
    pub(super) git_ref: Line,
    pub(super) after: Line,
    #[serde(default)]
    pub(super) deleted: bool,
    #[serde(default)]
    commits: Vec<Commit>,
    pub(super) head_commit: Option<Commit>,
    pub(super) repository: Repository,
    pub(super) sender: Option<Account>,
}

impl PushBody {
    pub(super) fn commit_ids(&self) -> Vec<String> {
        self.commits.iter().take(LONGEST_LIST).map(|it| it.id.0.clone()).collect()
    }
}

#[derive(Deserialize)]
pub(super) struct Commit {
    id: Line,
    pub(super) timestamp: DateTime<Utc>,
}

#[derive(Deserialize)]
pub(super) struct IssueBody {
    pub(super) action: String,
    pub(super) repository: Repository,
    pub(super) sender: Option<Account>,
    pub(super) issue: Issue,
    pub(super) assignee: Option<Account>,
}

#[derive(Deserialize)]
pub(super) struct Issue {
    pub(super) id: i64,
    pub(super) number: i64,
    pub(super) html_url: Line,
    pub(super) title: Line,
    pub(super) body: Option<Text>,
    #[serde(default)]
    pub(super) labels: Vec<Label>,
    pub(super) updated_at: DateTime<Utc>,
    pub(super) closed_at: Option<DateTime<Utc>>,
}

#[derive(Deserialize)]
pub(super) struct CommentBody {
    pub(super) action: String,
    pub(super) repository: Repository,
    pub(super) issue: CommentedIssue,
    pub(super) comment: Comment,
}

#[derive(Deserialize)]
pub(super) struct CommentedIssue {
    pub(super) number: i64,
    /// There if it is one.
    pub(super) pull_request: Option<IgnoredAny>,
}

#[derive(Deserialize)]
pub(super) struct Comment {
    pub(super) id: i64,
    pub(super) html_url: Line,
    pub(super) user: Option<Account>,
    pub(super) body: Text,
    pub(super) created_at: DateTime<Utc>,
}

/// A short text.
#[derive(Deserialize)]
#[serde(from = "String")]
pub(super) struct Line(pub(super) String);

/// A long text.
#[derive(Deserialize)]
#[serde(from = "String")]
pub(super) struct Text(pub(super) String);

impl From<String> for Line {
    fn from(text: String) -> Self {
        Self(kept(text, LONGEST_LINE))
    }
}

impl From<String> for Text {
    fn from(text: String) -> Self {
        Self(kept(text, LONGEST_TEXT))
    }
}

/// At most so many characters, and no NUL: PostgreSQL keeps none in text, so neither store does.
fn kept(mut text: String, most: usize) -> String {
    if let Some((end, _)) = text.char_indices().nth(most) {
        text.truncate(end);
    }
    if text.contains('\0') { text.replace('\0', "\u{fffd}") } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_cut_between_characters_and_has_no_nul() {
        assert_eq!(kept("äöü".to_owned(), 2), "äö");
        assert_eq!(kept("a\0b".to_owned(), 9), "a\u{fffd}b");
    }

    #[test]
    fn a_deleted_account_has_a_name_too() {
        assert_eq!(login(None), Login::new("ghost"));
    }
}
