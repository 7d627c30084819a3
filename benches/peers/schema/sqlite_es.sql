-- The tables of sqlite-es, as its first migration has them.

create table events (
    aggregate_type text not null,
    aggregate_id text not null,
    sequence integer check (sequence >= 0) not null,
    event_type text not null,
    event_version text not null,
    payload text not null,
    metadata text not null,
    primary key (aggregate_type, aggregate_id, sequence)
) strict;

create table snapshots (
    aggregate_type text not null,
    aggregate_id text not null,
    last_sequence integer check (last_sequence >= 0) not null,
    current_snapshot integer check (current_snapshot >= 0) not null,
    payload text not null,
    primary key (aggregate_type, aggregate_id, last_sequence)
) strict;
