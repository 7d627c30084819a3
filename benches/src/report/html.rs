//! The report as one page that needs nothing else.

use super::{Comparison, Ratio, Report, chart, ratio_shown, shown, target_shown};
use crate::measure::Series;

const STYLE: &str = include_str!("page.css");

/// The page.
pub(super) fn page(report: &Report) -> String {
    let (lead, machine, summary) = (lead(report), machine(report), summary(report));
    let cards: String = report.comparisons.iter().map(card).collect();
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>Muster: benchmark</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n\
         <header>\n<h1>Muster: benchmark</h1>\n{lead}{machine}</header>\n<main>\n\
         <h2>Summary</h2>\n{summary}<h2>Every comparison</h2>\n\
         <p class=\"quiet\">A bar is the median of the rounds; the dots are the rounds, and the line through them their \
         range. The first bar is what the target speaks of, the second what it is compared with.</p>\n\
         <div class=\"cards\">\n{cards}</div>\n</main>\n</body>\n</html>\n",
    )
}

/// Text that a browser shows as it stands, in an element or in an attribute.
pub(super) fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            other => safe.push(other),
        }
    }
    safe
}

/// Whether the targets are met, and which are not.
fn lead(report: &Report) -> String {
    let asked: Vec<&Comparison> = report.comparisons.iter().filter(|it| it.is_met().is_some()).collect();
    let missed: Vec<&Comparison> = asked.iter().copied().filter(|it| it.is_met() == Some(false)).collect();
    let (class, words) = match (asked.len(), missed.len()) {
        (0, _) => ("none", "This run has no targets".to_owned()),
        (1, 0) => ("met", "The one target is met".to_owned()),
        (all, 0) => ("met", format!("All {all} targets are met")),
        (all, some) => ("missed", format!("{} of {all} targets met, {some} missed", all - some)),
    };
    let item = |it: &&Comparison| {
        let (anchor, work) = (anchor(it), escaped(&it.work));
        let (achieved, target) = (escaped(&achieved(it)), escaped(&target_shown(it)));
        format!("<li><a href=\"#{anchor}\">{work}</a>: {achieved}, target {target}</li>\n")
    };
    let list = match missed.iter().map(item).collect::<String>() {
        it if it.is_empty() => it,
        it => format!("<ul>\n{it}</ul>\n"),
    };
    format!("<div class=\"lead {class}\">\n<p><strong>{words}</strong></p>\n{list}</div>\n")
}

fn machine(report: &Report) -> String {
    let mode = ("run".to_owned(), report.mode.to_owned());
    let facts: String = std::iter::once(&mode)
        .chain(&report.machine)
        .map(|(name, value)| format!("<div><dt>{}</dt><dd>{}</dd></div>\n", escaped(name), escaped(value)))
        .collect();
    format!("<dl class=\"machine\">\n{facts}</dl>\n")
}

fn summary(report: &Report) -> String {
    let names = ["Work", "Muster, median", "Against", "Its median", "Ratio, range", "Target", "Result"];
    let classes = ["", "number", "", "number", "number", "", ""];
    let head: String = names
        .iter()
        .zip(classes)
        .map(|(name, class)| format!("<th scope=\"col\" class=\"{class}\">{name}</th>"))
        .collect();
    let rows: String = report.comparisons.iter().map(|it| summary_row(it, &names)).collect();
    // Roles are said because a narrow page lays the rows out as blocks, which takes the table's own meaning away.
    format!(
        "<table role=\"table\">\n<thead><tr>{head}</tr></thead>\n<tbody role=\"rowgroup\">\n{rows}</tbody>\n</table>\n"
    )
}

fn summary_row(comparison: &Comparison, names: &[&str; 7]) -> String {
    let nothing = || "<span class=\"quiet nothing\">none</span>".to_owned();
    let other = comparison.ratio.and_then(|_| comparison.series.get(1));
    let work = format!("<a href=\"#{}\">{}</a>", anchor(comparison), escaped(&comparison.work));
    let target = target_shown(comparison);
    let ratio =
        comparison.ratio.filter(is_known).map(|it| format!("<b>{}</b><small>{}</small>", of_medians(&it), range(&it)));
    let cells = [
        ("work", work),
        ("number", comparison.series.first().map_or_else(nothing, median)),
        ("", other.map_or_else(nothing, |it| escaped(&it.name))),
        ("number", other.map_or_else(nothing, median)),
        ("number", ratio.unwrap_or_else(nothing)),
        ("target", if target.is_empty() { nothing() } else { escaped(&target) }),
        ("", verdict(comparison)),
    ];
    let cells: String = cells
        .iter()
        .zip(names)
        .map(|((class, it), name)| {
            format!("<td role=\"cell\" class=\"{class}\" data-label=\"{name}\"><div>{it}</div></td>\n")
        })
        .collect();
    format!("<tr role=\"row\">\n{cells}</tr>\n")
}

/// One comparison with its chart.
fn card(comparison: &Comparison) -> String {
    let note =
        comparison.note.as_ref().map_or_else(String::new, |it| format!("<p class=\"note\">{}</p>\n", escaped(it)));
    let target = match target_shown(comparison) {
        it if it.is_empty() => it,
        it => format!(", <span class=\"whole\">target {}</span>", escaped(&it)),
    };
    let against = match (comparison.ratio.filter(is_known), comparison.series.get(1)) {
        (Some(ratio), Some(other)) => {
            let (name, range) = (escaped(&other.name), range(&ratio));
            format!(" of \u{201c}{name}\u{201d}, <span class=\"whole\">{range}</span>")
        }
        _ => String::new(),
    };
    format!(
        "<section class=\"card\" id=\"{anchor}\">\n<h3>{work}</h3>\n\
         <p class=\"result\">{verdict} <b>{achieved}</b>{against}{target}</p>\n{chart}{note}</section>\n",
        anchor = anchor(comparison),
        work = escaped(&comparison.work),
        verdict = verdict(comparison),
        achieved = escaped(&achieved(comparison)),
        chart = chart::bars(comparison),
    )
}

fn verdict(comparison: &Comparison) -> String {
    let (class, word) = match comparison.is_met() {
        Some(true) => ("met", "\u{2713} met"),
        Some(false) => ("missed", "\u{2717} missed"),
        None => ("none", "no target"),
    };
    format!("<span class=\"verdict {class}\">{word}</span>")
}

/// What the target speaks of: the ratio, or the figure itself.
fn achieved(comparison: &Comparison) -> String {
    match (comparison.ratio, comparison.series.first()) {
        (Some(ratio), _) if is_known(&ratio) => of_medians(&ratio),
        (None, Some(series)) if !series.values.is_empty() => shown(series.median(), series.unit),
        _ => "not measured".to_owned(),
    }
}

fn median(series: &Series) -> String {
    if series.values.is_empty() {
        return "not measured".to_owned();
    }
    let p99 = chart::p99(series).map_or_else(String::new, |it| format!("<small>{it}</small>"));
    format!("<b>{}</b>{p99}", escaped(&shown(series.median(), series.unit)))
}

fn is_known(ratio: &Ratio) -> bool {
    [ratio.of_medians, ratio.range.0, ratio.range.1].iter().all(|it| it.is_finite())
}

fn of_medians(ratio: &Ratio) -> String {
    ratio_shown(ratio.of_medians)
}

fn range(ratio: &Ratio) -> String {
    let (low, high) = ratio.range;
    format!("{} to {}", ratio_shown(low), ratio_shown(high))
}

/// The place on the page that a comparison is linked by.
fn anchor(comparison: &Comparison) -> String {
    comparison.id.chars().map(|it| if it.is_ascii_alphanumeric() { it } else { '-' }).collect()
}

#[cfg(test)]
mod tests;
