-- What the projection engine knows of each read model. All of it can be thrown away: it is built again from the log.

-- One build is one set of tables, filled by one version of a projection's code.
create table projections (
    name text not null,
    -- Counted per projection, so that a build beside another has tables of its own.
    build bigint not null,
    -- The version of the code that fills it.
    version bigint not null,
    -- Its tables by the names that queries use, separated by blanks.
    tables text not null,
    -- Every event up to here is in the tables of this build, except those of parked streams.
    checkpoint bigint not null,
    -- The life of the log that the checkpoint belongs to.
    epoch bigint not null,
    -- Raised by every change to the build: who writes must have seen the last one.
    revision bigint not null,
    -- 1 for the build that queries read.
    serving bigint not null,
    -- running, rebuilding, halted or retired
    state text not null,
    last_error text,
    constraint one_row_per_build primary key (name, build)
);

create unique index one_build_serves
    on projections (name)
    where serving = 1;

-- Who applies a version of a projection now. It only saves work: the build's revision is the fence.
create table leases (
    name text not null,
    version bigint not null,
    owner text not null,
    expires_at bigint not null,
    constraint one_owner_per_version primary key (name, version)
);

-- Streams that a build could not apply, with everything of them that came later.
create table parked_streams (
    name text not null,
    build bigint not null,
    aggregate_type text not null,
    aggregate_id text not null,
    -- The event that could not be applied, by its place in the log and in its stream.
    position bigint not null,
    sequence bigint not null,
    -- How many events of the stream wait, that one included.
    held bigint not null,
    error text not null,
    parked_at bigint not null,
    constraint parked_once primary key (name, build, aggregate_type, aggregate_id)
);

-- What operators did about parked streams. A skipped event is given up for that version, also when it is rebuilt.
create table parking_decisions (
    name text not null,
    version bigint not null,
    position bigint not null,
    -- retried or skipped
    decision text not null,
    aggregate_type text not null,
    aggregate_id text not null,
    -- Why the event had been parked.
    error text not null,
    decided_at bigint not null,
    constraint decided_once primary key (name, version, position, decision)
);
