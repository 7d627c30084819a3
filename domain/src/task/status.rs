//! Statuses: how far a task has come, and where it may go from there.

use std::fmt;

use serde::{Deserialize, Serialize};

/// How far a task has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskStatus {
    /// Nobody has it.
    Backlog,
    /// An agent has it, and has not started.
    Assigned,
    /// An agent works on it.
    InProgress,
    /// An agent cannot go on.
    Blocked,
    /// It is done.
    Completed,
    /// It will not be done.
    Cancelled,
}

use TaskStatus::{Assigned, Backlog, Blocked, Cancelled, Completed, InProgress};

impl TaskStatus {
    /// Every status, in the order of a task's life.
    pub const ALL: [Self; 6] = [Backlog, Assigned, InProgress, Blocked, Completed, Cancelled];

    /// Every legal move, whoever makes it: from a status to those that may follow.
    ///
    /// What is over stays over, so that what was scored stays scored.
    pub const MOVES: [(Self, &'static [Self]); 6] = [
        (Backlog, &[Assigned, Completed, Cancelled]),
        (Assigned, &[Backlog, InProgress, Blocked, Completed, Cancelled]),
        (InProgress, &[Backlog, Assigned, Blocked, Completed, Cancelled]),
        (Blocked, &[Backlog, Assigned, InProgress, Completed, Cancelled]),
        (Completed, &[]),
        (Cancelled, &[]),
    ];

    /// Whether a task may go from this status to another.
    pub fn may_become(self, to: Self) -> bool {
        Self::MOVES.iter().any(|(from, next)| *from == self && next.contains(&to))
    }

    /// Whether nothing more will come of the task.
    pub fn is_over(self) -> bool {
        match self {
            Completed | Cancelled => true,
            Backlog | Assigned | InProgress | Blocked => false,
        }
    }
}

impl fmt::Display for TaskStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Backlog => "backlog",
            Assigned => "assigned",
            InProgress => "in_progress",
            Blocked => "blocked",
            Completed => "completed",
            Cancelled => "cancelled",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Written by hand, not derived: rows are where a task is, columns where it is to go.
    const LEGAL: [&str; 6] = [
        "-A--DX", // backlog
        "B-PKDX", // assigned
        "BA-KDX", // in progress
        "BAP-DX", // blocked
        "------", // completed
        "------", // cancelled
    ];

    #[test]
    fn every_pair_of_statuses_is_a_legal_move_or_is_not() {
        for (from, row) in TaskStatus::ALL.into_iter().zip(LEGAL) {
            for (to, cell) in TaskStatus::ALL.into_iter().zip(row.chars()) {
                assert_eq!(from.may_become(to), cell != '-', "{from} to {to}");
            }
        }
    }

    #[test]
    fn a_task_is_over_when_no_move_is_left() {
        for (from, next) in TaskStatus::MOVES {
            assert_eq!(from.is_over(), next.is_empty(), "{from}");
        }
    }

    #[test]
    fn a_status_reads_as_it_is_stored() {
        for status in TaskStatus::ALL {
            assert_eq!(serde_json::to_string(&status).expect("JSON"), format!("\"{status}\""));
        }
    }
}
