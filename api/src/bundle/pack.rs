//! Files into one compressed archive and back, hashed on the way; an archive can only bring the files it should.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::path::Path;

use sha2::{Digest, Sha256};

use super::{BundleError, FILES, Listed, MANIFEST, SIGNATURE};

/// How hard zstd tries; more costs much time for little.
const LEVEL: i32 = 9;

/// Packs the named files of a folder into an archive.
pub(super) fn pack(folder: &Path, names: &[&str], archive: &Path) -> io::Result<()> {
    let compressed = zstd::Encoder::new(BufWriter::new(File::create(archive)?), LEVEL)?;
    let mut tar = tar::Builder::new(compressed);
    for name in names {
        let mut file = File::open(folder.join(name))?;
        let mut header = tar::Header::new_gnu();
        header.set_size(file.metadata()?.len());
        header.set_mode(0o600);
        tar.append_data(&mut header, name, &mut file)?;
    }
    let mut out = tar.into_inner()?.finish()?;
    out.flush()?;
    out.get_ref().sync_all()
}

/// Unpacks an archive into a folder and says what came.
pub(super) fn unpack(archive: &Path, folder: &Path) -> Result<BTreeMap<String, Listed>, BundleError> {
    let file = File::open(archive).map_err(|e| BundleError::File(format!("{}: {e}", archive.display())))?;
    let compressed = zstd::Decoder::new(BufReader::new(file)).map_err(torn)?;
    let mut tar = tar::Archive::new(compressed);
    let mut found = BTreeMap::new();
    for entry in tar.entries().map_err(torn)? {
        let mut entry = entry.map_err(torn)?;
        let name = entry.path().map_err(torn)?.display().to_string();
        let known = FILES.contains(&name.as_str()) || name == MANIFEST || name == SIGNATURE;
        if !known || !entry.header().entry_type().is_file() {
            return Err(BundleError::Changed(format!("{name:?} is no part of a bundle")));
        }
        let listed = copy(&mut entry, &folder.join(&name), &name)?;
        if found.insert(name.clone(), listed).is_some() {
            return Err(BundleError::Changed(format!("{name} is in it twice")));
        }
    }
    // To the very end: a tail that is cut off shows only there.
    io::copy(&mut tar.into_inner(), &mut io::sink()).map_err(torn)?;
    for name in FILES.iter().chain(&[MANIFEST, SIGNATURE]) {
        if !found.contains_key(*name) {
            return Err(BundleError::Torn(format!("{name} is missing")));
        }
    }
    Ok(found)
}

/// The size and hash of a file.
pub(super) fn listed(folder: &Path, name: &str) -> io::Result<Listed> {
    let mut file = File::open(folder.join(name))?;
    let mut hashing = Hashing { to: io::sink(), hasher: Sha256::new(), bytes: 0 };
    io::copy(&mut file, &mut hashing)?;
    Ok(hashing.listed(name))
}

fn copy(from: &mut impl Read, file: &Path, name: &str) -> Result<Listed, BundleError> {
    let to = File::create(file).map_err(|e| BundleError::File(format!("{}: {e}", file.display())))?;
    let mut hashing = Hashing { to: BufWriter::new(to), hasher: Sha256::new(), bytes: 0 };
    io::copy(from, &mut hashing).map_err(torn)?;
    hashing.flush().map_err(|e| BundleError::File(format!("{}: {e}", file.display())))?;
    Ok(hashing.listed(name))
}

struct Hashing<W> {
    to: W,
    hasher: Sha256,
    bytes: u64,
}

impl<W> Hashing<W> {
    fn listed(self, name: &str) -> Listed {
        let sha256 = hex::encode(self.hasher.finalize());
        Listed { name: name.to_owned(), bytes: self.bytes, sha256 }
    }
}

impl<W: Write> Write for Hashing<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.to.write(bytes)?;
        self.hasher.update(&bytes[..written]);
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

fn torn(error: io::Error) -> BundleError {
    BundleError::Torn(error.to_string())
}
