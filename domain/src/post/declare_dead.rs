//! Declare an agent dead.

use chrono::{DateTime, Utc};

use super::{Evidence, Post, PostError, PostEvent};

/// Says that an agent is dead, by evidence that needs no further check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeclareDead {
    /// What is known of it.
    pub evidence: Evidence,
    /// When this is asked.
    pub now: DateTime<Utc>,
}

pub(super) fn decide(post: &Post, command: DeclareDead) -> Result<Vec<PostEvent>, PostError> {
    post.held()?;
    Ok(vec![PostEvent::AgentDeclaredDead { evidence: command.evidence, declared_at: command.now }])
}

#[cfg(test)]
mod tests {
    use super::super::examples::{posted, relieved};
    use super::*;
    use crate::examples::{at, given};
    use crate::post::PostCommand;

    #[test]
    fn only_who_is_at_its_post_is_declared_dead() {
        let evidence =
            Evidence { last_heartbeat: at(0), checks_missed: 0, process_alive: Some(false), last_output_at: None };
        let declare = || PostCommand::DeclareDead(DeclareDead { evidence, now: at(1) });
        let declared = PostEvent::AgentDeclaredDead { evidence, declared_at: at(1) };
        given::<Post>([posted()]).when(declare()).then_expect_events(vec![declared]);
        let refusal = PostError::Relieved { successor: None };
        given::<Post>([posted(), relieved()]).when(declare()).then_expect_error(refusal);
    }
}
