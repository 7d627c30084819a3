//! A comparison drawn as bars.
//!
//! Horizontal places are percentages and vertical ones pixels, so that bars take the width there is and letters keep
//! their size on a phone.

mod scale;

use super::html::escaped;
use super::{Comparison, Target, shown};
use crate::measure::{Series, Unit};
use scale::Scale;

/// Letters of a name that fit on a line of a phone.
const NAME: usize = 36;
const LINE: usize = 19;
const BAR: usize = 20;
const GAP: usize = 14;

/// The bars of one comparison as SVG: a chart for each unit, since lengths of different units cannot be compared.
pub(super) fn bars(comparison: &Comparison) -> String {
    let mut units: Vec<Unit> = vec![];
    for series in &comparison.series {
        if !units.contains(&series.unit) {
            units.push(series.unit);
        }
    }
    units.into_iter().map(|it| chart(comparison, it)).collect()
}

/// The figures of a series in a line of text.
fn figures(series: &Series) -> String {
    let unit = series.unit;
    if series.values.is_empty() {
        return "not measured".to_owned();
    }
    let (low, high) = series.range();
    let p99 = p99(series).map_or_else(String::new, |it| format!(", {it}"));
    format!("{} ({} to {}){p99}", shown(series.median(), unit), shown(low, unit), shown(high, unit))
}

/// The slowest of a hundred, where it is known.
pub(super) fn p99(series: &Series) -> Option<String> {
    let shown = |it| if it < 1.0 { shown(it, Unit::Milliseconds) } else { format!("{it:.1} ms") };
    series.p99_ms.map(|it| format!("p99 {}", shown(it)))
}

fn chart(comparison: &Comparison, unit: Unit) -> String {
    let all: Vec<&Series> = comparison.series.iter().filter(|it| it.unit == unit && !it.values.is_empty()).collect();
    let medians: Vec<f64> = all.iter().map(|it| it.median()).collect();
    let goal = goal(comparison, unit);
    let others: Vec<f64> = all.iter().flat_map(|it| it.values.iter().copied()).chain(goal).collect();
    let scale = Scale::of(&medians, &others);

    let (mut rows, mut bottom) = (String::new(), 0);
    for (n, series) in comparison.series.iter().enumerate().filter(|(_, it)| it.unit == unit) {
        let goal = goal.filter(|_| n == 0);
        rows += &row(series, scale, goal, n == 0, &mut bottom);
    }
    let (axis, height) = axis(comparison, unit, scale, goal, bottom);
    let texts: Vec<String> = comparison
        .series
        .iter()
        .filter(|it| it.unit == unit)
        .map(|it| format!("{}: {}", it.name, figures(it)))
        .collect();
    format!(
        "<svg class=\"chart {kind}\" role=\"img\" width=\"100%\" height=\"{height}\">\n\
         <title>{work}, {measure}</title>\n<desc>{texts}</desc>\n{axis}{rows}</svg>\n",
        kind = kind(unit),
        work = escaped(&comparison.work),
        measure = measure(unit),
        texts = escaped(&texts.join("; ")),
    )
}

/// Name, bar and figures of one series; moves the bottom of the chart down.
fn row(series: &Series, scale: Scale, goal: Option<f64>, first: bool, bottom: &mut usize) -> String {
    let mut svg =
        format!("<g class=\"{}\">\n<title>{}</title>\n", if first { "ours" } else { "other" }, rounds(series));
    for line in lines(&series.name) {
        *bottom += LINE;
        text(&mut svg, "name", *bottom - 6, &line);
    }
    let (top, middle) = (*bottom, *bottom + BAR / 2);
    if !series.values.is_empty() {
        let (low, high) = series.range();
        let (low, high) = (scale.place(low), scale.place(high));
        let width = scale.place(series.median());
        let place = format!("x=\"0\" y=\"{top}\" width=\"{width:.2}%\" height=\"{BAR}\"");
        put(&mut svg, &format!("<rect class=\"bar\" {place} rx=\"3\"/>"));
        line(&mut svg, "whisker", (low, middle), (high, middle));
        for end in [low, high] {
            line(&mut svg, "whisker", (end, middle - 5), (end, middle + 5));
        }
        for value in &series.values {
            let x = scale.place(*value);
            put(&mut svg, &format!("<circle class=\"round\" cx=\"{x:.2}%\" cy=\"{middle}\" r=\"3\"/>"));
        }
    }
    if let Some(goal) = goal {
        let x = scale.place(goal);
        line(&mut svg, "goal", (x, top - 4), (x, top + BAR + 4));
    }
    *bottom += BAR + LINE;
    text(&mut svg, "figures", *bottom - 4, &figures(series));
    *bottom += GAP;
    svg + "</g>\n"
}

/// Lines at round figures and what they mean; answers the height of the whole chart too.
fn axis(comparison: &Comparison, unit: Unit, scale: Scale, goal: Option<f64>, bottom: usize) -> (String, usize) {
    let mut svg = String::from("<g class=\"axis\">\n");
    for (value, name) in scale.ticks() {
        let x = scale.place(value);
        line(&mut svg, "grid", (x, 0), (x, bottom));
        let class = if x < 1.0 { "first tick" } else { "tick" };
        put(&mut svg, &format!("<text class=\"{class}\" x=\"{x:.2}%\" y=\"{}\">{name}</text>", bottom + 14));
    }
    let mut captions = vec![("measure", measure(unit).to_owned())];
    if scale.is_logarithmic() {
        captions.push(("caption", "Logarithmic scale: each line is ten times the last.".to_owned()));
    }
    if let Some(goal) = goal {
        let bound = if matches!(comparison.target, Target::AtMost(_)) { "at most" } else { "at least" };
        captions.push(("caption", format!("Dashed: the target, {bound} {}.", shown(goal, unit))));
    }
    let mut bottom = bottom + 16;
    for (class, words) in captions {
        bottom += LINE;
        text(&mut svg, class, bottom - 2, &words);
    }
    (svg + "</g>\n", bottom + 4)
}

/// What Muster's bar should reach, or stay short of.
fn goal(comparison: &Comparison, unit: Unit) -> Option<f64> {
    let wanted = match comparison.target {
        Target::AtLeast(it) | Target::AtMost(it) => it,
        Target::None => return None,
    };
    let goal = match (comparison.ratio, comparison.series.as_slice()) {
        (Some(_), [ours, theirs, ..]) if ours.unit == unit && theirs.unit == unit => wanted * theirs.median(),
        (None, [ours, ..]) if ours.unit == unit => wanted,
        _ => return None,
    };
    goal.is_finite().then_some(goal)
}

fn measure(unit: Unit) -> &'static str {
    match unit {
        Unit::PerSecond => "Rate, per second: longer is better.",
        Unit::Milliseconds => "Time, in milliseconds: shorter is better.",
        Unit::Seconds => "Time, in seconds: shorter is better.",
        Unit::Megabytes => "Memory, in megabytes: shorter is better.",
    }
}

fn kind(unit: Unit) -> &'static str {
    match unit {
        Unit::PerSecond => "rate",
        Unit::Milliseconds | Unit::Seconds => "time",
        Unit::Megabytes => "memory",
    }
}

fn rounds(series: &Series) -> String {
    let values: Vec<String> = series.values.iter().map(|it| shown(*it, series.unit)).collect();
    escaped(&format!("{}, each round: {}", series.name, values.join(", ")))
}

/// A name broken between words: SVG does not do it.
fn lines(name: &str) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in name.split_whitespace() {
        let last = lines.len() - 1;
        if !lines[last].is_empty() && lines[last].chars().count() + 1 + word.chars().count() > NAME {
            lines.push(word.to_owned());
        } else {
            let space = if lines[last].is_empty() { "" } else { " " };
            lines[last] += &format!("{space}{word}");
        }
    }
    lines
}

fn text(svg: &mut String, class: &str, y: usize, words: &str) {
    put(svg, &format!("<text class=\"{class}\" x=\"0\" y=\"{y}\">{}</text>", escaped(words)));
}

fn line(svg: &mut String, class: &str, from: (f64, usize), to: (f64, usize)) {
    let ((x1, y1), (x2, y2)) = (from, to);
    put(svg, &format!("<line class=\"{class}\" x1=\"{x1:.2}%\" y1=\"{y1}\" x2=\"{x2:.2}%\" y2=\"{y2}\"/>"));
}

fn put(svg: &mut String, element: &str) {
    svg.push_str(element);
    svg.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(name: &str, unit: Unit, values: &[f64]) -> Series {
        Series { name: name.to_owned(), unit, values: values.to_vec(), p99_ms: Some(6.5) }
    }

    fn compared(ours: &[f64], theirs: &[f64], unit: Unit, target: Target) -> String {
        bars(&Comparison::new("it", "Work", vec![series("ours", unit, ours), series("theirs", unit, theirs)], target))
    }

    #[test]
    fn a_bar_shows_its_median_range_rounds_and_p99() {
        let svg = compared(&[300.0, 100.0, 200.0], &[50.0, 60.0, 70.0], Unit::PerSecond, Target::None);
        assert!(svg.contains("200/s (100/s to 300/s), p99 6.5 ms"), "{svg}");
        assert!(svg.contains("each round: 300/s, 100/s, 200/s"), "{svg}");
        assert_eq!(svg.matches("class=\"bar\"").count(), 2);
        assert_eq!(svg.matches("class=\"round\"").count(), 6);
        assert_eq!(svg.matches("class=\"whisker\"").count(), 6);
    }

    #[test]
    fn a_chart_says_which_direction_is_better() {
        assert!(compared(&[1.0], &[1.0], Unit::PerSecond, Target::None).contains("longer is better"));
        for unit in [Unit::Milliseconds, Unit::Seconds, Unit::Megabytes] {
            assert!(compared(&[1.0], &[1.0], unit, Target::None).contains("shorter is better"));
        }
    }

    #[test]
    fn a_chart_says_when_its_scale_is_logarithmic() {
        assert!(compared(&[2_100.0], &[100.0], Unit::PerSecond, Target::None).contains("Logarithmic scale"));
        assert!(!compared(&[1_900.0], &[100.0], Unit::PerSecond, Target::None).contains("Logarithmic scale"));
    }

    #[test]
    fn the_target_stands_at_the_same_figure_as_the_ratio_asks_for() {
        let svg = compared(&[500.0], &[100.0], Unit::PerSecond, Target::AtLeast(3.0));
        assert!(svg.contains("at least 300/s."), "{svg}");
        assert_eq!(svg.matches("class=\"goal\"").count(), 1);
        assert!(!compared(&[500.0], &[100.0], Unit::PerSecond, Target::None).contains("goal"));
    }

    #[test]
    fn different_units_are_not_drawn_on_one_axis() {
        let both = vec![series("rate", Unit::PerSecond, &[100.0]), series("memory", Unit::Megabytes, &[40.0])];
        let svg = bars(&Comparison::alone("it", "Work", both, Target::None));
        assert_eq!(svg.matches("<svg").count(), 2);
    }

    #[test]
    fn a_series_without_rounds_is_named_and_not_drawn() {
        let svg = compared(&[100.0], &[], Unit::PerSecond, Target::AtLeast(2.0));
        assert!(svg.contains("theirs: not measured"), "{svg}");
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
    }

    #[test]
    fn a_long_name_is_broken_between_words() {
        let name = "one transaction for every single event, as the projection would do without batches";
        assert_eq!(lines(name).join(" "), name);
        assert!(lines(name).len() == 3 && lines(name).iter().all(|it| it.len() <= NAME));
    }
}
