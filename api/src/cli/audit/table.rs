//! Tables and values for a terminal: aligned, and no longer than a line.

use chrono::{DateTime, Utc};
use serde_json::Value;

use crate::audit::bodies::{ActorBody, ChangeBody};

/// The most letters of one value on a terminal; `--json` shows all of it.
const MOST_LETTERS: usize = 60;

/// Rows with their columns aligned, each but the last as wide as its widest cell.
pub(super) fn aligned(rows: &[Vec<String>]) -> Vec<String> {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| rows.iter().filter_map(|row| row.get(column)).map(|it| it.chars().count()).max();
    let widths: Vec<usize> = (0..columns).map(|column| width(column).unwrap_or(0)).collect();
    let line = |row: &Vec<String>| {
        let cells: Vec<String> = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}")).collect();
        cells.join("  ").trim_end().to_owned()
    };
    rows.iter().map(line).collect()
}

/// A change as the cells of a row: the field, what it was, what it is.
pub(super) fn cells_of(change: &ChangeBody) -> Vec<String> {
    let list = |members: &Option<Vec<Value>>, sign: &str| match members.as_deref() {
        None | Some([]) => "-".to_owned(),
        Some(members) => {
            let each: Vec<String> = members.iter().map(|it| format!("{sign}{}", written(it))).collect();
            short(each.join(", "))
        }
    };
    match (&change.before, &change.after) {
        (None, None) => vec![change.field.clone(), list(&change.removed, "-"), list(&change.added, "+")],
        (before, after) => {
            let value = |it: &Option<Value>| short(it.as_ref().map_or_else(|| "-".to_owned(), written));
            vec![change.field.clone(), value(before), value(after)]
        }
    }
}

/// A value as people write it.
pub(super) fn written(value: &Value) -> String {
    match value {
        Value::Null => "-".to_owned(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// A text that fits on a line: control characters and all that is too long are left out.
pub(super) fn short(text: impl AsRef<str>) -> String {
    let text = text.as_ref();
    let plain = |it: char| if it.is_control() { ' ' } else { it };
    let mut kept: String = text.chars().take(MOST_LETTERS).map(plain).collect();
    if text.chars().nth(MOST_LETTERS).is_some() {
        kept.push_str("..");
    }
    kept
}

/// How many events.
pub(super) fn count_of_events(count: i64) -> String {
    if count == 1 { "1 event".to_owned() } else { format!("{count} events") }
}

/// Who acted.
pub(super) fn who(actor: &ActorBody) -> String {
    let called = actor.name.as_deref().or(actor.id.as_deref()).unwrap_or_default();
    short(format!("{} {called}", actor.kind)).trim_end().to_owned()
}

/// When, to the millisecond.
pub(super) fn when(time: DateTime<Utc>) -> String {
    time.format("%Y-%m-%d %H:%M:%S%.3fZ").to_string()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let row = |cells: &[&str]| cells.iter().map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!(aligned(&[row(&["a", "bb", "c"]), row(&["äää", "b"])]), ["a    bb  c", "äää  b"]);
    }

    #[test]
    fn what_somebody_wrote_cannot_move_the_cursor_or_fill_the_screen() {
        assert_eq!(short("a\u{1b}[2Jb\nc"), "a [2Jb c");
        assert_eq!(short("x".repeat(100)), format!("{}..", "x".repeat(60)));
    }

    #[test]
    fn a_list_shows_what_came_and_went() {
        let change = ChangeBody {
            field: "tags".into(),
            before: None,
            after: None,
            added: Some(vec![json!("a"), json!(1)]),
            removed: Some(vec![]),
        };
        assert_eq!(cells_of(&change), ["tags", "-", "+a, +1"]);
    }
}
