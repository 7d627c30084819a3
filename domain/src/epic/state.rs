//! States: how far an epic has come, and where it may go from there.

use std::fmt;

use serde::{Deserialize, Serialize};

/// How far an epic has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum EpicState {
    /// Its supervisor and its workers are at it.
    InProgress,
    /// Its pull request waits for a human.
    AwaitingHumanReview,
    /// A human took it.
    Completed,
    /// It was given up.
    Failed,
}

use EpicState::{AwaitingHumanReview, Completed, Failed, InProgress};

impl EpicState {
    /// Every state, in the order of an epic's life.
    pub const ALL: [Self; 4] = [InProgress, AwaitingHumanReview, Completed, Failed];

    /// Every legal move, whoever makes it, as the document lists them.
    pub const MOVES: [(Self, &'static [Self]); 4] = [
        (InProgress, &[AwaitingHumanReview, Failed]),
        (AwaitingHumanReview, &[InProgress, Completed]),
        (Completed, &[]),
        (Failed, &[]),
    ];

    /// Whether an epic may go from this state to another.
    pub fn may_become(self, to: Self) -> bool {
        Self::MOVES.iter().any(|(from, next)| *from == self && next.contains(&to))
    }

    /// Whether nothing more will come of the epic.
    pub fn is_over(self) -> bool {
        match self {
            Completed | Failed => true,
            InProgress | AwaitingHumanReview => false,
        }
    }
}

impl fmt::Display for EpicState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            InProgress => "IN_PROGRESS",
            AwaitingHumanReview => "AWAITING_HUMAN_REVIEW",
            Completed => "COMPLETED",
            Failed => "FAILED",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Written by hand, not derived: rows are where an epic is, columns where it is to go.
    const LEGAL: [&str; 4] = [
        "-A-F", // IN_PROGRESS
        "I-C-", // AWAITING_HUMAN_REVIEW
        "----", // COMPLETED
        "----", // FAILED
    ];

    #[test]
    fn every_pair_of_states_is_a_legal_move_or_is_not() {
        for (from, row) in EpicState::ALL.into_iter().zip(LEGAL) {
            for (to, cell) in EpicState::ALL.into_iter().zip(row.chars()) {
                assert_eq!(from.may_become(to), cell != '-', "{from} to {to}");
            }
        }
    }

    #[test]
    fn an_epic_is_over_when_no_move_is_left() {
        for (from, next) in EpicState::MOVES {
            assert_eq!(from.is_over(), next.is_empty(), "{from}");
        }
    }

    #[test]
    fn a_state_reads_as_it_is_stored() {
        for state in EpicState::ALL {
            assert_eq!(serde_json::to_string(&state).expect("JSON"), format!("\"{state}\""));
        }
    }
}
