//! PostgreSQL's way to take some rows in one prepared statement: an array per column, walked side by side by `unnest`.

use sqlx::Arguments;
use sqlx::postgres::PgArguments;
use uuid::Uuid;

use super::{Column, Holds, Table, Value};

/// Adds rows.
pub(super) fn insert(table: &Table) -> String {
    let names: Vec<&str> = table.columns.iter().map(|it| it.name.as_str()).collect();
    format!("insert into {} ({}) select * from unnest({})", table.name, names.join(", "), places(&table.columns))
}

/// Writes rows over those with the same key.
pub(super) fn upsert(table: &Table) -> String {
    let names = |columns: &[Column]| columns.iter().map(|it| it.name.clone()).collect::<Vec<_>>();
    let sets: Vec<String> = names(table.values()).iter().map(|it| format!("{it} = excluded.{it}")).collect();
    let action = if sets.is_empty() { "do nothing".to_owned() } else { format!("do update set {}", sets.join(", ")) };
    format!("{} on conflict ({}) {action}", insert(table), names(table.key()).join(", "))
}

/// Removes rows by key.
pub(super) fn delete(table: &Table) -> String {
    let names: Vec<&str> = table.key().iter().map(|it| it.name.as_str()).collect();
    let same: Vec<String> = names.iter().map(|it| format!("{}.{it} = gone.{it}", table.name)).collect();
    format!(
        "delete from {} using unnest({}) as gone ({}) where {}",
        table.name,
        places(table.key()),
        names.join(", "),
        same.join(" and "),
    )
}

fn places(columns: &[Column]) -> String {
    let places: Vec<String> = columns
        .iter()
        .enumerate()
        .map(|(n, column)| {
            let holds = match column.holds {
                Holds::Int => "bigint",
                Holds::Real => "double precision",
                Holds::Text => "text",
                Holds::Id => "uuid",
            };
            format!("${}::{holds}[]", n + 1)
        })
        .collect();
    places.join(", ")
}

/// Turns rows into one array per column, as `unnest` takes them.
pub(super) fn columns(columns: &[Column], rows: Vec<Vec<Value>>) -> Result<PgArguments, sqlx::Error> {
    let mut arguments = PgArguments::default();
    let mut rows: Vec<_> = rows.into_iter().map(Vec::into_iter).collect();
    for column in columns {
        let values = rows.iter_mut().map(|row| row.next().unwrap_or(Value::Null));
        let wrong = |value: &Value| sqlx::Error::Encode(format!("{} cannot hold {value:?}", column.name).into());
        let added = match column.holds {
            Holds::Int => {
                let values: Result<Vec<Option<i64>>, _> = values
                    .map(|value| match value {
                        Value::Null => Ok(None),
                        Value::Int(it) => Ok(Some(it)),
                        other => Err(wrong(&other)),
                    })
                    .collect();
                arguments.add(values?)
            }
            Holds::Real => {
                let values: Result<Vec<Option<f64>>, _> = values
                    .map(|value| match value {
                        Value::Null => Ok(None),
                        Value::Real(it) => Ok(Some(it)),
                        Value::Int(it) => Ok(Some(it as f64)),
                        other => Err(wrong(&other)),
                    })
                    .collect();
                arguments.add(values?)
            }
            Holds::Text => {
                let values: Result<Vec<Option<String>>, _> = values
                    .map(|value| match value {
                        Value::Null => Ok(None),
                        Value::Text(it) => Ok(Some(it)),
                        other => Err(wrong(&other)),
                    })
                    .collect();
                arguments.add(values?)
            }
            Holds::Id => {
                let values: Result<Vec<Option<Uuid>>, _> = values
                    .map(|value| match value {
                        Value::Null => Ok(None),
                        Value::Id(it) => Ok(Some(it)),
                        other => Err(wrong(&other)),
                    })
                    .collect();
                arguments.add(values?)
            }
        };
        added.map_err(sqlx::Error::Encode)?;
    }
    Ok(arguments)
}
