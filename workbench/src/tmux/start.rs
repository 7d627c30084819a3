//! Starts a command in a session of its own.

use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use super::launch::{LAUNCHER, write_private, written};
use super::{FOLDER_VARIABLE, Life, MARK, Session, Tmux, TmuxError};

/// Started by tmux through its shell-less form; fixed but for the name and the mark, which come as arguments.
const FIRST_PROCESS: &str = "exec /bin/sh \"$MUSTER_TMUX/launcher.sh\" \"$0\" \"$1\"";
/// Of the terminal's past; what is older is in the log.
const HISTORY_LINES: &str = "10000";
/// Of the log, in the 512-byte blocks that `ulimit -f` counts: 64 MiB.
pub(super) const MOST_LOG_BLOCKS: u64 = 131_072;

/// What to start.
#[derive(Debug, Clone, Copy)]
pub struct Start<'a> {
    /// The session's name.
    pub session: &'a Session,
    /// Where to work.
    pub folder: &'a Path,
    /// What to add to `PATH`, `HOME` and the like; nothing else of our own environment is passed on.
    pub environment: &'a [(String, String)],
    /// The program and its arguments.
    pub argv: &'a [String],
    /// Everything it says is added here, as it was said, up to 64 MiB.
    pub log_file: &'a Path,
    /// Whether a session of that name is killed first, dead or alive.
    pub replace: bool,
}

/// What a start did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Started {
    /// The command runs.
    New,
    /// A session of that name was there, and was left alone.
    WasThere(Life),
}

impl Tmux {
    /// Starts a command, unless a session of that name is there and may stay.
    pub async fn start(&self, start: &Start<'_>) -> Result<Started, TmuxError> {
        check(start)?;
        match self.alive(start.session).await? {
            Life::Absent if !start.replace => {}
            // Also without a session: the one that wrote our files may have left processes behind.
            _ if start.replace => self.kill(start.session).await?,
            there => return Ok(Started::WasThere(there)),
        }
        let mark = self.prepare(start)?;
        let started = self.new_session(start.session, &mark).await;
        if !matches!(started, Ok(Started::New)) {
            // There are secrets in it, and nobody is going to read it.
            let _ = fs::remove_file(self.file(start.session, "launch"));
        }
        started
    }

    /// Writes what the launcher reads; returns the mark of this launch, which no other has.
    fn prepare(&self, start: &Start<'_>) -> Result<String, TmuxError> {
        let in_file = |path: &Path, source| TmuxError::Io { path: path.to_path_buf(), source };
        File::options().append(true).create(true).open(start.log_file).map_err(|it| in_file(start.log_file, it))?;
        let (link, target) = (self.file(start.session, "log"), std::path::absolute(start.log_file));
        replace_link(&target.map_err(|it| in_file(start.log_file, it))?, &link).map_err(|it| in_file(&link, it))?;
        let launcher = self.folder.join("launcher.sh");
        if fs::read_to_string(&launcher).ok().as_deref() != Some(LAUNCHER) {
            write_private(&launcher, LAUNCHER).map_err(|it| in_file(&launcher, it))?;
        }
        let nanos = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |it| it.as_nanos());
        let mark = format!("{}-{}-{nanos}", start.session.as_str(), std::process::id());
        let mark_file = self.file(start.session, "mark");
        write_private(&mark_file, &mark).map_err(|it| in_file(&mark_file, it))?;
        let environment = start.environment.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        let environment = environment.chain([(MARK, mark.as_str())]);
        let text = written(&start.folder.to_string_lossy(), environment, start.argv);
        let launch = self.file(start.session, "launch");
        write_private(&launch, &text).map_err(|it| in_file(&launch, it))?;
        Ok(mark)
    }

    async fn new_session(&self, session: &Session, mark: &str) -> Result<Started, TmuxError> {
        let (name, target) = (session.as_str(), session.target());
        let log = format!("ulimit -f {MOST_LOG_BLOCKS}; exec cat >>\"${FOLDER_VARIABLE}/{name}.log\"");
        // One sequence, so that the command cannot say or end anything before we listen.
        let sequence: Vec<&str> = [
            &["set-option", "-g", "remain-on-exit", "on", ";"][..],
            &["set-option", "-gq", "remain-on-exit-format", "", ";"],
            &["set-option", "-g", "history-limit", HISTORY_LINES, ";"],
            &["set-option", "-g", "status", "off", ";"],
            &["new-session", "-d", "-s", name, "-x", "200", "-y", "50"],
            &["/bin/sh", "-c", FIRST_PROCESS, name, mark, ";"],
            &["pipe-pane", "-t", &target, &log],
        ]
        .concat();
        let mut args = vec!["start-server", ";"];
        args.extend(&sequence);
        let finished = self.run(&args).await?;
        if finished.succeeded() {
            return Ok(Started::New);
        }
        if finished.stderr.contains("duplicate session") {
            return Ok(Started::WasThere(self.alive(session).await?));
        }
        Err(TmuxError::Failed { command: "new-session".to_owned(), stderr: finished.stderr })
    }
}

fn check(start: &Start<'_>) -> Result<(), TmuxError> {
    let program = start.argv.first().is_some_and(|it| !it.is_empty());
    if !program || start.argv.iter().any(|it| it.contains('\0')) {
        return Err(TmuxError::BadCommand);
    }
    let is_name = |name: &str| {
        let letters = |it: u8| it.is_ascii_alphanumeric() || it == b'_';
        let begins_well = name.bytes().next().is_some_and(|it| !it.is_ascii_digit());
        // The launcher's own are not to be changed under it.
        name.bytes().all(letters) && begins_well && name != "IFS" && !name.starts_with("_muster_")
    };
    if let Some((name, _)) = start.environment.iter().find(|(name, value)| !is_name(name) || value.contains('\0')) {
        return Err(TmuxError::BadVariable(name.clone()));
    }
    if !start.folder.is_dir() || start.folder.to_str().is_none() {
        return Err(TmuxError::NoSuchFolder(start.folder.to_path_buf()));
    }
    Ok(())
}

fn replace_link(target: &Path, link: &Path) -> io::Result<()> {
    match fs::remove_file(link) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    std::os::unix::fs::symlink(target, link)
}
