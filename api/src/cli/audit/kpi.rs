//! `muster audit kpi`: whether stored scores are right, and what another policy would have made of the same history.

use std::path::PathBuf;

use clap::{ArgGroup, Args};
use domain::WorkspaceId;
use domain::scores::ScorePolicy;
use projections::backtest::{self, Verified, Wanted};
use store::EventLog;

use super::export::{find, first_from};
use super::table::{aligned, short, when, written};
use super::{compared, look, policy, position_of};
use crate::cli::progress::Progress;
use crate::cli::{Failure, StoreArgs, output};

#[derive(Debug, Args)]
#[command(group(ArgGroup::new("what").required(true).args(["policy", "verify", "print_policy"])))]
pub(in crate::cli) struct KpiArgs {
    /// Measure and judge agents again with the numbers of this TOML file, and show what would have been otherwise
    #[arg(long, value_name = "FILE")]
    policy: Option<PathBuf>,
    /// Decide every stored KPI record and trust change again from the log; exit 1 when one is not as it should be
    #[arg(long)]
    verify: bool,
    /// Print the numbers that are used now, as TOML to edit
    #[arg(long)]
    print_policy: bool,
    /// Only agents of this workspace
    #[arg(long, value_name = "ID_OR_SLUG")]
    workspace: Option<String>,
    /// Only this agent
    #[arg(long, value_name = "ID_OR_CODE")]
    agent: Option<String>,
    /// Leave out scores that were recorded before this position or time; what happened before still counts
    #[arg(long, value_name = "POSITION_OR_TIME")]
    from: Option<String>,
    /// Leave out everything that was recorded after this position or time
    #[arg(long, value_name = "POSITION_OR_TIME")]
    to: Option<String>,
    /// Print JSON for machines
    #[arg(long)]
    json: bool,
}

pub(super) async fn kpi(store: &StoreArgs, args: KpiArgs) -> Result<(), Failure> {
    if args.print_policy {
        if args.json {
            return Ok(output::json(&ScorePolicy::default())?);
        }
        output::line(policy::DEFAULT.trim_end());
        return Ok(());
    }
    // A policy that cannot be used is told before the store is opened.
    let policy = args.policy.as_deref().map(policy::read).transpose()?;
    let stores = look(store).await?;
    let wanted = wanted(&stores.log, &args).await?;
    let what = if policy.is_some() { "replaying scores" } else { "verifying scores" };
    let mut progress = Progress::start(what, wanted.to, args.json);
    let total = wanted.to;
    match policy {
        Some(policy) => {
            let made = backtest::compare(&stores.log, &wanted, &policy, |done| progress.show(done, total)).await;
            progress.finish();
            let made = made?;
            somebody(&wanted, made.found)?;
            compared::tell(&policy, &made, args.json)
        }
        None => {
            let made = backtest::verify(&stores.log, &wanted, |done| progress.show(done, total)).await;
            let took = progress.finish().as_secs_f64();
            let made = made?;
            somebody(&wanted, made.found)?;
            tell(&made, took, args.json)
        }
    }
}

async fn wanted(log: &EventLog, args: &KpiArgs) -> Result<Wanted, Failure> {
    let workspace = match &args.workspace {
        Some(workspace) => Some(WorkspaceId(find(log, workspace).await?)),
        None => None,
    };
    let to = position_of(log, "--to", args.to.as_deref()).await?;
    let from = match &args.from {
        Some(moment) => first_from(log, moment).await?,
        None => 1,
    };
    if args.from.is_some() && from > to {
        return Err(Failure::Setting(format!("--from is position {from}, which is after --to, position {to}")));
    }
    Ok(Wanted { workspace, agent: args.agent.clone(), from, to })
}

/// Who asks for somebody that is not there has mistyped.
fn somebody(wanted: &Wanted, found: bool) -> Result<(), Failure> {
    match (&wanted.agent, wanted.workspace) {
        _ if found => Ok(()),
        (None, None) => Ok(()),
        (Some(agent), None) => Err(Failure::Setting(format!("there is no agent with the id or code {agent:?}"))),
        (Some(agent), Some(_)) => {
            Err(Failure::Setting(format!("there is no agent with the id or code {agent:?} in that workspace")))
        }
        (None, Some(_)) => Err(Failure::Setting("there is no agent in that workspace".to_owned())),
    }
}

fn tell(made: &Verified, took: f64, as_json: bool) -> Result<(), Failure> {
    if as_json {
        output::json(made)?;
    } else {
        for finding in &made.findings {
            let who = format!("agent {} ({})", short(&finding.who.agent_code), finding.who.agent_id);
            let at = format!("position {}", finding.position);
            output::line([at, finding.event_type.clone(), when(finding.recorded_at), who].join("  "));
            if let Some(reason) = &finding.should_not_be {
                output::line(format!("      should not be there: {reason}"));
            }
            let rows = finding.differences.iter().map(|it| {
                let (stored, recomputed) = (short(written(&it.stored)), short(written(&it.recomputed)));
                vec![it.field.clone(), format!("stored {stored}"), format!("recomputed {recomputed}")]
            });
            for line in aligned(&rows.collect::<Vec<_>>()) {
                output::line(format!("      {line}"));
            }
        }
        unreadable(&made.unreadable);
        output::line(format!(
            "{} KPI records and {} trust changes were decided again from {} events ({took:.1} s, {:.0} a second).",
            made.kpi_records,
            made.trust_changes,
            made.events,
            made.events as f64 / took.max(0.001)
        ));
    }
    match (made.findings.len(), made.unreadable.len()) {
        (0, 0) => {
            if !as_json {
                output::line("All of them are what the log makes of them.");
            }
            Ok(())
        }
        (0, 1) => Err(Failure::Found("an event that counts cannot be read".to_owned())),
        (0, events) => Err(Failure::Found(format!("{events} events that count cannot be read"))),
        (1, _) => Err(Failure::Found("a stored score is not what the log makes of it".to_owned())),
        (scores, _) => Err(Failure::Found(format!("{scores} stored scores are not what the log makes of them"))),
    }
}

/// Events that count for nobody, because they cannot be read.
pub(super) fn unreadable(events: &[backtest::Unreadable]) {
    for it in events {
        output::line(format!("cannot be read, and counts for nobody: {}", short_line(&it.reason)));
    }
}

/// A reason may be long, but it may not move the cursor.
fn short_line(text: &str) -> String {
    text.chars().map(|it| if it.is_control() { ' ' } else { it }).take(200).collect()
}
