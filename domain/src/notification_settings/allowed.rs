//! What the operator of a node lets people have done on its machine, whatever they prefer.

/// What may be shown and played on the node: nothing, unless its operator says so.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Allowed {
    /// Whether messages may be shown on its desktop.
    pub desktop: bool,
    /// What may be played.
    pub sounds: Sounds,
}

/// Sounds that may be played on the node.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Sounds {
    /// None.
    #[default]
    None,
    /// The operator's own.
    Only(String),
    /// Whatever file people name.
    Any,
}

impl Allowed {
    /// Whether a message may be shown, or the rule that says no.
    pub fn to_show(&self) -> Result<(), &'static str> {
        if self.desktop { Ok(()) } else { Err("the operator of this node allows no messages on its desktop") }
    }

    /// Whether a file may be played, or the rule that says no.
    pub fn to_play(&self, file: &str) -> Result<(), &'static str> {
        match &self.sounds {
            Sounds::Any => Ok(()),
            Sounds::Only(own) if own == file => Ok(()),
            Sounds::Only(_) => Err("the operator of this node allows no sound but the one of the node"),
            Sounds::None => Err("the operator of this node allows no sounds"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_shown_or_played_unless_the_operator_says_so() {
        let nothing = Allowed::default();
        assert!(nothing.to_show().is_err() && nothing.to_play("/bell.wav").is_err());
        let all = Allowed { desktop: true, sounds: Sounds::Any };
        assert!(all.to_show().is_ok() && all.to_play("/bell.wav").is_ok());
    }

    #[test]
    fn an_operator_who_has_a_sound_allows_no_other_by_it() {
        let own = Allowed { sounds: Sounds::Only("/bell.wav".to_owned()), ..Allowed::default() };
        assert!(own.to_play("/bell.wav").is_ok() && own.to_play("/etc/passwd").is_err());
    }
}
