//! A batch as parallel arrays, the form in which `append_batch` takes it in one call.

use serde_json::{Value, json};
use sqlx::Arguments;
use sqlx::error::BoxDynError;
use sqlx::postgres::PgArguments;

use crate::batch::Prepared;
use crate::{Guard, RowChange, StreamId};

/// The call; its parameters are bound in the order of [`Columns::arguments`].
pub(super) const CALL: &str = "select base_position, batch_recorded_at, refused, refusals from append_batch(
    $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18,
    $19, $20, $21, $22, $23, $24, $25, $26, $27, $28, $29, $30, $31, $32, $33, $34)";

/// One field per array; within a group all arrays are as long.
#[derive(Debug, Default)]
pub(super) struct Columns<'a> {
    streams: Streams<'a>,
    claims: Claims<'a>,
    keys: Keys<'a>,
    rows: Rows,
    events: Events<'a>,
    /// What all of the batch know of keys.
    known_keys: Option<i64>,
}

#[derive(Debug, Default)]
struct Streams<'a> {
    command: Vec<i32>,
    aggregate_type: Vec<&'a str>,
    aggregate_id: Vec<&'a str>,
    expected: Vec<i64>,
    /// Whether it is appended to and must not exist yet, which the insert finds out by itself.
    begins: Vec<bool>,
}

#[derive(Debug, Default)]
struct Claims<'a> {
    command: Vec<i32>,
    kind: Vec<&'static str>,
    scope: Vec<&'a str>,
    key: Vec<&'a str>,
    holder_type: Vec<&'a str>,
    holder_id: Vec<&'a str>,
}

#[derive(Debug, Default)]
struct Keys<'a> {
    command: Vec<i32>,
    principal: Vec<&'a str>,
    route: Vec<&'a str>,
    key: Vec<&'a str>,
    fingerprint: Vec<&'a [u8]>,
    outcome: Vec<&'a str>,
    expires: Vec<Option<i64>>,
}

#[derive(Debug, Default)]
struct Rows {
    command: Vec<i32>,
    kind: Vec<&'static str>,
    row: Vec<Value>,
}

#[derive(Debug, Default)]
struct Events<'a> {
    command: Vec<i32>,
    aggregate_type: Vec<&'a str>,
    aggregate_id: Vec<&'a str>,
    sequence: Vec<i64>,
    event_type: Vec<&'a str>,
    event_version: Vec<&'a str>,
    payload: Vec<&'a str>,
    metadata: Vec<&'a str>,
    event_id: Vec<String>,
    workspace_id: Vec<Option<String>>,
    leaves: Vec<u8>,
}

impl<'a> Columns<'a> {
    /// With `look_first`, streams that begin are looked for like the others.
    pub(super) fn of(batch: &'a [Prepared], look_first: bool) -> Self {
        let mut columns = Self::default();
        for (command, prepared) in (1..).zip(batch) {
            columns.add(command, prepared);
        }
        if look_first {
            columns.streams.begins.fill(false);
        }
        columns
    }

    fn add(&mut self, command: i32, prepared: &'a Prepared) {
        let commit = &prepared.commit;
        self.known_keys = commit.known_keys;
        self.events.leaves.extend_from_slice(prepared.leaves.as_flattened());
        for append in &commit.appends {
            self.streams.add(command, &append.stream, append.expected, append.expected == 0);
            for (sequence, event) in (append.expected + 1..).zip(&append.events) {
                let it = &mut self.events;
                it.command.push(command);
                it.aggregate_type.push(&append.stream.aggregate_type);
                it.aggregate_id.push(&append.stream.aggregate_id);
                it.sequence.push(sequence);
                it.event_type.push(&event.event_type);
                it.event_version.push(&event.event_version);
                it.payload.push(&event.payload);
                it.metadata.push(&event.metadata);
                it.event_id.push(event.event_id.to_string());
                it.workspace_id.push(event.workspace_id.map(|id| id.to_string()));
            }
        }
        for take in &commit.takes {
            self.claims.add(command, "take", &take.claim.scope, &take.claim.key, Some(&take.holder));
        }
        for claim in &commit.releases {
            self.claims.add(command, "release", &claim.scope, &claim.key, None);
        }
        for guard in &commit.guards {
            match guard {
                Guard::At { stream, sequence } => self.streams.add(command, stream, *sequence, false),
                Guard::Held { claim, holder } => {
                    self.claims.add(command, "held", &claim.scope, &claim.key, Some(holder));
                }
                Guard::Empty { scope } => self.claims.add(command, "empty", scope, "", None),
            }
        }
        if let Some(remember) = &commit.remember {
            let it = &mut self.keys;
            it.command.push(command);
            it.principal.push(&remember.key.principal);
            it.route.push(&remember.key.route);
            it.key.push(&remember.key.key);
            it.fingerprint.push(&remember.fingerprint);
            it.outcome.push(&remember.outcome);
            it.expires.push(remember.expires_at);
        }
        for change in &commit.rows {
            let (kind, row) = row(change);
            self.rows.command.push(command);
            self.rows.kind.push(kind);
            self.rows.row.push(row);
        }
    }

    pub(super) fn arguments(self, fixed_now: Option<i64>) -> Result<PgArguments, BoxDynError> {
        let Self { streams: s, claims: c, keys: k, rows: r, events: e, known_keys } = self;
        let mut arguments = PgArguments::default();
        arguments.add(fixed_now)?;
        arguments.add(s.command)?;
        arguments.add(s.aggregate_type)?;
        arguments.add(s.aggregate_id)?;
        arguments.add(s.expected)?;
        arguments.add(s.begins)?;
        arguments.add(c.command)?;
        arguments.add(c.kind)?;
        arguments.add(c.scope)?;
        arguments.add(c.key)?;
        arguments.add(c.holder_type)?;
        arguments.add(c.holder_id)?;
        arguments.add(k.command)?;
        arguments.add(k.principal)?;
        arguments.add(k.route)?;
        arguments.add(k.key)?;
        arguments.add(k.fingerprint)?;
        arguments.add(k.outcome)?;
        arguments.add(k.expires)?;
        arguments.add(r.command)?;
        arguments.add(r.kind)?;
        arguments.add(r.row)?;
        arguments.add(e.command)?;
        arguments.add(e.aggregate_type)?;
        arguments.add(e.aggregate_id)?;
        arguments.add(e.sequence)?;
        arguments.add(e.event_type)?;
        arguments.add(e.event_version)?;
        arguments.add(e.payload)?;
        arguments.add(e.metadata)?;
        arguments.add(e.event_id)?;
        arguments.add(e.workspace_id)?;
        arguments.add(e.leaves)?;
        arguments.add(known_keys)?;
        Ok(arguments)
    }
}

impl<'a> Streams<'a> {
    fn add(&mut self, command: i32, stream: &'a StreamId, expected: i64, begins: bool) {
        self.command.push(command);
        self.aggregate_type.push(&stream.aggregate_type);
        self.aggregate_id.push(&stream.aggregate_id);
        self.expected.push(expected);
        self.begins.push(begins);
    }
}

impl<'a> Claims<'a> {
    fn add(&mut self, command: i32, kind: &'static str, scope: &'a str, key: &'a str, holder: Option<&'a StreamId>) {
        self.command.push(command);
        self.kind.push(kind);
        self.scope.push(scope);
        self.key.push(key);
        self.holder_type.push(holder.map_or("", |it| &it.aggregate_type));
        self.holder_id.push(holder.map_or("", |it| &it.aggregate_id));
    }
}

/// A row change as `apply_row` takes it.
fn row(change: &RowChange) -> (&'static str, Value) {
    match change {
        RowChange::AddAccount(it) => (
            "add account",
            json!({"user_id": it.user_id.to_string(), "email": it.email, "name": it.name, "avatar_url": it.avatar_url,
                   "password_hash": it.password_hash, "suspended": i64::from(it.suspended),
                   "created_at": it.created_at, "updated_at": it.updated_at}),
        ),
        RowChange::SuspendAccount { user_id, suspended } => {
            ("suspend account", json!({"user_id": user_id.to_string(), "suspended": i64::from(*suspended)}))
        }
        RowChange::DeleteAccount { user_id } => ("delete account", json!({"user_id": user_id.to_string()})),
        RowChange::AddTextKey { workspace_id, key, created_at } => (
            "add text key",
            json!({"key_id": key.key_id.to_string(), "workspace_id": workspace_id.to_string(),
                   "key": hex::encode(key.secret()), "created_at": created_at}),
        ),
        RowChange::DestroyTextKeys { workspace_id, destroyed_at } => {
            ("destroy text keys", json!({"workspace_id": workspace_id.to_string(), "destroyed_at": destroyed_at}))
        }
        RowChange::ForgetPassword { user_id } => ("forget password", json!({"user_id": user_id.to_string()})),
        RowChange::LinkGithub(it) => (
            "link github",
            json!({"github_id": it.github_id, "user_id": it.user_id.to_string(), "login": it.login,
                   "linked_at": it.linked_at}),
        ),
        RowChange::AddSession(it) => (
            "add session",
            json!({"session_id": it.session_id.to_string(), "user_id": it.user_id.to_string(),
                   "token_hash": hex::encode(&it.token_hash), "created_at": it.created_at, "expires_at": it.expires_at}),
        ),
        RowChange::RemoveSession { session_id } => ("remove session", json!({"session_id": session_id.to_string()})),
        RowChange::RemoveSessionsOf { user_id } => ("remove sessions of", json!({"user_id": user_id.to_string()})),
        RowChange::IssueCredential(it) => (
            "issue credential",
            json!({"credential_id": it.credential_id.to_string(), "agent_id": it.agent_id.to_string(),
                   "workspace_id": it.workspace_id.to_string(), "project_id": it.project_id.map(|id| id.to_string()),
                   "standing": it.standing, "key_hash": hex::encode(&it.key_hash), "created_at": it.created_at}),
        ),
        RowChange::SetAgentStanding { agent_id, standing } => {
            ("set agent standing", json!({"agent_id": agent_id.to_string(), "standing": standing}))
        }
        RowChange::RevokeCredentials { agent_id } => ("revoke credentials", json!({"agent_id": agent_id.to_string()})),
    }
}
