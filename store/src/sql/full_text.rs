//! Full-text search: rows found by whole words, the same rows on both databases.
//!
//! Neither database's own idea of a word matters. [`Words`] brings stored text and questions into one plain form, and
//! each database is told to take those words as they are: FTS5 by the tokenizer `ascii`, which splits only at ASCII
//! characters that a word does not have; PostgreSQL by an index over an array of words, without any parser.

use std::collections::BTreeSet;

use super::{Database, Table, Value};

/// The longest word that is told from others; of a longer one, only its beginning counts. PostgreSQL takes no more
/// than 2046 bytes.
const LONGEST: usize = 100;

/// The words of a text, each once: runs of letters and digits, in lower case. No stemming, no folding of accents.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Words(BTreeSet<String>);

impl Words {
    /// The words of a text.
    pub fn of(text: &str) -> Self {
        let runs = text.split(|it: char| !it.is_alphanumeric()).filter(|run| !run.is_empty());
        Self(runs.map(|run| run.to_lowercase().chars().take(LONGEST).collect()).collect())
    }

    /// The words of several texts.
    pub fn of_all<'a>(texts: impl IntoIterator<Item = &'a str>) -> Self {
        Self(texts.into_iter().flat_map(|text| Self::of(text).0).collect())
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// One after the other, as a full-text column holds them: in order, with a space between two.
    pub fn text(&self) -> String {
        self.iter().collect::<Vec<_>>().join(" ")
    }

    /// One after the other.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }

    /// The condition that a row of the table has all of these words, and its one parameter, the `place`-th of the
    /// query. There must be a word, and the table must be described with a full-text column and one key column.
    pub fn condition(&self, database: &Database, table: &Table, place: usize) -> (String, Value) {
        let key = table.key().first().map_or("", |it| it.name.as_str());
        match database {
            Database::Sqlite(_) => {
                let found = format!("select {key} from {} where words match ${place}", shadow(&table.name));
                let words: Vec<String> = self.iter().map(|it| format!("\"{it}\"")).collect();
                (format!("{key} in ({found})"), words.join(" ").into())
            }
            Database::Postgres(_) => {
                let words: Vec<String> = self.iter().map(|it| format!("'{it}'")).collect();
                let column = table.full_text.as_deref().unwrap_or_default();
                (format!("{} @@ ${place}::text::tsquery", lexemes(column)), words.join(" & ").into())
            }
        }
    }
}

/// PostgreSQL: the words of a column as it indexes them.
fn lexemes(column: &str) -> String {
    format!("array_to_tsvector(string_to_array({column}, ' '))")
}

/// SQLite: what keeps the words of a table beside it.
pub(crate) fn shadow(table: &str) -> String {
    format!("{table}_full_text")
}

/// PostgreSQL: the statement that makes a table's full-text index.
pub(crate) fn index_on_postgres(table: &Table) -> Option<String> {
    let column = table.full_text.as_deref()?;
    Some(format!("create index if not exists {0}_by_full_text on {0} using gin ({1})", table.name, lexemes(column)))
}

/// SQLite: the statements that make a table's full-text index, fill it, and keep it in step from then on.
pub(crate) fn index_on_sqlite(table: &Table) -> Option<String> {
    let column = table.full_text.as_deref()?;
    let key: Vec<String> = table.key().iter().map(|it| format!("{} unindexed", it.name)).collect();
    let (name, words, key) = (&table.name, shadow(&table.name), key.join(", "));
    let add = format!("insert into {words} (rowid, {column}) values (new.rowid, new.{column});");
    let remove = format!("insert into {words} ({words}, rowid, {column}) values ('delete', old.rowid, old.{column});");
    Some(format!(
        "create virtual table if not exists {words} using fts5 ({key}, {column}, content = '{name}', tokenize = 'ascii');
         insert into {words} ({words}) values ('rebuild');
         create trigger if not exists {words}_adds after insert on {name} begin {add} end;
         create trigger if not exists {words}_removes after delete on {name} begin {remove} end;
         create trigger if not exists {words}_changes after update of {column} on {name}
         when old.{column} is not new.{column} begin {remove} {add} end;"
    ))
}

/// SQLite: the statement that shows a table's words under the name that queries use.
pub(crate) fn view_on_sqlite(table: &Table, name: &str) -> Option<String> {
    table.full_text.as_ref()?;
    let key: Vec<&str> = table.key().iter().map(|it| it.name.as_str()).collect();
    let (words, key) = (shadow(&table.name), key.join(", "));
    // The hidden column with the table's own name is the one to match against.
    Some(format!("create view {} as select {key}, {words} as words from {words}", shadow(name)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> String {
        Words::of(text).text()
    }

    #[test]
    fn a_word_is_a_run_of_letters_and_digits_in_lower_case() {
        assert_eq!(words("Fast-locks, v2.0: don't!"), "0 don fast locks t v2");
        assert_eq!(words("Größe ΟΔΟΣ 東京 naïve"), "größe naïve οδος 東京");
    }

    #[test]
    fn no_word_has_a_character_that_a_database_could_take_for_more() {
        let odd: String = (0..=0x2ffff).filter_map(char::from_u32).collect();
        for word in Words::of(&odd).iter() {
            assert!(word.chars().all(|it| !it.is_ascii() || it.is_ascii_alphanumeric()), "{word:?}");
        }
    }

    #[test]
    fn a_text_without_words_has_none() {
        assert!(Words::of(" -- \"'* ").is_empty());
        assert_eq!(words(""), "");
    }

    #[test]
    fn only_the_beginning_of_a_long_word_counts() {
        assert_eq!(words(&"x".repeat(5000)), "x".repeat(LONGEST));
    }

    #[test]
    fn several_texts_have_the_words_of_each() {
        assert_eq!(Words::of_all(["b a", "A c"]).text(), "a b c");
    }
}
