//! A backup is a folder with one file that has everything, and a manifest that says what must be in it.

use std::fs::{self, File, Permissions};
use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::TransferError;
use super::copy::{Life, carry, prove};
use super::source::{Snapshot, blocking};
use super::target::Target;
use crate::{Location, StoreError};

const MANIFEST: &str = "manifest.json";
const LOG: &str = "log.db";
const LOCK: &str = "muster.lock";
const FORMAT: &str = "muster backup 1";

/// What a backup must hold. It is written last: a folder without one is no backup.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Manifest {
    /// The form of the folder.
    pub format: String,
    /// Which muster made it.
    pub muster: String,
    /// When it was made.
    pub created_at: String,
    /// Which life of the log it was.
    pub epoch: i64,
    /// The newest position in it.
    pub position: i64,
    /// When that was recorded, in microseconds since 1970.
    pub recorded_at: i64,
    /// The link there, in hex.
    pub link: String,
    /// Rows beside the log.
    pub rows: i64,
    /// The size of the file.
    pub bytes: u64,
    /// The SHA-256 of the file, in hex.
    pub sha256: String,
}

/// What a backup came to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BackupReport {
    /// What is in the folder.
    #[serde(flatten)]
    pub manifest: Manifest,
}

/// What a restore came to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RestoreReport {
    /// Events restored.
    pub events: i64,
    /// Rows beside the log.
    pub rows: i64,
    /// The link at the end, in hex.
    pub link: String,
    /// The life that the log had when the backup was made.
    pub former_epoch: i64,
    /// The life that it has now.
    pub epoch: i64,
}

/// Writes a backup of a log that may be in use into a folder of its own, and reads it back to prove it.
pub async fn backup(
    from: &Location,
    folder: &Path,
    progress: impl FnMut(i64, i64),
) -> Result<BackupReport, TransferError> {
    let mut source = Snapshot::open(from).await?;
    check_folder(folder)?;
    let mut target = Target::open(&Location::Sqlite(folder.to_path_buf())).await?;
    let report = carry(&mut source, &mut target, Life::Goes, progress).await?;
    target.close_as_one_file()?;
    let path = folder.join(LOG);
    prove(&mut Snapshot::open_still(&path).await?, &source.head).await?;
    let (bytes, sha256) = digest(&path).await?;
    let manifest = Manifest {
        format: FORMAT.to_owned(),
        muster: env!("CARGO_PKG_VERSION").to_owned(),
        created_at: chrono::Utc::now().to_rfc3339_opts(chrono::SecondsFormat::Secs, true),
        epoch: source.head.epoch,
        position: source.head.position,
        recorded_at: source.head.recorded_at,
        link: hex::encode(source.head.link),
        rows: report.rows,
        bytes,
        sha256,
    };
    let failed = |e: std::io::Error| TransferError::File(format!("{}: {e}", folder.display()));
    write_manifest(folder, &manifest).map_err(failed)?;
    Ok(BackupReport { manifest })
}

/// Brings a backup into an empty store, as a new life of the log: cursors of the former one are refused.
pub async fn restore(
    folder: &Path,
    to: &Location,
    progress: impl FnMut(i64, i64),
) -> Result<RestoreReport, TransferError> {
    let manifest = read_manifest(folder)?;
    let path = folder.join(LOG);
    let broken = |what: &str| TransferError::Broken(format!("{}: {what}", path.display()));
    if !path.exists() {
        return Err(broken("the file of the backup is missing"));
    }
    let (bytes, sha256) = digest(&path).await?;
    if (bytes, &sha256) != (manifest.bytes, &manifest.sha256) {
        return Err(broken("this is not the file that the manifest names: the backup is torn or was changed"));
    }
    let mut source = Snapshot::open_still(&path).await?;
    if (source.head.position, hex::encode(source.head.link)) != (manifest.position, manifest.link) {
        return Err(broken("the log in it is not the one that the manifest names"));
    }
    let mut target = Target::open(to).await?;
    if !target.is_unfinished() && !target.is_empty().await? {
        let what = "a backup is restored into an empty store, and there is something in this one";
        return Err(TransferError::Refused(format!("{}: {what}", target.place)));
    }
    let report = carry(&mut source, &mut target, Life::Begins, progress).await?;
    drop(target);
    prove(&mut Snapshot::open(to).await?, &source.head).await?;
    Ok(RestoreReport {
        events: report.position,
        rows: report.rows,
        link: report.link,
        former_epoch: manifest.epoch,
        epoch: report.epoch,
    })
}

/// A backup is never written over anything but a backup that did not end.
fn check_folder(folder: &Path) -> Result<(), TransferError> {
    let refused = |what: &str| TransferError::Refused(format!("{}: {what}", folder.display()));
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(TransferError::File(format!("{}: {error}", folder.display()))),
    };
    for entry in entries {
        let entry = entry.map_err(|e| TransferError::File(format!("{}: {e}", folder.display())))?;
        match entry.file_name().to_str() {
            Some(MANIFEST) => return Err(refused("there is a backup in this folder already")),
            Some(LOG | "log.db-wal" | "log.db-shm" | "log.db-journal" | LOCK) => {}
            _ => return Err(refused("a backup needs a folder of its own, and this one has other things in it")),
        }
    }
    Ok(())
}

fn read_manifest(folder: &Path) -> Result<Manifest, TransferError> {
    let path = folder.join(MANIFEST);
    let broken = |what: String| TransferError::Broken(format!("{}: {what}", path.display()));
    let text = match fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Err(broken("there is no manifest: this is no backup, or one that did not end".to_owned()));
        }
        Err(error) => return Err(TransferError::File(format!("{}: {error}", path.display()))),
    };
    let manifest: Manifest =
        serde_json::from_str(&text).map_err(|e| broken(format!("this is no whole manifest: {e}")))?;
    if manifest.format == FORMAT {
        return Ok(manifest);
    }
    Err(broken(format!("the backup has the form {:?}, and this muster reads {FORMAT:?}", manifest.format)))
}

/// The manifest appears whole or not at all, and only once everything it names is on the disk.
fn write_manifest(folder: &Path, manifest: &Manifest) -> std::io::Result<()> {
    let log = File::open(folder.join(LOG))?;
    // It holds password hashes and secrets, whatever the folder lets others see.
    log.set_permissions(Permissions::from_mode(0o600))?;
    log.sync_all()?;
    let unfinished = folder.join("manifest.json.new");
    let mut file = File::create(&unfinished)?;
    file.write_all(serde_json::to_string_pretty(manifest)?.as_bytes())?;
    file.write_all(b"\n")?;
    file.sync_all()?;
    fs::rename(&unfinished, folder.join(MANIFEST))?;
    let _ = fs::remove_file(folder.join(LOCK));
    File::open(folder)?.sync_all()
}

async fn digest(path: &Path) -> Result<(u64, String), StoreError> {
    let path = path.to_path_buf();
    let work = move || {
        let failed = |e: std::io::Error| StoreError::Failed(format!("{}: {e}", path.display()));
        let mut file = File::open(&path).map_err(failed)?;
        let (mut hasher, mut bytes, mut buffer) = (Sha256::new(), 0, vec![0; 1 << 20]);
        loop {
            let read = file.read(&mut buffer).map_err(failed)?;
            if read == 0 {
                return Ok((bytes, hex::encode(hasher.finalize())));
            }
            hasher.update(&buffer[..read]);
            bytes += read as u64;
        }
    };
    blocking(work).await
}
