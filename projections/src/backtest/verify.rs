//! Whether stored scores are what the rules make of the log.
//!
//! A calculation is decided again from the facts up to its own position, a change of trust from the calculations that
//! are stored before it. So whatever is wrong is told once, where it is, and not again for everything that came after.

use chrono::{DateTime, Utc};
use domain::agent::AgentStatus;
use domain::scorecard::ScorecardEvent;
use domain::scores::ScorePolicy;
use serde::Serialize;
use serde_json::Value;
use store::{EventLog, StoreError};

use super::{Observer, Standing, Unreadable, Wanted, Who, asked_again, pass};
use crate::Fact;
use crate::score_facts::FactsInMemory;

/// What came of verifying.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Verified {
    /// The events that were gone through.
    pub events: i64,
    /// The calculations of KPIs that were decided again.
    pub kpi_records: i64,
    /// The changes of trust that were decided again.
    pub trust_changes: i64,
    /// Those of both that are not as they should be.
    pub findings: Vec<Finding>,
    /// Events that could not be read, so that nothing is certain.
    pub unreadable: Vec<Unreadable>,
    /// Whether any agent is one that was asked for.
    #[serde(skip)]
    pub found: bool,
}

/// A stored score that is not as it should be.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Finding {
    /// Where it is stored.
    pub position: i64,
    /// When it was stored.
    pub recorded_at: DateTime<Utc>,
    /// What it is.
    pub event_type: String,
    /// Whose score it is.
    #[serde(flatten)]
    pub who: Who,
    /// The figures that differ.
    pub differences: Vec<Difference>,
    /// Why it should not be there at all, if it should not.
    pub should_not_be: Option<String>,
}

/// A figure that differs.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Difference {
    /// Which figure.
    pub field: String,
    /// What is stored.
    pub stored: Value,
    /// What it should be.
    pub recomputed: Value,
}

/// Decides every stored score again that is wanted.
pub async fn verify(log: &EventLog, wanted: &Wanted, progress: impl FnMut(i64)) -> Result<Verified, StoreError> {
    let mut verifier =
        Verifier { wanted, policy: ScorePolicy::default(), kpi_records: 0, trust_changes: 0, findings: vec![] };
    let passed = pass(log, wanted, &mut verifier, progress).await?;
    let Verifier { kpi_records, trust_changes, findings, .. } = verifier;
    let (events, unreadable, found) = (passed.events, passed.unreadable, passed.found);
    Ok(Verified { events, kpi_records, trust_changes, findings, unreadable, found })
}

struct Verifier<'a> {
    wanted: &'a Wanted,
    policy: ScorePolicy,
    kpi_records: i64,
    trust_changes: i64,
    findings: Vec<Finding>,
}

impl Observer for Verifier<'_> {
    fn scored(&mut self, fact: &Fact, event: &ScorecardEvent, before: &Standing, facts: &mut FactsInMemory) {
        if fact.position < self.wanted.from || !self.wanted.includes(&before.who) {
            return;
        }
        match event {
            ScorecardEvent::KpiRecalculated { .. } => self.kpi_records += 1,
            ScorecardEvent::TrustScoreChanged { .. } => self.trust_changes += 1,
        }
        let command = asked_again(fact, event, before, facts, &self.policy);
        let (differences, should_not_be) = match before.scorecard.decide(command).as_deref() {
            Ok([decided]) => (differences(event, decided), None),
            Ok(_) => (vec![], Some("the rules make no such record here".to_owned())),
            Err(refusal) => (vec![], Some(refusal.to_string())),
        };
        if !differences.is_empty() || should_not_be.is_some() {
            self.findings.push(Finding {
                position: fact.position,
                recorded_at: fact.recorded_at,
                event_type: fact.event_type.clone(),
                who: before.who.clone(),
                differences,
                should_not_be,
            });
        }
    }

    fn set_status(&mut self, _who: &Who, _status: AgentStatus) {}
}

/// The figures in which two events differ, each with the names that lead to it.
fn differences(stored: &ScorecardEvent, recomputed: &ScorecardEvent) -> Vec<Difference> {
    let mut found = vec![];
    match (serde_json::to_value(stored), serde_json::to_value(recomputed)) {
        (Ok(Value::Object(stored)), Ok(Value::Object(recomputed))) => {
            // The outermost name is the event's own.
            for (name, stored) in stored {
                differ("", &stored, recomputed.get(&name).unwrap_or(&Value::Null), &mut found);
            }
        }
        (stored, recomputed) => {
            differ("event", &stored.unwrap_or_default(), &recomputed.unwrap_or_default(), &mut found)
        }
    }
    found
}

fn differ(field: &str, stored: &Value, recomputed: &Value, found: &mut Vec<Difference>) {
    match (stored, recomputed) {
        (Value::Object(one), Value::Object(other)) => {
            let names: std::collections::BTreeSet<&String> = one.keys().chain(other.keys()).collect();
            for name in names {
                let field = if field.is_empty() { name.clone() } else { format!("{field}.{name}") };
                let of = |object: &serde_json::Map<String, Value>| object.get(name).cloned().unwrap_or_default();
                differ(&field, &of(one), &of(other), found);
            }
        }
        (one, other) if one == other => {}
        (stored, recomputed) => {
            let (stored, recomputed) = (stored.clone(), recomputed.clone());
            found.push(Difference { field: field.to_owned(), stored, recomputed });
        }
    }
}
