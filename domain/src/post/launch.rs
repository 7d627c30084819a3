//! Note what came of an agent's launch.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::{Post, PostError, PostEvent, PostState};

/// What came of an agent's launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Launch {
    /// Nothing yet.
    Ordered,
    /// Its bench started it.
    Started,
    /// Its bench leaves it to start itself.
    LeftToItself,
    /// Its bench could not start it.
    Failed,
}

/// Says how an agent's launch ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoteLaunch {
    /// How.
    pub launch: Launch,
    /// When this is asked.
    pub now: DateTime<Utc>,
}

pub(super) fn decide(post: &Post, command: NoteLaunch) -> Result<Vec<PostEvent>, PostError> {
    let live = post.live()?;
    if live.state != PostState::InProgress || live.launch == command.launch {
        return Ok(vec![]);
    }
    let now = command.now;
    Ok(match command.launch {
        Launch::Ordered => vec![],
        Launch::Started => vec![PostEvent::AgentLaunched { started: true, launched_at: now }],
        Launch::LeftToItself => vec![PostEvent::AgentLaunched { started: false, launched_at: now }],
        Launch::Failed => vec![PostEvent::AgentLaunchFailed { failed_at: now }],
    })
}

#[cfg(test)]
mod tests {
    use super::super::examples::{launched, posted, relieved};
    use super::*;
    use crate::examples::{after, at, given};
    use crate::post::PostCommand;

    #[test]
    fn what_came_of_a_launch_is_known_once() {
        let failed = PostEvent::AgentLaunchFailed { failed_at: at(1) };
        for (launch, event) in
            [(Launch::Started, launched(true)), (Launch::LeftToItself, launched(false)), (Launch::Failed, failed)]
        {
            let note = || PostCommand::NoteLaunch(NoteLaunch { launch, now: at(1) });
            given::<Post>([posted()]).when(note()).then_expect_events(vec![event.clone()]);
            given::<Post>([posted(), event.clone()]).when(note()).then_expect_events(vec![]);
            given::<Post>([posted(), relieved()]).when(note()).then_expect_events(vec![]);
            let post: Post = after([posted(), event]);
            assert_eq!(post.live().map(|it| it.launch), Ok(launch));
        }
    }
}
