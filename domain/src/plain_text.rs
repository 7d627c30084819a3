//! Text that others will read on a terminal, in a browser or in a prompt: without anything in it that is not text.

/// What stands where a text was cut.
const CUT: &str = "… [shortened]";

/// A text of several lines: escape sequences, control characters and characters that hide or turn others are gone.
/// Line ends are `\n`, and what is longer than `most` characters is cut.
pub(crate) fn lines(text: &str, most: usize) -> String {
    shortened(&visible(text), most)
}

/// The same on one line.
pub(crate) fn line(text: &str, most: usize) -> String {
    let joined = visible(text).split_whitespace().collect::<Vec<_>>().join(" ");
    shortened(&joined, most)
}

/// A text of at most so many characters, which says so when it was longer.
pub(crate) fn shortened(text: &str, most: usize) -> String {
    if text.len() <= most || text.chars().count() <= most {
        return text.to_owned();
    }
    let kept = most.saturating_sub(CUT.chars().count());
    text.chars().take(kept).chain(CUT.chars().take(most)).collect()
}

fn visible(text: &str) -> String {
    let mut seen = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(letter) = rest.next() {
        match letter {
            '\u{1b}' => skip_escape(&mut rest),
            // The same sequences in one character.
            '\u{9b}' => skip_parameters(&mut rest),
            '\u{90}' | '\u{98}' | '\u{9d}' | '\u{9e}' | '\u{9f}' => skip_string(&mut rest),
            '\r' => {
                rest.next_if_eq(&'\n');
                seen.push('\n');
            }
            '\n' | '\t' => seen.push(letter),
            '\u{2028}' | '\u{2029}' => seen.push('\n'),
            _ if letter.is_control() || is_deceptive(letter) => {}
            _ => seen.push(letter),
        }
    }
    seen
}

/// Whether a character shows nothing itself and changes, or hides, what others show.
fn is_deceptive(letter: char) -> bool {
    matches!(letter,
        // Overrides, embeddings, isolates and marks of the direction of text.
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200e}' | '\u{200f}' | '\u{61c}'
        // What has no width, but for the joiners that some scripts and emoji need.
        | '\u{200b}' | '\u{2060}'..='\u{2064}' | '\u{feff}' | '\u{ad}' | '\u{180e}'
        // Deprecated controls and annotations.
        | '\u{206a}'..='\u{206f}' | '\u{fff9}'..='\u{fffb}'
        // Tags: a whole alphabet that nobody sees and a language model reads.
        | '\u{e0000}'..='\u{e007f}')
}

type Rest<'a> = std::iter::Peekable<std::str::Chars<'a>>;

/// What comes after ESC.
fn skip_escape(rest: &mut Rest<'_>) {
    match rest.peek() {
        Some('[') => {
            rest.next();
            skip_parameters(rest);
        }
        Some(']' | 'P' | 'X' | '^' | '_') => {
            rest.next();
            skip_string(rest);
        }
        // Two or three characters: intermediate ones, and one that ends it.
        Some(_) => {
            while rest.next_if(|it| matches!(it, ' '..='/')).is_some() {}
            rest.next_if(|it| matches!(it, '0'..='~'));
        }
        None => {}
    }
}

/// Parameters, and the one character that ends them.
fn skip_parameters(rest: &mut Rest<'_>) {
    while rest.next_if(|it| matches!(it, ' '..='?')).is_some() {}
    rest.next_if(|it| matches!(it, '@'..='~'));
}

/// A string for the terminal, up to what ends it. One that never ends takes its line with it, and no more.
fn skip_string(rest: &mut Rest<'_>) {
    while let Some(letter) = rest.next_if(|it| *it != '\n') {
        match letter {
            '\u{7}' | '\u{9c}' => return,
            '\u{1b}' if rest.next_if_eq(&'\\').is_some() => return,
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_would_obey_is_gone() {
        for (given, left) in [
            ("\u{1b}[31mred\u{1b}[0m", "red"),
            ("\u{1b}]0;title\u{7}text", "text"),
            ("\u{1b}]8;;https://evil.example\u{1b}\\link\u{1b}]8;;\u{1b}\\", "link"),
            ("\u{1b}P1$r\u{1b}\\kept", "kept"),
            ("\u{9b}2Jkept", "kept"),
            ("\u{1b}(Bkept\u{1b}c", "kept"),
            ("a\u{8}\u{7f}\0b", "ab"),
            ("\u{1b}]never ended\nthe next line", "\nthe next line"),
        ] {
            assert_eq!(lines(given, 100), left, "{given:?}");
        }
    }

    #[test]
    fn what_hides_or_turns_text_is_gone() {
        assert_eq!(lines("\u{202e}txt.exe\u{202c}", 100), "txt.exe");
        assert_eq!(lines("a\u{200b}b\u{feff}c", 100), "abc");
        assert_eq!(lines("ok\u{e0068}\u{e0069}", 100), "ok");
    }

    #[test]
    fn other_scripts_and_emoji_stay() {
        for kept in ["שלום", "مرحبا", "नमस्ते", "漢字", "👩\u{200d}💻", "می\u{200c}خواهم"]
        {
            assert_eq!(lines(kept, 100), kept);
        }
    }

    #[test]
    fn line_ends_are_one_and_the_same() {
        assert_eq!(lines("a\r\nb\rc\u{2028}d\te", 100), "a\nb\nc\nd\te");
    }

    #[test]
    fn one_line_is_one_line() {
        assert_eq!(line("  Rebase \r\n\t required ", 100), "Rebase required");
    }

    #[test]
    fn what_is_too_long_says_that_it_was_cut() {
        let cut = lines(&"ä".repeat(50), 20);
        assert_eq!((cut.chars().count(), cut.ends_with("[shortened]")), (20, true));
        assert_eq!(lines(&"ä".repeat(20), 20), "ä".repeat(20));
    }
}
