//! Slugs and agent codes: short names that are safe in a URL, an API key and a branch name.

use std::fmt;

use serde::{Deserialize, Serialize};
use thiserror::Error;

const MAX_LENGTH: usize = 255;

/// Why a text is neither a slug nor an agent code.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SlugError {
    /// It has no characters.
    #[error("must not be empty")]
    Empty,
    /// It has more than 255 characters.
    #[error("must have at most {MAX_LENGTH} characters")]
    TooLong,
    /// It has a character outside `a-z`, `0-9` and `-`.
    #[error("must have only a-z, 0-9 and -, not {0:?}")]
    ForbiddenCharacter(char),
}

macro_rules! slug {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(try_from = "String")]
        pub struct $name(String);

        impl $name {
            /// The text as this type, if it matches `^[a-z0-9-]+$` and has at most 255 characters.
            pub fn parse(text: impl Into<String>) -> Result<Self, SlugError> {
                let text = text.into();
                check(&text)?;
                Ok(Self(text))
            }
        }

        impl TryFrom<String> for $name {
            type Error = SlugError;

            fn try_from(text: String) -> Result<Self, SlugError> {
                Self::parse(text)
            }
        }

        impl AsRef<str> for $name {
            fn as_ref(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

slug! {
    /// What names a workspace or a project in a URL.
    Slug
}
slug! {
    /// What names an agent within its workspace.
    AgentCode
}

fn check(text: &str) -> Result<(), SlugError> {
    let allowed = |c: &char| matches!(c, 'a'..='z' | '0'..='9' | '-');
    if text.is_empty() {
        return Err(SlugError::Empty);
    }
    if let Some(forbidden) = text.chars().find(|c| !allowed(c)) {
        return Err(SlugError::ForbiddenCharacter(forbidden));
    }
    // Only ASCII is left, so bytes are characters.
    if text.len() > MAX_LENGTH {
        return Err(SlugError::TooLong);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slug_has_small_letters_digits_and_hyphens() {
        let slug = Slug::parse("team-7").expect("a slug");
        assert_eq!(slug.to_string(), "team-7");
    }

    #[test]
    fn a_slug_has_nothing_else() {
        for (text, forbidden) in [("Team", 'T'), ("a b", ' '), ("a_b", '_'), ("é", 'é'), ("a\n", '\n')] {
            assert_eq!(Slug::parse(text), Err(SlugError::ForbiddenCharacter(forbidden)));
        }
    }

    #[test]
    fn a_slug_has_between_1_and_255_characters() {
        assert_eq!(Slug::parse(""), Err(SlugError::Empty));
        assert!(Slug::parse("a".repeat(255)).is_ok());
        assert_eq!(Slug::parse("a".repeat(256)), Err(SlugError::TooLong));
    }

    #[test]
    fn json_is_no_way_around_the_rule() {
        assert!(serde_json::from_str::<AgentCode>(r#""dev-1""#).is_ok());
        assert!(serde_json::from_str::<AgentCode>(r#""Dev 1""#).is_err());
    }
}
