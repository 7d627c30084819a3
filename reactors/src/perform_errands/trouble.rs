//! What stands in the way of an errand, and whether it is worth another try.

use std::any::Any;
use std::time::Duration;

use commands::CommandError;
use store::StoreError;
use workbench::forge::ForgeError;
use workbench::git::GitError;
use workbench::tmux::TmuxError;

use crate::bench::NoPlace;

/// Tries before an errand fails for good.
const MOST_TRIES: u32 = 6;
const LONGEST_PAUSE: Duration = Duration::from_secs(60);
/// However long the other side asks for.
const LONGEST_ASKED: Duration = Duration::from_secs(60 * 60);

/// What stands in the way.
#[derive(Debug)]
pub(super) enum Trouble {
    /// It may go away by itself.
    Passing {
        error: String,
        /// When to try again, if somebody said so.
        after: Option<Duration>,
    },
    /// It will not.
    Lasting { error: String, details: Option<String> },
    /// Nobody wants it any more.
    Unwanted(String),
    /// Our own store cannot be used: nothing can be recorded either.
    Ours(CommandError),
}

impl Trouble {
    pub(super) fn lasting(error: impl Into<String>) -> Self {
        Self::Lasting { error: error.into(), details: None }
    }

    /// A panic of our own code.
    pub(super) fn fault(panic: &(dyn Any + Send)) -> Self {
        let said = panic.downcast_ref::<&str>().copied().or_else(|| panic.downcast_ref::<String>().map(String::as_str));
        Self::Passing { error: format!("a fault of the bench itself: {}", said.unwrap_or("a panic")), after: None }
    }

    fn of(error: String, is_transient: bool, after: Option<Duration>) -> Self {
        if is_transient { Self::Passing { error, after } } else { Self::lasting(error) }
    }
}

/// How long to wait after so many tries: 1, 2, 4 .. seconds, or as long as the other side asks, up to an hour; nothing
/// when it is enough.
pub(super) fn pause(tries: u32, asked: Option<Duration>) -> Option<Duration> {
    if tries + 1 >= MOST_TRIES {
        return None;
    }
    let own = Duration::from_secs(1 << tries.min(6)).min(LONGEST_PAUSE);
    Some(asked.map_or(own, |it| it.clamp(own, LONGEST_ASKED)))
}

impl From<GitError> for Trouble {
    fn from(error: GitError) -> Self {
        Self::of(error.to_string(), error.is_transient(), None)
    }
}

impl From<ForgeError> for Trouble {
    fn from(error: ForgeError) -> Self {
        Self::of(error.to_string(), error.is_transient(), error.retry_after())
    }
}

impl From<TmuxError> for Trouble {
    fn from(error: TmuxError) -> Self {
        Self::of(error.to_string(), error.is_transient(), None)
    }
}

impl From<NoPlace> for Trouble {
    fn from(error: NoPlace) -> Self {
        match error {
            NoPlace::Gone(what) => Self::Unwanted(what.to_owned()),
            NoPlace::NotSetUp(_) | NoPlace::NotServed(_) => Self::lasting(error.to_string()),
            NoPlace::Name(error) => error.into(),
            NoPlace::Store(error) => error.into(),
        }
    }
}

impl From<StoreError> for Trouble {
    fn from(error: StoreError) -> Self {
        Self::Ours(error.into())
    }
}

impl From<CommandError> for Trouble {
    fn from(error: CommandError) -> Self {
        Self::Ours(error)
    }
}

impl From<std::io::Error> for Trouble {
    fn from(error: std::io::Error) -> Self {
        Self::Passing { error: error.to_string(), after: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_until_it_is_enough() {
        let pauses: Vec<Option<u64>> = (0..6).map(|tries| pause(tries, None).map(|it| it.as_secs())).collect();
        assert_eq!(pauses, [Some(1), Some(2), Some(4), Some(8), Some(16), None]);
        assert_eq!(pause(0, Some(Duration::from_secs(30))), Some(Duration::from_secs(30)));
        assert_eq!(pause(0, Some(Duration::MAX)), Some(LONGEST_ASKED));
        assert_eq!(pause(4, Some(Duration::ZERO)), Some(Duration::from_secs(16)));
    }
}
