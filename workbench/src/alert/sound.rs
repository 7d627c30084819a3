//! A sound on the machine of whoever runs this node.

use std::ffi::OsStr;
use std::path::Path;

use super::{AlertError, Alerts};
use crate::child::ChildError;

impl Alerts {
    /// Plays a file by `paplay`, or by `aplay` where that is missing or fails; what is too long is cut off.
    pub async fn sound(&self, file: &Path) -> Result<(), AlertError> {
        if !file.is_file() {
            return Err(AlertError::NoSuchFile);
        }
        // An absolute path cannot pass for an option.
        let file = std::path::absolute(file).map_err(|_| AlertError::NoSuchFile)?;
        let mut failure = AlertError::Missing("paplay (pulseaudio-utils) or aplay (alsa-utils)");
        for program in ["paplay", "aplay"] {
            match self.run(program, &[OsStr::new("--"), file.as_os_str()]).await {
                Ok(None) => {}
                Ok(Some(it)) if it.succeeded() => return Ok(()),
                Ok(Some(it)) => {
                    let stderr = it.stderr.replace(&*file.to_string_lossy(), "the file");
                    failure = AlertError::Failed { program: program.to_owned(), stderr };
                }
                // It was heard.
                Err(error @ ChildError::TimedOut { .. }) => return Err(error.into()),
                Err(error) => failure = error.into(),
            }
        }
        Err(failure)
    }
}
