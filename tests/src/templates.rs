//! Databases that tests begin with, made once per process and copied: making the tables anew takes longer than most tests.

use anyhow::{Context, Result};
use projections::Engine;
use store::{Access, Clock, Location, Settings, Stores};
use tokio::sync::OnceCell;

use crate::muster::wait_until;
use crate::postgres;
use crate::stores::noon;

/// What has been done with a database whose log is empty.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Past {
    /// The stores have been opened, which makes their tables.
    OpenedOnce,
    /// A server has run, which makes the tables of the read models too.
    ServedOnce,
}

/// The URL of a fresh database of the shared cluster with such a past; without one, it is empty.
pub(crate) async fn database(past: Option<Past>) -> Result<String> {
    static OPENED: OnceCell<String> = OnceCell::const_new();
    static SERVED: OnceCell<String> = OnceCell::const_new();
    let template = match past {
        None => return postgres::shared().create_database().await,
        Some(Past::OpenedOnce) => OPENED.get_or_try_init(opened).await?,
        Some(Past::ServedOnce) => SERVED.get_or_try_init(served).await?,
    };
    postgres::shared().copy_database(template).await
}

async fn opened() -> Result<String> {
    Ok(open().await?.0)
}

async fn served() -> Result<String> {
    let (name, stores) = open().await?;
    let all = projections::all();
    let engine = Engine::start(stores.log.clone(), stores.views.clone(), all.clone(), Default::default());
    wait_until("every read model is served", async || {
        let status = projections::status(&stores.log, &stores.views, &all).await;
        status.is_ok_and(|all| all.iter().all(|it| it.serving_version == Some(it.version)))
    })
    .await;
    // Whoever comes next need not wait for its leases.
    engine.shutdown().await;
    Ok(name)
}

/// A database by its name, and the stores in it. Whoever copies it is let in once their connections have ended.
async fn open() -> Result<(String, Stores)> {
    let url = postgres::shared().create_database().await?;
    let name = url.rsplit('/').next().and_then(|it| it.split('?').next()).context("a URL names its database")?;
    let settings =
        Settings { location: Location::Postgres(url.clone()), clock: Clock::fixed(noon()), access: Access::Serve };
    Ok((name.to_owned(), Stores::open(settings).await?))
}
