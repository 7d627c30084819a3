-- The tables of postgres-es, as its db/init.sql has them.

create table events (
    aggregate_type text not null,
    aggregate_id text not null,
    sequence bigint check (sequence >= 0) not null,
    event_type text not null,
    event_version text not null,
    payload json not null,
    metadata json not null,
    primary key (aggregate_type, aggregate_id, sequence)
);

create table snapshots (
    aggregate_type text not null,
    aggregate_id text not null,
    last_sequence bigint check (last_sequence >= 0) not null,
    current_snapshot bigint check (current_snapshot >= 0) not null,
    payload json not null,
    primary key (aggregate_type, aggregate_id, last_sequence)
);
