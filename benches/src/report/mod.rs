//! What a run found out, and the forms in which it is told: a table, a JSON file, a page with charts.

mod chart;
mod html;
mod table;

use std::path::Path;

use anyhow::{Context, Result};
use serde::Serialize;

use crate::measure::{Series, Unit, median};

pub(crate) use table::{print, print_one};

/// One line of the table: what was measured, against what, and how it compares.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Comparison {
    /// Names the line, the same in every run.
    pub(crate) id: String,
    /// What is done.
    pub(crate) work: String,
    /// Muster first, then what it is measured against; the others stand beside them for the reader.
    pub(crate) series: Vec<Series>,
    /// Muster's figure over the other's.
    pub(crate) ratio: Option<Ratio>,
    /// What the ratio, or without one Muster's own figure, should be.
    pub(crate) target: Target,
    /// What a reader should know besides.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) note: Option<String>,
}

#[derive(Debug, Clone, Copy, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Ratio {
    /// Of the medians.
    pub(crate) of_medians: f64,
    /// The lowest and the highest of the rounds.
    pub(crate) range: (f64, f64),
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Target {
    AtLeast(f64),
    AtMost(f64),
    /// A limit of the machine, shown for the reader.
    None,
}

/// A whole run.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Report {
    pub(crate) mode: &'static str,
    pub(crate) machine: Vec<(String, String)>,
    pub(crate) comparisons: Vec<Comparison>,
}

impl Comparison {
    /// Compares the first of the series with the second.
    pub(crate) fn new(id: impl Into<String>, work: impl Into<String>, series: Vec<Series>, target: Target) -> Self {
        let ratio = match series.as_slice() {
            [ours, theirs, ..] => Some(Ratio::of(ours, theirs)),
            [_] | [] => None,
        };
        Self { id: id.into(), work: work.into(), series, ratio, target, note: None }
    }

    /// A figure that is not compared, only held to a target.
    pub(crate) fn alone(id: impl Into<String>, work: impl Into<String>, series: Vec<Series>, target: Target) -> Self {
        Self { ratio: None, ..Self::new(id, work, series, target) }
    }

    pub(crate) fn with_note(mut self, note: impl Into<String>) -> Self {
        self.note = Some(note.into());
        self
    }

    /// What the target speaks of.
    pub(crate) fn achieved(&self) -> Option<f64> {
        self.ratio.map(|it| it.of_medians).or_else(|| self.series.first().map(Series::median))
    }

    /// Whether the target is met; `None` where there is none.
    pub(crate) fn is_met(&self) -> Option<bool> {
        let achieved = self.achieved()?;
        match self.target {
            Target::AtLeast(least) => Some(achieved >= least),
            Target::AtMost(most) => Some(achieved <= most),
            Target::None => None,
        }
    }
}

impl Ratio {
    fn of(ours: &Series, theirs: &Series) -> Self {
        let rounds: Vec<f64> = ours.values.iter().zip(&theirs.values).map(|(ours, theirs)| ours / theirs).collect();
        let low = rounds.iter().copied().fold(f64::INFINITY, f64::min);
        let high = rounds.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        Self { of_medians: median(&ours.values) / median(&theirs.values), range: (low, high) }
    }
}

impl Report {
    /// Writes `latest.json` and `latest.html`.
    pub(crate) fn write(&self, folder: &Path) -> Result<()> {
        std::fs::create_dir_all(folder).context("no folder for the results")?;
        std::fs::write(folder.join("latest.json"), serde_json::to_string_pretty(self)? + "\n")?;
        std::fs::write(folder.join("latest.html"), html::page(self))?;
        Ok(())
    }
}

/// A figure as a person reads it.
fn shown(value: f64, unit: Unit) -> String {
    match unit {
        Unit::PerSecond => format!("{}/s", grouped(value)),
        Unit::Milliseconds if value < 10.0 => format!("{value:.3} ms"),
        Unit::Milliseconds => format!("{value:.1} ms"),
        Unit::Seconds => format!("{value:.2} s"),
        Unit::Megabytes => format!("{value:.0} MB"),
    }
}

/// 12345.6 as 12,346.
fn grouped(value: f64) -> String {
    let digits = format!("{value:.0}");
    let mut text = String::new();
    for (n, digit) in digits.chars().enumerate() {
        if n > 0 && (digits.len() - n) % 3 == 0 {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A target as a person reads it; ratios below one are shares.
fn target_shown(comparison: &Comparison) -> String {
    let number = |it: f64| match (comparison.ratio, comparison.series.first()) {
        (None, Some(series)) => shown(it, series.unit),
        (Some(_), _) | (None, None) => ratio_shown(it),
    };
    match comparison.target {
        Target::AtLeast(it) => format!("at least {}", number(it)),
        Target::AtMost(it) => format!("at most {}", number(it)),
        Target::None => String::new(),
    }
}

fn ratio_shown(ratio: f64) -> String {
    if ratio < 1.0 { format!("{:.0} %", ratio * 100.0) } else { format!("{ratio:.2} x") }
}
