//! `muster serve --bundle`: serves an audit bundle to whoever sits at this machine, read-only, with no store.

use std::net::IpAddr;
use std::path::Path;
use std::sync::Arc;

use ::projections::workspaces;
use chrono::{TimeDelta, Utc};
use store::{Account, Commit, EventLog, RowChange, SignInSession};
use uuid::Uuid;

use super::progress::Progress;
use super::serve::Door;
use super::{Failure, audit, output, serve_past};
use crate::HttpSettings;
use crate::auth::{Secrets, new_token};
use crate::bundle::{self, OpenError};

/// How long the token works; the server is meant for an afternoon.
const TOKEN_DAYS: i64 = 7;

/// Checks a bundle, builds what it shows in scratch space, and serves it.
pub(super) async fn run(file: &Path, host: IpAddr, door: Door, settings: HttpSettings) -> Result<(), Failure> {
    if !host.is_loopback() {
        let what = "a bundle is served on this machine alone: leave out --host (API_HOST) or make it 127.0.0.1";
        return Err(Failure::Setting(what.into()));
    }
    let checked = bundle::check(file, None).map_err(|error| audit::bundle_failure(file, error))?;
    if checked.manifest.from > 1 {
        let what =
            "begins in the middle of the workspace's history; only one that was exported without --from is served";
        return Err(Failure::Setting(format!("{}: the bundle {what}", file.display())));
    }
    // Gone when the process ends as it should.
    let folder = tempfile::Builder::new().prefix("muster-bundle-").tempdir().map_err(anyhow::Error::from)?;
    let total = checked.manifest.to;
    let mut progress = Progress::start("opening the bundle", total, false);
    let opened = bundle::open(&checked, folder.path(), |at| progress.show(at, total)).await;
    progress.finish();
    let opened = opened.map_err(|error| match error {
        OpenError::Bundle(error) => audit::bundle_failure(file, error),
        OpenError::Past(error) => Failure::from(error),
    })?;
    let workspace = workspaces::find(&opened.views, checked.manifest.workspace_id.into()).await?;
    let owner = workspace
        .map(|it| it.owner_id.0)
        .ok_or_else(|| Failure::Found(format!("{}: the bundle does not say who owns its workspace", file.display())))?;
    let token = let_in(&opened.stores.log, owner).await?;
    output::line(format!("workspace {} as its owner sees it", checked.manifest.workspace_id));
    output::line(format!("key {} (compare it with the one you were given)", checked.manifest.public_key));
    output::line(format!("send the header Cookie: __session={token}"));
    let place = format!("the bundle {}", file.display());
    let log = Arc::clone(&opened.stores.log);
    serve_past::serve(log, opened.views, opened.position, &place, door, settings).await
}

/// Opens an account in the place of the owner's, whose name and address are no part of a bundle.
async fn let_in(log: &EventLog, owner: Uuid) -> Result<String, Failure> {
    let secrets = Secrets::load(log, None).await?;
    let (token, now) = (new_token(), Utc::now());
    let account = Account {
        user_id: owner,
        email: "owner@bundle.invalid".into(),
        name: "The workspace's owner".into(),
        avatar_url: None,
        password_hash: None,
        suspended: false,
        created_at: now.timestamp_micros(),
        updated_at: now.timestamp_micros(),
    };
    let session = SignInSession {
        session_id: Uuid::now_v7(),
        user_id: owner,
        token_hash: secrets.hash_token(&token).to_vec(),
        created_at: now.timestamp_micros(),
        expires_at: (now + TimeDelta::days(TOKEN_DAYS)).timestamp_micros(),
    };
    let rows = vec![RowChange::AddAccount(account), RowChange::AddSession(session)];
    log.commit(Commit::of_rows(rows)).await.map_err(anyhow::Error::from)?;
    Ok(token)
}
