//! Opening the stores: the log, which is the truth, and the views, which can be thrown away.

use std::fs::{DirBuilder, File, TryLockError};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use crate::sql::{
    Database, Migration, PostgresDatabase, PostgresSettings, SqliteDatabase, SqliteSettings, check_schema, connect,
    migrate, migrate_file,
};
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

const LOG: &[Migration] = &[
    migration!(1, "log", "0001_create_log"),
    migration!(2, "log", "0002_add_append_batch"),
    migration!(3, "log", "0003_add_bench_leases"),
    migration!(4, "log", "0004_add_notification_addresses"),
    migration!(5, "log", "0005_replace_append_batch"),
];
const VIEWS: &[Migration] = &[migration!(1, "views", "0001_add_projection_registry")];

// The log's writer makes checkpoints itself, where they delay nobody's answer; this bounds the file where it cannot, because
// somebody always reads.
const LOG_FILE: SqliteSettings = SqliteSettings {
    synchronous: "full",
    secure_delete: true,
    triggers: false,
    checkpoint_pages: 16 * SQLITE_CHECKPOINT_PAGES,
};
const VIEWS_FILE: SqliteSettings = SqliteSettings {
    synchronous: "normal",
    secure_delete: false,
    triggers: true,
    checkpoint_pages: SQLITE_CHECKPOINT_PAGES,
};
/// What SQLite does when nothing is said.
const SQLITE_CHECKPOINT_PAGES: u32 = 1_000;

impl Stores {
    /// Opens both databases and brings their schemas up to date.
    pub async fn open(settings: Settings) -> Result<Self, StoreError> {
        let (log, views, place, folder) = match &settings.location {
            Location::Sqlite(folder) => open_sqlite(folder, settings.access)?,
            Location::Postgres(url) => open_postgres(url, settings.access).await?,
        };
        migrate(&log, LOG).await?;
        migrate(&views, VIEWS).await?;
        if settings.access != Access::Look && crate::read::head(&log).await?.epoch < 0 {
            let what = "an unfinished copy of a log is here: finish it with the same command, or remove it";
            return Err(StoreError::Setup(format!("{place}: {what}")));
        }
        let log = Arc::new(EventLog::start(log, settings.clock, folder).await?);
        Ok(Self { log, views, place })
    }
}

/// An empty place for read models that nobody else sees: in a file of the folder, or in memory without one. Whoever
/// made the folder throws it away.
pub async fn scratch_views(folder: Option<&Path>) -> Result<Database, StoreError> {
    let views = match folder {
        Some(folder) => {
            SqliteDatabase::open(&folder.join("views.db"), SqliteSettings { synchronous: "off", ..VIEWS_FILE })?
        }
        None => SqliteDatabase::in_memory()?,
    };
    let views = Database::Sqlite(views);
    migrate(&views, VIEWS).await?;
    Ok(views)
}

/// The file of a log, made if it is not there, in a folder that is taken for this process.
pub(crate) fn open_log_file(folder: &Path) -> Result<(rusqlite::Connection, File), StoreError> {
    crate::sql::check_sqlite_version()?;
    let place = folder.display().to_string();
    make(folder)?;
    let lock = take(folder)?;
    let mut connection = connect(&folder.join("log.db"), LOG_FILE)?;
    migrate_file(&mut connection, &place, LOG)?;
    Ok((connection, lock))
}

/// The schema of a log, made if it is not there. There is one connection.
pub(crate) async fn open_log_schema(url: &str) -> Result<PostgresDatabase, StoreError> {
    let settings = PostgresSettings { schema: "log", synchronous_commit: "on", connections: 1 };
    let log = PostgresDatabase::open(url, settings).await?;
    migrate(&Database::Postgres(log.clone()), LOG).await?;
    Ok(log)
}

/// Refuses a log that was made by a newer muster.
pub(crate) fn check_log_schema(place: &str, found: i64) -> Result<(), StoreError> {
    check_schema(place, found, LOG)
}

type Opened = (Database, Database, String, Option<File>);

fn open_sqlite(folder: &Path, access: Access) -> Result<Opened, StoreError> {
    crate::sql::check_sqlite_version()?;
    let place = folder.display().to_string();
    if access != Access::Serve && !folder.join("log.db").exists() {
        return Err(StoreError::Setup(format!("{place}: there is no log in this folder")));
    }
    make(folder)?;
    let lock = if access == Access::Look { None } else { Some(take(folder)?) };
    let log = SqliteDatabase::open(&folder.join("log.db"), LOG_FILE)?;
    let views = SqliteDatabase::open(&folder.join("views.db"), VIEWS_FILE)?;
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

/// It will hold password hashes and secrets, so it is its owner's alone; one that is there is left as it is.
fn make(folder: &Path) -> Result<(), StoreError> {
    let made = DirBuilder::new().recursive(true).mode(0o700).create(folder);
    made.map_err(|e| StoreError::Setup(format!("{}: cannot make the data folder: {e}", folder.display())))
}

/// How often a folder that is taken is tried, and how long after one another.
const TRIES: u32 = 15;
const BETWEEN_TRIES: Duration = Duration::from_millis(20);

/// Takes the folder for this process; the operating system gives it back even after a kill.
fn take(folder: &Path) -> Result<File, StoreError> {
    let path = folder.join("muster.lock");
    let failed =
        |e: std::io::Error| StoreError::Setup(format!("{}: the data folder must be writable: {e}", path.display()));
    let file = File::options().create(true).truncate(false).write(true).open(&path).map_err(failed)?;
    // Whoever lets go of a folder may have begun another process just then, which has it until it is on its own.
    for _ in 0..TRIES {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::WouldBlock) => std::thread::sleep(BETWEEN_TRIES),
            Err(TryLockError::Error(e)) => return Err(failed(e)),
        }
    }
    Err(StoreError::InUse(folder.display().to_string()))
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
