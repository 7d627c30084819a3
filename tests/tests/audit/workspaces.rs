//! Two tenants whose events lie between each other's, in a log that no server runs on.

use domain::WorkspaceId;
use muster_tests::fleet::Fleet;
use muster_tests::muster::{Home, wait_until};
use muster_tests::stores::Kind;
use store::{Access, Clock, Location, Settings, StoredEvent, Stores};

/// What was made.
pub(crate) struct Two {
    pub(crate) acme: WorkspaceId,
    pub(crate) other: WorkspaceId,
    /// Everything in the log.
    pub(crate) events: Vec<StoredEvent>,
}

/// Writes the workspaces `acme` and `other`, with projects and agents.
pub(crate) async fn two(home: &Home) -> Two {
    let stores = open(home).await;
    let fleet = Fleet::on(stores.log.clone());
    let acme = fleet.workspace("acme").await.unwrap();
    let other = fleet.workspace("other").await.unwrap();
    for n in 0..3 {
        for workspace in [acme, other] {
            let project = fleet.project(workspace, &format!("project-{n}")).await.unwrap();
            fleet.agent(workspace, Some(project), &format!("agent-{n}"), None).await.unwrap();
            fleet.task(project, None).await.unwrap();
            fleet.rename(workspace, &format!("Name {n}")).await.unwrap();
        }
    }
    let events = stores.log.read_all(0, 1_000).await.unwrap();
    Two { acme, other, events }
}

/// Writes one more event.
pub(crate) async fn one_more(home: &Home) {
    let stores = open(home).await;
    Fleet::on(stores.log.clone()).workspace(&format!("w{}", uuid::Uuid::now_v7().simple())).await.unwrap();
}

async fn open(home: &Home) -> Stores {
    let location = match home.kind {
        Kind::Sqlite => Location::Sqlite(home.folder().to_path_buf()),
        Kind::Postgres => Location::Postgres(home.database_url().to_owned()),
    };
    let settings = Settings { location, clock: Clock::default(), access: Access::Serve };
    let mut opened = None;
    // A process that another test starts holds every lock of this one for a moment.
    wait_until("the folder is free", async || {
        opened = Stores::open(settings.clone()).await.ok();
        opened.is_some()
    })
    .await;
    opened.unwrap()
}
