//! Kills a server at chosen points of what it does outside: between it and the real git and tmux stands a script.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

/// Where a server dies: a program, a moment, and a pattern for its command line.
pub(crate) type Point = (&'static str, &'static str, &'static str);

/// The points that are to come, and those that have.
pub(crate) struct Tripwires {
    folder: TempDir,
    set: usize,
}

impl Tripwires {
    pub(crate) fn new() -> Self {
        let folder = tempfile::Builder::new().prefix("muster-wires-").tempdir().unwrap();
        for name in ["armed", "firing", "fired", "real"] {
            fs::create_dir(folder.path().join(name)).unwrap();
        }
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/factory/tripwire.sh");
        for program in ["git", "tmux"] {
            symlink(find(program), folder.path().join("real").join(program)).unwrap();
            // A copy, because it looks around where it lies.
            fs::copy(&script, folder.path().join(program)).unwrap();
        }
        Self { folder, set: 0 }
    }

    /// Where a server is to look for its programs.
    pub(crate) fn path(&self) -> OsString {
        let mut path = self.folder.path().as_os_str().to_owned();
        path.push(":");
        path.push(std::env::var_os("PATH").unwrap());
        path
    }

    /// Sets more points, which come in this order and after those that are set.
    pub(crate) fn arm(&mut self, points: &[Point]) {
        for (program, moment, pattern) in points {
            let name = format!("{:03} {program} {moment} {}", self.set, pattern.replace('/', "|"));
            fs::write(self.folder.path().join("draft"), format!("{program}\n{moment}\n{pattern}\n")).unwrap();
            fs::rename(self.folder.path().join("draft"), self.folder.path().join("armed").join(name)).unwrap();
            self.set += 1;
        }
    }

    /// The points that have not come yet.
    pub(crate) fn armed(&self) -> Vec<String> {
        [self.names("armed"), self.names("firing")].concat()
    }

    /// How many have come.
    pub(crate) fn fired(&self) -> usize {
        self.names("fired").len()
    }

    fn names(&self, of: &str) -> Vec<String> {
        let found = fs::read_dir(self.folder.path().join(of)).unwrap().flatten();
        let mut names: Vec<String> = found.map(|it| it.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    /// The process that outlived a server.
    pub(crate) fn outlived(&self) -> String {
        fs::read_to_string(self.folder.path().join("outlived")).unwrap().trim().to_owned()
    }
}

impl Drop for Tripwires {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("the server was still to die at {:#?}", self.armed());
        }
    }
}

/// Where a program is.
pub(crate) fn find(program: &str) -> PathBuf {
    let path = std::env::var_os("PATH").unwrap();
    let found = std::env::split_paths(&path).map(|it| it.join(program)).find(|it| it.is_file());
    found.unwrap_or_else(|| panic!("{program} is not installed"))
}
