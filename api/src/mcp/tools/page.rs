//! Pages of lists, and long texts in them: an agent reads every word of an answer, so answers are short.

/// How many things a list has if nobody says.
const USUAL: i64 = 20;
/// The most bytes of a diff, a file or a text of an epic that are shown.
const LONGEST_TEXT: usize = 64 << 10;

/// Which part of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Page {
    pub(super) limit: i64,
    pub(super) offset: i64,
}

impl Page {
    pub(super) fn of(limit: Option<u32>, offset: Option<u32>) -> Self {
        Self { limit: limit.map_or(USUAL, i64::from), offset: offset.map_or(0, i64::from) }
    }
}

/// A text of at most so many characters; what is cut says so.
pub(super) fn shortened(text: String, most: usize, how_to_get_the_rest: &str) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}… [shortened: {how_to_get_the_rest}]", &text[..end]),
        None => text,
    }
}

/// The beginning of a long text, up to the end of a line unless its last line is very long, and whether there is more.
pub(super) fn beginning(mut text: String) -> (String, bool) {
    if text.len() <= LONGEST_TEXT {
        return (text, false);
    }
    let end = text.floor_char_boundary(LONGEST_TEXT);
    let line_end = text[..end].rfind('\n').map(|it| it + 1).filter(|it| *it >= LONGEST_TEXT / 2);
    text.truncate(line_end.unwrap_or(end));
    (text, true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_long_text_the_beginning_is_shown_in_whole_lines() {
        assert_eq!(beginning("a\nb".to_owned()), ("a\nb".to_owned(), false));
        let (text, more) = beginning("äöü\n".repeat(LONGEST_TEXT));
        assert!(more && text.len() <= LONGEST_TEXT && text.ends_with("äöü\n"));
        let (text, more) = beginning("ä".repeat(LONGEST_TEXT));
        assert_eq!((text.len(), more), (LONGEST_TEXT, true));
        let (text, more) = beginning(format!("# Title\n{}", "a".repeat(LONGEST_TEXT)));
        assert_eq!((text.len(), more), (LONGEST_TEXT, true));
    }

    #[test]
    fn only_what_is_too_long_is_shortened_and_never_within_a_letter() {
        assert_eq!(shortened("äöü".to_owned(), 3, "read it"), "äöü");
        assert_eq!(shortened("äöü".to_owned(), 2, "read it"), "äö… [shortened: read it]");
    }
}
