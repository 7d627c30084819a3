//! Decides and writes a batch on SQLite, in the one thread that writes.

use rusqlite::{CachedStatement, Connection, ErrorCode, OptionalExtension, Transaction, TransactionBehavior, params};
use uuid::Uuid;

use super::rows;
use crate::batch::Prepared;
use crate::chain::{self, Hash};
use crate::known::Known;
use crate::sql::sqlite_failed;
use crate::writer::{Append, Appended};
use crate::{
    Claim, Clock, Commit, CommitError, Guard, Receipt, Remember, Remembered, StoreError, StreamAppend, StreamId,
};

/// The exit code after a failed write: the log's file cannot be trusted to have what memory says it has.
const EXIT_IO_ERROR: i32 = 74;

/// Appends batches to `log.db`.
pub(super) struct SqliteAppender<'a> {
    pub(super) connection: &'a mut Connection,
    pub(super) clock: &'a Clock,
    pub(super) place: &'a str,
    pub(super) known: &'a mut Known,
}

impl Append for SqliteAppender<'_> {
    async fn append(&mut self, batch: &[Prepared]) -> Result<Appended, StoreError> {
        append_batch(self.connection, self.clock, self.known, batch).map_err(|error| {
            self.known.forget();
            end_if_unwritable(self.place, &error);
            sqlite_failed(self.place, &error)
        })
    }
}

/// A sync error ends the process: nothing may be acknowledged after a write whose fate is unknown.
fn end_if_unwritable(place: &str, error: &rusqlite::Error) {
    use ErrorCode::{DatabaseCorrupt, DiskFull, NotADatabase, ReadOnly, SystemIoFailure};
    let code = error.sqlite_error_code();
    if matches!(code, Some(SystemIoFailure | DiskFull | DatabaseCorrupt | NotADatabase | ReadOnly)) {
        tracing::error!(place, %error, "the log cannot be written: stopping, so that nothing is acknowledged that is not stored");
        std::process::exit(EXIT_IO_ERROR);
    }
}

fn append_batch(
    connection: &mut Connection,
    clock: &Clock,
    known: &mut Known,
    batch: &[Prepared],
) -> rusqlite::Result<Appended> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let (before, last_recorded, previous, keys): (i64, i64, Hash, i64) = transaction
        .prepare_cached("select position, recorded_at, link, keys from head")?
        .query_row([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)))?;
    if known.link != previous {
        // Somebody else has written, e.g. an import.
        known.forget();
    }
    let recorded_at = clock.now_micros().max(last_recorded);
    let mut head = before;
    let mut newest = previous;
    let mut leaves: Vec<Hash> = Vec::with_capacity(batch.len());
    let mut outcomes = Vec::with_capacity(batch.len());
    {
        let mut streams = Streams::of(&transaction, known)?;
        for prepared in batch {
            let commit = &prepared.commit;
            if commit.known_keys.is_some_and(|known| known != keys) {
                outcomes.push(Err(CommitError::KeysMoved));
                continue;
            }
            if let Some(refusal) = refusal(&transaction, &mut streams, recorded_at, commit)? {
                outcomes.push(Err(refusal));
                continue;
            }
            let first = head;
            if let Some(conflict) = streams.append_all(commit, &mut head, recorded_at)? {
                outcomes.push(Err(conflict));
                continue;
            }
            write_beside(&transaction, commit, head)?;
            leaves.extend(&prepared.leaves);
            // A commit without events stands at the head as it found it.
            outcomes.push(Ok(Receipt { first: (first + 1).min(head), last: head, recorded_at }));
        }
    }
    if head > before {
        newest = chain::link(&previous, before + 1, recorded_at, leaves.iter());
        transaction
            .prepare_cached(
                "insert into batches (first_position, events, recorded_at, leaves, link) values (?1, ?2, ?3, ?4, ?5)",
            )?
            .execute(params![before + 1, head - before, recorded_at, leaves.as_flattened(), newest])?;
        transaction.prepare_cached("update head set position = ?1, recorded_at = ?2, link = ?3")?.execute(params![
            head,
            recorded_at,
            newest
        ])?;
    }
    transaction.commit()?;
    known.link = newest.to_vec();
    for (prepared, outcome) in batch.iter().zip(&outcomes) {
        known.learn(prepared, outcome);
    }
    Ok(Appended { outcomes, head })
}

/// What is done for every event of a batch, prepared once for all of them.
struct Streams<'a> {
    known: &'a Known,
    sequence: CachedStatement<'a>,
    insert: CachedStatement<'a>,
}

impl<'a> Streams<'a> {
    fn of(log: &'a Transaction<'_>, known: &'a Known) -> rusqlite::Result<Self> {
        let sequence = log.prepare_cached(
            "select coalesce(max(sequence), 0) from events where aggregate_type = ?1 and aggregate_id = ?2",
        )?;
        let insert = log.prepare_cached(
            "insert into events (position, aggregate_type, aggregate_id, sequence, event_type, event_version,
                                 payload, metadata, event_id, workspace_id, recorded_at)
             values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
        )?;
        Ok(Self { known, sequence, insert })
    }

    fn sequence_of(&mut self, stream: &StreamId) -> rusqlite::Result<i64> {
        match self.known.stands(stream) {
            Some(sequence) => Ok(sequence),
            None => self.look_up(stream),
        }
    }

    fn look_up(&mut self, stream: &StreamId) -> rusqlite::Result<i64> {
        self.sequence.query_row([&stream.aggregate_type, &stream.aggregate_id], |row| row.get(0))
    }

    /// Writes the events of a commit. A stream that it begins and that is there is found only now, and then nothing of
    /// the commit is written.
    fn append_all(
        &mut self,
        commit: &Commit,
        head: &mut i64,
        recorded_at: i64,
    ) -> rusqlite::Result<Option<CommitError>> {
        for append in &commit.appends {
            let mut written = 0;
            match self.append(append, *head, recorded_at, &mut written) {
                Ok(()) => *head += written,
                Err(error) => {
                    let (stream, expected) = (append.stream.clone(), append.expected);
                    // Not for any other reason, and where this was the first insert of the commit.
                    let is_late = written == 0 && error.sqlite_error_code() == Some(ErrorCode::ConstraintViolation);
                    let actual = if finds_out(commit).is_some() && is_late { self.look_up(&stream)? } else { expected };
                    let conflict = CommitError::Conflict { stream, expected, actual };
                    return if actual == expected { Err(error) } else { Ok(Some(conflict)) };
                }
            }
        }
        Ok(None)
    }

    fn append(
        &mut self,
        append: &StreamAppend,
        head: i64,
        recorded_at: i64,
        written: &mut i64,
    ) -> rusqlite::Result<()> {
        for (nth, event) in (1..).zip(&append.events) {
            let (mut id, mut workspace) = (Uuid::encode_buffer(), Uuid::encode_buffer());
            let workspace_id = event.workspace_id.map(|it| &*it.hyphenated().encode_lower(&mut workspace));
            self.insert.execute(params![
                head + nth,
                append.stream.aggregate_type,
                append.stream.aggregate_id,
                append.expected + nth,
                event.event_type,
                event.event_version,
                event.payload,
                event.metadata,
                &*event.event_id.hyphenated().encode_lower(&mut id),
                workspace_id,
                recorded_at,
            ])?;
            *written = nth;
        }
        Ok(())
    }
}

/// The stream that a commit only begins, with nothing else that could be refused after it or would have to be undone: it
/// is not looked for, because its first insert finds out whether it is there.
fn finds_out(commit: &Commit) -> Option<&StreamId> {
    match commit.appends.as_slice() {
        [only]
            if only.expected == 0 && commit.takes.is_empty() && commit.guards.is_empty() && commit.rows.is_empty() =>
        {
            Some(&only.stream)
        }
        _ => None,
    }
}

/// The first reason not to take the commit, in the order that both stores keep.
fn refusal(
    log: &Transaction<'_>,
    streams: &mut Streams<'_>,
    now: i64,
    commit: &Commit,
) -> rusqlite::Result<Option<CommitError>> {
    if let Some(remember) = &commit.remember
        && let Some(known) = remembered(log, now, remember)?
    {
        return Ok(Some(CommitError::KeyUsed(known)));
    }
    let appended = commit.appends.iter().map(|append| (&append.stream, append.expected));
    let guarded = commit.guards.iter().filter_map(|guard| match guard {
        Guard::At { stream, sequence } => Some((stream, *sequence)),
        Guard::Held { .. } | Guard::Empty { .. } => None,
    });
    for (stream, expected) in appended.chain(guarded) {
        if streams.known.stands(stream).is_none() && finds_out(commit) == Some(stream) {
            continue;
        }
        let actual = streams.sequence_of(stream)?;
        if actual != expected {
            return Ok(Some(CommitError::Conflict { stream: stream.clone(), expected, actual }));
        }
    }
    for take in &commit.takes {
        if let Some(holder) = holder_of(log, &take.claim)?
            && !commit.releases.contains(&take.claim)
        {
            return Ok(Some(CommitError::ClaimTaken { claim: take.claim.clone(), holder }));
        }
    }
    for guard in &commit.guards {
        if let Guard::Held { claim, holder } = guard
            && holder_of(log, claim)?.as_ref() != Some(holder)
        {
            return Ok(Some(CommitError::ClaimNotHeld { claim: claim.clone(), holder: holder.clone() }));
        }
    }
    for guard in &commit.guards {
        if let Guard::Empty { scope } = guard
            && log.prepare_cached("select 1 from claims where scope = ?1 limit 1")?.exists([scope])?
        {
            return Ok(Some(CommitError::ScopeNotEmpty { scope: scope.clone() }));
        }
    }
    rows::refusal(log, &commit.rows)
}

/// Everything of a commit that is not an event.
fn write_beside(log: &Transaction<'_>, commit: &Commit, head: i64) -> rusqlite::Result<()> {
    for claim in &commit.releases {
        log.prepare_cached("delete from claims where scope = ?1 and key = ?2")?.execute([&claim.scope, &claim.key])?;
    }
    for take in &commit.takes {
        log.prepare_cached("insert into claims (scope, key, holder_type, holder_id) values (?1, ?2, ?3, ?4)")?
            .execute([&take.claim.scope, &take.claim.key, &take.holder.aggregate_type, &take.holder.aggregate_id])?;
    }
    for row in &commit.rows {
        rows::apply(log, row)?;
    }
    if let Some(Remember { key, fingerprint, outcome, expires_at }) = &commit.remember {
        log.prepare_cached(
            "insert or replace into remembered_commands
                 (principal, route, key, fingerprint, outcome, position, expires_at)
             values (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
        )?
        .execute(params![key.principal, key.route, key.key, fingerprint, outcome, head, expires_at])?;
    }
    Ok(())
}

fn holder_of(log: &Transaction<'_>, claim: &Claim) -> rusqlite::Result<Option<StreamId>> {
    log.prepare_cached("select holder_type, holder_id from claims where scope = ?1 and key = ?2")?
        .query_row([&claim.scope, &claim.key], |row| {
            Ok(StreamId { aggregate_type: row.get(0)?, aggregate_id: row.get(1)? })
        })
        .optional()
}

fn remembered(log: &Transaction<'_>, now: i64, remember: &Remember) -> rusqlite::Result<Option<Remembered>> {
    let key = &remember.key;
    log.prepare_cached(
        "select fingerprint, outcome, position
         from remembered_commands
         where principal = ?1 and route = ?2 and key = ?3 and (expires_at is null or expires_at > ?4)",
    )?
    .query_row(params![key.principal, key.route, key.key, now], |row| {
        Ok(Remembered { fingerprint: row.get(0)?, outcome: row.get(1)?, position: row.get(2)? })
    })
    .optional()
}
