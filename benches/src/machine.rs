//! What the figures were measured on.

use std::process::Command;

/// What a reader must know of the machine to make sense of absolute figures.
pub(crate) fn facts() -> Vec<(String, String)> {
    let cores = std::thread::available_parallelism().map_or_else(|_| "unknown".into(), |it| it.to_string());
    let facts = [
        ("cores", cores),
        ("processor", line_of("/proc/cpuinfo", "model name")),
        ("memory", line_of("/proc/meminfo", "MemTotal")),
        ("kernel", answer_of("uname", &["-sr"])),
        ("PostgreSQL", answer_of("psql", &["--version"])),
        ("SQLite", rusqlite::version().to_owned()),
        ("measured at", chrono::Utc::now().format("%Y-%m-%d %H:%M UTC").to_string()),
    ];
    facts.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

fn line_of(file: &str, name: &str) -> String {
    let text = std::fs::read_to_string(file).unwrap_or_default();
    let line = text.lines().find(|it| it.starts_with(name)).and_then(|it| it.split_once(':'));
    line.map_or_else(|| "unknown".to_owned(), |(_, value)| value.trim().to_owned())
}

fn answer_of(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).output().ok();
    let text = output.and_then(|it| String::from_utf8(it.stdout).ok());
    text.map_or_else(|| "unknown".to_owned(), |it| it.trim().to_owned())
}
