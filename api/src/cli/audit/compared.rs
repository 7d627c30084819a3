//! Scores under two policies, on a terminal or for machines.

use domain::agent::AgentStatus;
use domain::scores::{ScorePolicy, two_decimals};
use projections::backtest::{AgentCompared, Compared, Measured, StatusChange};
use serde_json::json;

use super::kpi::unreadable;
use super::policy;
use super::table::{aligned, short, when};
use crate::cli::{Failure, output};

/// The most records of one agent on a terminal; `--json` shows all of them.
const MOST_RECORDS: usize = 20;

#[derive(serde::Serialize)]
struct AgentBody<'a> {
    #[serde(flatten)]
    agent: &'a AgentCompared,
    outcomes: Vec<String>,
}

/// Shows what another policy would have made otherwise.
pub(super) fn tell(policy: &ScorePolicy, made: &Compared, as_json: bool) -> Result<(), Failure> {
    if as_json {
        let agents: Vec<_> = made.agents.iter().map(|agent| AgentBody { agent, outcomes: outcomes(agent) }).collect();
        let (events, unreadable) = (made.events, &made.unreadable);
        let body = json!({"policy": policy, "events": events, "agents": agents, "unreadable": unreadable});
        return Ok(output::json(&body)?);
    }
    let changed = policy::changed(policy);
    if changed.is_empty() {
        output::line("The policy has the numbers that are used now.");
    }
    let rows = changed.into_iter().map(|(key, default, now)| vec![key, format!("{default} -> {now}")]);
    for line in aligned(&rows.collect::<Vec<_>>()) {
        output::line(line);
    }
    for agent in &made.agents {
        output::line("");
        show(agent);
    }
    unreadable(&made.unreadable);
    output::line("");
    let otherwise = made.agents.iter().filter(|it| changes(it)).count();
    output::line(format!(
        "{} agents were measured; for {otherwise} of them something would be otherwise.",
        made.agents.len()
    ));
    Ok(())
}

fn show(agent: &AgentCompared) {
    let differing: Vec<&Measured> = agent.measured.iter().filter(|it| it.old != it.new).collect();
    let (count, differ) = (agent.measured.len(), differing.len());
    let who = &agent.who;
    output::line(format!(
        "agent {} ({}), workspace {}: {count} records, {differ} of them otherwise",
        short(&who.agent_code),
        who.agent_id,
        who.workspace_id
    ));
    if differ > 0 {
        let names = ["position", "measured at", "quality", "completion", "overall", "trust", "status"];
        let mut rows = vec![names.iter().map(ToString::to_string).collect()];
        rows.extend(differing.iter().skip(differ.saturating_sub(MOST_RECORDS)).map(|it| cells(it)));
        for line in aligned(&rows) {
            output::line(format!("  {line}"));
        }
        if differ > MOST_RECORDS {
            output::line(format!("  (the last {MOST_RECORDS} of {differ}; --json shows all)"));
        }
    }
    for outcome in outcomes(agent) {
        output::line(format!("  {outcome}"));
    }
}

fn cells(it: &Measured) -> Vec<String> {
    let pair = |old: f64, new: f64| match (two_decimals(old), two_decimals(new)) {
        (old, new) if old == new => old.to_string(),
        (old, new) => format!("{old} -> {new}"),
    };
    vec![
        it.position.to_string(),
        when(it.at),
        pair(it.old.code_quality_score, it.new.code_quality_score),
        pair(it.old.feature_completion_rate, it.new.feature_completion_rate),
        pair(it.old.overall, it.new.overall),
        pair(it.old.trust_score, it.new.trust_score),
        if it.old.status == it.new.status {
            it.old.status.to_string()
        } else {
            format!("{} -> {}", it.old.status, it.new.status)
        },
    ]
}

fn changes(agent: &AgentCompared) -> bool {
    agent.old_changes != agent.new_changes || agent.measured.iter().any(|it| it.old != it.new)
}

/// What the rules did and would have done, in the order of the log, in words.
fn outcomes(agent: &AgentCompared) -> Vec<String> {
    let (old, new) = (&agent.old_changes, &agent.new_changes);
    let is_in = |changes: &[StatusChange], it: &StatusChange| {
        changes.iter().any(|other| (other.position, other.to) == (it.position, it.to))
    };
    // In the other world it may have come about before.
    let already = |it: &StatusChange, status: fn(&Measured) -> AgentStatus| {
        agent.measured.iter().any(|measured| measured.position == it.position && status(measured) == it.to)
    };
    let was = old.iter().map(|it| {
        let end = match is_in(new, it) {
            true => "as it would have been",
            false if already(it, |measured| measured.new.status) => "as it would have been before",
            false => "but would not have been",
        };
        (it.position, format!("was {}, {end}", told(it)))
    });
    let would = new.iter().filter(|it| !is_in(old, it)).map(|it| {
        let end = if already(it, |measured| measured.old.status) { ", as it was before" } else { "" };
        (it.position, format!("would have been {}{end}", told(it)))
    });
    let mut lines: Vec<(i64, String)> = was.chain(would).collect();
    lines.sort_by_key(|(position, _)| *position);
    lines.into_iter().map(|(_, line)| line).collect()
}

fn told(change: &StatusChange) -> String {
    let what = match change.to {
        AgentStatus::Probation => "put on probation".to_owned(),
        AgentStatus::Active => "let off probation".to_owned(),
        AgentStatus::Inactive | AgentStatus::Terminated => format!("made {}", change.to),
    };
    let names = change.triggers.iter().filter_map(|it| serde_json::to_value(it).ok()?.as_str().map(str::to_owned));
    let reasons: Vec<String> = names.map(|it| it.replace('_', " ")).collect();
    let reasons = if reasons.is_empty() { String::new() } else { format!(" ({})", reasons.join(", ")) };
    format!("{what} at position {}, {}, with trust {}{reasons}", change.position, when(change.at), change.trust_score)
}
