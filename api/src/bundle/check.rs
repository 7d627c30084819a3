//! Believes a bundle or refuses it: its manifest, its hashes, each event's place in the log, and that no stream has a gap.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::Path;

use serde::de::DeserializeOwned;
use store::proof::{BatchLink, BatchRecord, EventRecord, PublicKey, Refusal, SignedHead, check_batches};
use store::{StoredEvent, StreamId, TextKey};
use tempfile::TempDir;

use super::{
    BATCHES, BundleError, EVENTS, FORMAT, HEAD, Listed, MANIFEST, Manifest, PATH, SIGNATURE, SharedPath, TEXT_KEY,
    TextKeyFile, message, pack, signature_of,
};

/// A bundle that proves everything in it.
#[derive(Debug)]
pub(crate) struct Checked {
    pub(crate) manifest: Manifest,
    pub(crate) head: SignedHead,
    /// Its files, as long as this lives.
    folder: TempDir,
}

impl Checked {
    /// Its events in order.
    pub(crate) fn events(&self) -> Result<impl Iterator<Item = Result<StoredEvent, BundleError>>, BundleError> {
        let events = lines::<EventRecord>(self.folder.path(), EVENTS)?;
        Ok(events.map(|it| it.map(StoredEvent::from)))
    }

    /// The key of its text, if it came with it.
    pub(crate) fn text_key(&self) -> Result<Option<TextKey>, BundleError> {
        if !self.manifest.with_text_key {
            return Ok(None);
        }
        let wrong = || BundleError::Changed(format!("{TEXT_KEY} holds no key"));
        let file: TextKeyFile = serde_json::from_str(&text(self.folder.path(), TEXT_KEY)?).map_err(|_| wrong())?;
        let secret = hex::decode(file.key).map_err(|_| wrong())?;
        TextKey::from_secret(file.key_id, &secret).ok_or_else(wrong).map(Some)
    }
}

/// Checks a bundle with nothing but the bundle; its key must be the expected one, if there is one.
pub(crate) fn check(bundle: &Path, expected: Option<&PublicKey>) -> Result<Checked, BundleError> {
    let folder = tempfile::tempdir().map_err(|e| BundleError::File(format!("no scratch folder: {e}")))?;
    let found = pack::unpack(bundle, folder.path())?;
    let manifest = trusted_manifest(folder.path(), expected)?;
    let listed: Vec<&Listed> = manifest.names().filter_map(|name| found.get(name)).collect();
    if found.len() != listed.len() + [MANIFEST, SIGNATURE].len() {
        return Err(BundleError::Changed("there are other files in it than the manifest lists".into()));
    }
    for (listed, found) in manifest.files.iter().zip(&listed) {
        if listed != *found {
            return Err(BundleError::Changed(format!("{} is not the file that the manifest lists", found.name)));
        }
    }
    if manifest.files.len() != listed.len() {
        return Err(BundleError::Changed("the manifest does not list its files".into()));
    }
    let head = SignedHead::parse(&text(folder.path(), HEAD)?)?;
    head.check(Some(&manifest.public_key))?;
    check_events(folder.path(), &manifest, &head)?;
    Ok(Checked { manifest, head, folder })
}

fn trusted_manifest(folder: &Path, expected: Option<&PublicKey>) -> Result<Manifest, BundleError> {
    let text = text(folder, MANIFEST)?;
    let manifest: Manifest =
        serde_json::from_str(&text).map_err(|e| BundleError::Changed(format!("{MANIFEST}: {e}")))?;
    if manifest.format != FORMAT {
        let found = manifest.format;
        return Err(Refusal::OtherFormat { what: "bundle", found, known: FORMAT }.into());
    }
    if let Some(expected) = expected.filter(|it| **it != manifest.public_key) {
        return Err(Refusal::OtherKey { expected: *expected, found: manifest.public_key }.into());
    }
    let signature = signature_of(&self::text(folder, SIGNATURE)?);
    if !signature.is_some_and(|it| manifest.public_key.signed(&message(text.as_bytes()), &it)) {
        return Err(Refusal::BadSignature("manifest").into());
    }
    Ok(manifest)
}

fn check_events(folder: &Path, manifest: &Manifest, head: &SignedHead) -> Result<(), BundleError> {
    let mut batches = lines::<BatchRecord>(folder, BATCHES)?;
    let mut links: Vec<BatchLink> = Vec::new();
    let mut batch: Option<BatchRecord> = None;
    let mut ends: HashMap<StreamId, i64> = HashMap::new();
    let mut events = 0;
    let mut last = manifest.from.saturating_sub(1);
    for event in lines::<EventRecord>(folder, EVENTS)? {
        let event = event?;
        if event.position <= last || event.position > manifest.to || event.workspace_id != Some(manifest.workspace_id) {
            return Err(BundleError::Changed(format!("the event at position {} does not belong here", event.position)));
        }
        last = event.position;
        // Each batch is there because of an event, so the next event is in this batch or in the next one.
        if batch.as_ref().is_none_or(|it| event.position > it.last_position()) {
            let next = batches.next().ok_or(Refusal::OtherBatch(event.position))??;
            links.push(BatchLink::from(&next));
            batch = Some(next);
        }
        batch.as_ref().ok_or(Refusal::OtherBatch(event.position))?.check(&event)?;
        follow(&mut ends, &event, manifest.from)?;
        events += 1;
    }
    if batches.next().is_some() || manifest.to > head.position {
        return Err(BundleError::Changed("there are batches without an event, or events past the head".into()));
    }
    let found = (events, links.len() as u64, ends.len() as u64);
    if found != (manifest.events, manifest.batches, manifest.streams) {
        return Err(BundleError::Changed("there are other numbers of things in it than the manifest says".into()));
    }
    check_batches(&links, &shared_path(folder)?, head)?;
    Ok(())
}

/// A stream's events follow each other; from the first one, if the bundle holds the workspace from its beginning.
fn follow(ends: &mut HashMap<StreamId, i64>, event: &EventRecord, from: i64) -> Result<(), BundleError> {
    let stream = StreamId::new(&event.aggregate_type, &event.aggregate_id);
    let wanted = match ends.get(&stream) {
        Some(end) => end.saturating_add(1),
        None if from == 1 => 1,
        None => event.sequence,
    };
    if event.sequence != wanted {
        let found = event.sequence;
        return Err(BundleError::Changed(format!("{stream} has a gap: event {wanted} is missing before {found}")));
    }
    ends.insert(stream, event.sequence);
    Ok(())
}

fn shared_path(folder: &Path) -> Result<Vec<store::chain::Hash>, BundleError> {
    let wrong = || BundleError::Changed(format!("{PATH} holds no hashes"));
    let shared: SharedPath = serde_json::from_str(&text(folder, PATH)?).map_err(|_| wrong())?;
    let hash = |text: &String| hex::decode(text).ok().and_then(|it| it.try_into().ok()).ok_or_else(wrong);
    shared.path.iter().map(hash).collect()
}

fn text(folder: &Path, name: &str) -> Result<String, BundleError> {
    fs::read_to_string(folder.join(name)).map_err(|e| BundleError::Torn(format!("{name}: {e}")))
}

fn lines<T: DeserializeOwned>(
    folder: &Path,
    name: &'static str,
) -> Result<impl Iterator<Item = Result<T, BundleError>>, BundleError> {
    let file = File::open(folder.join(name)).map_err(|e| BundleError::Torn(format!("{name}: {e}")))?;
    Ok(BufReader::new(file).lines().map(move |line| {
        let line = line.map_err(|e| BundleError::Torn(format!("{name}: {e}")))?;
        serde_json::from_str(&line).map_err(|e| BundleError::Changed(format!("{name}: {e}")))
    }))
}
