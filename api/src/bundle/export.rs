//! Makes a bundle: events page by page into files, what proves them beside, a signed manifest over all of it.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::Path;

use chrono::{SecondsFormat, Utc};
use serde::Serialize;
use store::proof::{EventRecord, SigningKey};
use store::{EventLog, StoreError, StreamId};
use uuid::Uuid;

use super::{
    BATCHES, BundleError, CATALOGUE, Checked, EVENTS, FORMAT, HEAD, MANIFEST, Manifest, PATH, SIGNATURE, SharedPath,
    TEXT_KEY, TextKeyFile, check, message, pack,
};

/// The catalogue of events of this build.
const EVENT_CATALOGUE: &str = include_str!("../../../docs/events.md");
/// Events that are held at once.
const PAGE: usize = 2_000;

/// What goes into a bundle.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wanted {
    pub(crate) workspace_id: Uuid,
    /// The first position to look at.
    pub(crate) from: i64,
    /// The last position to look at.
    pub(crate) to: i64,
    /// Whether the key of the workspace's text goes with it.
    pub(crate) with_text_key: bool,
}

/// Writes a bundle, checks it as its reader will, and only then gives it its name.
pub(crate) async fn export(
    log: &EventLog,
    key: &SigningKey,
    wanted: Wanted,
    output: &Path,
    mut progress: impl FnMut(i64, i64),
) -> Result<Checked, BundleError> {
    let positions = log.positions_of_workspace(wanted.workspace_id, wanted.from, wanted.to).await?;
    if positions.is_empty() {
        let what = "the workspace has no events from position";
        return Err(BundleError::Nothing(format!("{what} {} to {}", wanted.from, wanted.to)));
    }
    let folder = tempfile::tempdir().map_err(|e| BundleError::File(format!("no scratch folder: {e}")))?;
    let scratch = folder.path();
    let failed = |e: io::Error| BundleError::File(format!("{}: {e}", scratch.display()));

    let mut events = BufWriter::new(File::create(scratch.join(EVENTS)).map_err(failed)?);
    let mut streams = HashSet::new();
    let mut done = 0;
    for page in positions.chunks(PAGE) {
        for event in log.read_positions_as_written(page).await? {
            streams.insert(event.stream.clone());
            line(&mut events, &EventRecord::from(event)).map_err(failed)?;
        }
        done += page.len() as i64;
        progress(done, positions.len() as i64);
    }
    events.flush().map_err(failed)?;

    let mut batches = BufWriter::new(File::create(scratch.join(BATCHES)).map_err(failed)?);
    let mut batches_written = 0;
    let proving = log.prove_batches(&positions, key, |batch| {
        batches_written += 1;
        line(&mut batches, &batch).map_err(|e| StoreError::Failed(format!("{}: {e}", scratch.display())))
    });
    let proven = proving.await?;
    batches.flush().map_err(failed)?;

    let path = SharedPath { path: proven.path.iter().map(hex::encode).collect() };
    fs::write(scratch.join(PATH), pretty(&path)?).map_err(failed)?;
    fs::write(scratch.join(HEAD), pretty(&proven.head)?).map_err(failed)?;
    fs::write(scratch.join(CATALOGUE), EVENT_CATALOGUE).map_err(failed)?;
    if wanted.with_text_key {
        let key = log.text_key_of(wanted.workspace_id).await?;
        let key = key.ok_or_else(|| BundleError::Nothing("the workspace's text is under no key".to_owned()))?;
        let file = TextKeyFile { key_id: key.key_id, key: hex::encode(key.secret()) };
        fs::write(scratch.join(TEXT_KEY), pretty(&file)?).map_err(failed)?;
    }
    let counts = Counts { events: positions.len() as u64, batches: batches_written };
    let manifest = manifest(wanted, &streams, counts, key, scratch).map_err(failed)?;
    sign(scratch, key, &manifest)?;

    let names: Vec<&str> = [MANIFEST, SIGNATURE].into_iter().chain(manifest.names()).collect();
    let beside = output.with_extension("part");
    let named = |e: io::Error| BundleError::File(format!("{}: {e}", output.display()));
    pack::pack(scratch, &names, &beside).map_err(named)?;
    let checked = check(&beside, Some(&key.public()));
    if checked.is_ok() {
        fs::rename(&beside, output).map_err(named)?;
    } else {
        let _ = fs::remove_file(&beside);
    }
    checked
}

struct Counts {
    events: u64,
    batches: u64,
}

fn manifest(
    wanted: Wanted,
    streams: &HashSet<StreamId>,
    counts: Counts,
    key: &SigningKey,
    folder: &Path,
) -> io::Result<Manifest> {
    let mut manifest = Manifest {
        format: FORMAT.to_owned(),
        workspace_id: wanted.workspace_id,
        from: wanted.from,
        to: wanted.to,
        exported_at: Utc::now().to_rfc3339_opts(SecondsFormat::Micros, true),
        events: counts.events,
        streams: streams.len() as u64,
        batches: counts.batches,
        public_key: key.public(),
        with_text_key: wanted.with_text_key,
        files: Vec::new(),
    };
    manifest.files = manifest.names().map(|name| pack::listed(folder, name)).collect::<io::Result<_>>()?;
    Ok(manifest)
}

fn sign(folder: &Path, key: &SigningKey, manifest: &Manifest) -> Result<(), BundleError> {
    let failed = |e: io::Error| BundleError::File(format!("{}: {e}", folder.display()));
    let text = pretty(manifest)?;
    let signature = hex::encode(key.sign(&message(text.as_bytes()))) + "\n";
    fs::write(folder.join(MANIFEST), &text).map_err(failed)?;
    fs::write(folder.join(SIGNATURE), signature).map_err(failed)
}

fn line(to: &mut impl Write, value: &impl Serialize) -> io::Result<()> {
    serde_json::to_writer(&mut *to, value)?;
    to.write_all(b"\n")
}

fn pretty(value: &impl Serialize) -> Result<String, BundleError> {
    let text = serde_json::to_string_pretty(value).map_err(|e| BundleError::File(e.to_string()))?;
    Ok(text + "\n")
}
