//! Order an agent's launch once more.

use chrono::{DateTime, Utc};

use super::{Launch, Post, PostError, PostEvent};

/// Has an agent started after all, whose bench could not do it or left it to start itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OrderLaunch {
    /// Whether the agent has said anything itself.
    pub heard_of: bool,
    /// When this is asked.
    pub now: DateTime<Utc>,
}

/// Who runs already would lose its key to the launch, so nobody is started beside itself.
pub(super) fn decide(post: &Post, command: OrderLaunch) -> Result<Vec<PostEvent>, PostError> {
    match post.held()?.launch {
        Launch::Ordered => Err(PostError::LaunchUnderway),
        Launch::Started => Err(PostError::AlreadyLaunched),
        Launch::LeftToItself | Launch::Failed if command.heard_of => Err(PostError::AlreadyLaunched),
        Launch::LeftToItself | Launch::Failed => Ok(vec![PostEvent::AgentLaunchOrdered { ordered_at: command.now }]),
    }
}

#[cfg(test)]
mod tests {
    use super::super::examples::{discharged, launched, posted, relieved};
    use super::*;
    use crate::examples::{after, at, given};
    use crate::post::{Evidence, PostCommand};

    fn order(heard_of: bool) -> PostCommand {
        PostCommand::OrderLaunch(OrderLaunch { heard_of, now: at(9) })
    }

    fn failed() -> PostEvent {
        PostEvent::AgentLaunchFailed { failed_at: at(1) }
    }

    fn ordered() -> PostEvent {
        PostEvent::AgentLaunchOrdered { ordered_at: at(9) }
    }

    #[test]
    fn who_could_not_be_started_or_was_left_to_itself_is_launched_again() {
        for launch in [failed(), launched(false)] {
            given::<Post>([posted(), launch.clone()]).when(order(false)).then_expect_events(vec![ordered()]);
            let refusal = PostError::AlreadyLaunched;
            given::<Post>([posted(), launch]).when(order(true)).then_expect_error(refusal);
        }
    }

    #[test]
    fn a_launch_is_ordered_neither_twice_nor_for_who_was_started() {
        given::<Post>([posted()]).when(order(false)).then_expect_error(PostError::LaunchUnderway);
        given::<Post>([posted(), failed(), ordered()]).when(order(false)).then_expect_error(PostError::LaunchUnderway);
        let refusal = PostError::AlreadyLaunched;
        given::<Post>([posted(), launched(true)]).when(order(false)).then_expect_error(refusal);
    }

    #[test]
    fn only_who_is_at_its_post_is_launched_again() {
        given::<Post>([]).when(order(false)).then_expect_error(PostError::NotPosted);
        let refusal = PostError::Relieved { successor: None };
        given::<Post>([posted(), failed(), relieved()]).when(order(false)).then_expect_error(refusal);
        given::<Post>([posted(), failed(), discharged()]).when(order(false)).then_expect_error(PostError::Discharged);
    }

    #[test]
    fn who_is_launched_again_is_judged_as_if_it_were_new() {
        let evidence = Evidence { last_heartbeat: at(0), checks_missed: 2, process_alive: None, last_output_at: None };
        let asked = PostEvent::AgentHealthChecked { last_heartbeat: at(0), checks_missed: 2, checked_at: at(5) };
        let reported = PostEvent::AgentReportedSilent { evidence, reported_at: at(5) };
        let again: Post = after([posted(), failed(), asked, reported, ordered()]);
        assert_eq!(again, after([posted()]));
    }
}
