//! `muster audit causes|effects`: why an event happened, and what followed from it.

use std::sync::Arc;

use clap::Args;
use projections::Projection;
use projections::lineage::{self, Bounds, Lineage, Tree};
use store::Stores;

use super::Failure;
use super::table::{aligned, count_of_events, when, who};
use crate::audit::bodies::{NodeBody, TreeBody};
use crate::audit::names::Names;
use crate::cli::output;

#[derive(Debug, Args)]
pub(in crate::cli) struct TreeArgs {
    /// The event's position in the log
    #[arg(value_parser = clap::value_parser!(i64).range(1..))]
    position: i64,
    /// Go at most so many steps from it
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=1000))]
    depth: u32,
    /// Show at most so many events
    #[arg(long, default_value_t = 200, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    limit: u32,
    /// Print JSON for machines
    #[arg(long)]
    json: bool,
}

pub(super) async fn causes(stores: &Stores, args: TreeArgs) -> Result<(), Failure> {
    covered(stores, args.position).await?;
    let found = lineage::causes(&stores.log, &stores.views, args.position, args.bounds()).await?;
    show(stores, &args, found, "It came from a request.").await
}

pub(super) async fn effects(stores: &Stores, args: TreeArgs) -> Result<(), Failure> {
    covered(stores, args.position).await?;
    let found = lineage::effects(&stores.log, &stores.views, args.position, args.bounds()).await?;
    show(stores, &args, found, "Nothing followed from it.").await
}

impl TreeArgs {
    fn bounds(&self) -> Bounds {
        Bounds { depth: self.depth as usize, events: self.limit as usize }
    }
}

/// Makes sure that the read model that knows causes has seen the event.
async fn covered(stores: &Stores, position: i64) -> Result<(), Failure> {
    let head = stores.log.head().await?.position;
    if position > head {
        return Err(Failure::Setting(format!("position {position} is beyond the end of the log, which is at {head}")));
    }
    let all: [Arc<dyn Projection>; 1] = [Arc::new(Lineage)];
    let status = projections::status(&stores.log, &stores.views, &all).await?;
    let reached = status.first().filter(|it| it.serving_version.is_some()).map_or(0, |it| it.checkpoint);
    if reached >= position {
        return Ok(());
    }
    let what = "start the server, or run `muster projections rebuild lineage`";
    Err(anyhow::anyhow!("the read model {} has reached position {reached} of {head}: {what}", lineage::NAME).into())
}

async fn show(stores: &Stores, args: &TreeArgs, found: Option<Tree>, alone: &str) -> Result<(), Failure> {
    let parked =
        || anyhow::anyhow!("the event at position {} is parked; see `muster projections status`", args.position);
    let tree = found.ok_or_else(parked)?;
    let names = Names::of_actors(&stores.log, &stores.views, tree.nodes.iter().map(|it| &it.metadata)).await?;
    let body = TreeBody::of(tree, 0, &names);
    if args.json {
        return Ok(output::json(&body)?);
    }
    let mut rows = Vec::new();
    if let Some(root) = &body.tree {
        lay_out(root, "", "", &mut rows);
    }
    aligned(&rows).iter().for_each(output::line);
    match (body.events, body.cut) {
        (1, None) => output::line(format!("\n{alone}")),
        (_, Some("depth")) => output::line(format!("\nIt goes on beyond {} steps: --depth", args.depth)),
        (_, Some(_)) => output::line(format!("\nThere are more than {} events: --limit", args.limit)),
        (_, None) => {}
    }
    output::line("\nAffected:");
    let cells = |it: &crate::audit::bodies::AffectedBody| {
        let positions = format!("positions {} to {}", it.first_position, it.last_position);
        vec![format!("{}/{}", it.aggregate.kind, it.aggregate.id), count_of_events(it.events as i64), positions]
    };
    let rows: Vec<Vec<String>> = body.affected.iter().map(cells).collect();
    aligned(&rows).iter().for_each(|line| output::line(format!("  {line}")));
    Ok(())
}

/// A row for an event, and below it those of its children.
fn lay_out(node: &NodeBody, branch: &str, below: &str, rows: &mut Vec<Vec<String>>) {
    let more = if node.more { " .." } else { "" };
    rows.push(vec![
        format!("{branch}{} {}{more}", node.position, node.kind),
        node.relation.unwrap_or_default().to_owned(),
        format!("{}/{}", node.aggregate.kind, node.aggregate.id),
        when(node.recorded_at),
        who(&node.actor),
    ]);
    for (n, child) in node.children.iter().enumerate() {
        let is_last = n + 1 == node.children.len();
        let (branch, trunk) = if is_last { ("└─ ", "   ") } else { ("├─ ", "│  ") };
        lay_out(child, &format!("{below}{branch}"), &format!("{below}{trunk}"), rows);
    }
}
