//! Seals the text of a commit, for workspaces that keep theirs under a key: after the decision, before any hash.

use store::{Commit, KnownKeys, RowChange, StoreError};

/// Seals what is to be sealed by what is known of keys; a key that the commit itself makes counts already. Answers
/// whether the commit makes or destroys one.
pub(crate) fn seal(commit: &mut Commit, known: &KnownKeys) -> Result<bool, StoreError> {
    let turns_keys = |row: &RowChange| matches!(row, RowChange::AddTextKey { .. } | RowChange::DestroyTextKeys { .. });
    let turns_keys = !commit.rows.is_empty() && commit.rows.iter().any(turns_keys);
    // Nearly always: nobody seals anything.
    if known.is_empty() && !turns_keys {
        return Ok(false);
    }
    for event in commit.appends.iter_mut().flat_map(|append| &mut append.events) {
        let Some(workspace) = event.workspace_id else { continue };
        let made = commit.rows.iter().find_map(|row| match row {
            RowChange::AddTextKey { workspace_id, key, .. } if *workspace_id == workspace => Some(key),
            _ => None,
        });
        if let Some(key) = made.or_else(|| known.of(workspace))
            && let Some(kind) = domain::kind_of(&event.event_type)
        {
            key.seal(event, kind.text, kind.plain)?;
        }
    }
    Ok(turns_keys)
}
