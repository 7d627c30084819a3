//! The tools that factory agents work with, and which kind of agent may use which: the document's table, as data.

use crate::post::AgentKind;

/// Every tool that Muster offers, by its name.
pub const TOOLS: &[&str] = &[
    "mcp__mail__list_inbox",
    "mcp__mail__read",
    "mcp__mail__send",
    "mcp__mail__reply",
    "mcp__agent__get_status",
    "mcp__agent__get_task",
    "mcp__agent__get_epic",
    "mcp__task__update_state",
    "mcp__task__create_pr",
    "mcp__task__get_pr_status",
    "mcp__git__rebase",
    "mcp__git__get_diff",
    "mcp__epic__create_task",
    "mcp__epic__list_tasks",
    "mcp__epic__get_review_queue",
    "mcp__epic__approve_pr",
    "mcp__epic__request_changes",
    "mcp__epic__create_epic_pr",
    "mcp__epic__read_file",
    "mcp__orchestrator__list_supervisors",
    "mcp__orchestrator__check_supervisor_health",
    "mcp__orchestrator__create_supervisor",
    "mcp__system__log_decision",
];

/// Tools whose failure stops the agent, so that somebody must hear of it.
pub const CRITICAL_TOOLS: &[&str] = &[
    "mcp__task__create_pr",
    "mcp__epic__approve_pr",
    "mcp__git__rebase",
    "mcp__epic__create_task",
    "mcp__epic__create_epic_pr",
];

/// Tools that make something new whenever they are called. The others find what is done already, or change nothing.
pub const MAKING_TOOLS: &[&str] = &[
    "mcp__epic__create_task",
    "mcp__epic__request_changes",
    "mcp__mail__send",
    "mcp__mail__reply",
    "mcp__system__log_decision",
];

/// What a kind of agent may use. A pattern is a name, or the beginning of names and a `*`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ToolAccess {
    /// Looked at first.
    pub denied: &'static [&'static str],
    /// What is in neither list is not allowed.
    pub allowed: &'static [&'static str],
}

const ORCHESTRATOR: ToolAccess = ToolAccess {
    denied: &["mcp__task__*", "mcp__epic__*", "mcp__git__*", "mcp__agent__get_task", "mcp__agent__get_epic"],
    allowed: &["mcp__mail__*", "mcp__agent__get_status", "mcp__orchestrator__*", "mcp__system__log_decision"],
};

const SUPERVISOR: ToolAccess = ToolAccess {
    denied: &["mcp__task__*", "mcp__git__rebase", "mcp__orchestrator__*"],
    allowed: &["mcp__mail__*", "mcp__agent__*", "mcp__epic__*", "mcp__git__get_diff", "mcp__system__log_decision"],
};

const WORKER: ToolAccess = ToolAccess {
    denied: &["mcp__orchestrator__*", "mcp__epic__create_task", "mcp__epic__approve_pr", "mcp__epic__create_epic_pr"],
    allowed: &[
        "mcp__mail__*",
        "mcp__agent__*",
        "mcp__task__*",
        "mcp__git__*",
        "mcp__system__log_decision",
        // A coding agent's own.
        "Read",
        "Write",
        "Edit",
        "Bash",
        "Grep",
        "Glob",
    ],
};

/// Why a tool may not be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotAllowed {
    /// The kind's deny list names it.
    #[error("Tool {tool} is not allowed for {kind} agents")]
    Denied {
        /// The tool.
        tool: String,
        /// The kind of agent.
        kind: AgentKind,
    },
    /// No list of the kind names it.
    #[error("Tool {tool} is not in allowed list for {kind} agents")]
    NotListed {
        /// The tool.
        tool: String,
        /// The kind of agent.
        kind: AgentKind,
    },
}

/// What a kind of agent may use.
pub fn access(kind: AgentKind) -> &'static ToolAccess {
    match kind {
        AgentKind::Orchestrator => &ORCHESTRATOR,
        AgentKind::Supervisor => &SUPERVISOR,
        AgentKind::Worker => &WORKER,
    }
}

/// Whether an agent of a kind may use a tool.
pub fn permit(kind: AgentKind, tool: &str) -> Result<(), NotAllowed> {
    let ToolAccess { denied, allowed } = access(kind);
    let named = |patterns: &[&str]| patterns.iter().any(|pattern| matches(tool, pattern));
    if named(denied) {
        return Err(NotAllowed::Denied { tool: tool.to_owned(), kind });
    }
    if named(allowed) { Ok(()) } else { Err(NotAllowed::NotListed { tool: tool.to_owned(), kind }) }
}

/// Whether a failure of the tool is to be told to whoever is above the agent.
pub fn is_critical(tool: &str) -> bool {
    CRITICAL_TOOLS.contains(&tool)
}

/// Whether the tool makes something new whenever it is called.
pub fn makes_something(tool: &str) -> bool {
    MAKING_TOOLS.contains(&tool)
}

fn matches(tool: &str, pattern: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(beginning) => tool.starts_with(beginning),
        None => tool == pattern,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const YES: &str = "";
    const DENIED: &str = "is not allowed for";
    const UNLISTED: &str = "is not in allowed list for";

    /// Every tool for an orchestrator, a supervisor and a worker, by hand.
    #[rustfmt::skip]
    const TABLE: &[(&str, [&str; 3])] = &[
        ("mcp__mail__list_inbox",                      [YES,      YES,      YES]),
        ("mcp__mail__read",                            [YES,      YES,      YES]),
        ("mcp__mail__send",                            [YES,      YES,      YES]),
        ("mcp__mail__reply",                           [YES,      YES,      YES]),
        ("mcp__agent__get_status",                     [YES,      YES,      YES]),
        ("mcp__agent__get_task",                       [DENIED,   YES,      YES]),
        ("mcp__agent__get_epic",                       [DENIED,   YES,      YES]),
        ("mcp__task__update_state",                    [DENIED,   DENIED,   YES]),
        ("mcp__task__create_pr",                       [DENIED,   DENIED,   YES]),
        ("mcp__task__get_pr_status",                   [DENIED,   DENIED,   YES]),
        ("mcp__git__rebase",                           [DENIED,   DENIED,   YES]),
        ("mcp__git__get_diff",                         [DENIED,   YES,      YES]),
        ("mcp__epic__create_task",                     [DENIED,   YES,      DENIED]),
        ("mcp__epic__list_tasks",                      [DENIED,   YES,      UNLISTED]),
        ("mcp__epic__get_review_queue",                [DENIED,   YES,      UNLISTED]),
        ("mcp__epic__approve_pr",                      [DENIED,   YES,      DENIED]),
        ("mcp__epic__request_changes",                 [DENIED,   YES,      UNLISTED]),
        ("mcp__epic__create_epic_pr",                  [DENIED,   YES,      DENIED]),
        ("mcp__epic__read_file",                       [DENIED,   YES,      UNLISTED]),
        ("mcp__orchestrator__list_supervisors",        [YES,      DENIED,   DENIED]),
        ("mcp__orchestrator__check_supervisor_health", [YES,      DENIED,   DENIED]),
        ("mcp__orchestrator__create_supervisor",       [YES,      DENIED,   DENIED]),
        ("mcp__system__log_decision",                  [YES,      YES,      YES]),
        ("Bash",                                       [UNLISTED, UNLISTED, YES]),
        ("AskUserQuestion",                            [UNLISTED, UNLISTED, UNLISTED]),
        ("mcp__system__shut_down",                     [UNLISTED, UNLISTED, UNLISTED]),
        ("mcp__mailbox",                               [UNLISTED, UNLISTED, UNLISTED]),
    ];

    #[test]
    fn each_kind_may_use_what_the_table_says_and_nothing_else() {
        let kinds = [AgentKind::Orchestrator, AgentKind::Supervisor, AgentKind::Worker];
        for (tool, row) in TABLE {
            for (kind, wanted) in kinds.into_iter().zip(row) {
                let said = permit(kind, tool).map_or_else(|why| why.to_string(), |()| String::new());
                let message = format!("Tool {tool} {wanted} {kind} agents");
                assert_eq!(said, if *wanted == YES { String::new() } else { message });
            }
        }
    }

    #[test]
    fn every_tool_has_its_row() {
        let rows: Vec<&str> = TABLE.iter().map(|(tool, _)| *tool).take(TOOLS.len()).collect();
        assert_eq!(rows, TOOLS);
    }

    #[test]
    fn critical_tools_are_tools() {
        assert!(CRITICAL_TOOLS.iter().all(|tool| TOOLS.contains(tool) && is_critical(tool)));
        assert!(!is_critical("mcp__mail__send"));
    }
}
