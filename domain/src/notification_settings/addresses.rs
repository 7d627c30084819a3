//! Where a person is told. It is theirs alone, so it lives in a row beside the log: no event and no read model has it.

use std::fmt;

use super::Preferences;
use crate::notification::Channel;

/// Where the channels lead that need to be told.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Addresses {
    /// The sound to play, as a path on the node.
    pub sound_file: Option<String>,
    /// Where news is posted.
    pub webhook_url: Option<String>,
}

/// How a person is told: what they prefer, and where that leads.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Manner {
    /// Of what, how and when.
    pub preferences: Preferences,
    /// Where to.
    pub addresses: Addresses,
}

impl Addresses {
    /// The channels that lead elsewhere than before.
    pub fn changed_from(&self, before: &Self) -> Vec<Channel> {
        let changed = [
            (Channel::Sound, self.sound_file != before.sound_file),
            (Channel::Webhook, self.webhook_url != before.webhook_url),
        ];
        changed.into_iter().filter(|(_, is_other)| *is_other).map(|(channel, _)| channel).collect()
    }
}

impl Manner {
    /// Preferences that know which of the addresses there are.
    pub fn new(preferences: Preferences, addresses: Addresses) -> Self {
        let (has_sound_file, has_webhook_url) = (addresses.sound_file.is_some(), addresses.webhook_url.is_some());
        Self { preferences: Preferences { has_sound_file, has_webhook_url, ..preferences }, addresses }
    }
}

// Written by hand so that no log line can ever carry an address.
impl fmt::Debug for Addresses {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Addresses").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn webhook(url: &str) -> Addresses {
        Addresses { webhook_url: Some(url.to_owned()), ..Addresses::default() }
    }

    #[test]
    fn a_channel_that_leads_elsewhere_is_changed() {
        let (none, a, b) = (Addresses::default(), webhook("https://a.example"), webhook("https://b.example"));
        assert_eq!(a.changed_from(&a), []);
        for (now, before) in [(&a, &none), (&b, &a), (&none, &a)] {
            assert_eq!(now.changed_from(before), [Channel::Webhook]);
        }
    }

    #[test]
    fn an_address_is_never_shown_to_a_log() {
        let manner = Manner::new(Preferences::default(), webhook("https://a.example"));
        assert!(manner.preferences.has_webhook_url && !format!("{manner:?}").contains("a.example"));
    }
}
