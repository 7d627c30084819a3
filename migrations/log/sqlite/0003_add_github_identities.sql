-- Who somebody is on GitHub, and whose account that opens. Nothing that GitHub gives out is kept.
create table github_identities (
    -- GitHub's own number: a login can be changed and taken by somebody else.
    github_id integer constraint one_account_per_github_identity primary key,
    user_id text not null,
    login text not null,
    linked_at integer not null
) strict;
