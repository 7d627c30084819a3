//! A message on the desktop of whoever runs this node.

use std::ffi::OsStr;

use super::{AlertError, Alerts};

impl Alerts {
    /// Shows a message by `notify-send`. Other systems than Linux are not served.
    pub async fn desktop(&self, title: &str, message: &str) -> Result<(), AlertError> {
        // No argument can hold a zero byte, and `notify-send` reads escapes in the message.
        let (title, message) = (title.replace('\0', ""), message.replace('\0', "").replace('\\', "\\\\"));
        let args = ["--app-name=Muster", "--", &title, &message].map(OsStr::new);
        match self.run("notify-send", &args).await? {
            None => Err(AlertError::Missing("notify-send (libnotify-bin)")),
            Some(it) if it.succeeded() => Ok(()),
            Some(it) => Err(AlertError::Failed { program: "notify-send".to_owned(), stderr: it.stderr }),
        }
    }
}
