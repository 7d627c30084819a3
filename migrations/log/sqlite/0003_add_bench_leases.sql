-- Which node works at the bench of a name, and until when by the database's own clock. Beside the log, because what is
-- done outside must not be done by two when the views are thrown away.
create table bench_leases (
    bench text primary key,
    owner text not null,
    expires_at integer not null
) strict;
