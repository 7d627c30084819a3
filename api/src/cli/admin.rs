//! `muster admin`: what only whoever runs the server may do.

use std::sync::Arc;

use clap::{Args, Subcommand};
use commands::user::{DeleteAccount, SetSuspended};
use commands::{Actor, Context, Decision, Executor};
use domain::UserId;
use store::{Access, Clock, Stores};

use super::{Failure, StoreArgs, output};

#[derive(Debug, Subcommand)]
pub(super) enum AdminCommand {
    /// Keep a person from signing in, and sign them out everywhere
    #[command(name = "suspend-user")]
    Suspend(Person),
    /// Let a suspended person sign in again
    #[command(name = "reinstate-user")]
    Reinstate(Person),
    /// Delete a person's account for good, with name and address; what they own stays
    #[command(name = "delete-user")]
    Delete(Deletion),
}

#[derive(Debug, Args)]
pub(super) struct Person {
    /// The e-mail address of the account
    email: String,
}

#[derive(Debug, Args)]
pub(super) struct Deletion {
    #[command(flatten)]
    person: Person,
    /// It cannot be undone, so it has to be said
    #[arg(long)]
    yes: bool,
}

pub(super) async fn run(store: &StoreArgs, command: AdminCommand) -> Result<(), Failure> {
    match command {
        AdminCommand::Suspend(person) => suspend(store, &person, true).await,
        AdminCommand::Reinstate(person) => suspend(store, &person, false).await,
        AdminCommand::Delete(Deletion { yes: false, .. }) => {
            Err(Failure::Setting("deleting an account cannot be undone: say --yes".to_owned()))
        }
        AdminCommand::Delete(Deletion { person, yes: true }) => delete(store, &person).await,
    }
}

async fn suspend(store: &StoreArgs, person: &Person, suspended: bool) -> Result<(), Failure> {
    let (stores, email, user_id) = find(store, person).await?;
    run_command(&stores, &SetSuspended { user_id, suspended }).await?;
    output::line(format!("{email} may {}sign in.", if suspended { "not " } else { "" }));
    Ok(())
}

async fn delete(store: &StoreArgs, person: &Person) -> Result<(), Failure> {
    let (stores, email, user_id) = find(store, person).await?;
    run_command(&stores, &DeleteAccount { user_id }).await?;
    // Name and address are not to stay in pages that nobody uses.
    if store.folder().is_some() {
        stores.log.scrub().await?;
    }
    output::line(format!("The account of {email} is deleted; the log knows user {user_id} by this id alone."));
    Ok(())
}

async fn find(store: &StoreArgs, person: &Person) -> Result<(Stores, String, UserId), Failure> {
    let stores = store.open(Access::Change, Clock::default()).await?;
    let email = person.email.trim().to_lowercase();
    let account = stores.log.accounts().by_email(&email).await?;
    let account = account.ok_or_else(|| anyhow::anyhow!("no account has the e-mail address {email}"))?;
    Ok((stores, email, account.user_id.into()))
}

async fn run_command<D: Decision>(stores: &Stores, command: &D) -> Result<(), Failure> {
    let executor = Executor::new(Arc::clone(&stores.log));
    let context = Context::new(Actor::System("muster admin"), stores.log.clock().now());
    executor.run(&context, command).await.map_err(anyhow::Error::from)?;
    Ok(())
}
