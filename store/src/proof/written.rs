//! How hashes, keys and times are written in proofs: hex, and RFC 3339 with microseconds.

use chrono::SecondsFormat;

use crate::from_micros;

/// A time as it is written in proofs.
pub(crate) fn time(micros: i64) -> String {
    from_micros(micros).to_rfc3339_opts(SecondsFormat::Micros, true)
}

/// Bytes of one length, in hex.
pub(crate) mod hex_bytes {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub(crate) fn serialize<S: Serializer, const N: usize>(bytes: &[u8; N], to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&hex::encode(bytes))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>, const N: usize>(from: D) -> Result<[u8; N], D::Error> {
        super::bytes(&String::deserialize(from)?).map_err(D::Error::custom)
    }
}

/// Hashes, each in hex.
pub(crate) mod hex_list {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    use crate::chain::Hash;

    pub(crate) fn serialize<S: Serializer>(hashes: &[Hash], to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(hashes.iter().map(hex::encode))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Hash>, D::Error> {
        let texts = Vec::<String>::deserialize(from)?;
        texts.iter().map(|it| super::bytes(it).map_err(D::Error::custom)).collect()
    }
}

/// Microseconds since 1970, as a time.
pub(crate) mod instant {
    use chrono::{DateTime, Utc};
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub(crate) fn serialize<S: Serializer>(micros: &i64, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&super::time(*micros))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<i64, D::Error> {
        let text = String::deserialize(from)?;
        let time: DateTime<Utc> = text.parse().map_err(|_| D::Error::custom(format!("{text:?} is no time")))?;
        Ok(time.timestamp_micros())
    }
}

pub(crate) fn bytes<const N: usize>(text: &str) -> Result<[u8; N], String> {
    let wrong = || format!("{N} bytes in hex are wanted");
    hex::decode(text).map_err(|_| wrong())?.try_into().map_err(|_| wrong())
}
