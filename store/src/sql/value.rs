//! Values and rows as both databases hold them: integers, reals, text, ids and bytes.

use uuid::Uuid;

use crate::StoreError;

/// A value on its way into or out of a database. Ids are hyphenated text, except in columns that [hold ids]; times are
/// microseconds, flags are 0 or 1.
///
/// [hold ids]: super::Holds::Id
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// No value.
    Null,
    /// `bigint`.
    Int(i64),
    /// `double precision`.
    Real(f64),
    /// `text`.
    Text(String),
    /// `uuid`, or a `blob` of sixteen bytes.
    Id(Uuid),
    /// `bytea` or `blob`.
    Bytes(Vec<u8>),
}

macro_rules! value_from {
    ($($type:ty, $it:ident => $value:expr;)*) => {$(
        impl From<$type> for Value { fn from($it: $type) -> Self { $value } }
    )*};
}
value_from! {
    i64, it => Value::Int(it);
    bool, it => Value::Int(i64::from(it));
    f64, it => Value::Real(it);
    &str, it => Value::Text(it.to_owned());
    String, it => Value::Text(it);
    &String, it => Value::Text(it.clone());
    Uuid, it => Value::Text(it.to_string());
    Vec<u8>, it => Value::Bytes(it);
}

impl Value {
    /// An id for a column that [holds ids](super::Holds::Id).
    pub fn id(id: impl Into<Option<Uuid>>) -> Self {
        id.into().map_or(Self::Null, Self::Id)
    }
}

impl<T: Into<Value>> From<Option<T>> for Value {
    fn from(it: Option<T>) -> Self {
        it.map_or(Value::Null, Into::into)
    }
}

/// One row of an answer, read column by column in the order of the `select`.
#[derive(Debug, Clone, PartialEq)]
pub struct Row(pub Vec<Value>);

impl Row {
    /// An integer column.
    pub fn int(&self, column: usize) -> Result<i64, StoreError> {
        match self.at(column)? {
            Value::Int(it) => Ok(*it),
            other => Err(mismatch(column, "an integer", other)),
        }
    }

    /// A number column.
    pub fn real(&self, column: usize) -> Result<f64, StoreError> {
        match self.at(column)? {
            Value::Real(it) => Ok(*it),
            Value::Int(it) => Ok(*it as f64),
            other => Err(mismatch(column, "a number", other)),
        }
    }

    /// A text column.
    pub fn text(&self, column: usize) -> Result<&str, StoreError> {
        match self.at(column)? {
            Value::Text(it) => Ok(it),
            other => Err(mismatch(column, "text", other)),
        }
    }

    /// A text column, moved out of the row.
    pub fn take_text(&mut self, column: usize) -> Result<String, StoreError> {
        self.text(column)?;
        match std::mem::replace(&mut self.0[column], Value::Null) {
            Value::Text(it) => Ok(it),
            other => Err(mismatch(column, "text", &other)),
        }
    }

    /// A column of bytes.
    pub fn bytes(&self, column: usize) -> Result<&[u8], StoreError> {
        match self.at(column)? {
            Value::Bytes(it) => Ok(it),
            Value::Id(it) => Ok(it.as_bytes()),
            other => Err(mismatch(column, "bytes", other)),
        }
    }

    /// An id column.
    pub fn uuid(&self, column: usize) -> Result<Uuid, StoreError> {
        if let Value::Id(it) = self.at(column)? {
            return Ok(*it);
        }
        let text = self.text(column)?;
        Uuid::try_parse(text).map_err(|_| StoreError::Damaged(format!("column {column} holds no id: {text:?}")))
    }

    /// Whether the column holds no value.
    pub fn is_null(&self, column: usize) -> bool {
        matches!(self.0.get(column), None | Some(Value::Null))
    }

    /// A column that may be empty, read with one of the other readers.
    pub fn optional<'a, T>(
        &'a self,
        column: usize,
        read: impl Fn(&'a Self, usize) -> Result<T, StoreError>,
    ) -> Result<Option<T>, StoreError> {
        if self.is_null(column) { Ok(None) } else { read(self, column).map(Some) }
    }

    fn at(&self, column: usize) -> Result<&Value, StoreError> {
        self.0.get(column).ok_or_else(|| StoreError::Damaged(format!("there is no column {column}")))
    }
}

fn mismatch(column: usize, wanted: &str, found: &Value) -> StoreError {
    let found = match found {
        Value::Null => "nothing",
        Value::Int(_) => "an integer",
        Value::Real(_) => "a number",
        Value::Text(_) => "text",
        Value::Id(_) => "an id",
        Value::Bytes(_) => "bytes",
    };
    StoreError::Damaged(format!("column {column} holds {found} where {wanted} belongs"))
}
