//! What is measured: one file per question, in the order of the report.

mod append_postgres;
mod append_sqlite;
mod appending;
mod factory;
mod growth;
mod http_commands;
mod http_queries;
mod lag;
mod reading;
mod rebuild;
mod serving;
mod session_start;
mod sse;
mod verify;

use std::pin::Pin;

use anyhow::Result;

use crate::measure::Plan;
use crate::report::Comparison;

/// One question that a run answers.
pub(crate) struct Case {
    /// What `--only` finds it by.
    pub(crate) name: &'static str,
    pub(crate) measure: fn(Plan) -> Measured,
}

type Measured = Pin<Box<dyn Future<Output = Result<Vec<Comparison>>>>>;

macro_rules! cases {
    ($($of:ident :: $question:ident),+ $(,)?) => {
        vec![$(Case {
            name: concat!(stringify!($of), "::", stringify!($question)),
            measure: |plan| Box::pin(async move { $of::$question(&plan).await }),
        }),+]
    };
}

/// Every case.
pub(crate) fn all() -> Vec<Case> {
    cases![
        append_postgres::new_streams,
        append_postgres::hot_streams,
        append_postgres::ceiling,
        append_postgres::one_client,
        append_postgres::two_nodes,
        append_postgres::stale,
        append_sqlite::new_streams,
        append_sqlite::hot_streams,
        append_sqlite::ceiling,
        append_sqlite::one_client,
        append_sqlite::stale,
        http_commands::sqlite,
        http_commands::postgres,
        http_queries::sqlite,
        http_queries::postgres,
        session_start::sqlite,
        session_start::postgres,
        rebuild::sqlite,
        rebuild::postgres,
        verify::sqlite,
        verify::postgres,
        growth::sqlite,
        growth::postgres,
        lag::sqlite,
        lag::postgres,
        sse::sqlite,
        sse::postgres,
        factory::sqlite,
        factory::postgres,
    ]
}
