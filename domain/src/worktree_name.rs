//! Worktree names: the branch and the worktree of an epic or of a task in it, under one name.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{Claim, EpicId, Scope, TaskId};

/// How much of a title a name carries.
const MOST_OF_A_TITLE: usize = 48;

/// A name that is safe as a branch and as a path: `epic/{id}/{title}` or `task/{id}/{title}`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct WorktreeName(String);

impl WorktreeName {
    /// The name of an epic.
    pub fn of_epic(id: EpicId, title: &str) -> Self {
        Self(format!("epic/{id}/{}", sanitised(title)))
    }

    /// The name of a task of an epic.
    pub fn of_task(id: TaskId, title: &str) -> Self {
        Self(format!("task/{id}/{}", sanitised(title)))
    }

    /// The claim that makes it one stream's.
    pub fn claim(&self) -> Claim {
        Scope::worktrees().claim(self)
    }
}

impl AsRef<str> for WorktreeName {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for WorktreeName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Small letters and digits, with one hyphen for whatever is between them.
fn sanitised(title: &str) -> String {
    let mut name = String::new();
    for letter in title.chars() {
        match letter.to_ascii_lowercase() {
            it @ ('a'..='z' | '0'..='9') => name.push(it),
            _ if name.is_empty() || name.ends_with('-') => {}
            _ => name.push('-'),
        }
        if name.len() == MOST_OF_A_TITLE {
            break;
        }
    }
    match name.trim_end_matches('-') {
        "" => "untitled".to_owned(),
        name => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::examples::id;

    #[test]
    fn a_name_has_the_id_and_what_is_safe_of_the_title() {
        let name = WorktreeName::of_task(id(60), "Add: a *basket*, (2nd try)");
        assert_eq!(name.as_ref(), "task/00000000-0000-0000-0000-00000000003c/add-a-basket-2nd-try");
        assert!(WorktreeName::of_epic(id(1), "X").as_ref().starts_with("epic/"));
    }

    #[test]
    fn no_title_escapes_a_folder_or_breaks_a_branch() {
        for (title, name) in [
            ("../../etc/passwd", "etc-passwd"),
            ("-rf", "rf"),
            ("..", "untitled"),
            ("größe", "gr-e"),
            ("漢字", "untitled"),
            ("a.lock", "a-lock"),
            ("", "untitled"),
        ] {
            assert_eq!(sanitised(title), name, "{title}");
        }
        assert_eq!(sanitised(&"ab ".repeat(50)).len(), 47);
    }
}
