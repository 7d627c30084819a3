//! Where the stores are, from options and environment.

use std::path::{Path, PathBuf};

use clap::Args;
use store::{Access, Clock, Location, Settings, Stores};

use super::Failure;

/// Where the stores are.
#[derive(Debug, Args)]
pub struct StoreArgs {
    /// Keep everything in this PostgreSQL database (postgres://user:password@host/database) and not in a folder
    #[arg(long, global = true, env = "DATABASE_URL", hide_env_values = true, value_name = "DATABASE_URL")]
    database_url: Option<String>,
    /// The folder for the embedded SQLite log and its read models
    #[arg(long, global = true, env = "MUSTER_DATA_DIR", value_name = "MUSTER_DATA_DIR", default_value = "./data")]
    data_dir: PathBuf,
}

impl StoreArgs {
    /// Opens the stores.
    pub(super) async fn open(&self, access: Access, clock: Clock) -> Result<Stores, Failure> {
        Ok(Stores::open(Settings { location: self.location()?, clock, access }).await?)
    }

    /// The data folder; `None` when everything is in PostgreSQL.
    pub(super) fn folder(&self) -> Option<&Path> {
        self.database_url.is_none().then_some(self.data_dir.as_path())
    }

    /// The folder for what is kept beside the stores, whichever they are.
    pub(super) fn data_dir(&self) -> &Path {
        &self.data_dir
    }

    pub(super) fn location(&self) -> Result<Location, Failure> {
        match &self.database_url {
            Some(url) => database_url(url).map(Location::Postgres),
            None => Ok(Location::Sqlite(self.data_dir.clone())),
        }
    }
}

/// Checked here and not by clap, which would print the address with its password.
fn database_url(text: &str) -> Result<String, Failure> {
    if text.starts_with("postgres://") || text.starts_with("postgresql://") {
        return Ok(text.to_owned());
    }
    let what = "DATABASE_URL (--database-url) must begin with postgres://; leave it out to use the embedded SQLite";
    Err(Failure::Setting(what.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_database_url_that_is_not_postgresql_is_refused_by_name() {
        assert!(database_url("postgres://localhost/muster").is_ok());
        assert!(
            database_url("mysql://localhost/muster").is_err_and(|error| error.to_string().contains("DATABASE_URL"))
        );
    }
}
