-- What disintegrate-postgres 4.0.1 makes for itself, statement by statement.
-- Its own set-up fails before PostgreSQL 16, for one mask that it writes in hexadecimal; here it is in decimal.

create sequence seq_event_event_id;

create table event (
    event_id bigint primary key default nextval('seq_event_event_id'),
    event_type varchar(255),
    payload bytea,
    inserted_at timestamp default now()
);

create index idx_event_type_btree on event (event_type);

create function event_store_current_epoch() returns bigint as $$
declare
    persisted_event_id bigint;
    pending_event_id bigint;
    db_id int;
begin
    select coalesce(max(event_id), 0) into persisted_event_id from event;
    select oid into db_id from pg_database where datname = current_database();

    select min((l3.objid::bigint << 32) + l2.objid::bigint)
    into pending_event_id
    from pg_locks l1
    inner join pg_locks l2 on l1.pid = l2.pid
    inner join pg_locks l3 on l1.pid = l3.pid
    where
        l1.classid = db_id
        and l2.classid = 1
        and l3.classid = 2
        and l1.locktype = 'advisory';

    return least(coalesce(pending_event_id, persisted_event_id), persisted_event_id);
end;
$$ language plpgsql;

create function event_store_begin_epoch() returns void as $$
declare
    id bigint;
    db_id int;
begin
    select last_value into id from seq_event_event_id;
    select oid into db_id from pg_database where datname = current_database();

    perform pg_try_advisory_xact_lock_shared(db_id, 0);
    perform pg_try_advisory_xact_lock_shared(1, (id & 4294967295)::bit(32)::integer);
    perform pg_try_advisory_xact_lock_shared(2, (id >> 32)::bit(32)::integer);
end;
$$ language plpgsql;

alter table event add column journal_id uuid;

create index idx_event_journal_id on event (journal_id) where journal_id is not null;
