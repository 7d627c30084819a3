//! The keys of rows: one part per key column, sorted as both databases sort what is stored.

use std::cmp::Ordering;
use std::fmt;

use domain::{AgentId, ProjectId, UserId, WorkspaceId};
use store::sql::Value;
use uuid::Uuid;

/// The key of a row, one part per key column.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Key(pub Vec<KeyPart>);

/// One column of a key.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum KeyPart {
    /// A number.
    Int(i64),
    /// An id, which costs less to make and to compare than the text that is stored.
    Id(Uuid),
    /// Text that is no id; see [`KeyPart::text`].
    Text(String),
}

impl KeyPart {
    /// Text, or the id that it is.
    pub fn text(text: String) -> Self {
        let mut written = Uuid::encode_buffer();
        match Uuid::try_parse(&text) {
            Ok(id) if *id.hyphenated().encode_lower(&mut written) == *text => Self::Id(id),
            Ok(_) | Err(_) => Self::Text(text),
        }
    }
}

/// As both databases sort what is stored.
impl Ord for KeyPart {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Int(one), Self::Int(other)) => one.cmp(other),
            (Self::Id(one), Self::Id(other)) => one.cmp(other),
            (Self::Text(one), Self::Text(other)) => one.cmp(other),
            (Self::Id(one), Self::Text(other)) => one.to_string().cmp(other),
            (Self::Text(one), Self::Id(other)) => one.cmp(&other.to_string()),
            (Self::Int(_), Self::Id(_) | Self::Text(_)) => Ordering::Less,
            (Self::Id(_) | Self::Text(_), Self::Int(_)) => Ordering::Greater,
        }
    }
}

impl PartialOrd for KeyPart {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Key {
    pub(crate) fn values(&self) -> Vec<Value> {
        let value = |part: &KeyPart| match part {
            KeyPart::Int(it) => Value::Int(*it),
            KeyPart::Id(it) => (*it).into(),
            KeyPart::Text(it) => Value::Text(it.clone()),
        };
        self.0.iter().map(value).collect()
    }

    /// The key that key columns hold; `None` if one of them holds something else.
    pub(crate) fn from_values(values: &[Value]) -> Option<Self> {
        let part = |value: &Value| match value {
            Value::Int(it) => Some(KeyPart::Int(*it)),
            Value::Text(it) => Some(KeyPart::text(it.clone())),
            Value::Null | Value::Real(_) | Value::Id(_) | Value::Bytes(_) => None,
        };
        values.iter().map(part).collect::<Option<_>>().map(Self)
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (n, part) in self.0.iter().enumerate() {
            f.write_str(if n == 0 { "" } else { "/" })?;
            match part {
                KeyPart::Int(it) => write!(f, "{it}")?,
                KeyPart::Id(it) => write!(f, "{it}")?,
                KeyPart::Text(it) => f.write_str(it)?,
            }
        }
        Ok(())
    }
}

impl From<i64> for Key {
    fn from(it: i64) -> Self {
        Self(vec![KeyPart::Int(it)])
    }
}

impl From<Uuid> for Key {
    fn from(it: Uuid) -> Self {
        Self(vec![KeyPart::Id(it)])
    }
}

impl<A: Into<Self>, B: Into<Self>> From<(A, B)> for Key {
    fn from((one, other): (A, B)) -> Self {
        let (mut key, other): (Self, Self) = (one.into(), other.into());
        key.0.extend(other.0);
        key
    }
}

macro_rules! key_from_id {
    ($($id:ty),+) => {$(
        impl From<$id> for Key { fn from(it: $id) -> Self { it.0.into() } }
    )+};
}
key_from_id!(UserId, WorkspaceId, ProjectId, AgentId);
