//! Words of requests and answers that the domain has too: each body has its own enum, and this ties the two together.

/// Turns a body's enum into the domain's and back; a word that only one of them has does not compile.
macro_rules! same_words {
    ($body:ident = $domain:ty { $($word:ident),+ }) => {
        impl From<$body> for $domain {
            fn from(it: $body) -> Self {
                match it { $($body::$word => Self::$word,)+ }
            }
        }
        impl From<$domain> for $body {
            fn from(it: $domain) -> Self {
                match it { $(<$domain>::$word => Self::$word,)+ }
            }
        }
    };
}
pub(crate) use same_words;
