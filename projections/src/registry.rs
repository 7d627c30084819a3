//! The registry: which builds of a projection there are, how far each one is, and which one is served.
//!
//! Queries read a database view by the table's plain name; it shows the tables of the build that serves.
//! **Whoever changes a build must have seen its last revision**: that is the fence between engines.

use store::sql::{Database, Outcome, Query, Row, Statement};
use store::{StoreError, StreamId};

use crate::fold::{Folded, LeftOut};
use crate::schema::Tables;
use crate::{Poison, Projection};

/// One set of tables, filled by one version of a projection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Build {
    pub(crate) name: String,
    pub(crate) build: i64,
    pub(crate) version: i64,
    /// By the names that queries use.
    pub(crate) tables: Vec<String>,
    pub(crate) checkpoint: i64,
    pub(crate) epoch: i64,
    pub(crate) revision: i64,
    pub(crate) serving: bool,
    pub(crate) state: BuildState,
    pub(crate) last_error: Option<String>,
}

/// What is done with a build.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BuildState {
    /// Served and kept up to date.
    Running,
    /// On its way to take over.
    Rebuilding,
    /// Stopped on its way, at an event that it cannot apply.
    Halted,
    /// Replaced; its tables are about to go.
    Retired,
}

impl BuildState {
    fn name(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Rebuilding => "rebuilding",
            Self::Halted => "halted",
            Self::Retired => "retired",
        }
    }

    fn parse(text: &str) -> Result<Self, StoreError> {
        let all = [Self::Running, Self::Rebuilding, Self::Halted, Self::Retired];
        all.into_iter()
            .find(|state| state.name() == text)
            .ok_or_else(|| StoreError::Damaged(format!("the registry of projections holds the state {text:?}")))
    }
}

macro_rules! builds_where {
    ($rest:literal) => {
        concat!(
            "select name, build, version, tables, checkpoint, epoch, revision, serving, state, last_error
             from projections ",
            $rest
        )
    };
}

/// Every build of every projection.
pub(crate) fn all_builds() -> Query {
    Query::new(builds_where!("order by name, build"))
}

/// The builds of one projection.
pub(crate) async fn builds(views: &Database, name: &str) -> Result<Vec<Build>, StoreError> {
    let query = Query::new(builds_where!("where name = $1 order by build")).bind(name);
    views.query(query).await?.iter().map(read).collect()
}

/// How far what is served is, and in which life of the log.
pub(crate) async fn served(views: &Database, name: &str) -> Result<Option<(i64, i64)>, StoreError> {
    let query = Query::new("select epoch, checkpoint from projections where name = $1 and serving = 1").bind(name);
    views.first(query).await?.map(|row| Ok((row.int(0)?, row.int(1)?))).transpose()
}

pub(crate) fn read(row: &Row) -> Result<Build, StoreError> {
    Ok(Build {
        name: row.text(0)?.to_owned(),
        build: row.int(1)?,
        version: row.int(2)?,
        tables: row.text(3)?.split_whitespace().map(str::to_owned).collect(),
        checkpoint: row.int(4)?,
        epoch: row.int(5)?,
        revision: row.int(6)?,
        serving: row.int(7)? == 1,
        state: BuildState::parse(row.text(8)?)?,
        last_error: row.optional(9, |row, at| row.text(at).map(str::to_owned))?,
    })
}

/// What a build leaves out.
pub(crate) async fn left_out(views: &Database, build: &Build) -> Result<LeftOut, StoreError> {
    let parked = Query::new(
        "select aggregate_type, aggregate_id, position
         from parked_streams
         where name = $1 and build = $2",
    )
    .bind(&build.name)
    .bind(build.build);
    let skipped = Query::new(
        "select position
         from parking_decisions
         where name = $1 and version = $2 and decision = 'skipped'",
    )
    .bind(&build.name)
    .bind(build.version);
    let mut answers = views.snapshot(vec![parked, skipped]).await?.into_iter();
    let (parked, skipped) = (answers.next().unwrap_or_default(), answers.next().unwrap_or_default());
    let stream = |row: &Row| Ok((StreamId::new(row.text(0)?, row.text(1)?), row.int(2)?));
    Ok(LeftOut {
        parked: parked.iter().map(stream).collect::<Result<_, StoreError>>()?,
        skipped: skipped.iter().map(|row| row.int(0)).collect::<Result<_, StoreError>>()?,
    })
}

impl Build {
    /// A new set of empty tables, beside the builds that there are.
    pub(crate) fn plan(projection: &dyn Projection, others: &[Self], epoch: i64) -> Self {
        Self {
            name: projection.name().to_owned(),
            build: others.iter().map(|it| it.build).max().unwrap_or(0) + 1,
            version: projection.version(),
            tables: projection.tables().into_iter().map(|table| table.name).collect(),
            checkpoint: 0,
            epoch,
            revision: 0,
            serving: false,
            state: BuildState::Rebuilding,
            last_error: None,
        }
    }

    /// The tables of this build, for code of its version.
    pub(crate) fn tables(&self, projection: &dyn Projection, views: &Database) -> Tables {
        Tables::of(projection, views.clone(), |table| self.physical(table))
    }

    fn physical(&self, table: &str) -> String {
        format!("{table}__v{}_{}", self.version, self.build)
    }

    /// Makes the tables of a planned build; `Unexpected` when another node was first.
    pub(crate) async fn create(&self, projection: &dyn Projection, views: &Database) -> Result<Outcome, StoreError> {
        let tables = self.tables(projection, views);
        let insert = Query::new(
            "insert into projections (name, build, version, tables, checkpoint, epoch, revision, serving, state)
             values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
             on conflict do nothing",
        )
        .bind(&self.name)
        .bind(self.build)
        .bind(self.version)
        .bind(self.tables.join(" "))
        .bind(self.checkpoint)
        .bind(self.epoch)
        .bind(self.revision)
        .bind(self.serving)
        .bind(self.state.name());
        let mut statements = vec![Statement::Expect { query: insert, rows: 1 }];
        statements.extend(tables.create());
        if self.serving {
            statements.extend(tables.create_keys());
            statements.extend(tables.create_indexes());
            statements.extend(tables.show());
        }
        views.transact(statements).await
    }

    /// Makes the keys and indexes that a build is filled without. Does nothing the second time.
    pub(crate) async fn finish(&self, projection: &dyn Projection, views: &Database) -> Result<(), StoreError> {
        let tables = self.tables(projection, views);
        let mut statements = Vec::new();
        if let Database::Postgres(_) = views {
            // Indexes of a long log take longer than any statement of a request may, and room to sort in.
            statements.push(Query::new("set local statement_timeout = 0").into());
            statements.push(Query::new("set local maintenance_work_mem = '256MB'").into());
        }
        statements.extend(tables.create_keys());
        statements.extend(tables.create_indexes());
        // Nothing is known yet of what is in them, and queries come at once.
        statements.extend(tables.analyze());
        // In a transaction of their own: a swap that comes too late is tried again.
        views.transact(statements).await.map(drop)
    }

    /// Moves the build on by what was folded, in one transaction; `Unexpected` when another engine was first.
    pub(crate) async fn advance(&mut self, tables: &Tables, folded: Folded) -> Result<Outcome, StoreError> {
        let mut next = self.clone();
        next.checkpoint = folded.upto;
        let mut statements = Vec::new();
        if !folded.poison.is_empty() || !folded.held.is_empty() {
            let now = tables.database.now_micros().await?;
            for (stream, held) in folded.held.iter().filter(|(it, _)| folded.poison.iter().all(|p| p.stream != **it)) {
                statements.push(self.hold_more(stream, *held));
            }
            for poison in &folded.poison {
                let held = folded.held.get(&poison.stream).copied().unwrap_or(1);
                // PostgreSQL keeps no null character, and a payload may have one.
                let error = poison.to_string().replace('\0', "?");
                statements.push(self.park(poison, held, &error, now));
                next.last_error = Some(error);
                if self.state == BuildState::Rebuilding {
                    next.state = BuildState::Halted;
                }
            }
        }
        statements.extend(tables.write(folded.changes)?);
        self.replace(next, statements, &tables.database).await
    }

    /// Changes the registry's row and runs the statements with it; `Unexpected` when the row is not as it was read.
    pub(crate) async fn replace(
        &mut self,
        next: Self,
        statements: Vec<Statement>,
        views: &Database,
    ) -> Result<Outcome, StoreError> {
        let outcome = if statements.is_empty() {
            views.change(self.compare_and_set(&next)).await?
        } else {
            let mut all = vec![Statement::Expect { query: self.compare_and_set(&next), rows: 1 }];
            all.extend(statements);
            views.transact(all).await?
        };
        if outcome == Outcome::Done {
            *self = Self { revision: self.revision + 1, ..next };
        }
        Ok(outcome)
    }

    /// Takes over from the build that serves, if that is not ahead; queries see either one or the other. The build
    /// must be [finished](Self::finish).
    pub(crate) async fn take_over(
        &mut self,
        projection: &dyn Projection,
        serving: Option<&Self>,
        views: &Database,
    ) -> Result<Outcome, StoreError> {
        let tables = self.tables(projection, views);
        let mut statements = Vec::new();
        if let Some(old) = serving {
            let retire = Query::new(
                "update projections
                 set serving = 0, state = 'retired', revision = revision + 1
                 where name = $1 and build = $2 and serving = 1 and checkpoint <= $3",
            )
            .bind(&old.name)
            .bind(old.build)
            .bind(self.checkpoint);
            statements.push(Statement::Expect { query: retire, rows: 1 });
            statements.extend(old.hide());
        }
        let next = Self { serving: true, state: BuildState::Running, last_error: None, ..self.clone() };
        statements.push(Statement::Expect { query: self.compare_and_set(&next), rows: 1 });
        statements.extend(tables.show());
        let outcome = views.transact(statements).await?;
        if outcome == Outcome::Done {
            *self = Self { revision: self.revision + 1, ..next };
        }
        Ok(outcome)
    }

    /// Forgets the build and drops its tables; does nothing when it has changed meanwhile.
    pub(crate) async fn discard(&self, views: &Database) -> Result<Outcome, StoreError> {
        let forget = Query::new("delete from projections where name = $1 and build = $2 and revision = $3")
            .bind(&self.name)
            .bind(self.build)
            .bind(self.revision);
        let parked =
            Query::new("delete from parked_streams where name = $1 and build = $2").bind(&self.name).bind(self.build);
        let mut statements = vec![Statement::Expect { query: forget, rows: 1 }, parked.into()];
        if self.serving {
            statements.extend(self.hide());
        }
        for table in &self.tables {
            statements.push(Statement::DropTable(self.physical(table)));
        }
        views.transact(statements).await
    }

    fn compare_and_set(&self, next: &Self) -> Query {
        Query::new(
            "update projections
             set checkpoint = $1, state = $2, last_error = $3, serving = $4, revision = revision + 1
             where name = $5 and build = $6 and checkpoint = $7 and epoch = $8 and revision = $9",
        )
        .bind(next.checkpoint)
        .bind(next.state.name())
        .bind(next.last_error.clone())
        .bind(next.serving)
        .bind(&self.name)
        .bind(self.build)
        .bind(self.checkpoint)
        .bind(self.epoch)
        .bind(self.revision)
    }

    fn hide(&self) -> impl Iterator<Item = Statement> {
        self.tables.iter().map(|name| Statement::DropView(name.clone()))
    }

    fn park(&self, poison: &Poison, held: i64, error: &str, now: i64) -> Statement {
        let query = Query::new(
            "insert into parked_streams
                (name, build, aggregate_type, aggregate_id, position, sequence, held, error, parked_at)
             values ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
        )
        .bind(&self.name)
        .bind(self.build)
        .bind(&poison.stream.aggregate_type)
        .bind(&poison.stream.aggregate_id)
        .bind(poison.position)
        .bind(poison.sequence)
        .bind(held)
        .bind(error)
        .bind(now);
        Statement::Expect { query, rows: 1 }
    }

    fn hold_more(&self, stream: &StreamId, more: i64) -> Statement {
        let query = Query::new(
            "update parked_streams
             set held = held + $1
             where name = $2 and build = $3 and aggregate_type = $4 and aggregate_id = $5",
        )
        .bind(more)
        .bind(&self.name)
        .bind(self.build)
        .bind(&stream.aggregate_type)
        .bind(&stream.aggregate_id);
        Statement::Expect { query, rows: 1 }
    }
}
