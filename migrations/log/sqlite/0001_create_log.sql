-- The log and what stands beside it. Times are microseconds since 1970 in UTC; ids are hyphenated lower-case text.

create table head (
    one integer primary key check (one = 1),
    -- Raised by every restore: a cursor from another life of the log is refused.
    epoch integer not null,
    position integer not null,
    recorded_at integer not null,
    link blob not null,
    -- Raised whenever a key of workspace_keys is made or destroyed: what was sealed by another knowledge is refused.
    keys integer not null default 0
) strict;

insert into head (one, epoch, position, recorded_at, link) values (1, 1, 0, 0, zeroblob(32));

create table events (
    position integer primary key,
    aggregate_type text not null,
    aggregate_id text not null,
    sequence integer not null,
    event_type text not null,
    event_version text not null,
    payload text not null,
    metadata text not null,
    event_id text not null,
    workspace_id text,
    recorded_at integer not null
) strict;

create unique index one_event_per_sequence on events (aggregate_type, aggregate_id, sequence);

-- One row per group commit. The leaves name the event that was tampered with, the link proves that none was.
create table batches (
    first_position integer primary key,
    events integer not null,
    recorded_at integer not null,
    leaves blob not null,
    link blob not null
) strict;

create trigger events_are_never_changed before update on events
begin select raise(abort, 'the log is append-only'); end;

create trigger events_are_never_removed before delete on events
begin select raise(abort, 'the log is append-only'); end;

-- `insert or replace` removes what is in its way without asking the trigger above.
create trigger events_are_never_replaced before insert on events
when new.position <= (select position from head)
  or exists (
    select 1 from events
    where aggregate_type = new.aggregate_type and aggregate_id = new.aggregate_id and sequence = new.sequence)
begin select raise(abort, 'the log is append-only'); end;

create trigger batches_are_never_changed before update on batches
begin select raise(abort, 'the log is append-only'); end;

create trigger batches_are_never_removed before delete on batches
begin select raise(abort, 'the log is append-only'); end;

create trigger batches_are_never_replaced before insert on batches
when exists (select 1 from batches where first_position = new.first_position)
begin select raise(abort, 'the log is append-only'); end;

-- Uniqueness that spans streams.
create table claims (
    scope text not null,
    key text not null,
    holder_type text not null,
    holder_id text not null,
    primary key (scope, key)
) strict, without rowid;

-- Commands that have landed, so that a repeat is answered and not run again.
create table remembered_commands (
    principal text not null,
    route text not null,
    key text not null,
    fingerprint blob not null,
    outcome text not null,
    position integer not null,
    expires_at integer,
    primary key (principal, route, key)
) strict, without rowid;

create index remembered_commands_by_expiry on remembered_commands (expires_at) where expires_at is not null;

create table accounts (
    user_id text primary key,
    email text not null constraint one_account_per_email unique,
    name text not null,
    avatar_url text,
    password_hash text,
    suspended integer not null,
    created_at integer not null,
    updated_at integer not null
) strict;

-- Who somebody is on GitHub, and whose account that opens. Nothing that GitHub gives out is kept.
create table github_identities (
    -- GitHub's own number: a login can be changed and taken by somebody else.
    github_id integer constraint one_account_per_github_identity primary key,
    user_id text not null,
    login text not null,
    linked_at integer not null
) strict;

create table sign_in_sessions (
    session_id text primary key,
    user_id text not null,
    token_hash blob not null constraint one_session_per_token unique,
    created_at integer not null,
    expires_at integer not null
) strict;

create index sign_in_sessions_by_user on sign_in_sessions (user_id);

create table credentials (
    credential_id text primary key,
    agent_id text not null,
    workspace_id text not null,
    project_id text,
    standing text not null,
    key_hash blob not null,
    active integer not null,
    created_at integer not null
) strict;

create unique index one_active_key_per_agent on credentials (agent_id) where active = 1;

-- Made on first start and never shown: what signs cookies and keys the hashes of agents' keys.
create table secrets (
    name text primary key,
    value blob not null
) strict;

-- What the text of workspaces is sealed under, for those that want it. A key that was destroyed leaves its name.
create table workspace_keys (
    key_id text primary key,
    workspace_id text not null,
    key blob constraint a_key_is_there_until_it_is_destroyed check ((key is null) = (destroyed_at is not null)),
    created_at integer not null,
    destroyed_at integer,
    -- Nothing that was made of the text is left anywhere.
    purged_at integer
) strict;

create unique index one_key_per_workspace on workspace_keys (workspace_id) where destroyed_at is null;

-- How far each reactor has come; beside the log, because a rebuilt view must not make it react again.
create table reactor_checkpoints (
    reactor text primary key,
    position integer not null
) strict;
