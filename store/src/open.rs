//! Opening the stores: the log, which is the truth, and the views, which can be thrown away.

use std::fs::{DirBuilder, File, TryLockError};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::sql::{Database, Migration, PostgresDatabase, PostgresSettings, SqliteDatabase, SqliteSettings, migrate};
use crate::{Clock, EventLog, StoreError};

/// Where the stores are.
#[derive(Clone, PartialEq, Eq)]
pub enum Location {
    /// A folder with `log.db` and `views.db`.
    Sqlite(PathBuf),
    /// A PostgreSQL address, with its password if it has one.
    Postgres(String),
}

/// How the stores are opened.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Where.
    pub location: Location,
    /// The clock that stamps batches.
    pub clock: Clock,
    /// What for.
    pub access: Access,
}

/// What the stores are opened for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// To serve: a data folder is taken for this process alone, and stores that are not there yet are made.
    Serve,
    /// To change something with a tool: a data folder is taken for this process alone.
    Change,
    /// To look, also beside a server.
    Look,
}

/// The two databases of Muster.
#[derive(Debug)]
pub struct Stores {
    /// The truth.
    pub log: Arc<EventLog>,
    /// Read models; whatever is in it can be built again from the log.
    pub views: Database,
    /// Where they are, for people; never with a password.
    pub place: String,
}

macro_rules! migration {
    ($version:literal, $which:literal, $name:literal) => {
        Migration {
            version: $version,
            sqlite: include_str!(concat!("../../migrations/", $which, "/sqlite/", $name, ".sql")),
            postgres: include_str!(concat!("../../migrations/", $which, "/postgres/", $name, ".sql")),
        }
    };
}

const LOG: &[Migration] = &[migration!(1, "log", "0001_create_log"), migration!(2, "log", "0002_add_append_batch")];
const VIEWS: &[Migration] = &[migration!(1, "views", "0001_add_projection_registry")];

impl Stores {
    /// Opens both databases and brings their schemas up to date.
    pub async fn open(settings: Settings) -> Result<Self, StoreError> {
        let (log, views, place, folder) = match &settings.location {
            Location::Sqlite(folder) => open_sqlite(folder, settings.access)?,
            Location::Postgres(url) => open_postgres(url, settings.access).await?,
        };
        migrate(&log, LOG).await?;
        migrate(&views, VIEWS).await?;
        let log = Arc::new(EventLog::start(log, settings.clock, folder).await?);
        Ok(Self { log, views, place })
    }
}

type Opened = (Database, Database, String, Option<File>);

fn open_sqlite(folder: &Path, access: Access) -> Result<Opened, StoreError> {
    crate::sql::check_sqlite_version()?;
    let place = folder.display().to_string();
    if access != Access::Serve && !folder.join("log.db").exists() {
        return Err(StoreError::Setup(format!("{place}: there is no log in this folder")));
    }
    // It will hold password hashes and secrets, so it is its owner's alone; one that is there is left as it is.
    let make = DirBuilder::new().recursive(true).mode(0o700).create(folder);
    make.map_err(|e| StoreError::Setup(format!("{place}: cannot make the data folder: {e}")))?;
    let lock = if access == Access::Look { None } else { Some(take(folder)?) };
    let log = SqliteDatabase::open(&folder.join("log.db"), SqliteSettings { synchronous: "full" })?;
    let views = SqliteDatabase::open(&folder.join("views.db"), SqliteSettings { synchronous: "normal" })?;
    Ok((Database::Sqlite(log), Database::Sqlite(views), format!("SQLite in {place}"), lock))
}

async fn open_postgres(url: &str, access: Access) -> Result<Opened, StoreError> {
    let settings = |schema, synchronous_commit| PostgresSettings { schema, synchronous_commit, connections: 12 };
    let log = PostgresDatabase::open(url, settings("log", "on")).await?;
    if access != Access::Serve && !log.has_table("head").await? {
        return Err(StoreError::Setup(format!("{}: there is no log in this database", log.place())));
    }
    let views = PostgresDatabase::open(url, settings("views", "off")).await?;
    let place = log.place().to_owned();
    Ok((Database::Postgres(log), Database::Postgres(views), place, None))
}

/// Takes the folder for this process; the operating system gives it back even after a kill.
fn take(folder: &Path) -> Result<File, StoreError> {
    let path = folder.join("muster.lock");
    let failed =
        |e: std::io::Error| StoreError::Setup(format!("{}: the data folder must be writable: {e}", path.display()));
    let file = File::options().create(true).truncate(false).write(true).open(&path).map_err(failed)?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(StoreError::InUse(folder.display().to_string())),
        Err(TryLockError::Error(e)) => Err(failed(e)),
    }
}

// By hand: an address may carry a password.
impl std::fmt::Debug for Location {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Sqlite(folder) => f.debug_tuple("Sqlite").field(folder).finish(),
            Self::Postgres(_) => f.write_str("Postgres(..)"),
        }
    }
}
