//! Timeline entries as answers show them: as their read model keeps them, with the names of people joined.

use std::borrow::Cow;
use std::collections::HashMap;

use chrono::{DateTime, Utc};
use domain::UserId;
use projections::timeline::{self, Doc};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value};
use uuid::Uuid;

use crate::App;
use crate::error::ApiError;

/// Every type that an entry can have: the document's, then the design's.
#[rustfmt::skip]
pub(crate) const TYPES: &[&str] = &[
    "session_start", "session_log", "session_stop", "task_assigned", "task_completed", "task_blocked",
    "problem_report", "advice_given", "question_asked", "review_requested", "review_response",
    "github_pr_opened", "github_pr_merged", "github_issue_assigned", "kpi_updated", "trust_score_changed",
    "wiki_contribution",
    "workspace_created", "workspace_updated", "workspace_deleted",
    "project_created", "project_updated", "project_deleted",
    "agent_created", "agent_updated", "agent_deleted", "agent_status_changed", "agent_credentials_rotated",
    "task_created", "task_updated", "task_started", "github_pr_closed", "github_comment",
    "wiki_approved", "wiki_rejected",
    "epic_created", "epic_updated", "epic_submitted", "epic_changes_requested", "epic_completed", "epic_failed",
    "task_submitted", "task_approved", "task_changes_requested", "task_rebase_requested", "task_rebased",
    "task_merge_failed", "task_handed_over", "task_reset", "task_failed",
    "agent_posted", "agent_health_checked", "agent_reported_silent", "agent_declared_dead", "agent_relieved",
    "agent_discharged", "agent_launch_ordered", "errand_failed",
    "mail_received", "tool_failed", "notification_failed",
];

/// One of [`TYPES`].
#[derive(Deserialize)]
pub(crate) struct EventType(pub(crate) String);

/// A timeline entry as its read model keeps it.
#[derive(Debug, Serialize)]
#[serde(transparent)]
pub(crate) struct Entry(pub(crate) Box<RawValue>);

/// Something that happened, for people to read.
#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Event")]
#[allow(dead_code, reason = "entries are kept as JSON; this is their schema")]
struct EntryForm {
    id: Uuid,
    #[schemars(rename = "type")]
    kind: EventType,
    author_id: Option<Uuid>,
    session_id: Option<Uuid>,
    project_id: Option<Uuid>,
    /// By type.
    content: Map<String, Value>,
    mentions: Vec<Uuid>,
    metadata: Map<String, Value>,
    /// When it happened.
    timestamp: DateTime<Utc>,
    /// When it was recorded.
    created_at: DateTime<Utc>,
}

impl App {
    /// Entries as answers show them: one look-up of names for all of them, and none where nobody is named.
    pub(crate) async fn entries(&self, docs: Vec<Doc>) -> Result<Vec<Entry>, ApiError> {
        let entry = |doc: Doc| RawValue::from_string(doc.json).map(Entry).map_err(ApiError::fault);
        self.with_names(docs).await?.into_iter().map(entry).collect()
    }

    /// One entry as answers show it.
    pub(crate) async fn entry(&self, doc: Doc) -> Result<Entry, ApiError> {
        let mut one = self.entries(vec![doc]).await?;
        one.pop().ok_or_else(|| ApiError::fault("an entry was lost"))
    }

    /// The same entries, with the names of people joined.
    pub(crate) async fn with_names(&self, mut docs: Vec<Doc>) -> Result<Vec<Doc>, ApiError> {
        let names = self.names_in(&docs).await?;
        for doc in docs.iter_mut().filter(|it| it.named_user.is_some()) {
            doc.json = named(doc, &names)?;
        }
        Ok(docs)
    }

    async fn names_in(&self, docs: &[Doc]) -> Result<HashMap<Uuid, String>, ApiError> {
        let mut users: Vec<Uuid> = docs.iter().filter_map(|it| it.named_user).map(|it| it.0).collect();
        users.sort_unstable();
        users.dedup();
        Ok(self.log.accounts().names(&users).await?)
    }
}

/// Puts the name beside the id of the user whom the content names; null when the account is gone.
fn named(doc: &Doc, names: &HashMap<Uuid, String>) -> Result<String, ApiError> {
    let Some(UserId(user)) = doc.named_user else { return Ok(doc.json.clone()) };
    let mut entry: Value = serde_json::from_str(&doc.json).map_err(ApiError::fault)?;
    let name = names.get(&user).map_or(Value::Null, |name| name.as_str().into());
    let parts = entry["content"].as_object_mut().into_iter().flat_map(|it| it.values_mut());
    for part in parts.filter_map(Value::as_object_mut).filter(|it| it.contains_key("userId")) {
        part.insert("userName".to_owned(), name.clone());
    }
    serde_json::to_string(&entry).map_err(ApiError::fault)
}

impl From<&timeline::Entry> for Entry {
    fn from(entry: &timeline::Entry) -> Self {
        Self(to_raw_value(entry).expect("an entry is always JSON"))
    }
}

impl JsonSchema for EventType {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "EventType".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "enum": TYPES })
    }
}

impl JsonSchema for Entry {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        EntryForm::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        EntryForm::json_schema(generator)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::json;

    use super::*;

    #[test]
    fn the_types_that_can_be_asked_for_are_those_that_the_timeline_has() {
        let (asked, had): (BTreeSet<_>, BTreeSet<_>) = (TYPES.iter().collect(), timeline::TYPES.iter().collect());
        assert_eq!(asked, had);
    }

    #[test]
    fn the_name_of_a_person_is_put_beside_the_id_and_nowhere_else() {
        let user = Uuid::from_u128(9);
        let entry = json!({ "content": { "assignedBy": { "userId": user }, "assignedTo": { "agentId": 1 } } });
        let doc = |named_user| Doc { position: 1, kind: "task_assigned".into(), named_user, json: entry.to_string() };
        let shown = |doc: Doc, names: &HashMap<_, _>| -> Value {
            serde_json::from_str(&named(&doc, names).expect("an entry")).expect("JSON")
        };
        let known = HashMap::from([(user, "Ada".to_owned())]);
        let content = shown(doc(Some(UserId(user))), &known)["content"].clone();
        assert_eq!(content["assignedBy"], json!({ "userId": user, "userName": "Ada" }));
        assert_eq!(content["assignedTo"], json!({ "agentId": 1 }));
        let erased = shown(doc(Some(UserId(user))), &HashMap::new());
        assert_eq!(erased["content"]["assignedBy"]["userName"], Value::Null);
        assert_eq!(shown(doc(None), &known), entry);
    }
}
