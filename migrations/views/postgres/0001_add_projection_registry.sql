-- What the projection engine knows of each read model. All of it can be thrown away: it is built again from the log.

create table projections (
    name text collate "C" not null,
    version bigint not null,
    -- Every event up to here is in the tables of this version.
    checkpoint bigint not null,
    -- The life of the log that the checkpoint belongs to.
    epoch bigint not null,
    -- 1 for the version that queries read.
    serving bigint not null,
    -- running, rebuilding or halted
    state text collate "C" not null,
    last_error text,
    updated_at bigint not null,
    primary key (name, version)
);

-- Who applies a projection now. It only saves work: the checkpoint's compare-and-set is the fence.
create table leases (
    name text collate "C" primary key,
    owner text collate "C" not null,
    expires_at bigint not null
);

-- Streams that a projection could not apply, with everything of them that came later.
create table parked_streams (
    name text collate "C" not null,
    version bigint not null,
    aggregate_type text collate "C" not null,
    aggregate_id text collate "C" not null,
    -- The event that could not be applied.
    position bigint not null,
    error text not null,
    parked_at bigint not null,
    primary key (name, version, aggregate_type, aggregate_id)
);

-- What operators did about parked streams.
create table parking_decisions (
    name text collate "C" not null,
    position bigint not null,
    decision text collate "C" not null,
    decided_at bigint not null,
    primary key (name, position, decided_at)
);
