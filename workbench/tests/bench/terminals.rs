//! Commands run in terminals, say things, end, and can be read afterwards; nobody sees their secrets.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::time::SystemTime;

use tempfile::TempDir;
use workbench::tmux::{Life, Session, Start, Started, Tmux, TmuxError};

use crate::fixture::until;

/// A tmux of its own, which ends with the test.
pub(crate) struct Terminals {
    pub(crate) folder: TempDir,
    pub(crate) tmux: Tmux,
}

impl Terminals {
    pub(crate) fn new() -> Self {
        let folder = tempfile::Builder::new().prefix("t'\"; $x ").tempdir().unwrap();
        let tmux = Tmux::new(folder.path().join("so#{c} %k")).unwrap();
        Self { folder, tmux }
    }

    pub(crate) fn log(&self, name: &str) -> PathBuf {
        self.folder.path().join(format!("log of '{name}' #{{x}} %H.txt"))
    }

    pub(crate) async fn start(&self, name: &str, script: &str) -> Session {
        let session = Session::new(name).unwrap();
        let started = self.try_start(&session, &[], &["sh", "-c", script], true).await;
        assert_eq!(started.unwrap(), Started::New);
        session
    }

    pub(crate) async fn try_start(
        &self,
        session: &Session,
        environment: &[(&str, &str)],
        argv: &[&str],
        replace: bool,
    ) -> Result<Started, TmuxError> {
        let environment: Vec<_> = environment.iter().map(|it| (it.0.to_owned(), it.1.to_owned())).collect();
        let argv: Vec<String> = argv.iter().map(|it| (*it).to_owned()).collect();
        let log_file = self.log(session.as_str());
        let folder = self.folder.path();
        let start = Start { session, folder, environment: &environment, argv: &argv, log_file: &log_file, replace };
        self.tmux.start(&start).await
    }

    /// What somebody else says to the same tmux.
    pub(crate) fn by_hand(&self, args: &[&str]) -> std::process::Output {
        let socket = self.folder.path().join("so#{c} %k");
        std::process::Command::new("tmux").arg("-S").arg(socket).args(args).output().unwrap()
    }

    pub(crate) async fn until_ended(&self, session: &Session) -> Life {
        until("the command has ended", async || matches!(self.tmux.alive(session).await.unwrap(), Life::Ended { .. }))
            .await;
        self.tmux.alive(session).await.unwrap()
    }
}

impl Drop for Terminals {
    fn drop(&mut self) {
        self.by_hand(&["kill-server"]);
    }
}

#[tokio::test]
async fn tmux_is_there_or_said_to_be_missing() {
    let terminals = Terminals::new();
    assert!(terminals.tmux.is_there().await.unwrap().starts_with("tmux "));
    let none = Tmux::with_program("/no/such/tmux", terminals.folder.path().join("s")).unwrap();
    assert!(matches!(none.is_there().await, Err(TmuxError::TmuxMissing)));
    assert!(matches!(none.list().await, Err(TmuxError::TmuxMissing)));
    let far = terminals.folder.path().join("x".repeat(120));
    assert!(matches!(Tmux::new(far), Err(TmuxError::SocketTooLong(_))));
}

#[tokio::test]
async fn what_a_command_says_is_read_while_it_runs_and_after_its_end() {
    let terminals = Terminals::new();
    let tmux = &terminals.tmux;
    let before = SystemTime::now() - std::time::Duration::from_secs(2);
    let session =
        terminals.start("a-1", "printf 'erste Zeile: ä\\n'; for i in 1 2 3; do echo $i; done; read x; exit 3").await;
    until("it has spoken", async || tmux.output(&session, 10).await.unwrap().ends_with("2\n3")).await;
    assert_eq!(tmux.output(&session, 100).await.unwrap(), "erste Zeile: ä\n1\n2\n3");
    assert_eq!(tmux.output(&session, 2).await.unwrap(), "2\n3");
    assert!(matches!(tmux.alive(&session).await.unwrap(), Life::Running { pid } if pid > 1));
    until("the log has it", async || tmux.last_output_at(&session).await.unwrap().is_some()).await;
    assert!(tmux.last_output_at(&session).await.unwrap().unwrap() > before);
    assert_eq!(tmux.list().await.unwrap(), vec![session.clone()]);
    // Somebody at the keyboard; the driver itself never types.
    assert!(terminals.by_hand(&["send-keys", "-t", "a-1", "Enter"]).status.success());
    assert_eq!(terminals.until_ended(&session).await, Life::Ended { status: Some(3), signal: None });
    assert!(tmux.output(&session, 100).await.unwrap().starts_with("erste Zeile: ä\n1\n2\n3"));
    tmux.kill(&session).await.unwrap();
    assert_eq!(tmux.alive(&session).await.unwrap(), Life::Absent);
    let after = tmux.output(&session, 100).await.unwrap();
    assert!(after.starts_with("erste Zeile: ä\n1\n2\n3"), "from the log: {after:?}");
    assert!(fs::read_to_string(terminals.log("a-1")).unwrap().contains("erste Zeile"));
    tmux.kill(&session).await.unwrap();
    assert_eq!(tmux.list().await.unwrap(), []);
}

#[tokio::test]
async fn words_and_variables_arrive_exactly() {
    let terminals = Terminals::new();
    let session = Session::new("exact").unwrap();
    let values =
        ["", "a b", "it's \"$HOME\" `x` \\n ;", "two\nlines\n", "-n", ";", "\\;", "ü#{x}%H", "  edges  ", "\n"];
    let script = "import os,sys; open('seen','w').write(repr((sys.argv[1:], [os.environ['V%d' % i] for i in range(10)], os.getcwd(), 'TMUX' in os.environ, 'MUSTER_TMUX' in os.environ)))";
    let names: Vec<String> = (0..values.len()).map(|it| format!("V{it}")).collect();
    let environment: Vec<(&str, &str)> = names.iter().map(String::as_str).zip(values).collect();
    let argv = [&["python3", "-c", script][..], &values].concat();
    terminals.try_start(&session, &environment, &argv, false).await.unwrap();
    assert_eq!(terminals.until_ended(&session).await, Life::Ended { status: Some(0), signal: None });
    let check = "import ast,sys,os; a,e,w,t,m = ast.literal_eval(open('seen').read()); v = sys.argv[1:]; sys.exit(0 if (a == v and e == v and w == os.getcwd() and not t and not m) else repr((a,e,w,t,m)))";
    let output = std::process::Command::new("python3")
        .args(["-c", check])
        .args(values)
        .current_dir(terminals.folder.path())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[tokio::test]
async fn secrets_show_in_no_command_line_and_in_no_file() {
    let terminals = Terminals::new();
    let session = Session::new("secret").unwrap();
    let secret = format!("s3cret-{}", std::process::id());
    let environment = [("KEY", secret.as_str())];
    terminals
        .try_start(&session, &environment, &["sh", "-c", "test -n \"$KEY\" && echo ready; read x"], false)
        .await
        .unwrap();
    let shown = |secret: &str| {
        let lines = fs::read_dir("/proc").unwrap().flatten().filter_map(|it| fs::read(it.path().join("cmdline")).ok());
        lines.filter(|it| it.windows(secret.len()).any(|part| part == secret.as_bytes())).count()
    };
    // Looks all the time until it runs, and once more after that.
    until("it runs", async || {
        assert_eq!(shown(&secret), 0);
        terminals.tmux.output(&session, 5).await.unwrap().contains("ready")
    })
    .await;
    assert_eq!(shown(&secret), 0);
    let folder = terminals.folder.path().join("so#{c} %k.d");
    assert_eq!(fs::metadata(&folder).unwrap().permissions().mode() & 0o777, 0o700);
    for file in fs::read_dir(&folder).unwrap().flatten() {
        let text = fs::read_to_string(file.path()).unwrap_or_default();
        assert!(!text.contains(&secret), "{:?}", file.path());
    }
    let known = terminals.by_hand(&["show-environment", "-g"]);
    assert!(!String::from_utf8_lossy(&known.stdout).contains(&secret));
}

#[tokio::test]
async fn a_session_that_is_there_stays_unless_it_is_to_be_replaced() {
    let terminals = Terminals::new();
    let session = terminals.start("one", "echo first; read x").await;
    let Life::Running { pid } = terminals.tmux.alive(&session).await.unwrap() else { panic!("not running") };
    let kept = terminals.try_start(&session, &[], &["true"], false).await.unwrap();
    assert_eq!(kept, Started::WasThere(Life::Running { pid }));
    // A name that only begins alike is another session.
    let longer = terminals.start("one-more", "read x").await;
    assert_eq!(
        terminals.try_start(&session, &[], &["sh", "-c", "echo second; read x"], true).await.unwrap(),
        Started::New
    );
    let Life::Running { pid: new } = terminals.tmux.alive(&session).await.unwrap() else { panic!("not running") };
    assert_ne!(pid, new);
    terminals.tmux.kill(&session).await.unwrap();
    assert!(matches!(terminals.tmux.alive(&longer).await.unwrap(), Life::Running { .. }));
    assert_eq!(terminals.tmux.alive(&session).await.unwrap(), Life::Absent);
}

#[tokio::test]
async fn the_first_word_is_never_lost() {
    let terminals = Terminals::new();
    let mut sessions = Vec::new();
    for turn in 0..20 {
        sessions.push(terminals.start(&format!("quick-{turn}"), &format!("echo word {turn}")).await);
    }
    for (turn, session) in sessions.iter().enumerate() {
        assert_eq!(terminals.until_ended(session).await, Life::Ended { status: Some(0), signal: None });
        let (word, log) = (format!("word {turn}"), terminals.log(session.as_str()));
        until("the terminal shows it", async || terminals.tmux.output(session, 5).await.unwrap() == word).await;
        until("the log has it too", async || fs::read_to_string(&log).unwrap().contains(&word)).await;
    }
}

#[tokio::test]
async fn however_many_end_at_once_each_says_how() {
    let terminals = Terminals::new();
    let mut sessions = Vec::new();
    for code in 0..12 {
        sessions.push(
            terminals
                .start(&format!("end-{code}"), &format!("until [ -e go ]; do sleep 0.05; done; exit {code}"))
                .await,
        );
    }
    // While tmux notes one terminal's end, it hears of no other.
    fs::write(terminals.folder.path().join("go"), "").unwrap();
    for (code, session) in (0..).zip(&sessions) {
        assert_eq!(terminals.until_ended(session).await, Life::Ended { status: Some(code), signal: None });
    }
}

#[tokio::test]
async fn a_command_that_has_let_go_of_its_terminal_still_runs() {
    let terminals = Terminals::new();
    let script = "exec <&- >&- 2>&-; : >closed; until [ -e go ]; do sleep 0.01; done; exit 7";
    let session = terminals.start("quiet", script).await;
    until("it has let go", async || terminals.folder.path().join("closed").exists()).await;
    assert!(matches!(terminals.tmux.alive(&session).await.unwrap(), Life::Running { pid } if pid > 1));
    fs::write(terminals.folder.path().join("go"), "").unwrap();
    assert_eq!(terminals.until_ended(&session).await, Life::Ended { status: Some(7), signal: None });
}

#[tokio::test]
async fn a_code_of_a_shell_names_the_signal_and_no_signal_is_named_on_the_terminal() {
    let terminals = Terminals::new();
    for (name, script) in
        [("killed", "echo a; kill -KILL $$"), ("told", "echo a; sh -c 'kill -KILL $$' 2>/dev/null; exit 137")]
    {
        let session = terminals.start(name, script).await;
        assert_eq!(terminals.until_ended(&session).await, Life::Ended { status: None, signal: Some(9) });
        until("it has spoken", async || !terminals.tmux.output(&session, 5).await.unwrap().is_empty()).await;
        assert_eq!(terminals.tmux.output(&session, 5).await.unwrap(), "a");
    }
}

#[tokio::test]
async fn a_session_whose_first_process_was_killed_has_ended() {
    let terminals = Terminals::new();
    let session = terminals.start("orphan", "sleep 1000").await;
    let Life::Running { pid } = terminals.tmux.alive(&session).await.unwrap() else { panic!("not running") };
    assert!(std::process::Command::new("kill").args(["-KILL", &pid.to_string()]).status().unwrap().success());
    terminals.until_ended(&session).await;
}

#[tokio::test]
async fn what_cannot_work_is_refused_before_anything_is_started() {
    let terminals = Terminals::new();
    for name in ["", "a.b", "a:b", "-a", "a b", "ä", "a/b", "$(x)"] {
        assert!(matches!(Session::new(name), Err(TmuxError::BadName(_))), "{name:?}");
    }
    let session = Session::new("x").unwrap();
    for argv in [&[][..], &[""], &["a\0"]] {
        let refused = terminals.try_start(&session, &[], argv, false).await;
        assert!(matches!(refused, Err(TmuxError::BadCommand)), "{refused:?}");
    }
    for name in ["", "A B", "1A", "A=B", "IFS", "_muster_name", "é"] {
        let refused = terminals.try_start(&session, &[(name, "x")], &["true"], false).await;
        assert!(matches!(refused, Err(TmuxError::BadVariable(_))), "{refused:?}");
    }
    assert_eq!(terminals.tmux.list().await.unwrap(), []);
    assert!(matches!(terminals.tmux.output(&session, 5).await, Err(TmuxError::NoSuchSession(_))));
    assert_eq!(terminals.tmux.last_output_at(&session).await.unwrap(), None);
    let missing = terminals.try_start(&session, &[], &["/no/such/program"], false).await;
    assert_eq!(missing.unwrap(), Started::New);
    assert_eq!(terminals.until_ended(&session).await, Life::Ended { status: Some(127), signal: None });
}
