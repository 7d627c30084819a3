//! States: how far a task of an epic has come, and where it may go from there.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::task::TaskStatus;

/// How far a task of an epic has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum TaskState {
    /// Nobody works on it yet.
    Pending,
    /// Its worker works on it.
    InProgress,
    /// Its pull request waits for the supervisor.
    PendingReview,
    /// Another task was merged first.
    NeedsRebase,
    /// Approved, and about to be merged.
    Approved,
    /// Merged into the epic's branch.
    Completed,
    /// It needs a human.
    Failed,
}

use TaskState::{Approved, Completed, Failed, InProgress, NeedsRebase, Pending, PendingReview};

impl TaskState {
    /// Every state, in the order of a task's life.
    pub const ALL: [Self; 7] = [Pending, InProgress, PendingReview, NeedsRebase, Approved, Completed, Failed];

    /// Every legal move, whoever makes it: the document's list, the start, the resets and the end after five deaths.
    ///
    /// Two are ours: a merge that turns out to conflict sends an approved task back to its worker for a rebase, and one
    /// that fails otherwise sends it back to its supervisor.
    pub const MOVES: [(Self, &'static [Self]); 7] = [
        (Pending, &[InProgress, Failed]),
        (InProgress, &[Pending, PendingReview, Failed]),
        (PendingReview, &[InProgress, NeedsRebase, Approved, Failed]),
        (NeedsRebase, &[Pending, PendingReview, Failed]),
        (Approved, &[Pending, PendingReview, NeedsRebase, Completed, Failed]),
        (Completed, &[]),
        (Failed, &[]),
    ];

    /// Whether a task may go from this state to another.
    pub fn may_become(self, to: Self) -> bool {
        Self::MOVES.iter().any(|(from, next)| *from == self && next.contains(&to))
    }

    /// Whether nothing more will come of the task.
    pub fn is_over(self) -> bool {
        match self {
            Completed | Failed => true,
            Pending | InProgress | PendingReview | NeedsRebase | Approved => false,
        }
    }

    /// Whether the task begins anew when its epic's supervisor dies.
    pub fn is_reset_with_supervisor(self) -> bool {
        match self {
            InProgress | NeedsRebase | Approved => true,
            Pending | PendingReview | Completed | Failed => false,
        }
    }

    /// AgentFlow's word for it; a task that waits is in the backlog until somebody has it.
    pub fn status(self, is_assigned: bool) -> TaskStatus {
        match self {
            Pending if is_assigned => TaskStatus::Assigned,
            Pending => TaskStatus::Backlog,
            InProgress | PendingReview | NeedsRebase | Approved => TaskStatus::InProgress,
            Completed => TaskStatus::Completed,
            Failed => TaskStatus::Blocked,
        }
    }
}

impl fmt::Display for TaskState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Pending => "PENDING",
            InProgress => "IN_PROGRESS",
            PendingReview => "PENDING_REVIEW",
            NeedsRebase => "NEEDS_REBASE",
            Approved => "APPROVED",
            Completed => "COMPLETED",
            Failed => "FAILED",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Written by hand, not derived: rows are where a task is, columns where it is to go, in the order of [`TaskState::ALL`].
    const LEGAL: [&str; 7] = [
        "-I----F", // PENDING
        "P-R---F", // IN_PROGRESS
        "-I-NA-F", // PENDING_REVIEW
        "P-R---F", // NEEDS_REBASE
        "P-RN-CF", // APPROVED
        "-------", // COMPLETED
        "-------", // FAILED
    ];

    #[test]
    fn every_pair_of_states_is_a_legal_move_or_is_not() {
        for (from, row) in TaskState::ALL.into_iter().zip(LEGAL) {
            for (to, cell) in TaskState::ALL.into_iter().zip(row.chars()) {
                assert_eq!(from.may_become(to), cell != '-', "{from} to {to}");
            }
        }
    }

    #[test]
    fn a_task_is_over_when_no_move_is_left() {
        for (from, next) in TaskState::MOVES {
            assert_eq!(from.is_over(), next.is_empty(), "{from}");
        }
    }

    #[test]
    fn what_is_reset_with_its_supervisor_may_go_back_to_the_beginning() {
        for state in TaskState::ALL {
            assert_eq!(state.is_reset_with_supervisor(), state.may_become(Pending), "{state}");
        }
    }

    #[test]
    fn every_state_is_a_status_of_agentflow() {
        let statuses = TaskState::ALL.map(|it| it.status(true).to_string());
        let by_hand = ["assigned", "in_progress", "in_progress", "in_progress", "in_progress", "completed", "blocked"];
        assert_eq!(statuses, by_hand);
        assert_eq!(Pending.status(false), TaskStatus::Backlog);
    }

    #[test]
    fn a_state_reads_as_it_is_stored() {
        for state in TaskState::ALL {
            assert_eq!(serde_json::to_string(&state).expect("JSON"), format!("\"{state}\""));
        }
    }
}
