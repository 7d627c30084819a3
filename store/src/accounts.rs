//! Looking up accounts, signed-in sessions, keys, addresses and secrets.

use std::collections::HashMap;

use uuid::Uuid;

use crate::sql::{Database, Query, Row, Value};
use crate::{Account, Credential, NotificationAddresses, SignInSession, StoreError};

/// The rows beside the log. They are written only by commits.
#[derive(Debug, Clone, Copy)]
pub struct Accounts<'a>(pub(crate) &'a Database);

/// A signed-in session and whose it is.
#[derive(Debug, Clone)]
pub struct KnownSession {
    /// The session.
    pub session: SignInSession,
    /// The person.
    pub account: Account,
}

const ACCOUNT: &str = "select user_id, email, name, avatar_url, password_hash, suspended, created_at, updated_at
     from accounts ";

impl Accounts<'_> {
    /// The account with this (lower-cased) e-mail address.
    pub async fn by_email(&self, email: &str) -> Result<Option<Account>, StoreError> {
        let query = Query::new(format!("{ACCOUNT} where email = $1")).bind(email);
        self.0.first(query).await?.map(|row| account(&row, 0)).transpose()
    }

    /// The account of a user.
    pub async fn by_id(&self, user_id: Uuid) -> Result<Option<Account>, StoreError> {
        let query = Query::new(format!("{ACCOUNT} where user_id = $1")).bind(user_id);
        self.0.first(query).await?.map(|row| account(&row, 0)).transpose()
    }

    /// What users are called, by their ids; those without an account are left out.
    pub async fn names(&self, users: &[Uuid]) -> Result<HashMap<Uuid, String>, StoreError> {
        if users.is_empty() {
            return Ok(HashMap::new());
        }
        let places: Vec<String> = (1..=users.len()).map(|at| format!("${at}")).collect();
        let sql = format!("select user_id, name from accounts where user_id in ({})", places.join(", "));
        let query = users.iter().fold(Query::new(sql), |query, user| query.bind(*user));
        self.0.query(query).await?.iter().map(|row| Ok((row.uuid(0)?, row.text(1)?.to_owned()))).collect()
    }

    /// The account that a GitHub identity opens.
    pub async fn by_github_id(&self, github_id: i64) -> Result<Option<Account>, StoreError> {
        let linked = "where user_id = (select user_id from github_identities where github_id = $1)";
        let query = Query::new(format!("{ACCOUNT} {linked}")).bind(github_id);
        self.0.first(query).await?.map(|row| account(&row, 0)).transpose()
    }

    /// The session whose cookie has this hash, expired or not.
    pub async fn session(&self, token_hash: &[u8]) -> Result<Option<KnownSession>, StoreError> {
        let query = Query::new(
            "select s.session_id, s.user_id, s.token_hash, s.created_at, s.expires_at,
                    a.user_id, a.email, a.name, a.avatar_url, a.password_hash, a.suspended, a.created_at, a.updated_at
             from sign_in_sessions s
             join accounts a on a.user_id = s.user_id
             where s.token_hash = $1",
        )
        .bind(token_hash.to_vec());
        let Some(row) = self.0.first(query).await? else { return Ok(None) };
        let session = SignInSession {
            session_id: row.uuid(0)?,
            user_id: row.uuid(1)?,
            token_hash: row.bytes(2)?.to_vec(),
            created_at: row.int(3)?,
            expires_at: row.int(4)?,
        };
        Ok(Some(KnownSession { session, account: account(&row, 5)? }))
    }

    /// The one key of an agent that works.
    pub async fn credential(&self, agent_id: Uuid) -> Result<Option<Credential>, StoreError> {
        let query = Query::new(
            "select credential_id, agent_id, workspace_id, project_id, standing, key_hash, created_at
             from credentials
             where agent_id = $1 and active = 1",
        )
        .bind(agent_id);
        let Some(row) = self.0.first(query).await? else { return Ok(None) };
        Ok(Some(Credential {
            credential_id: row.uuid(0)?,
            agent_id: row.uuid(1)?,
            workspace_id: row.uuid(2)?,
            project_id: row.optional(3, Row::uuid)?,
            standing: row.text(4)?.to_owned(),
            key_hash: row.bytes(5)?.to_vec(),
            created_at: row.int(6)?,
        }))
    }

    /// Where a person is told; none if they never said.
    pub async fn notification_addresses(&self, user_id: Uuid) -> Result<Option<NotificationAddresses>, StoreError> {
        let query = Query::new(
            "select user_id, sound_file, webhook_url, changed_at
             from notification_addresses
             where user_id = $1",
        )
        .bind(user_id);
        let Some(row) = self.0.first(query).await? else { return Ok(None) };
        let text = |row: &Row, at| row.text(at).map(str::to_owned);
        Ok(Some(NotificationAddresses {
            user_id: row.uuid(0)?,
            sound_file: row.optional(1, text)?,
            webhook_url: row.optional(2, text)?,
            changed_at: row.int(3)?,
        }))
    }

    /// A secret by name; `fresh` becomes it if there is none yet. All nodes get the same one.
    pub async fn secret(&self, name: &str, fresh: Vec<u8>) -> Result<Vec<u8>, StoreError> {
        let keep = Query::new("insert into secrets (name, value) values ($1, $2) on conflict (name) do nothing")
            .bind(name)
            .bind(Value::Bytes(fresh));
        let query = Query::new("select value from secrets where name = $1").bind(name);
        if let Some(row) = self.0.first(query.clone()).await? {
            return Ok(row.bytes(0)?.to_vec());
        }
        self.0.transact(vec![keep.into()]).await?;
        let row = self.0.first(query).await?;
        row.ok_or_else(|| StoreError::Damaged(format!("the secret {name} was not kept")))
            .and_then(|row| row.bytes(0).map(<[u8]>::to_vec))
    }
}

fn account(row: &Row, first: usize) -> Result<Account, StoreError> {
    Ok(Account {
        user_id: row.uuid(first)?,
        email: row.text(first + 1)?.to_owned(),
        name: row.text(first + 2)?.to_owned(),
        avatar_url: row.optional(first + 3, |row, at| row.text(at).map(str::to_owned))?,
        password_hash: row.optional(first + 4, |row, at| row.text(at).map(str::to_owned))?,
        suspended: row.int(first + 5)? != 0,
        created_at: row.int(first + 6)?,
        updated_at: row.int(first + 7)?,
    })
}
