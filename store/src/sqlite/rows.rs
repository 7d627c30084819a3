//! Account, credential and key rows on SQLite.

use rusqlite::{Transaction, params};

use crate::{CommitError, RowChange};

const RAISE_KEYS: &str = "update head set keys = keys + 1";

/// Why the rows cannot be written, if they cannot.
pub(super) fn refusal(log: &Transaction<'_>, rows: &[RowChange]) -> rusqlite::Result<Option<CommitError>> {
    for row in rows {
        if let RowChange::AddAccount(account) = row
            && log.prepare_cached("select 1 from accounts where email = ?1")?.exists([&account.email])?
        {
            return Ok(Some(CommitError::EmailTaken));
        }
        if let RowChange::LinkGithub(identity) = row
            && log
                .prepare_cached("select 1 from github_identities where github_id = ?1")?
                .exists([identity.github_id])?
        {
            return Ok(Some(CommitError::GithubIdentityTaken));
        }
    }
    Ok(None)
}

/// Writes one row.
pub(super) fn apply(log: &Transaction<'_>, row: &RowChange) -> rusqlite::Result<()> {
    match row {
        RowChange::AddAccount(it) => log
            .prepare_cached(
                "insert into accounts
                     (user_id, email, name, avatar_url, password_hash, suspended, created_at, updated_at)
                 values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
            )?
            .execute(params![
                it.user_id.to_string(),
                it.email,
                it.name,
                it.avatar_url,
                it.password_hash,
                it.suspended,
                it.created_at,
                it.updated_at,
            ])?,
        RowChange::SuspendAccount { user_id, suspended } => log
            .prepare_cached("update accounts set suspended = ?2 where user_id = ?1")?
            .execute(params![user_id.to_string(), suspended])?,
        RowChange::DeleteAccount { user_id } => {
            let user_id = user_id.to_string();
            log.prepare_cached("delete from sign_in_sessions where user_id = ?1")?.execute([&user_id])?;
            log.prepare_cached("delete from github_identities where user_id = ?1")?.execute([&user_id])?;
            log.prepare_cached("delete from notification_addresses where user_id = ?1")?.execute([&user_id])?;
            log.prepare_cached("delete from accounts where user_id = ?1")?.execute([&user_id])?
        }
        RowChange::AddTextKey { workspace_id, key, created_at } => {
            log.prepare_cached(
                "insert into workspace_keys (key_id, workspace_id, key, created_at) values (?1, ?2, ?3, ?4)",
            )?
            .execute(params![
                key.key_id.to_string(),
                workspace_id.to_string(),
                key.secret(),
                created_at
            ])?;
            log.prepare_cached(RAISE_KEYS)?.execute([])?
        }
        RowChange::DestroyTextKeys { workspace_id, destroyed_at } => {
            log.prepare_cached(
                "update workspace_keys set key = null, destroyed_at = ?2
                 where workspace_id = ?1 and destroyed_at is null",
            )?
            .execute(params![workspace_id.to_string(), destroyed_at])?;
            log.prepare_cached(RAISE_KEYS)?.execute([])?
        }
        RowChange::ForgetPassword { user_id } => log
            .prepare_cached("update accounts set password_hash = null where user_id = ?1")?
            .execute([user_id.to_string()])?,
        RowChange::LinkGithub(it) => log
            .prepare_cached(
                "insert into github_identities (github_id, user_id, login, linked_at) values (?1, ?2, ?3, ?4)",
            )?
            .execute(params![it.github_id, it.user_id.to_string(), it.login, it.linked_at])?,
        RowChange::AddSession(it) => log
            .prepare_cached(
                "insert into sign_in_sessions (session_id, user_id, token_hash, created_at, expires_at)
                 values (?1, ?2, ?3, ?4, ?5)",
            )?
            .execute(params![
                it.session_id.to_string(),
                it.user_id.to_string(),
                it.token_hash,
                it.created_at,
                it.expires_at,
            ])?,
        RowChange::RemoveSession { session_id } => log
            .prepare_cached("delete from sign_in_sessions where session_id = ?1")?
            .execute([session_id.to_string()])?,
        RowChange::RemoveSessionsOf { user_id } => {
            log.prepare_cached("delete from sign_in_sessions where user_id = ?1")?.execute([user_id.to_string()])?
        }
        RowChange::IssueCredential(it) => {
            revoke(log, it.agent_id)?;
            log.prepare_cached(
                "insert into credentials
                     (credential_id, agent_id, workspace_id, project_id, standing, key_hash, active, created_at)
                 values (?1, ?2, ?3, ?4, ?5, ?6, 1, ?7)",
            )?
            .execute(params![
                it.credential_id.to_string(),
                it.agent_id.to_string(),
                it.workspace_id.to_string(),
                it.project_id.map(|id| id.to_string()),
                it.standing,
                it.key_hash,
                it.created_at,
            ])?
        }
        RowChange::SetAgentStanding { agent_id, standing } => log
            .prepare_cached("update credentials set standing = ?2 where agent_id = ?1 and active = 1")?
            .execute(params![agent_id.to_string(), standing])?,
        RowChange::RevokeCredentials { agent_id } => revoke(log, *agent_id)?,
        RowChange::SetNotificationAddresses(it) => log
            .prepare_cached(
                "insert into notification_addresses (user_id, sound_file, webhook_url, changed_at)
                 values (?1, ?2, ?3, ?4)
                 on conflict (user_id) do update set
                     sound_file = excluded.sound_file, webhook_url = excluded.webhook_url,
                     changed_at = excluded.changed_at",
            )?
            .execute(params![it.user_id.to_string(), it.sound_file, it.webhook_url, it.changed_at])?,
    };
    Ok(())
}

fn revoke(log: &Transaction<'_>, agent_id: uuid::Uuid) -> rusqlite::Result<usize> {
    log.prepare_cached("update credentials set active = 0 where agent_id = ?1 and active = 1")?
        .execute([agent_id.to_string()])
}
