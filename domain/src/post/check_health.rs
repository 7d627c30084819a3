//! Check whether an agent is still there.

use chrono::{DateTime, TimeDelta, Utc};

use super::{Evidence, Post, PostError, PostEvent, PostState};

/// When an agent is silent for too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HealthRules {
    /// How long it may be silent before it is asked.
    pub silence: TimeDelta,
    /// How long it has to answer.
    pub patience: TimeDelta,
}

impl Default for HealthRules {
    /// The document's: two minutes for both.
    fn default() -> Self {
        Self { silence: TimeDelta::minutes(2), patience: TimeDelta::minutes(2) }
    }
}

/// A look at an agent: when it was last heard of, and what its bench knows of its process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CheckHealth {
    /// When it was last heard of.
    pub last_heartbeat: DateTime<Utc>,
    /// Whether its process lives; not known of agents that started themselves.
    pub process_alive: Option<bool>,
    /// When its process last said something on its terminal.
    pub last_output_at: Option<DateTime<Utc>>,
    /// When it is silent for too long.
    pub rules: HealthRules,
    /// When this is asked.
    pub now: DateTime<Utc>,
}

/// Silent once, it is asked; silent still, it is dead, unless its process lives and produces output.
pub(super) fn decide(post: &Post, command: CheckHealth) -> Result<Vec<PostEvent>, PostError> {
    let live = post.live()?;
    let CheckHealth { last_heartbeat, process_alive, last_output_at, rules, now } = command;
    if live.state != PostState::InProgress || now - last_heartbeat <= rules.silence {
        return Ok(vec![]);
    }
    // A check that came before its last word was answered by it.
    let Some(missed) = live.missed.filter(|it| it.last_heartbeat >= last_heartbeat) else {
        return Ok(vec![PostEvent::AgentHealthChecked { last_heartbeat, checks_missed: 1, checked_at: now }]);
    };
    if now - missed.checked_at < rules.patience {
        return Ok(vec![]);
    }
    let checks_missed = missed.count + 1;
    let evidence = Evidence { last_heartbeat, checks_missed, process_alive, last_output_at };
    let says_something = last_output_at.is_some_and(|at| at > missed.checked_at);
    if process_alive == Some(true) && says_something {
        let is_known = live.reported_since.is_some_and(|since| since >= last_heartbeat);
        let report = (!is_known).then_some(PostEvent::AgentReportedSilent { evidence, reported_at: now });
        let checked = PostEvent::AgentHealthChecked { last_heartbeat, checks_missed, checked_at: now };
        return Ok([checked].into_iter().chain(report).collect());
    }
    Ok(vec![PostEvent::AgentDeclaredDead { evidence, declared_at: now }])
}

#[cfg(test)]
mod tests {
    use super::super::examples::posted;
    use super::*;
    use crate::examples::{after, at};

    fn look(minute: i64) -> CheckHealth {
        CheckHealth {
            last_heartbeat: at(0),
            process_alive: None,
            last_output_at: None,
            rules: HealthRules::default(),
            now: at(minute),
        }
    }

    fn asked(minute: i64) -> PostEvent {
        PostEvent::AgentHealthChecked { last_heartbeat: at(0), checks_missed: 1, checked_at: at(minute) }
    }

    fn decided(history: &[PostEvent], command: CheckHealth) -> Vec<PostEvent> {
        decide(&after(history.to_vec()), command).expect("a check")
    }

    #[test]
    fn who_was_heard_of_in_the_last_two_minutes_is_healthy() {
        assert_eq!(decided(&[posted()], look(2)), []);
    }

    #[test]
    fn who_is_silent_for_longer_is_asked_first() {
        assert_eq!(decided(&[posted()], look(3)), [asked(3)]);
        assert_eq!(decided(&[posted(), asked(3)], look(4)), [], "it has time to answer");
    }

    #[test]
    fn who_is_silent_still_is_dead_and_the_verdict_has_its_evidence() {
        for process_alive in [None, Some(false), Some(true)] {
            let verdict = decided(&[posted(), asked(3)], CheckHealth { process_alive, ..look(5) });
            let evidence = Evidence { last_heartbeat: at(0), checks_missed: 2, process_alive, last_output_at: None };
            assert_eq!(verdict, [PostEvent::AgentDeclaredDead { evidence, declared_at: at(5) }]);
        }
    }

    #[test]
    fn who_answered_is_asked_anew() {
        let later = CheckHealth { last_heartbeat: at(4), ..look(7) };
        let asked_again = PostEvent::AgentHealthChecked { last_heartbeat: at(4), checks_missed: 1, checked_at: at(7) };
        assert_eq!(decided(&[posted(), asked(3)], later), [asked_again]);
    }

    #[test]
    fn who_is_silent_but_alive_and_busy_is_reported_once_and_not_killed() {
        let busy = |minute| CheckHealth { process_alive: Some(true), last_output_at: Some(at(minute)), ..look(minute) };
        let first = decided(&[posted(), asked(3)], busy(5));
        assert!(matches!(first[..], [PostEvent::AgentHealthChecked { .. }, PostEvent::AgentReportedSilent { .. }]));
        let history = [vec![posted(), asked(3)], first].concat();
        assert!(matches!(decided(&history, busy(7))[..], [PostEvent::AgentHealthChecked { checks_missed: 3, .. }]));
        let quiet = CheckHealth { last_output_at: Some(at(5)), ..busy(7) };
        assert!(matches!(decided(&history, quiet)[..], [PostEvent::AgentDeclaredDead { .. }]));
    }
}
