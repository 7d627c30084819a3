//! Check whether an agent is still there.

use chrono::{DateTime, TimeDelta, Utc};

use super::{AgentKind, Evidence, Launch, MissedCheck, Post, PostError, PostEvent, PostState};

/// The longest that an agent is waited for that was never heard of, unless all are waited for that long.
const LONGEST_SILENCE: TimeDelta = TimeDelta::hours(1);

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

impl HealthRules {
    /// How long an agent may be silent, by its kind and the how-manieth on its seat it is.
    ///
    /// Workers are replaced up to five times. Of the others one that was never heard of gets twice as long as the one
    /// before it: what cannot speak is not started again and again.
    pub fn silence_of(&self, kind: AgentKind, attempt: u32, heard_of: bool) -> TimeDelta {
        match kind {
            AgentKind::Orchestrator | AgentKind::Supervisor if !heard_of => {
                let twice_each = self.silence.checked_mul(1 << attempt.saturating_sub(1).min(16));
                let longest = LONGEST_SILENCE.max(self.silence);
                twice_each.map_or(longest, |it| it.min(longest))
            }
            AgentKind::Orchestrator | AgentKind::Supervisor | AgentKind::Worker => self.silence,
        }
    }
}

/// A look at an agent: when it was last heard of, and what its bench knows of its process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CheckHealth {
    /// When it was last heard of.
    pub last_heartbeat: DateTime<Utc>,
    /// Whether that was a word of its own, and not only its posting or its start.
    pub heard_of: bool,
    /// When its rest ended, if it had one: silence before that is none.
    pub expected_since: Option<DateTime<Utc>>,
    /// Whether its process lives; not known of agents that started themselves.
    pub process_alive: Option<bool>,
    /// When its process last said something on its terminal.
    pub last_output_at: Option<DateTime<Utc>>,
    /// When it is silent for too long.
    pub rules: HealthRules,
    /// When this is asked.
    pub now: DateTime<Utc>,
}

/// Silent once, it is asked; silent still, it is dead, unless its process lives and produces output, or nobody has
/// started it yet. Until its launch has ended it cannot have said anything; if it has, it is there.
pub(super) fn decide(post: &Post, command: CheckHealth) -> Result<Vec<PostEvent>, PostError> {
    let live = post.live()?;
    let CheckHealth { last_heartbeat, heard_of, expected_since, process_alive, last_output_at, rules, now } = command;
    let silent_since = expected_since.map_or(last_heartbeat, |it| it.max(last_heartbeat));
    let silence = rules.silence_of(live.kind, live.attempt, heard_of);
    let is_not_launched = live.launch == Launch::Ordered && !heard_of;
    if live.state != PostState::InProgress || is_not_launched || now - silent_since <= silence {
        return Ok(vec![]);
    }
    // A check that came before its last word was answered by it; one that came before its rest counts no more.
    let is_missed = |it: &MissedCheck| it.last_heartbeat >= last_heartbeat && it.checked_at >= silent_since;
    let Some(missed) = live.missed.filter(is_missed) else {
        return Ok(vec![PostEvent::AgentHealthChecked { last_heartbeat, checks_missed: 1, checked_at: now }]);
    };
    if now - missed.checked_at < rules.patience {
        return Ok(vec![]);
    }
    let checks_missed = missed.count + 1;
    let evidence = Evidence { last_heartbeat, checks_missed, process_alive, last_output_at };
    let is_known = live.reported_since.is_some_and(|since| since >= last_heartbeat);
    let is_not_there_yet = !heard_of && live.launch != Launch::Started;
    if is_not_there_yet && is_known {
        return Ok(vec![]);
    }
    let says_something = last_output_at.is_some_and(|at| at > missed.checked_at);
    if is_not_there_yet || (process_alive == Some(true) && says_something) {
        let report = (!is_known).then_some(PostEvent::AgentReportedSilent { evidence, reported_at: now });
        let checked = PostEvent::AgentHealthChecked { last_heartbeat, checks_missed, checked_at: now };
        return Ok([checked].into_iter().chain(report).collect());
    }
    Ok(vec![PostEvent::AgentDeclaredDead { evidence, declared_at: now }])
}

#[cfg(test)]
mod tests {
    use super::super::examples::{launched, post, posted};
    use super::*;
    use crate::examples::{after, at};
    use crate::post::PostAgent;

    fn look(minute: i64) -> CheckHealth {
        CheckHealth {
            last_heartbeat: at(0),
            heard_of: true,
            expected_since: None,
            process_alive: None,
            last_output_at: None,
            rules: HealthRules::default(),
            now: at(minute),
        }
    }

    fn asked(minute: i64) -> PostEvent {
        PostEvent::AgentHealthChecked { last_heartbeat: at(0), checks_missed: 1, checked_at: at(minute) }
    }

    /// What is decided of an agent that its bench started.
    fn decided(history: &[PostEvent], command: CheckHealth) -> Vec<PostEvent> {
        decided_of(&[&[posted(), launched(true)], history].concat(), command)
    }

    fn decided_of(history: &[PostEvent], command: CheckHealth) -> Vec<PostEvent> {
        decide(&after(history.to_vec()), command).expect("a check")
    }

    #[test]
    fn who_was_heard_of_in_the_last_two_minutes_is_healthy() {
        assert_eq!(decided(&[], look(2)), []);
    }

    #[test]
    fn who_is_silent_for_longer_is_asked_first() {
        assert_eq!(decided(&[], look(3)), [asked(3)]);
        assert_eq!(decided(&[asked(3)], look(4)), [], "it has time to answer");
    }

    #[test]
    fn who_is_silent_still_is_dead_and_the_verdict_has_its_evidence() {
        for process_alive in [None, Some(false), Some(true)] {
            let verdict = decided(&[asked(3)], CheckHealth { process_alive, ..look(5) });
            let evidence = Evidence { last_heartbeat: at(0), checks_missed: 2, process_alive, last_output_at: None };
            assert_eq!(verdict, [PostEvent::AgentDeclaredDead { evidence, declared_at: at(5) }]);
        }
    }

    #[test]
    fn who_answered_is_asked_anew() {
        let later = CheckHealth { last_heartbeat: at(4), ..look(7) };
        let asked_again = PostEvent::AgentHealthChecked { last_heartbeat: at(4), checks_missed: 1, checked_at: at(7) };
        assert_eq!(decided(&[asked(3)], later), [asked_again]);
    }

    #[test]
    fn who_rested_has_the_whole_time_from_the_end_of_its_rest() {
        let back = |minute| CheckHealth { expected_since: Some(at(600)), ..look(minute) };
        // It was asked before its rest, and did not answer.
        for history in [vec![], vec![asked(3)]] {
            assert_eq!(decided(&history, back(602)), []);
            assert_eq!(decided(&history, back(603)), [asked(603)]);
            let history = [history, vec![asked(603)]].concat();
            assert_eq!(decided(&history, back(604)), []);
            let verdict = decided(&history, back(605));
            // What is known of it is as it was.
            let evidence =
                Evidence { last_heartbeat: at(0), checks_missed: 2, process_alive: None, last_output_at: None };
            assert_eq!(verdict, [PostEvent::AgentDeclaredDead { evidence, declared_at: at(605) }]);
        }
        let spoke = CheckHealth { last_heartbeat: at(601), ..back(603) };
        assert_eq!(decided(&[], spoke), []);
    }

    #[test]
    fn who_is_silent_but_alive_and_busy_is_reported_once_and_not_killed() {
        let busy = |minute| CheckHealth { process_alive: Some(true), last_output_at: Some(at(minute)), ..look(minute) };
        let first = decided(&[asked(3)], busy(5));
        assert!(matches!(first[..], [PostEvent::AgentHealthChecked { .. }, PostEvent::AgentReportedSilent { .. }]));
        let history = [vec![asked(3)], first].concat();
        assert!(matches!(decided(&history, busy(7))[..], [PostEvent::AgentHealthChecked { checks_missed: 3, .. }]));
        let quiet = CheckHealth { last_output_at: Some(at(5)), ..busy(7) };
        assert!(matches!(decided(&history, quiet)[..], [PostEvent::AgentDeclaredDead { .. }]));
    }

    #[test]
    fn who_is_not_launched_yet_is_not_judged() {
        assert_eq!(decided_of(&[posted()], CheckHealth { heard_of: false, ..look(600) }), []);
    }

    #[test]
    fn who_speaks_is_there_whatever_is_known_of_its_launch() {
        assert_eq!(decided_of(&[posted()], look(3)), [asked(3)]);
        let verdict = decided_of(&[posted(), asked(3)], look(5));
        assert!(matches!(verdict[..], [PostEvent::AgentDeclaredDead { .. }]), "{verdict:?}");
    }

    #[test]
    fn who_was_never_started_nor_heard_of_is_reported_once_and_not_dead() {
        let failed = PostEvent::AgentLaunchFailed { failed_at: at(1) };
        let unheard = |minute| CheckHealth { heard_of: false, ..look(minute) };
        for launch in [launched(false), failed] {
            let history = [posted(), launch, asked(3)];
            let first = decided_of(&history, unheard(5));
            let evidence =
                Evidence { last_heartbeat: at(0), checks_missed: 2, process_alive: None, last_output_at: None };
            let report = PostEvent::AgentReportedSilent { evidence, reported_at: at(5) };
            assert!(matches!(&first[..], [PostEvent::AgentHealthChecked { .. }, it] if *it == report), "{first:?}");
            let history = [history.to_vec(), first].concat();
            assert_eq!(decided_of(&history, unheard(600)), [], "there is nothing new to say");
            // Once it was heard of it is judged like everybody else.
            assert!(matches!(decided_of(&history, look(600))[..], [PostEvent::AgentDeclaredDead { .. }]));
        }
        // Whom the bench started is dead when it says nothing.
        let verdict = decided(&[asked(3)], unheard(5));
        assert!(matches!(verdict[..], [PostEvent::AgentDeclaredDead { .. }]), "{verdict:?}");
    }

    #[test]
    fn a_supervisor_that_was_never_heard_of_gets_twice_the_time_of_the_one_before() {
        let rules = HealthRules::default();
        let minutes = |kind, attempt, heard_of| rules.silence_of(kind, attempt, heard_of).num_minutes();
        for kind in [AgentKind::Supervisor, AgentKind::Orchestrator] {
            let waited: Vec<i64> = [1, 2, 3, 5, 6, 99].into_iter().map(|it| minutes(kind, it, false)).collect();
            assert_eq!(waited, [2, 4, 8, 32, 60, 60]);
            assert_eq!(minutes(kind, 99, true), 2);
        }
        assert_eq!(minutes(AgentKind::Worker, 4, false), 2);
        let patient = HealthRules { silence: TimeDelta::hours(3), ..rules };
        assert_eq!(patient.silence_of(AgentKind::Supervisor, 9, false), TimeDelta::hours(3));
    }

    #[test]
    fn a_supervisor_that_cannot_speak_is_replaced_ever_more_slowly() {
        let third = PostAgent { kind: AgentKind::Supervisor, attempt: 3, ..post() };
        let third = super::super::post_agent::decide(&Post::Absent, third).expect("a post");
        let history = [third, vec![launched(true)]].concat();
        let unheard = |minute| CheckHealth { heard_of: false, ..look(minute) };
        assert_eq!(decided_of(&history, unheard(8)), []);
        assert_eq!(decided_of(&history, unheard(9)), [asked(9)]);
    }
}
