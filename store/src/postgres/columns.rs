//! A batch as parallel arrays, the form in which the server takes it in one call.

use serde_json::{Value, json};
use sqlx::encode::IsNull;
use sqlx::error::BoxDynError;
use sqlx::postgres::types::Oid;
use sqlx::postgres::{PgArgumentBuffer, PgArguments, PgTypeInfo};
use sqlx::{Arguments, Encode, Postgres, Type};

use crate::batch::Prepared;
use crate::known::{Known, Sure};
use crate::{Guard, RowChange, StreamId};

/// The call; its parameters are bound in the order of [`Columns::arguments`].
pub(super) const CALL: &str = "select base_position, batch_recorded_at, undisturbed, head_link, refused, refusals
    from append_batch(
    $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18,
    $19, $20, $21, $22, $23, $24, $25, $26, $27, $28, $29, $30, $31, $32, $33, $34, $35, $36)";

/// A batch that has nothing but events, and nothing to look for, needs no call of a function: the head moves, and the
/// batch and its events are written. No row comes back, and nothing is written, if others have written and commands rely
/// on it that nobody has, or if keys have moved. The parameters are those of [`Columns::only_events`].
pub(super) const APPEND: &str = "with moved as (
        update head
        set position = head.position + $1,
            recorded_at = greatest(clock.now, head.recorded_at),
            link = sha256('\\x01'::bytea || head.link || int8send(head.position + 1) || int8send($1)
                || int8send(greatest(clock.now, head.recorded_at)) || $2)
        from (select coalesce($3, (extract(epoch from clock_timestamp()) * 1000000)::bigint) as now) as clock
        where (head.link = $4 or not $5) and ($6 is null or head.keys = $6)
        returning head.position - $1 as base, head.recorded_at, head.link
    ), batch as (
        insert into batches
        select base + 1, $1, recorded_at, $2, link from moved
    ), written as (
        insert into events
        select base + generate_series(1, $1), unnest($7), unnest($8), unnest($9), unnest($10), unnest($11), unnest($12),
            unnest($13), unnest($14), unnest($15), recorded_at
        from moved
    )
    select base, recorded_at, link from moved";

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
    /// The link that some commands rely on.
    known_link: &'a [u8],
    relies_on_it: bool,
    /// Whether some command's streams are not among `streams`.
    leaves_some_out: bool,
}

#[derive(Debug, Default)]
struct Streams<'a> {
    command: Vec<i32>,
    aggregate_type: Vec<&'a str>,
    aggregate_id: Vec<&'a str>,
    expected: Vec<i64>,
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
    /// Streams of which enough is known are not looked for, unless all are to be.
    pub(super) fn of(batch: &[&'a Prepared], known: &'a Known, look_for_all: bool) -> Self {
        let mut columns = Self { known_link: &known.link, ..Self::default() };
        for (command, &prepared) in (1..).zip(batch) {
            let sure = if look_for_all { Sure::No } else { known.of(prepared) };
            match sure {
                Sure::No => columns.streams.add(command, prepared),
                Sure::ByMemory => columns.relies_on_it = true,
                Sure::ByTheInsert => {}
            }
            columns.leaves_some_out |= sure != Sure::No;
            columns.add(command, prepared);
        }
        columns
    }

    fn add(&mut self, command: i32, prepared: &'a Prepared) {
        let commit = &prepared.commit;
        self.known_keys = commit.known_keys;
        self.events.leaves.extend_from_slice(prepared.leaves.as_flattened());
        for append in &commit.appends {
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
                Guard::At { .. } => {}
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

    /// Whether there is nothing but events, and no stream to look for.
    pub(super) fn has_only_events(&self) -> bool {
        let beside = [&self.streams.command, &self.claims.command, &self.keys.command, &self.rows.command];
        beside.iter().all(|it| it.is_empty()) && !self.events.command.is_empty()
    }

    /// What [`APPEND`] takes.
    pub(super) fn only_events(self, fixed_now: Option<i64>) -> Result<PgArguments, BoxDynError> {
        let mut events = self.events;
        let mut arguments = PgArguments::default();
        arguments.add(events.command.len() as i64)?;
        arguments.add(std::mem::take(&mut events.leaves))?;
        arguments.add(fixed_now)?;
        arguments.add(self.known_link)?;
        arguments.add(self.relies_on_it)?;
        arguments.add(self.known_keys)?;
        events.bind(&mut arguments)?;
        Ok(arguments)
    }

    /// What [`CALL`] takes.
    pub(super) fn arguments(self, fixed_now: Option<i64>) -> Result<PgArguments, BoxDynError> {
        let Self { streams: s, claims: c, keys: k, rows: r, mut events, .. } = self;
        let leaves = std::mem::take(&mut events.leaves);
        let mut arguments = PgArguments::default();
        arguments.add(fixed_now)?;
        arguments.add(self.known_link)?;
        arguments.add(self.relies_on_it)?;
        arguments.add(some(s.command))?;
        arguments.add(some(s.aggregate_type))?;
        arguments.add(some(s.aggregate_id))?;
        arguments.add(some(s.expected))?;
        arguments.add(!self.leaves_some_out)?;
        arguments.add(some(c.command))?;
        arguments.add(some(c.kind))?;
        arguments.add(some(c.scope))?;
        arguments.add(some(c.key))?;
        arguments.add(some(c.holder_type))?;
        arguments.add(some(c.holder_id))?;
        arguments.add(some(k.command))?;
        arguments.add(some(k.principal))?;
        arguments.add(some(k.route))?;
        arguments.add(some(k.key))?;
        arguments.add(some(k.fingerprint))?;
        arguments.add(some(k.outcome))?;
        arguments.add(some(k.expires))?;
        arguments.add(some(r.command))?;
        arguments.add(some(r.kind))?;
        arguments.add(some(r.row))?;
        arguments.add(std::mem::take(&mut events.command))?;
        events.bind(&mut arguments)?;
        arguments.add(leaves)?;
        arguments.add(self.known_keys)?;
        Ok(arguments)
    }
}

impl Events<'_> {
    /// The columns of the table, in its order.
    fn bind(self, arguments: &mut PgArguments) -> Result<(), BoxDynError> {
        arguments.add(self.aggregate_type)?;
        arguments.add(self.aggregate_id)?;
        arguments.add(self.sequence)?;
        arguments.add(self.event_type)?;
        arguments.add(self.event_version)?;
        arguments.add(JsonTexts(self.payload))?;
        arguments.add(JsonTexts(self.metadata))?;
        arguments.add(self.event_id)?;
        arguments.add(self.workspace_id)
    }
}

impl<'a> Streams<'a> {
    fn add(&mut self, command: i32, prepared: &'a Prepared) {
        let appends = prepared.commit.appends.iter().map(|it| (&it.stream, it.expected));
        let guards = prepared.commit.guards.iter().filter_map(|it| match it {
            Guard::At { stream, sequence } => Some((stream, *sequence)),
            Guard::Held { .. } | Guard::Empty { .. } => None,
        });
        for (stream, expected) in appends.chain(guards) {
            self.command.push(command);
            self.aggregate_type.push(&stream.aggregate_type);
            self.aggregate_id.push(&stream.aggregate_id);
            self.expected.push(expected);
        }
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

/// An empty array is sent as none, which costs the server nothing.
fn some<T>(array: Vec<T>) -> Option<Vec<T>> {
    (!array.is_empty()).then_some(array)
}

/// Texts that are JSON, as an array of the type that they are stored as: the server checks each once and copies none.
struct JsonTexts<'a>(Vec<&'a str>);

const JSON: u32 = 114;
const JSON_ARRAY: u32 = 199;

impl Type<Postgres> for JsonTexts<'_> {
    fn type_info() -> PgTypeInfo {
        PgTypeInfo::with_oid(Oid(JSON_ARRAY))
    }
}

impl Encode<'_, Postgres> for JsonTexts<'_> {
    fn encode_by_ref(&self, buffer: &mut PgArgumentBuffer) -> Result<IsNull, BoxDynError> {
        let (dimensions, nulls, first_index) = (1_u32, 0_u32, 1_u32);
        for word in [dimensions, nulls, JSON, u32::try_from(self.0.len())?, first_index] {
            buffer.extend_from_slice(&word.to_be_bytes());
        }
        for text in &self.0 {
            buffer.extend_from_slice(&u32::try_from(text.len())?.to_be_bytes());
            buffer.extend_from_slice(text.as_bytes());
        }
        Ok(IsNull::No)
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
        RowChange::SetNotificationAddresses(it) => (
            "set notification addresses",
            json!({"user_id": it.user_id.to_string(), "sound_file": it.sound_file, "webhook_url": it.webhook_url,
                   "changed_at": it.changed_at}),
        ),
    }
}
