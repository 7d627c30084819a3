//! `muster admin`: what only whoever runs the server may do.

use std::sync::Arc;

use clap::{Args, Subcommand};
use commands::user::SetSuspended;
use commands::{Actor, Context, Executor};
use store::{Access, Clock};

use super::{Failure, StoreArgs, output};

#[derive(Debug, Subcommand)]
pub(super) enum AdminCommand {
    /// Keep a person from signing in, and sign them out everywhere
    SuspendUser(Person),
    /// Let a suspended person sign in again
    ReinstateUser(Person),
}

#[derive(Debug, Args)]
pub(super) struct Person {
    /// The e-mail address of the account
    email: String,
}

pub(super) async fn run(store: &StoreArgs, command: AdminCommand) -> Result<(), Failure> {
    let (person, suspended) = match command {
        AdminCommand::SuspendUser(person) => (person, true),
        AdminCommand::ReinstateUser(person) => (person, false),
    };
    let stores = store.open(Access::Change, Clock::default()).await?;
    let email = person.email.trim().to_lowercase();
    let account = stores.log.accounts().by_email(&email).await?;
    let account = account.ok_or_else(|| anyhow::anyhow!("no account has the e-mail address {email}"))?;
    let executor = Executor::new(Arc::clone(&stores.log));
    let context = Context::new(Actor::System("muster admin"), stores.log.clock().now());
    let command = SetSuspended { user_id: account.user_id.into(), suspended };
    executor.run(&context, &command).await.map_err(anyhow::Error::from)?;
    output::line(format!("{email} may {}sign in.", if suspended { "not " } else { "" }));
    Ok(())
}
