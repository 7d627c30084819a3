//! Log a decision.

use chrono::{DateTime, Utc};

use super::{DecisionEntry, DecisionError, DecisionEvent};
use crate::{AgentId, DecisionId, WorkspaceId, redact};

/// The longest title, in characters.
pub const LONGEST_TITLE: usize = 200;
/// The longest body, in characters.
pub const LONGEST_BODY: usize = 20_000;

/// Puts a decision on record. Secrets, and what is not text, are taken out of it first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogDecision {
    /// The id it gets.
    pub decision_id: DecisionId,
    /// The workspace it belongs to.
    pub workspace_id: WorkspaceId,
    /// Whose decision it is.
    pub agent_id: Option<AgentId>,
    /// What was decided.
    pub title: String,
    /// Why, and with what.
    pub body: String,
    /// When this is asked.
    pub now: DateTime<Utc>,
}

pub(crate) fn decide(entry: &DecisionEntry, command: LogDecision) -> Result<Vec<DecisionEvent>, DecisionError> {
    match entry {
        DecisionEntry::Absent => {}
        DecisionEntry::Logged { .. } => return Err(DecisionError::AlreadyLogged),
    }
    let title = redact::line(&command.title, LONGEST_TITLE);
    if title.is_empty() {
        return Err(DecisionError::Untitled);
    }
    Ok(vec![DecisionEvent::DecisionLogged {
        decision_id: command.decision_id,
        workspace_id: command.workspace_id,
        agent_id: command.agent_id,
        title,
        body: redact::lines(&command.body, LONGEST_BODY),
        logged_at: command.now,
    }])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Entity;
    use crate::decision::DecisionCommand;
    use crate::examples::{after, at, given, id};

    fn log() -> LogDecision {
        LogDecision {
            decision_id: id(90),
            workspace_id: id(10),
            agent_id: Some(id(30)),
            title: "Split the epic".to_owned(),
            body: "Two parts can be built alone".to_owned(),
            now: at(0),
        }
    }

    fn logged() -> DecisionEvent {
        let it = log();
        DecisionEvent::DecisionLogged {
            decision_id: it.decision_id,
            workspace_id: it.workspace_id,
            agent_id: it.agent_id,
            title: it.title,
            body: it.body,
            logged_at: it.now,
        }
    }

    #[test]
    fn a_decision_is_put_on_record_once() {
        given::<DecisionEntry>([]).when(DecisionCommand::Log(log())).then_expect_events(vec![logged()]);
        given::<DecisionEntry>([logged()])
            .when(DecisionCommand::Log(log()))
            .then_expect_error(DecisionError::AlreadyLogged);
        assert_eq!(after::<DecisionEntry>([logged()]).workspace(), Some(id(10)));
    }

    #[test]
    fn a_decision_has_a_title() {
        let untitled = LogDecision { title: " \u{1b}[0m ".to_owned(), ..log() };
        given::<DecisionEntry>([]).when(DecisionCommand::Log(untitled)).then_expect_error(DecisionError::Untitled);
    }

    #[test]
    fn no_secret_is_put_on_record() {
        let telling = LogDecision { body: "password=hunter2".to_owned(), ..log() };
        let events = decide(&DecisionEntry::Absent, telling).expect("a decision");
        assert!(matches!(&events[..], [DecisionEvent::DecisionLogged { body, .. }] if body == "password=[redacted]"));
    }
}
