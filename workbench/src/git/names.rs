//! Names that are safe to hand to git and to the file system, because nothing else can be made.

use std::fmt;

use super::GitError;

/// Longer titles are cut in branch names; the id keeps them apart.
const LONGEST_TITLE: usize = 48;

/// A branch, as `git check-ref-format --branch` would let it pass.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Branch(String);

/// A worktree's folder below the folder of worktrees.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Folder(String);

/// The full hash of a commit.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct CommitId(String);

/// A line at the end of a commit message by which a merge is found again, such as `Muster-Task: <id>`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trailer {
    key: String,
    value: String,
}

impl Branch {
    /// Takes a name that git would take.
    pub fn new(name: &str) -> Result<Self, GitError> {
        let forbidden = |it: char| it.is_ascii_control() || " ~^:?*[\\".contains(it);
        let bad_part = |part: &str| part.is_empty() || part.starts_with('.') || part.ends_with(".lock");
        let bad = name.len() > 200
            || name == "HEAD"
            || name == "@"
            || name.starts_with('-')
            || name.starts_with("refs/")
            || name.ends_with('.')
            || name.contains("..")
            || name.contains("@{")
            || name.contains(forbidden)
            || name.split('/').any(bad_part);
        if bad { Err(GitError::BadName { what: "branch", name: name.to_owned() }) } else { Ok(Self(name.to_owned())) }
    }

    /// `epic/{id}/{sanitised title}`.
    pub fn of_epic(id: &str, title: &str) -> Result<Self, GitError> {
        Self::new(&format!("epic/{}/{}", checked_id(id)?, sanitised(title)))
    }

    /// `task/{id}/{sanitised title}`.
    pub fn of_task(id: &str, title: &str) -> Result<Self, GitError> {
        Self::new(&format!("task/{}/{}", checked_id(id)?, sanitised(title)))
    }

    /// The name without `refs/heads/`.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub(super) fn reference(&self) -> String {
        format!("refs/heads/{}", self.0)
    }
}

impl Folder {
    /// Takes one component of letters, digits, `-`, `_` and `.`, that begins with neither `-` nor `.`.
    pub fn new(name: &str) -> Result<Self, GitError> {
        let allowed = |it: char| it.is_alphanumeric() || "-_.".contains(it);
        let bad = name.is_empty() || name.len() > 200 || name.starts_with(['-', '.']) || !name.chars().all(allowed);
        if bad { Err(GitError::BadName { what: "folder", name: name.to_owned() }) } else { Ok(Self(name.to_owned())) }
    }

    /// `epic-{id}`.
    pub fn of_epic(id: &str) -> Result<Self, GitError> {
        Self::new(&format!("epic-{}", checked_id(id)?))
    }

    /// `task-{id}`.
    pub fn of_task(id: &str) -> Result<Self, GitError> {
        Self::new(&format!("task-{}", checked_id(id)?))
    }

    /// The name of the folder.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl CommitId {
    /// Takes a full SHA-1 or SHA-256 in lower case.
    pub fn new(hash: &str) -> Result<Self, GitError> {
        let hex = hash.bytes().all(|it| it.is_ascii_digit() || (b'a'..=b'f').contains(&it));
        if hex && [40, 64].contains(&hash.len()) {
            Ok(Self(hash.to_owned()))
        } else {
            Err(GitError::BadName { what: "commit", name: hash.to_owned() })
        }
    }

    /// In hex.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Trailer {
    /// Takes a key of letters, digits and `-`, and a value on one line.
    pub fn new(key: &str, value: &str) -> Result<Self, GitError> {
        let bad_key = key.is_empty() || !key.bytes().all(|it| it.is_ascii_alphanumeric() || it == b'-');
        if bad_key || value.trim() != value || value.is_empty() || value.contains(char::is_control) {
            return Err(GitError::BadName { what: "trailer", name: format!("{key}: {value}") });
        }
        Ok(Self { key: key.to_owned(), value: value.to_owned() })
    }

    /// What stands before the colon.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// What stands after it.
    pub fn value(&self) -> &str {
        &self.value
    }

    /// A message that ends with the trailer, in a paragraph of its own: nothing in the message can pass for it.
    pub(crate) fn under(&self, message: &str) -> String {
        format!("{}\n\n{self}\n", message.trim_end())
    }
}

impl fmt::Display for Branch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for CommitId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for Trailer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.key, self.value)
    }
}

fn checked_id(id: &str) -> Result<&str, GitError> {
    let fine = !id.is_empty() && id.len() <= 64 && id.bytes().all(|it| it.is_ascii_alphanumeric() || it == b'-');
    if fine { Ok(id) } else { Err(GitError::BadName { what: "id", name: id.to_owned() }) }
}

/// Letters and digits of any script in lower case, everything else as single dashes.
fn sanitised(title: &str) -> String {
    let lower = title.to_lowercase();
    let words: Vec<&str> = lower.split(|it: char| !it.is_alphanumeric()).filter(|it| !it.is_empty()).collect();
    let cut: String = words.join("-").chars().take(LONGEST_TITLE).collect();
    let cut = cut.trim_matches('-');
    if cut.is_empty() { "untitled".to_owned() } else { cut.to_owned() }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
    use super::*;

    #[test]
    fn a_title_becomes_a_branch_that_git_takes() {
        let branch = |title| Branch::of_task("12", title).unwrap().0;
        assert_eq!(branch("Add user auth!"), "task/12/add-user-auth");
        assert_eq!(branch("--force \"it's\" ../../etc\n"), "task/12/force-it-s-etc");
        assert_eq!(branch("Größe ändern 日本"), "task/12/größe-ändern-日本");
        assert_eq!(branch("..lock"), "task/12/lock");
        assert_eq!(branch("  ?? "), "task/12/untitled");
        assert_eq!(branch(&"x".repeat(500)).len(), "task/12/".len() + LONGEST_TITLE);
        assert_eq!(Branch::of_epic("7", "Now").unwrap().0, "epic/7/now");
    }

    #[test]
    fn names_that_git_would_misread_are_refused() {
        let bad = [
            "",
            "-b",
            "--all",
            "a b",
            "a..b",
            "a~1",
            "a^",
            "a:b",
            "a?",
            "a*",
            "a[",
            "a\\b",
            "a@{1}",
            "/a",
            "a/",
            "a//b",
            ".a",
            "a/.b",
            "a.lock",
            "a.lock/b",
            "a.",
            "HEAD",
            "@",
            "refs/heads/a",
            "a\nb",
            "a\0b",
        ];
        for name in bad {
            assert!(Branch::new(name).is_err(), "{name:?}");
        }
        for name in ["main", "epic/1/ein-täst", "a-b", "it's"] {
            assert!(Branch::new(name).is_ok(), "{name:?}");
        }
    }

    #[test]
    fn a_folder_is_one_component_and_an_id_has_no_separators() {
        for name in ["", "-x", ".git", "..", "a/b", "a b", "a\0"] {
            assert!(Folder::new(name).is_err(), "{name:?}");
        }
        assert_eq!(Folder::of_task("0190-ab").unwrap().0, "task-0190-ab");
        assert!(Folder::of_epic("../7").is_err());
        assert!(Branch::of_task("7/..", "x").is_err());
    }

    #[test]
    fn a_trailer_is_one_line_and_stands_alone() {
        assert!(Trailer::new("Muster-Task", "1\nMuster-Task: 2").is_err());
        assert!(Trailer::new("Muster Task", "1").is_err());
        let message = Trailer::new("Muster-Task", "1").unwrap().under("Title\n\nMuster-Task: 2\n\n");
        assert_eq!(message, "Title\n\nMuster-Task: 2\n\nMuster-Task: 1\n");
    }
}
