//! What must be true of the page whatever was measured.

use super::*;
use crate::measure::Unit;
use crate::report::Target;

fn series(name: &str, unit: Unit, values: &[f64], p99_ms: Option<f64>) -> Series {
    Series { name: name.to_owned(), unit, values: values.to_vec(), p99_ms }
}

fn rates(target: Target) -> Comparison {
    let ours = series("Muster, 64 clients", Unit::PerSecond, &[38_100.0, 39_200.0, 40_300.0], Some(6.1));
    let theirs = series("other & <sons>", Unit::PerSecond, &[2_800.0, 3_000.0, 3_200.0], Some(77.0));
    Comparison::new("append <new>", "Appends, a < b \"quoted\"", vec![ours, theirs], target)
}

fn report(comparisons: Vec<Comparison>) -> Report {
    let machine = vec![("processor".to_owned(), "Fast <2> cores & more".to_owned())];
    Report { mode: "quick", machine, comparisons }
}

fn made_up() -> Report {
    let lag = series("lag", Unit::Milliseconds, &[12.5, 13.25, 14.0], None);
    let start = series("start", Unit::Seconds, &[2.5], None);
    let memory = series("resident", Unit::Megabytes, &[210.0], None);
    report(vec![
        rates(Target::AtLeast(12.0)).with_note("See https://example.org/<page>"),
        Comparison::alone("lag", "Lag", vec![lag], Target::AtMost(100.0)),
        Comparison::alone("start", "Start & memory", vec![start, memory], Target::AtMost(2.0)),
        Comparison::alone("empty", "Nothing", vec![], Target::None),
    ])
}

/// Opens and closes every element of the page, and panics where they do not match.
fn assert_balanced(page: &str) {
    let mut open: Vec<&str> = vec![];
    for piece in page.split('<').skip(1) {
        let (tag, _) = piece.split_once('>').expect("a tag that ends");
        let name =
            tag.trim_start_matches('/').split(|it: char| it.is_whitespace() || it == '/').next().expect("a name");
        if let Some(closed) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(closed), "near <{piece}");
        } else if !tag.starts_with('!') && !tag.ends_with('/') && name != "meta" {
            open.push(name);
        }
    }
    assert!(open.is_empty(), "{open:?} stay open");
}

#[test]
fn the_page_holds_every_figure() {
    let page = page(&made_up());
    let rates = ["39,200/s", "38,100/s", "40,300/s", "3,000/s", "2,800/s", "3,200/s", "p99 6.1 ms", "p99 77.0 ms"];
    let ratios = ["13.07 x", "12.59 x to 13.61 x", "at least 12.00 x"];
    let alone = ["13.2 ms", "12.5 ms", "14.0 ms", "at most 100.0 ms", "2.50 s", "at most 2.00 s", "210 MB"];
    let words = ["Muster, 64 clients", "Start &amp; memory", "quick", "processor"];
    for text in rates.iter().chain(&ratios).chain(&alone).chain(&words) {
        assert!(page.contains(text), "{text} is not on the page");
    }
}

#[test]
fn the_page_leads_with_whether_the_targets_are_met() {
    let mixed = page(&made_up());
    let lead = mixed.find("2 of 3 targets met, 1 missed").expect("a lead");
    assert!(lead < mixed.find("<dl").expect("facts"));
    assert!(
        mixed[lead..].contains("<li><a href=\"#start\">Start &amp; memory</a>: 2.50 s, target at most 2.00 s</li>")
    );
    assert!(page(&report(vec![rates(Target::AtLeast(12.0))])).contains("The one target is met"));
    assert!(page(&report(vec![rates(Target::None)])).contains("This run has no targets"));
}

#[test]
fn met_and_missed_are_said_in_words() {
    let verdict_of = |target| verdict(&rates(target));
    assert!(verdict_of(Target::AtLeast(12.0)).contains(" met<"));
    assert!(verdict_of(Target::AtLeast(14.0)).contains(" missed<"));
    assert!(verdict_of(Target::None).contains("no target"));
}

#[test]
fn what_was_named_by_others_is_shown_as_text() {
    let page = page(&made_up());
    for text in ["other &amp; &lt;sons&gt;", "a &lt; b &quot;quoted&quot;", "Fast &lt;2&gt; cores", "&lt;page&gt;"] {
        assert!(page.contains(text), "{text} is not on the page");
    }
    assert!(!page.contains("<sons>") && !page.contains("<2>") && !page.contains("<page>"));
    assert!(page.contains("href=\"#append--new-\"") && page.contains("id=\"append--new-\""));
}

#[test]
fn every_element_is_closed() {
    assert_balanced(&page(&made_up()));
    assert_balanced(&page(&report(vec![])));
}

#[test]
fn the_page_loads_nothing() {
    let page = page(&made_up());
    for reference in ["src=", "href=\"http", "url(", "@import", "<script", "<link", "<img", "<iframe"] {
        assert!(!page.contains(reference), "{reference} is on the page");
    }
    assert_eq!(page.matches("http").count(), 1, "only the note names an address, as text");
}

#[test]
fn a_side_that_was_not_measured_is_not_a_number() {
    let ours = series("ours", Unit::PerSecond, &[100.0], None);
    let theirs = series("theirs", Unit::PerSecond, &[], None);
    let page = page(&report(vec![Comparison::new("half", "Half", vec![ours, theirs], Target::AtLeast(2.0))]));
    assert!(page.contains("not measured"));
    assert!(!page.contains("NaN") && !page.contains("inf "));
}
