//! What agents say to one another: the content of each type of message.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::{AgentId, PullRequestId, ReviewDecision, Settings, Severity, TaskId};

/// A problem that an agent has met.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProblemReport {
    /// The problem in a few words.
    pub title: String,
    /// The problem.
    pub description: String,
    /// Where it occurred.
    pub context: ProblemContext,
    /// How bad it is.
    pub severity: Severity,
    /// What kind of problem it is.
    pub category: ProblemCategory,
}

/// Where a problem occurred.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProblemContext {
    /// In which file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// In which line of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line_number: Option<i64>,
    /// With which error message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// With which stack trace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stack_trace: Option<String>,
}

/// What kind of problem it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ProblemCategory {
    /// Something does what it should not.
    Bug,
    /// Something is built in the wrong way.
    Architecture,
    /// Something is too slow.
    Performance,
    /// Something is not safe.
    Security,
    /// Something else.
    Other,
}

/// Advice for other agents.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Advice {
    /// What it is about.
    pub topic: String,
    /// The advice.
    pub advice: String,
    /// What goes with it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<Settings>,
    /// The task it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub related_task: Option<TaskId>,
    /// How sure the adviser is.
    pub confidence: Confidence,
}

/// How sure an adviser is, from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(try_from = "f64")]
pub struct Confidence(f64);

impl Confidence {
    /// The number, if it is between 0 and 1.
    pub fn new(number: f64) -> Option<Self> {
        (0.0..=1.0).contains(&number).then_some(Self(number))
    }

    /// The number.
    pub fn get(self) -> f64 {
        self.0
    }
}

impl TryFrom<f64> for Confidence {
    type Error = &'static str;

    fn try_from(number: f64) -> Result<Self, &'static str> {
        Self::new(number).ok_or("must be between 0 and 1")
    }
}

/// A question of an agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Question {
    /// The question.
    pub question: String,
    /// What it is about.
    pub context: QuestionContext,
    /// How soon an answer is needed.
    pub urgency: Urgency,
}

/// What a question is about.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuestionContext {
    /// Which task.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub related_task: Option<TaskId>,
    /// Which file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub related_file: Option<String>,
    /// What the agent has tried.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub what_ive_tried: Option<String>,
}

/// How soon an answer is needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Urgency {
    /// At some time.
    Low,
    /// Soon.
    Medium,
    /// Very soon.
    High,
    /// Now.
    Critical,
}

/// An agent with the name it had then.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NamedAgent {
    /// Which agent.
    pub agent_id: AgentId,
    /// What people called it.
    pub agent_name: String,
}

/// A pull request that is to be reviewed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReviewRequest {
    /// Which pull request.
    pub pull_request_id: PullRequestId,
    /// Its number on GitHub.
    pub github_pull_request_number: i64,
    /// Where it is.
    pub github_pull_request_url: String,
    /// What it is called.
    pub title: String,
    /// What it does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// How many files it changes.
    pub changed_files: i64,
    /// How many lines it adds.
    pub additions: i64,
    /// How many lines it deletes.
    pub deletions: i64,
    /// Who asks.
    pub requested_by: NamedAgent,
}

/// A review of a pull request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReviewResponse {
    /// Which pull request.
    pub pull_request_id: PullRequestId,
    /// Who reviewed it.
    pub reviewer: NamedAgent,
    /// What the reviewer says.
    pub decision: ReviewDecision,
    /// Why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub comments: Option<String>,
    /// What is to be changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requested_changes: Option<Vec<String>>,
    /// When it was reviewed.
    pub reviewed_at: DateTime<Utc>,
}

/// How much was new for an agent that started a session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PulledCounts {
    /// Tasks that it has to do.
    pub tasks: u32,
    /// Events that mention it.
    pub messages: u32,
    /// Changes to its role.
    pub role_changes: u32,
}

/// What an agent's role was at a moment.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AgentSnapshot {
    /// What it could do.
    pub capabilities: Vec<String>,
    /// What the owner had configured for it.
    pub settings: Settings,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn confidence_is_between_0_and_1() {
        for number in [0.0, 0.5, 1.0] {
            assert_eq!(Confidence::new(number).map(Confidence::get), Some(number));
        }
        for number in [-0.1, 1.1, f64::NAN, f64::INFINITY] {
            assert_eq!(Confidence::new(number), None);
        }
        assert!(serde_json::from_str::<Confidence>("2").is_err());
    }
}
