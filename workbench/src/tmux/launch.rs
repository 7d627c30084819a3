//! The file by which a command, its environment and its folder reach the launcher without showing in `ps`.

use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// Reads what [`written`] writes.
pub(super) const LAUNCHER: &str = include_str!("launcher.sh");

/// The text for the launcher.
pub(super) fn written<'a>(
    folder: &str,
    environment: impl Iterator<Item = (&'a str, &'a str)>,
    argv: &[String],
) -> String {
    let mut text = entry("cd", "-", folder);
    for (name, value) in environment {
        text.push_str(&entry("env", name, value));
    }
    for word in argv {
        text.push_str(&entry("arg", "-", word));
    }
    text
}

fn entry(kind: &str, name: &str, value: &str) -> String {
    format!("{kind}\n{name}\n{}\n{value}\n", value.split('\n').count())
}

/// Writes a file that only we can read, whole or not at all.
pub(super) fn write_private(file: &Path, text: &str) -> io::Result<()> {
    let draft = file.with_extension("draft");
    match fs::remove_file(&draft) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut out = File::options().write(true).create_new(true).mode(0o600).open(&draft)?;
    out.write_all(text.as_bytes())?;
    drop(out);
    fs::rename(&draft, file)
}
