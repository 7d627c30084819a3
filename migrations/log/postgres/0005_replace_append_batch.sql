-- Streams that the caller knows need not be looked for, and rows may be notification addresses: append_batch, apply_row
-- and stream_refusals anew, as they were but for that. row_refusals stays.
drop function append_batch;
drop function apply_row;
drop function stream_refusals;

-- Decides and writes a whole batch in one call, so that the head row is locked for no round trip.
--
-- Each group of parameters is a set of parallel arrays whose first array names the command (1, 2, ..) it belongs to.
-- No two commands of a batch touch the same stream, claim, key or e-mail address (the writer sees to that), so every
-- command is decided by the log as it stood before the batch, all of them at once.
create function append_batch(
    -- null: by this server's clock, which all nodes share
    fixed_now bigint,
    -- the link of the newest batch as the caller knows it, and whether some of its commands rely on no other since
    known_link bytea, relies_on_it boolean,
    -- streams that are to be looked for and must stand at a sequence, all of a command's or none; those that a command
    -- begins need not be, because the insert finds out, nor those that only the caller has written to
    s_command int[], s_type text[], s_id text[], s_expected bigint[],
    -- whether none is left out
    all_streams boolean,
    -- claims: take, release, held (by the holder), empty (the whole scope)
    c_command int[], c_kind text[], c_scope text[], c_key text[], c_holder_type text[], c_holder_id text[],
    -- commands to remember
    k_command int[], k_principal text[], k_route text[], k_key text[], k_fingerprint bytea[], k_outcome text[], k_expires bigint[],
    -- account and credential rows, in order
    r_command int[], r_kind text[], r_row jsonb[],
    -- events, in order
    e_command int[], e_aggregate_type text[], e_aggregate_id text[], e_sequence bigint[], e_event_type text[],
    e_event_version text[], e_payload json[], e_metadata json[], e_event_id text[], e_workspace_id text[],
    -- their hashes, one after the other
    leaves bytea,
    -- what the commands know of keys; null if they do not care
    known_keys bigint
)
returns table (
    base_position bigint, batch_recorded_at bigint,
    -- whether nobody else has written since `known_link`, and the link that is the newest now
    undisturbed boolean, head_link bytea,
    refused int[], refusals jsonb)
language plpgsql
-- Planning the decision anew for every batch would take longer than the batch.
set plan_cache_mode = force_generic_plan
as $$
declare
    before head%rowtype;
    written bigint;
    beyond_streams boolean;
    change record;
begin
    select * into strict before from head for update;
    base_position := before.position;
    undisturbed := before.link = known_link;
    head_link := before.link;
    -- Never decreasing, whatever the clocks of the nodes say.
    batch_recorded_at := greatest(
        coalesce(fixed_now, (extract(epoch from clock_timestamp()) * 1000000)::bigint),
        before.recorded_at);
    -- Command 0 stands for everyone, and nothing is written.
    if known_keys <> before.keys then
        refused := '{0}';
        refusals := '[{"why": "keys"}]';
        return next;
        return;
    elsif relies_on_it and not undisturbed then
        refused := '{0}';
        refusals := '[{"why": "look"}]';
        return next;
        return;
    end if;

    refused := '{}';
    refusals := '[]';
    -- The first reason wins, in the order that both stores keep: key, streams, claims, held, empty, rows.
    if cardinality(k_command) > 0 or cardinality(c_command) > 0 or cardinality(r_command) > 0 then
        select coalesce(array_agg(first.command), '{}'), coalesce(jsonb_agg(first.reason), '[]'), bool_or(first.rank > 2)
        into refused, refusals, beyond_streams
        from (
            select distinct on (command) command, rank, reason from (
                select k.command, 1 as rank, 0::bigint as place, jsonb_build_object('why', 'key',
                    'outcome', r.outcome, 'fingerprint', encode(r.fingerprint, 'hex'),
                    'position', r.position) as reason
                from unnest(k_command, k_principal, k_route, k_key) as k (command, principal, route, key)
                join remembered_commands r using (principal, route, key)
                where r.expires_at is null or r.expires_at > batch_recorded_at
                union all
                select s.command, 2, s.place, s.reason
                from stream_refusals(s_command, s_type, s_id, s_expected) s
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
        -- One that is refused may have a stream that was not looked for: that would be the first reason.
        if beyond_streams and not all_streams then
            refused := '{0}';
            refusals := '[{"why": "look"}]';
            return next;
            return;
        end if;
    elsif cardinality(s_command) > 0 then
        select coalesce(array_agg(first.command), '{}'), coalesce(jsonb_agg(first.reason), '[]')
        into refused, refusals
        from (
            select distinct on (s.command) s.command, s.reason
            from stream_refusals(s_command, s_type, s_id, s_expected) s
            order by s.command, s.place
        ) first;
    end if;

    -- A stream that is there although a command begins it breaks one_event_per_sequence: the caller tries again and has
    -- all of them looked for.
    if cardinality(refused) = 0 then
        -- In the select list, where arrays are walked side by side; in the from clause each would be copied first.
        insert into events
        select before.position + generate_series(1, cardinality(e_sequence)), unnest(e_aggregate_type),
            unnest(e_aggregate_id), unnest(e_sequence), unnest(e_event_type), unnest(e_event_version),
            unnest(e_payload), unnest(e_metadata), unnest(e_event_id), unnest(e_workspace_id), batch_recorded_at;
    else
        -- Those that are left close ranks.
        insert into events
        select before.position + row_number() over (order by e.place), e.aggregate_type, e.aggregate_id,
            e.sequence, e.event_type, e.event_version, e.payload, e.metadata, e.event_id,
            e.workspace_id, batch_recorded_at
        from unnest(e_command, e_aggregate_type, e_aggregate_id, e_sequence, e_event_type, e_event_version,
            e_payload, e_metadata, e_event_id, e_workspace_id) with ordinality
            as e (command, aggregate_type, aggregate_id, sequence, event_type, event_version, payload,
                  metadata, event_id, workspace_id, place)
        where e.command <> all (refused);
    end if;
    get diagnostics written = row_count;

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
        head_link := sha256('\x01'::bytea || before.link || int8send(before.position + 1) || int8send(written)
            || int8send(batch_recorded_at) || leaves);
        insert into batches values (before.position + 1, written, batch_recorded_at, leaves, head_link);
        update head set position = before.position + written, recorded_at = batch_recorded_at, link = head_link;
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
        delete from notification_addresses where user_id = change ->> 'user_id';
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
    when 'set notification addresses' then
        insert into notification_addresses values (change ->> 'user_id', change ->> 'sound_file',
            change ->> 'webhook_url', (change ->> 'changed_at')::bigint)
        on conflict (user_id) do update set
            sound_file = excluded.sound_file, webhook_url = excluded.webhook_url, changed_at = excluded.changed_at;
    end case;
end $$;

-- Which commands think that a stream stands where it does not.
create function stream_refusals(s_command int[], s_type text[], s_id text[], s_expected bigint[])
returns table (command int, place bigint, reason jsonb)
language sql stable as $$
    select s.command, s.place, jsonb_build_object('why', 'stream', 'type', s.type, 'id', s.id,
        'expected', s.expected, 'actual', stands.at)
    from unnest(s_command, s_type, s_id, s_expected) with ordinality as s (command, type, id, expected, place)
    cross join lateral (
        select coalesce((
            select e.sequence from events e
            where e.aggregate_type = s.type and e.aggregate_id = s.id
            order by e.sequence desc limit 1), 0) as at
    ) stands
    where stands.at <> s.expected
$$;
