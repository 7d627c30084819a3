//! Change an epic's details.

use chrono::{DateTime, Utc};

use super::{Epic, EpicError, EpicEvent};
use crate::difference::differing;

/// Gives an epic new details; what is not given stays, and so does its worktree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangeEpic {
    /// The title wanted.
    pub title: Option<String>,
    /// The description wanted.
    pub description: Option<String>,
    /// The design wanted.
    pub design: Option<String>,
    /// When this is asked.
    pub now: DateTime<Utc>,
}

pub(super) fn decide(epic: &Epic, command: ChangeEpic) -> Result<Vec<EpicEvent>, EpicError> {
    let live = epic.live()?;
    let title = differing(command.title, &live.title);
    let description = differing(command.description, &live.description);
    let design = differing(command.design, &live.design);
    if title.is_none() && description.is_none() && design.is_none() {
        return Ok(vec![]);
    }
    if live.state.is_over() {
        return Err(EpicError::NotInProgress(live.state));
    }
    Ok(vec![EpicEvent::EpicDetailsChanged { title, description, design, changed_at: command.now }])
}

#[cfg(test)]
mod tests {
    use super::super::examples::{created, failed};
    use super::*;
    use crate::epic::{EpicCommand, EpicState};
    use crate::examples::{after, at, given};

    fn change() -> ChangeEpic {
        ChangeEpic { title: None, description: None, design: Some("# New".to_owned()), now: at(1) }
    }

    #[test]
    fn only_what_is_new_changes() {
        let events = decide(&after([created()]), change()).expect("a change");
        let changed = EpicEvent::EpicDetailsChanged {
            title: None,
            description: None,
            design: Some("# New".to_owned()),
            changed_at: at(1),
        };
        assert_eq!(events, std::slice::from_ref(&changed));
        given::<Epic>([created(), changed]).when(EpicCommand::Change(change())).then_expect_events(vec![]);
    }

    #[test]
    fn an_epic_that_is_over_does_not_change() {
        given::<Epic>([created(), failed()])
            .when(EpicCommand::Change(change()))
            .then_expect_error(EpicError::NotInProgress(EpicState::Failed));
    }
}
