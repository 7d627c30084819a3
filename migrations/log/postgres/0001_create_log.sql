-- The log and what stands beside it. Times are microseconds since 1970 in UTC; ids are hyphenated lower-case text.

create table head (
    one boolean primary key default true constraint there_is_one_head check (one),
    -- Raised by every restore: a cursor from another life of the log is refused.
    epoch bigint not null,
    position bigint not null,
    recorded_at bigint not null,
    link bytea not null,
    -- Raised whenever a key of workspace_keys is made or destroyed: what was sealed by another knowledge is refused.
    keys bigint not null default 0
) with (fillfactor = 10);

insert into head (epoch, position, recorded_at, link) values (1, 0, 0, decode(repeat('00', 32), 'hex'));

create table events (
    position bigint primary key,
    aggregate_type text collate "C" not null,
    aggregate_id text collate "C" not null,
    sequence bigint not null,
    event_type text collate "C" not null,
    event_version text not null,
    -- json, not jsonb: kept byte for byte.
    payload json not null,
    metadata json not null,
    event_id text collate "C" not null,
    workspace_id text collate "C",
    recorded_at bigint not null,
    constraint one_event_per_sequence unique (aggregate_type, aggregate_id, sequence)
);

-- One row per group commit. The leaves name the event that was tampered with, the link proves that none was.
create table batches (
    first_position bigint primary key,
    events bigint not null,
    recorded_at bigint not null,
    leaves bytea not null,
    link bytea not null
) with (toast_tuple_target = 8160);

-- Hashes do not compress, and trying costs as much as the insert.
alter table batches alter column leaves set storage external;

create function refuse_change() returns trigger language plpgsql as $$
begin
    raise exception 'the log is append-only';
end $$;

create trigger events_are_append_only before update or delete or truncate on events
    for each statement execute function refuse_change();

create trigger batches_are_append_only before update or delete or truncate on batches
    for each statement execute function refuse_change();

-- Uniqueness that spans streams.
create table claims (
    scope text collate "C" not null,
    key text collate "C" not null,
    holder_type text collate "C" not null,
    holder_id text collate "C" not null,
    primary key (scope, key)
);

-- Commands that have landed, so that a repeat is answered and not run again.
create table remembered_commands (
    principal text collate "C" not null,
    route text collate "C" not null,
    key text collate "C" not null,
    fingerprint bytea not null,
    outcome text not null,
    position bigint not null,
    expires_at bigint,
    primary key (principal, route, key)
);

create index remembered_commands_by_expiry on remembered_commands (expires_at) where expires_at is not null;

create table accounts (
    user_id text collate "C" primary key,
    email text collate "C" not null constraint one_account_per_email unique,
    name text not null,
    avatar_url text,
    password_hash text,
    suspended bigint not null,
    created_at bigint not null,
    updated_at bigint not null
);

-- Who somebody is on GitHub, and whose account that opens. Nothing that GitHub gives out is kept.
create table github_identities (
    -- GitHub's own number: a login can be changed and taken by somebody else.
    github_id bigint constraint one_account_per_github_identity primary key,
    user_id text collate "C" not null,
    login text not null,
    linked_at bigint not null
);

create table sign_in_sessions (
    session_id text collate "C" primary key,
    user_id text collate "C" not null,
    token_hash bytea not null constraint one_session_per_token unique,
    created_at bigint not null,
    expires_at bigint not null
);

create index sign_in_sessions_by_user on sign_in_sessions (user_id);

create table credentials (
    credential_id text collate "C" primary key,
    agent_id text collate "C" not null,
    workspace_id text collate "C" not null,
    project_id text collate "C",
    standing text not null,
    key_hash bytea not null,
    active bigint not null,
    created_at bigint not null
);

create unique index one_active_key_per_agent on credentials (agent_id) where active = 1;

-- Made on first start and never shown, in the database so that all nodes agree.
create table secrets (
    name text collate "C" primary key,
    value bytea not null
);

-- What the text of workspaces is sealed under, for those that want it. A key that was destroyed leaves its name.
create table workspace_keys (
    key_id text collate "C" primary key,
    workspace_id text collate "C" not null,
    key bytea,
    created_at bigint not null,
    destroyed_at bigint,
    -- Nothing that was made of the text is left anywhere.
    purged_at bigint,
    constraint a_key_is_there_until_it_is_destroyed check ((key is null) = (destroyed_at is not null))
);

create unique index one_key_per_workspace on workspace_keys (workspace_id) where destroyed_at is null;

-- How far each reactor has come; beside the log, because a rebuilt view must not make it react again.
create table reactor_checkpoints (
    reactor text collate "C" primary key,
    position bigint not null
);
