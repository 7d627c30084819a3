//! What agents may tell one another: the content of each type, checked field by field.

use chrono::{DateTime, Utc};
use domain::session::{
    Advice, Confidence, NamedAgent, ProblemContext, ProblemReport, Publication, Question, QuestionContext,
    ReviewRequest, ReviewResponse,
};
use domain::{AgentId, PullRequestId, Settings, TaskId};
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::error::{ApiError, BadField};
use crate::input::without_nulls;
use crate::words::same_words;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[schemars(transform = without_nulls, transform = content_by_type)]
pub(super) struct PublishEvent {
    pub(super) session_id: Uuid,
    #[serde(rename = "type")]
    kind: PublishedType,
    /// By type.
    content: Settings,
    /// Agents of the workspace that are to hear of it. The supervisor hears of problems and questions anyway.
    #[schemars(length(max = 100))]
    mentions: Option<Vec<Uuid>>,
}

/// What agents publish.
#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
enum PublishedType {
    ProblemReport,
    AdviceGiven,
    QuestionAsked,
    ReviewRequested,
    ReviewResponse,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Problem {
    title: String,
    description: String,
    context: ProblemPlace,
    severity: Severity,
    category: Category,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[schemars(transform = without_nulls)]
struct ProblemPlace {
    file: Option<String>,
    line_number: Option<i64>,
    error: Option<String>,
    stack_trace: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[schemars(transform = without_nulls)]
struct GivenAdvice {
    topic: String,
    advice: String,
    context: Option<Settings>,
    related_task: Option<Uuid>,
    #[schemars(range(min = 0.0, max = 1.0))]
    confidence: f64,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct AskedQuestion {
    question: String,
    context: QuestionPlace,
    urgency: Urgency,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[schemars(transform = without_nulls)]
struct QuestionPlace {
    related_task: Option<Uuid>,
    related_file: Option<String>,
    #[serde(rename = "whatIVeTried")]
    what_ive_tried: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[schemars(transform = without_nulls)]
struct RequestedReview {
    pull_request_id: Uuid,
    github_pull_request_number: i64,
    #[schemars(url, length(max = 2048))]
    github_pull_request_url: String,
    title: String,
    description: Option<String>,
    changed_files: i64,
    additions: i64,
    deletions: i64,
    requested_by: Named,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[schemars(transform = without_nulls)]
struct GivenReview {
    pull_request_id: Uuid,
    reviewer: Named,
    decision: Decision,
    comments: Option<String>,
    #[schemars(length(max = 1000))]
    requested_changes: Option<Vec<String>>,
    reviewed_at: DateTime<Utc>,
}

/// The publishing agent itself; it is shown with the name that it really has.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Named {
    agent_id: Uuid,
    agent_name: String,
}

#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Severity {
    Low,
    Medium,
    High,
    Critical,
}

#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Urgency {
    Low,
    Medium,
    High,
    Critical,
}

#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Category {
    Bug,
    Architecture,
    Performance,
    Security,
    Other,
}

#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Decision {
    Approve,
    RequestChanges,
    Comment,
}

same_words!(Severity = domain::Severity { Low, Medium, High, Critical });
same_words!(Urgency = domain::session::Urgency { Low, Medium, High, Critical });
same_words!(Category = domain::session::ProblemCategory { Bug, Architecture, Performance, Security, Other });
same_words!(Decision = domain::ReviewDecision { Approve, RequestChanges, Comment });

/// Says of each type what its content must be, so that every bad field of a request is named at once.
fn content_by_type(schema: &mut Schema) {
    let cases = [
        case::<Problem>("problem_report"),
        case::<GivenAdvice>("advice_given"),
        case::<AskedQuestion>("question_asked"),
        case::<RequestedReview>("review_requested"),
        case::<GivenReview>("review_response"),
    ];
    schema.insert("allOf".to_owned(), Value::from(cases.to_vec()));
}

fn case<T: JsonSchema>(kind: &str) -> Value {
    let settings = SchemaSettings::draft2020_12().with(|it| {
        it.inline_subschemas = true;
        it.meta_schema = None;
    });
    let content = settings.into_generator().into_root_schema_for::<T>();
    json!({
        "if": { "properties": { "type": { "const": kind } }, "required": ["type"] },
        "then": { "properties": { "content": content } },
    })
}

impl PublishEvent {
    /// Who is to hear of it.
    pub(super) fn mentions(&self) -> Vec<AgentId> {
        self.mentions.iter().flatten().copied().map(AgentId).collect()
    }

    /// What is said.
    pub(super) fn publication(self) -> Result<Publication, ApiError> {
        Ok(match self.kind {
            PublishedType::ProblemReport => Publication::Problem(content::<Problem>(self.content)?.into()),
            PublishedType::AdviceGiven => Publication::Advice(content::<GivenAdvice>(self.content)?.read()?),
            PublishedType::QuestionAsked => Publication::Question(content::<AskedQuestion>(self.content)?.into()),
            PublishedType::ReviewRequested => {
                Publication::ReviewRequest(content::<RequestedReview>(self.content)?.into())
            }
            PublishedType::ReviewResponse => Publication::ReviewResponse(content::<GivenReview>(self.content)?.into()),
        })
    }
}

/// Content that has the form of its type by the schema already.
fn content<T: DeserializeOwned>(content: Settings) -> Result<T, ApiError> {
    serde_json::from_value(Value::Object(content))
        .map_err(|e| ApiError::validation(vec![BadField::new("content", e.to_string())]))
}

impl GivenAdvice {
    fn read(self) -> Result<Advice, ApiError> {
        let out_of_range = || ApiError::validation(vec![BadField::new("content.confidence", "must be from 0 to 1")]);
        Ok(Advice {
            topic: self.topic,
            advice: self.advice,
            context: self.context,
            related_task: self.related_task.map(TaskId),
            confidence: Confidence::new(self.confidence).ok_or_else(out_of_range)?,
        })
    }
}

impl From<Problem> for ProblemReport {
    fn from(it: Problem) -> Self {
        let ProblemPlace { file, line_number, error, stack_trace } = it.context;
        Self {
            title: it.title,
            description: it.description,
            context: ProblemContext { file, line_number, error, stack_trace },
            severity: it.severity.into(),
            category: it.category.into(),
        }
    }
}

impl From<AskedQuestion> for Question {
    fn from(it: AskedQuestion) -> Self {
        let QuestionPlace { related_task, related_file, what_ive_tried } = it.context;
        let context = QuestionContext { related_task: related_task.map(TaskId), related_file, what_ive_tried };
        Self { question: it.question, context, urgency: it.urgency.into() }
    }
}

impl From<RequestedReview> for ReviewRequest {
    fn from(it: RequestedReview) -> Self {
        Self {
            pull_request_id: PullRequestId(it.pull_request_id),
            github_pull_request_number: it.github_pull_request_number,
            github_pull_request_url: it.github_pull_request_url,
            title: it.title,
            description: it.description,
            changed_files: it.changed_files,
            additions: it.additions,
            deletions: it.deletions,
            requested_by: it.requested_by.into(),
        }
    }
}

impl From<GivenReview> for ReviewResponse {
    fn from(it: GivenReview) -> Self {
        Self {
            pull_request_id: PullRequestId(it.pull_request_id),
            reviewer: it.reviewer.into(),
            decision: it.decision.into(),
            comments: it.comments,
            requested_changes: it.requested_changes,
            reviewed_at: it.reviewed_at,
        }
    }
}

impl From<Named> for NamedAgent {
    fn from(it: Named) -> Self {
        Self { agent_id: AgentId(it.agent_id), agent_name: it.agent_name }
    }
}
