//! Files into one compressed archive and back, hashed on the way; an archive can only bring the files it should.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::path::Path;

use sha2::{Digest, Sha256};

use super::{BundleError, FILES, Listed, MANIFEST, SIGNATURE, TEXT_KEY};

/// How hard zstd tries; more costs much time for little.
const LEVEL: i32 = 9;
/// So many times its size an archive may unpack to: events are JSON and shrink to a tenth or a twentieth, and what
/// shrinks far more was made to fill a disk.
const SWELLS: u64 = 1_000;
/// What even the smallest archive may unpack to.
const SMALL: u64 = 16 << 20;

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
    let cannot = |e: io::Error| BundleError::File(format!("{}: {e}", archive.display()));
    let file = File::open(archive).map_err(cannot)?;
    let limit = SMALL.saturating_add(file.metadata().map_err(cannot)?.len().saturating_mul(SWELLS));
    let compressed = zstd::Decoder::new(BufReader::new(file)).map_err(torn)?;
    let mut tar = tar::Archive::new(Bounded { from: compressed, left: limit });
    let mut found = BTreeMap::new();
    for entry in tar.entries().map_err(torn)? {
        let mut entry = entry.map_err(torn)?;
        let name = entry.path().map_err(torn)?.display().to_string();
        let known = FILES.contains(&name.as_str()) || [MANIFEST, SIGNATURE, TEXT_KEY].contains(&name.as_str());
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

/// Reads so much and no more.
struct Bounded<R> {
    from: R,
    left: u64,
}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.from.read(into)?;
        self.left = self
            .left
            .checked_sub(read as u64)
            .ok_or_else(|| io::Error::other("it unpacks to more than any bundle of its size"))?;
        Ok(read)
    }
}

fn torn(error: io::Error) -> BundleError {
    BundleError::Torn(error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_archive_that_was_made_to_fill_a_disk_is_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let archive = folder.path().join("bomb.tar.zst");
        let file = File::create(&archive).expect("an archive");
        let mut tar = tar::Builder::new(zstd::Encoder::new(file, 19).expect("zstd"));
        let mut header = tar::Header::new_gnu();
        header.set_size(256 << 20);
        tar.append_data(&mut header, FILES[0], io::repeat(b' ').take(256 << 20)).expect("zeros");
        tar.into_inner().expect("a tar").finish().expect("an end");
        let refused = unpack(&archive, folder.path()).expect_err("a bomb");
        assert!(matches!(&refused, BundleError::Torn(why) if why.contains("more than any bundle")), "{refused}");
        let written = std::fs::metadata(folder.path().join(FILES[0])).expect("what came before it was refused").len();
        assert!(written < 64 << 20, "{written}");
    }
}
