//! `muster audit history|state|diff`: one aggregate, event by event and moment by moment.

use clap::Args;
use projections::history::{self, Bounds, HistoryError};
use serde_json::Value;
use store::Stores;

use super::table::{aligned, cells_of, count_of_events, short, when, who, written};
use super::{Failure, Subject, position_of};
use crate::audit::bodies::{DiffBody, EventBody, HistoryBody, MomentBody, StateBody};
use crate::audit::names::Names;
use crate::cli::output;

/// An operator may wait for as long as it takes.
const BOUNDS: Bounds = Bounds { events: i64::MAX };

#[derive(Debug, Args)]
pub(in crate::cli) struct HistoryArgs {
    #[command(flatten)]
    subject: Subject,
    /// Show at most so many events
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(i64).range(1..))]
    limit: i64,
    /// Leave out so many of the oldest
    #[arg(long, default_value_t = 0, value_parser = clap::value_parser!(i64).range(0..))]
    offset: i64,
    /// Print JSON for machines
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct StateArgs {
    #[command(flatten)]
    subject: Subject,
    /// When: a position of the log or a time like 2026-03-01T09:30:00Z; now without
    #[arg(long, value_name = "MOMENT")]
    at: Option<String>,
    /// Print JSON for machines
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct DiffArgs {
    #[command(flatten)]
    subject: Subject,
    /// Since when: a position of the log or a time like 2026-03-01T09:30:00Z
    #[arg(long, value_name = "MOMENT")]
    from: String,
    /// Until when; now without
    #[arg(long, value_name = "MOMENT")]
    to: Option<String>,
    /// Print JSON for machines
    #[arg(long)]
    json: bool,
}

pub(super) async fn history(stores: &Stores, args: HistoryArgs) -> Result<(), Failure> {
    let stream = args.subject.stream();
    let page = history::page(&stores.log, &stream, i64::MAX, args.offset, args.limit, BOUNDS).await.map_err(refused)?;
    let acted = page.steps.iter().map(|it| &it.metadata);
    let names = Names::of_actors(&stores.log, &stores.views, acted).await?;
    let body = HistoryBody::of(&stream, page, args.offset, &names);
    if args.json {
        return Ok(output::json(&body)?);
    }
    let (first, last) = (args.offset + 1, args.offset + body.events.len() as i64);
    output::line(match body.events.is_empty() {
        true => format!("{stream}: {}, none after the first {}", count_of_events(body.total), args.offset),
        false => format!("{stream}: {}, shown {first} to {last}", count_of_events(body.total)),
    });
    for event in &body.events {
        show(event);
    }
    if body.has_more {
        output::line(format!("\nThere are more: --offset {last}"));
    }
    Ok(())
}

fn show(event: &EventBody) {
    output::line("");
    let at = format!("position {}", event.position);
    let line = [format!("{:>4}", event.sequence), event.kind.clone(), when(event.recorded_at), who(&event.actor), at];
    output::line(line.join("  "));
    if let Some(reason) = &event.unreadable {
        output::line(format!("      cannot be read by this muster: {}", short(reason)));
    }
    if let Some(cause) = &event.cause.causation_id {
        output::line(format!("      because of event {cause} (muster audit causes {})", event.position));
    }
    let changed: Vec<Vec<String>> = event.changes.iter().map(|it| with_arrow(cells_of(it))).collect();
    // What changed no field was said all the same.
    let is_said = |field: &str, value: &Value| !is_nothing(value) && event.changes.iter().all(|it| it.field != *field);
    let said = event.data.as_object().into_iter().flatten().filter(|(field, value)| is_said(field, value));
    let said: Vec<Vec<String>> = said.map(|(field, value)| vec![field.clone(), short(written(value))]).collect();
    for line in aligned(&changed) {
        output::line(format!("      {line}"));
    }
    for line in aligned(&said) {
        output::line(format!("      says {line}"));
    }
}

pub(super) async fn state(stores: &Stores, args: StateArgs) -> Result<(), Failure> {
    let stream = args.subject.stream();
    let at = position_of(&stores.log, "--at", args.at.as_deref()).await?;
    let found = history::state_at(&stores.log, &stream, at, BOUNDS).await.map_err(refused)?;
    let body = StateBody::of(&stream, found);
    if args.json {
        return Ok(output::json(&body)?);
    }
    output::line(format!("{stream} {}", described(&body.moment)));
    if body.unreadable_events > 0 {
        output::line(format!("without {} events that this muster cannot read", body.unreadable_events));
    }
    let rows: Vec<Vec<String>> =
        body.state.iter().map(|(field, value)| vec![field.clone(), short(written(value))]).collect();
    for line in aligned(&rows) {
        output::line(format!("  {line}"));
    }
    Ok(())
}

pub(super) async fn diff(stores: &Stores, args: DiffArgs) -> Result<(), Failure> {
    let stream = args.subject.stream();
    let from = position_of(&stores.log, "--from", Some(&args.from)).await?;
    let to = position_of(&stores.log, "--to", args.to.as_deref()).await?;
    if from > to {
        return Err(Failure::Setting(format!("--from (position {from}) is after --to (position {to})")));
    }
    let found = history::difference(&stores.log, &stream, from, to, BOUNDS).await.map_err(refused)?;
    let body = DiffBody::of(&stream, from, found);
    if args.json {
        return Ok(output::json(&body)?);
    }
    output::line(format!("{stream}: {} between", count_of_events(body.events)));
    output::line(format!("  from  {}", described(&body.from)));
    output::line(format!("  to    {}", described(&body.to)));
    let rows: Vec<Vec<String>> = body.changes.iter().map(|it| with_arrow(cells_of(it))).collect();
    match rows.is_empty() {
        true => output::line("Nothing is different."),
        false => aligned(&rows).iter().for_each(|line| output::line(format!("  {line}"))),
    }
    Ok(())
}

fn described(moment: &MomentBody) -> String {
    match (moment.sequence, moment.position, moment.recorded_at) {
        (Some(sequence), Some(position), Some(time)) => {
            format!("at position {}: after its event {sequence} at position {position}, {}", moment.at, when(time))
        }
        _ => format!("at position {}: it did not exist yet", moment.at),
    }
}

fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

/// Puts an arrow between what was and what is.
fn with_arrow(mut cells: Vec<String>) -> Vec<String> {
    if let Some(last) = cells.pop() {
        cells.extend(["->".to_owned(), last]);
    }
    cells
}

fn refused(error: HistoryError) -> Failure {
    match error {
        HistoryError::Store(error) => Failure::Store(error),
        HistoryError::Unknown(_) | HistoryError::NotYet { .. } | HistoryError::TooLong(_) => {
            Failure::Setting(error.to_string())
        }
    }
}
