//! What a commit must be before it is worth a look at the log: both databases can hold it, and it means something.

use std::collections::HashSet;

use crate::{Commit, Guard, RowChange, StreamId};

/// Deeper JSON cannot be read back by the parsers that events pass through.
const DEEPEST: usize = 127;

/// What is wrong with the commit, if anything.
pub(crate) fn check(commit: &Commit) -> Result<(), String> {
    let (mut streams, one_only) = (HashSet::new(), commit.appends.len() < 2);
    for append in &commit.appends {
        if append.events.is_empty() {
            return Err(format!("nothing to append to {}", append.stream));
        }
        if append.expected < 0 || append.expected.checked_add(append.events.len() as i64).is_none() {
            return Err(format!("{} cannot stand at {}", append.stream, append.expected));
        }
        if !one_only && !streams.insert(&append.stream) {
            return Err(format!("{} is appended to twice", append.stream));
        }
        for event in &append.events {
            for json in [&event.payload, &event.metadata] {
                if !is_json(json) {
                    return Err(format!("{} carries text that is not JSON, or too deep", event.event_type));
                }
            }
        }
    }
    if commit.follows.is_some() && !commit.is_plain() {
        return Err("only events of one stream can follow a commit that is under way".to_owned());
    }
    let mut taken = HashSet::new();
    if let Some(twice) = commit.takes.iter().find(|take| !taken.insert(&take.claim)) {
        return Err(format!("{}/{} is taken twice", twice.claim.scope, twice.claim.key));
    }
    let (mut emails, mut github_ids) = (HashSet::new(), HashSet::new());
    for row in &commit.rows {
        if let RowChange::AddAccount(account) = row
            && !emails.insert(&account.email)
        {
            return Err("an e-mail address is added twice".to_owned());
        }
        if let RowChange::LinkGithub(identity) = row
            && !github_ids.insert(identity.github_id)
        {
            return Err("a GitHub identity is linked twice".to_owned());
        }
    }
    // PostgreSQL holds no NUL in text, so neither store does.
    if texts(commit).any(|text| text.contains('\0')) {
        return Err("a text holds a NUL".to_owned());
    }
    Ok(())
}

/// Whether both databases and the parsers that events pass through can read it.
pub(crate) fn is_json(text: &str) -> bool {
    depth(text) <= DEEPEST && serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok()
}

/// How deep the brackets go, outside strings.
fn depth(json: &str) -> usize {
    let (mut depth, mut deepest, mut quoted, mut escaped) = (0usize, 0, false, false);
    for byte in json.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            b'[' | b'{' if !quoted => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b']' | b'}' if !quoted => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}

/// Every text of a commit that is stored as it is.
fn texts(commit: &Commit) -> impl Iterator<Item = &str> {
    fn stream(it: &StreamId) -> [&str; 2] {
        [&it.aggregate_type, &it.aggregate_id]
    }
    let events = commit.appends.iter().flat_map(|append| &append.events);
    let guards = commit.guards.iter().flat_map(|guard| match guard {
        Guard::At { stream: it, .. } => stream(it).to_vec(),
        Guard::Held { claim, holder } => [[claim.scope.as_str(), &claim.key], stream(holder)].concat(),
        Guard::Empty { scope } => vec![scope.as_str()],
    });
    let keys = commit.remember.iter().flat_map(|it| [&it.key.principal, &it.key.route, &it.key.key, &it.outcome]);
    (commit.appends.iter().flat_map(|append| stream(&append.stream)))
        .chain(events.flat_map(|event| [event.event_type.as_str(), &event.event_version]))
        .chain(commit.takes.iter().flat_map(|take| [take.claim.scope.as_str(), &take.claim.key]))
        .chain(commit.takes.iter().flat_map(|take| stream(&take.holder)))
        .chain(commit.releases.iter().flat_map(|claim| [claim.scope.as_str(), &claim.key]))
        .chain(guards)
        .chain(keys.map(String::as_str))
        .chain(commit.rows.iter().flat_map(row_texts))
}

fn row_texts(row: &RowChange) -> Vec<&str> {
    match row {
        RowChange::AddAccount(it) => {
            let optional = [it.avatar_url.as_deref(), it.password_hash.as_deref()];
            [it.email.as_str(), &it.name].into_iter().chain(optional.into_iter().flatten()).collect()
        }
        RowChange::LinkGithub(it) => vec![&it.login],
        RowChange::IssueCredential(it) => vec![&it.standing],
        RowChange::SetAgentStanding { standing, .. } => vec![standing],
        RowChange::SetNotificationAddresses(it) => {
            [it.sound_file.as_deref(), it.webhook_url.as_deref()].into_iter().flatten().collect()
        }
        RowChange::SuspendAccount { .. }
        | RowChange::DeleteAccount { .. }
        | RowChange::AddTextKey { .. }
        | RowChange::DestroyTextKeys { .. }
        | RowChange::ForgetPassword { .. }
        | RowChange::AddSession(_)
        | RowChange::RemoveSession { .. }
        | RowChange::RemoveSessionsOf { .. }
        | RowChange::RevokeCredentials { .. } => vec![],
    }
}
