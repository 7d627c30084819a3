//! The report as one table on a terminal.

use super::{Comparison, Report, ratio_shown, shown, target_shown};
use crate::measure::Series;

/// Prints every line of the report.
pub(crate) fn print(report: &Report) {
    for (name, value) in &report.machine {
        println!("{name}: {value}");
    }
    println!();
    for comparison in &report.comparisons {
        print_one(comparison);
    }
    let met = report.comparisons.iter().filter(|it| it.is_met() == Some(true)).count();
    let asked = report.comparisons.iter().filter(|it| it.is_met().is_some()).count();
    println!("{met} of {asked} targets met");
}

/// Prints one line of the report with its series.
pub(crate) fn print_one(comparison: &Comparison) {
    println!("{}", comparison.work);
    for series in &comparison.series {
        println!("  {}", line(series));
    }
    let verdict = match comparison.is_met() {
        Some(true) => "met",
        Some(false) => "MISSED",
        None => "",
    };
    if let Some(ratio) = comparison.ratio {
        let (low, high) = ratio.range;
        let (low, high) = (ratio_shown(low), ratio_shown(high));
        let target = target_shown(comparison);
        println!("  ratio {} ({low} to {high})   {target}   {verdict}", ratio_shown(ratio.of_medians));
    } else if !verdict.is_empty() {
        println!("  {}   {verdict}", target_shown(comparison));
    }
    if let Some(note) = &comparison.note {
        println!("  {note}");
    }
    println!();
}

fn line(series: &Series) -> String {
    let (low, high) = series.range();
    let median = shown(series.median(), series.unit);
    let range = format!("{} to {}", shown(low, series.unit), shown(high, series.unit));
    let p99 = series.p99_ms.map_or_else(String::new, |it| format!("   p99 {it:.1} ms"));
    format!("{:<44} {median:>14}   ({range}){p99}", series.name)
}
