-- Decides and writes a whole batch in one call, so that the head row is locked for no round trip.
--
-- Each group of parameters is a set of parallel arrays whose first array names the command (1, 2, ..) it belongs to.
-- No two commands of a batch touch the same stream, claim, key or e-mail address (the writer sees to that), so every
-- command is decided by the log as it stood before the batch, all of them at once.
create function append_batch(
    -- null: by this server's clock, which all nodes share
    fixed_now bigint,
    -- streams that must stand at a sequence: those appended to, of which some begin, and those only guarded
    s_command int[], s_type text[], s_id text[], s_expected bigint[], s_begins boolean[],
    -- claims: take, release, held (by the holder), empty (the whole scope)
    c_command int[], c_kind text[], c_scope text[], c_key text[], c_holder_type text[], c_holder_id text[],
    -- commands to remember
    k_command int[], k_principal text[], k_route text[], k_key text[], k_fingerprint bytea[], k_outcome text[], k_expires bigint[],
    -- account and credential rows, in order
    r_command int[], r_kind text[], r_row jsonb[],
    -- events, in order
    e_command int[], e_aggregate_type text[], e_aggregate_id text[], e_sequence bigint[], e_event_type text[],
    e_event_version text[], e_payload text[], e_metadata text[], e_event_id text[], e_workspace_id text[],
    -- their hashes, one after the other
    leaves bytea,
    -- what the commands know of keys; null if they do not care
    known_keys bigint
)
returns table (base_position bigint, batch_recorded_at bigint, refused int[], refusals jsonb)
language plpgsql
-- Planning the decision anew for every batch would take longer than the batch.
set plan_cache_mode = force_generic_plan
as $$
declare
    before head%rowtype;
    written bigint;
    new_link bytea;
    change record;
begin
    select * into strict before from head for update;
    base_position := before.position;
    if known_keys <> before.keys then
        -- All of them are to look again at what is sealed: command 0 stands for everyone.
        batch_recorded_at := before.recorded_at;
        refused := '{0}';
        refusals := jsonb_build_array(jsonb_build_object('why', 'keys'));
        return next;
        return;
    end if;
    -- Never decreasing, whatever the clocks of the nodes say.
    batch_recorded_at := greatest(
        coalesce(fixed_now, (extract(epoch from clock_timestamp()) * 1000000)::bigint),
        before.recorded_at);

    for attempt in 1..2 loop
        refused := '{}';
        refusals := '[]';
        -- The first reason wins, in the order that both stores keep: key, streams, claims, held, empty, rows.
        if cardinality(k_command) > 0 or cardinality(c_command) > 0 or cardinality(r_command) > 0 then
            select coalesce(array_agg(first.command), '{}'), coalesce(jsonb_agg(first.reason), '[]')
            into refused, refusals
            from (
                select distinct on (command) command, reason from (
                    select k.command, 1 as rank, 0::bigint as place, jsonb_build_object('why', 'key',
                        'outcome', r.outcome, 'fingerprint', encode(r.fingerprint, 'hex'),
                        'position', r.position) as reason
                    from unnest(k_command, k_principal, k_route, k_key) as k (command, principal, route, key)
                    join remembered_commands r using (principal, route, key)
                    where r.expires_at is null or r.expires_at > batch_recorded_at
                    union all
                    select s.command, 2, s.place, s.reason
                    from stream_refusals(s_command, s_type, s_id, s_expected, s_begins, attempt = 2) s
                    union all
                    select c.command, 3, c.place, jsonb_build_object('why', 'taken', 'scope', c.scope, 'key', c.key,
                        'type', held.holder_type, 'id', held.holder_id)
                    from unnest(c_command, c_kind, c_scope, c_key) with ordinality
                        as c (command, kind, scope, key, place)
                    join claims held using (scope, key)
                    where c.kind = 'take' and not exists (
                        -- Given back by the same command.
                        select from unnest(c_command, c_kind, c_scope, c_key) as back (command, kind, scope, key)
                        where back.kind = 'release' and (back.command, back.scope, back.key) = (c.command, c.scope, c.key))
                    union all
                    select c.command, 4, c.place, jsonb_build_object('why', 'not held', 'scope', c.scope, 'key', c.key,
                        'type', c.holder_type, 'id', c.holder_id)
                    from unnest(c_command, c_kind, c_scope, c_key, c_holder_type, c_holder_id) with ordinality
                        as c (command, kind, scope, key, holder_type, holder_id, place)
                    where c.kind = 'held' and not exists (
                        select from claims held
                        where (held.scope, held.key, held.holder_type, held.holder_id)
                            = (c.scope, c.key, c.holder_type, c.holder_id))
                    union all
                    select c.command, 5, c.place, jsonb_build_object('why', 'not empty', 'scope', c.scope)
                    from unnest(c_command, c_kind, c_scope) with ordinality as c (command, kind, scope, place)
                    where c.kind = 'empty' and exists (select from claims held where held.scope = c.scope)
                    union all
                    select r.command, 6, r.place, r.reason from row_refusals(r_command, r_kind, r_row) r
                ) reasons
                order by command, rank, place
            ) first;
            -- One that is refused may have begun a stream that is there: that would be the first reason.
            continue when attempt = 1 and cardinality(refused) > 0 and true = any (s_begins);
        elsif attempt = 2 or false = any (s_begins) then
            select coalesce(array_agg(first.command), '{}'), coalesce(jsonb_agg(first.reason), '[]')
            into refused, refusals
            from (
                select distinct on (s.command) s.command, s.reason
                from stream_refusals(s_command, s_type, s_id, s_expected, s_begins, attempt = 2) s
                order by s.command, s.place
            ) first;
        end if;

        begin
            if cardinality(refused) = 0 then
                insert into events
                select before.position + e.place, e.aggregate_type, e.aggregate_id, e.sequence,
                    e.event_type, e.event_version, e.payload::json, e.metadata::json, e.event_id, e.workspace_id,
                    batch_recorded_at
                from unnest(e_aggregate_type, e_aggregate_id, e_sequence, e_event_type, e_event_version,
                    e_payload, e_metadata, e_event_id, e_workspace_id) with ordinality
                    as e (aggregate_type, aggregate_id, sequence, event_type, event_version, payload, metadata,
                          event_id, workspace_id, place);
            else
                -- Those that are left close ranks.
                insert into events
                select before.position + row_number() over (order by e.place), e.aggregate_type, e.aggregate_id,
                    e.sequence, e.event_type, e.event_version, e.payload::json, e.metadata::json, e.event_id,
                    e.workspace_id, batch_recorded_at
                from unnest(e_command, e_aggregate_type, e_aggregate_id, e_sequence, e_event_type, e_event_version,
                    e_payload, e_metadata, e_event_id, e_workspace_id) with ordinality
                    as e (command, aggregate_type, aggregate_id, sequence, event_type, event_version, payload,
                          metadata, event_id, workspace_id, place)
                where e.command <> all (refused);
            end if;
            get diagnostics written = row_count;
            exit;
        exception when unique_violation then
            -- A stream that a command begins is not looked for, because the insert finds out. It has: look for all.
            if attempt = 2 then
                raise;
            end if;
        end;
    end loop;

    if cardinality(c_command) > 0 then
        delete from claims using unnest(c_command, c_kind, c_scope, c_key) as c (command, kind, scope, key)
        where c.kind = 'release' and c.command <> all (refused) and (claims.scope, claims.key) = (c.scope, c.key);

        insert into claims
        select c.scope, c.key, c.holder_type, c.holder_id
        from unnest(c_command, c_kind, c_scope, c_key, c_holder_type, c_holder_id)
            as c (command, kind, scope, key, holder_type, holder_id)
        where c.kind = 'take' and c.command <> all (refused);
    end if;

    if cardinality(k_command) > 0 then
        insert into remembered_commands
        select k.principal, k.route, k.key, k.fingerprint, k.outcome,
            -- The head as the command left it: the batch's own events up to and with this command's.
            before.position + (
                select count(*) from unnest(e_command) as e (command)
                where e.command <= k.command and e.command <> all (refused)),
            k.expires
        from unnest(k_command, k_principal, k_route, k_key, k_fingerprint, k_outcome, k_expires)
            as k (command, principal, route, key, fingerprint, outcome, expires)
        where k.command <> all (refused)
        on conflict (principal, route, key) do update set
            fingerprint = excluded.fingerprint, outcome = excluded.outcome,
            position = excluded.position, expires_at = excluded.expires_at;
    end if;

    if cardinality(r_command) > 0 then
        for change in
            select r.kind, r.change
            from unnest(r_command, r_kind, r_row) with ordinality as r (command, kind, change, place)
            where r.command <> all (refused)
            order by r.place
        loop
            perform apply_row(change.kind, change.change);
        end loop;
    end if;

    if written > 0 then
        if cardinality(refused) > 0 then
            select string_agg(substring(leaves from 32 * e.place::int - 31 for 32), ''::bytea order by e.place)
            into leaves
            from unnest(e_command) with ordinality as e (command, place)
            where e.command <> all (refused);
        end if;
        new_link := sha256('\x01'::bytea || before.link || int8send(before.position + 1) || int8send(written)
            || int8send(batch_recorded_at) || leaves);
        insert into batches values (before.position + 1, written, batch_recorded_at, leaves, new_link);
        update head set position = before.position + written, recorded_at = batch_recorded_at, link = new_link;
    end if;
    return next;
end $$;

-- One account or credential row.
create function apply_row(kind text, change jsonb) returns void language plpgsql as $$
begin
    case kind
    when 'add account' then
        insert into accounts
        select a.user_id, a.email, a.name, a.avatar_url, a.password_hash, a.suspended, a.created_at, a.updated_at
        from jsonb_populate_record(null::accounts, change) a;
    when 'suspend account' then
        update accounts set suspended = (change ->> 'suspended')::bigint where user_id = change ->> 'user_id';
    when 'delete account' then
        delete from sign_in_sessions where user_id = change ->> 'user_id';
        delete from github_identities where user_id = change ->> 'user_id';
        delete from accounts where user_id = change ->> 'user_id';
    when 'add text key' then
        insert into workspace_keys (key_id, workspace_id, key, created_at)
        values (change ->> 'key_id', change ->> 'workspace_id', decode(change ->> 'key', 'hex'),
            (change ->> 'created_at')::bigint);
        update head set keys = keys + 1;
    when 'destroy text keys' then
        update workspace_keys set key = null, destroyed_at = (change ->> 'destroyed_at')::bigint
        where workspace_id = change ->> 'workspace_id' and destroyed_at is null;
        update head set keys = keys + 1;
    when 'forget password' then
        update accounts set password_hash = null where user_id = change ->> 'user_id';
    when 'link github' then
        insert into github_identities values ((change ->> 'github_id')::bigint, change ->> 'user_id',
            change ->> 'login', (change ->> 'linked_at')::bigint);
    when 'add session' then
        insert into sign_in_sessions values (change ->> 'session_id', change ->> 'user_id',
            decode(change ->> 'token_hash', 'hex'), (change ->> 'created_at')::bigint, (change ->> 'expires_at')::bigint);
    when 'remove session' then
        delete from sign_in_sessions where session_id = change ->> 'session_id';
    when 'remove sessions of' then
        delete from sign_in_sessions where user_id = change ->> 'user_id';
    when 'issue credential' then
        update credentials set active = 0 where agent_id = change ->> 'agent_id' and active = 1;
        insert into credentials values (change ->> 'credential_id', change ->> 'agent_id', change ->> 'workspace_id',
            change ->> 'project_id', change ->> 'standing', decode(change ->> 'key_hash', 'hex'), 1,
            (change ->> 'created_at')::bigint);
    when 'set agent standing' then
        update credentials set standing = change ->> 'standing' where agent_id = change ->> 'agent_id' and active = 1;
    when 'revoke credentials' then
        update credentials set active = 0 where agent_id = change ->> 'agent_id' and active = 1;
    end case;
end $$;

-- Which commands think that a stream stands where it does not; unless all are looked at, not those that begin one.
create function stream_refusals(
    s_command int[], s_type text[], s_id text[], s_expected bigint[], s_begins boolean[], all_of_them boolean)
returns table (command int, place bigint, reason jsonb)
language sql stable as $$
    select s.command, s.place, jsonb_build_object('why', 'stream', 'type', s.type, 'id', s.id,
        'expected', s.expected, 'actual', stands.at)
    from unnest(s_command, s_type, s_id, s_expected, s_begins) with ordinality
        as s (command, type, id, expected, begins, place)
    cross join lateral (
        select coalesce((
            select e.sequence from events e
            where e.aggregate_type = s.type and e.aggregate_id = s.id
            order by e.sequence desc limit 1), 0) as at
    ) stands
    where (all_of_them or not s.begins) and stands.at <> s.expected
$$;

-- Why rows of a batch cannot be written: a function of its own, so that the next kind of row need not repeat all of
-- append_batch.
create function row_refusals(r_command int[], r_kind text[], r_row jsonb[])
returns table (command int, place bigint, reason jsonb)
language sql stable as $$
    select r.command, r.place, jsonb_build_object('why', 'email')
    from unnest(r_command, r_kind, r_row) with ordinality as r (command, kind, change, place)
    join accounts known on known.email = r.change ->> 'email'
    where r.kind = 'add account'
    union all
    select r.command, r.place, jsonb_build_object('why', 'github identity')
    from unnest(r_command, r_kind, r_row) with ordinality as r (command, kind, change, place)
    join github_identities known on known.github_id = (r.change ->> 'github_id')::bigint
    where r.kind = 'link github'
$$;
