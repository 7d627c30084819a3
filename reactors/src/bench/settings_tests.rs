//! What a bench file may say, and how what it may not is told.

use std::fs;

use domain::post::Permissions;

use super::*;

/// A folder with a repository in it, and the bench that a file there describes.
struct Ground(tempfile::TempDir);

impl Ground {
    fn new() -> Self {
        let ground = tempfile::tempdir().expect("a folder");
        fs::create_dir_all(ground.path().join("shop/.git")).expect("a folder");
        Self(ground)
    }

    fn read(&self, file: &str, variables: &[(&str, &str)]) -> Result<Option<BenchSettings>, BadSetting> {
        let path = self.0.path().join("bench.toml");
        let file = file.replace("{ground}", &self.0.path().display().to_string());
        fs::write(&path, file).expect("a file");
        let value = |name: &str| variables.iter().find(|it| it.0 == name).map(|it| it.1.to_owned());
        BenchSettings::read(Some(&path), value, self.0.path())
    }

    fn refusal(&self, file: &str) -> String {
        self.read(file, &[]).expect_err("a refusal").to_string()
    }
}

const SMALL: &str = r#"[projects."acme/shop"]
repository = "{ground}/shop""#;

#[test]
fn a_small_file_is_enough() {
    let ground = Ground::new();
    let bench = ground.read(SMALL, &[]).expect("settings").expect("a bench");
    assert_eq!(bench.name.as_ref(), "main");
    assert_eq!(bench.rules, HealthRules::default());
    assert_eq!(bench.tmux_socket, ground.0.path().join("bench-main/tmux.sock"));
    let [project] = bench.projects.as_slice() else { panic!("{:?}", bench.projects) };
    assert_eq!(project.worktrees, ground.0.path().join("bench-main/worktrees/acme-shop"));
    assert_eq!(project.main_branch.as_str(), "main");
    assert_eq!(bench.commands, Commands::default());
}

#[test]
fn no_file_and_no_variables_make_no_bench() {
    assert!(BenchSettings::read(None, |_| None, Path::new("data")).expect("settings").is_none());
}

#[test]
fn the_documents_variables_describe_one_project() {
    let ground = Ground::new();
    let shop = ground.0.path().join("shop").display().to_string();
    let set = |name: &str| match name {
        "GIT_BASE_REPO_PATH" => Some(shop.clone()),
        "GIT_WORKTREE_BASE" => Some("/tmp/trees".to_owned()),
        "TMUX_SOCKET_PATH" => Some("/tmp/sock".to_owned()),
        "WORKER_MODEL" => Some("opus".to_owned()),
        "MUSTER_BENCH_PROJECT" => Some("acme/shop".to_owned()),
        _ => None,
    };
    let bench = BenchSettings::read(None, set, Path::new("data")).expect("settings").expect("a bench");
    assert_eq!(bench.projects[0].worktrees, Path::new("/tmp/trees"));
    assert_eq!(bench.tmux_socket, Path::new("/tmp/sock"));
    assert_eq!(bench.profiles.worker.model, "opus");
    let unnamed = |name: &str| set(name).filter(|_| name != "MUSTER_BENCH_PROJECT");
    let refused = BenchSettings::read(None, unnamed, Path::new("data")).expect_err("no project");
    assert!(refused.to_string().contains("MUSTER_BENCH_PROJECT"), "{refused}");
}

#[test]
fn kinds_of_agents_have_commands_models_and_permissions() {
    let agents = "health_interval_seconds = 1.5\n[agents.worker]\ncommand = [\"sh\", \"-x\"]\nmodel = \"haiku\"\n\
                  permissions = \"strict\"\n";
    let ground = Ground::new();
    let bench = ground.read(&format!("{agents}{SMALL}"), &[("WORKER_MODEL", "opus")]).expect("settings");
    let bench = bench.expect("a bench");
    assert_eq!(bench.commands.of(AgentKind::Worker), Some(&vec!["sh".to_owned(), "-x".to_owned()]));
    assert_eq!(bench.commands.of(AgentKind::Supervisor), None);
    assert_eq!(
        (bench.profiles.worker.model.as_str(), bench.profiles.worker.permissions),
        ("opus", Permissions::Strict)
    );
    assert_eq!(bench.rules.silence, TimeDelta::milliseconds(1500));
}

#[test]
fn a_forge_on_github_takes_its_token_from_a_variable() {
    let github =
        format!("{SMALL}\nforge = {{ github = {{ repository = \"acme/shop\", token_variable = \"SHOP_TOKEN\" }} }}");
    let ground = Ground::new();
    let bench = ground.read(&github, &[("SHOP_TOKEN", "hush")]).expect("settings").expect("a bench");
    assert!(matches!(bench.projects[0].forge, Forge::Github(_)));
    assert!(!format!("{bench:?}").contains("hush"));
    assert!(ground.refusal(&github).contains("SHOP_TOKEN is not set"));
}

#[test]
fn what_makes_no_sense_is_refused_by_its_name() {
    let ground = Ground::new();
    for (file, told) in [
        ("name = \"Main Bench\"\n", "MUSTER_BENCH"),
        ("health_interval_seconds = 0\n", "health_interval_seconds"),
        ("side_by_side = 0\n", "side_by_side"),
        ("url = \"ftp://here\"\n", "url"),
        ("shell = \"yes\"\n", "shell"),
        ("[agents.worker]\ncommand = []\n", "agents.worker.command"),
        ("[agents.worker]\ncommand = [\"no-such-program-at-all\"]\n", "no-such-program-at-all"),
        ("[agents.worker]\ncommand = [\"./bench.toml\"]\n", "absolute path"),
        ("[agents.worker]\ncommand = [\"{ground}/bench.toml\"]\n", "bench.toml that may be run"),
        ("[agents.worker]\npermissions = \"reckless\"\n", "WORKER_PERMISSIONS"),
        ("[projects.shop]\nrepository = \"{ground}/shop\"\n", "workspace/project"),
        ("[projects.\"acme/barn\"]\n", "acme/barn\".repository"),
        ("[projects.\"acme/barn\"]\nrepository = \"{ground}/barn\"\n", "no git repository"),
        ("[projects.\"acme/barn\"]\nrepository = \"{ground}/shop\"\nmain_branch = \"-x\"\n", "main_branch"),
    ] {
        let refusal = ground.refusal(&format!("{file}{SMALL}"));
        assert!(refusal.contains(told), "{file} {refusal}");
    }
    assert!(ground.refusal("").contains("needs a project"));
}
