//! Holds the shape of the source: who may use whom, how files open, how long they get, and where SQL may stand.
#![allow(clippy::unwrap_used, reason = "a test that cannot read the source has failed")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// The crates that make up the product.
const PRODUCT: [&str; 7] = ["domain", "store", "commands", "projections", "reactors", "workbench", "api"];
/// The ones that know nothing of a database.
const WITHOUT_SQL: [&str; 5] = ["domain", "commands", "reactors", "workbench", "api"];
const LONGEST_FILE: usize = 450;

/// Which crates of the workspace a crate may use; `None` for a crate that is not in the table.
fn may_use(package: &str) -> Option<BTreeSet<&'static str>> {
    let allowed: &[&str] = match package {
        "domain" | "store" | "workbench" => &[],
        "commands" | "projections" => &["domain", "store"],
        "reactors" => &["workbench", "commands", "projections", "domain", "store"],
        "api" => &["workbench", "reactors", "commands", "projections", "domain", "store"],
        "muster-tests" => &PRODUCT,
        "muster-benches" => &["muster-tests", "api", "reactors", "commands", "projections", "domain", "store"],
        _ => return None,
    };
    Some(allowed.iter().copied().collect())
}

#[test]
fn crates_use_only_the_crates_they_may() {
    let metadata = metadata();
    let packages = metadata["packages"].as_array().unwrap();
    let mut wrong = Vec::new();
    for package in packages {
        let name = package["name"].as_str().unwrap();
        let Some(allowed) = may_use(name) else {
            wrong.push(format!("{name} is not in the table of allowed dependencies"));
            continue;
        };
        let dependencies = package["dependencies"].as_array().unwrap();
        // Only the crates of this workspace are known by path.
        for used in dependencies.iter().filter(|it| !it["path"].is_null()) {
            let used = used["name"].as_str().unwrap();
            if !allowed.contains(used) {
                wrong.push(format!("{name} may not use {used}"));
            }
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
}

#[test]
fn every_file_opens_with_a_sentence_that_says_what_it_is_for() {
    let silent: Vec<PathBuf> =
        sources(&root()).into_iter().filter(|file| !opens_with_a_sentence(&read(file))).collect();
    assert_eq!(silent, Vec::<PathBuf>::new());
}

#[test]
fn no_file_of_the_product_outgrows_its_reader() {
    let too_long: Vec<(PathBuf, usize)> = sources_of(&PRODUCT)
        .into_iter()
        .map(|file| (file.clone(), read(&file).lines().count()))
        .filter(|(_, lines)| *lines > LONGEST_FILE)
        .collect();
    assert_eq!(too_long, Vec::new());
}

#[test]
fn sql_stands_only_in_the_store_and_the_projections() {
    let astray: Vec<(PathBuf, String)> = sources_of(&WITHOUT_SQL)
        .into_iter()
        .flat_map(|file| string_literals(&read(&file)).into_iter().map(move |literal| (file.clone(), literal)))
        .filter(|(_, literal)| is_sql(literal))
        .collect();
    assert_eq!(astray, Vec::new());
}

#[test]
fn the_look_for_sql_tells_a_statement_from_a_sentence() {
    let source = r####"
        // "select ignored from comments" /* "drop table x" */
        let quote = '"'; let life: &'static str = "a 'quoted' \"word\"";
        let found = ["select a\n   from b", r#"update "t" set a = 1"#, "delete from t", "create unique index i on t (a)"];
        let fine = ["Select one from the list", "update of a set", "the table to insert into", "with a from"];
    "####;
    let found: Vec<String> = string_literals(source).into_iter().filter(|it| is_sql(it)).collect();
    assert_eq!(found.len(), 4, "{found:?}");
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_path_buf()
}

fn metadata() -> Value {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["metadata", "--no-deps", "--offline", "--format-version", "1"])
        .current_dir(root())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn read(file: &Path) -> String {
    fs::read_to_string(file).unwrap()
}

fn sources_of(crates: &[&str]) -> Vec<PathBuf> {
    crates.iter().flat_map(|name| sources(&root().join(name).join("src"))).collect()
}

/// Every Rust file below a folder, except what builds leave behind.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
        if path.is_dir() {
            if name != "target" && name != "data" && !name.starts_with('.') {
                found.extend(sources(&path));
            }
        } else if name.ends_with(".rs") {
            found.push(path);
        }
    }
    found.sort();
    found
}

fn opens_with_a_sentence(source: &str) -> bool {
    let opening: Vec<&str> = source
        .lines()
        .map_while(|line| line.strip_prefix("//!"))
        .map(str::trim)
        .take_while(|it| !it.is_empty())
        .collect();
    opening.last().is_some_and(|it| it.ends_with(['.', '?', '!', ':']))
}

/// SQL is written in lower case here, which no sentence begins with by chance.
fn is_sql(literal: &str) -> bool {
    let words: Vec<&str> = literal.split_whitespace().collect();
    match words.as_slice() {
        ["select", rest @ ..] => rest.contains(&"from"),
        ["insert", "into", _, ..] | ["delete", "from", _, ..] => true,
        ["update", _, "set", _, ..] => true,
        ["create" | "drop" | "alter", rest @ ..] => {
            rest.iter().take(2).any(|it| ["table", "index", "trigger", "view", "schema"].contains(it))
        }
        ["with", _, "as", next, ..] => next.starts_with('('),
        _ => false,
    }
}

/// The texts between quotes, comments left out.
fn string_literals(source: &str) -> Vec<String> {
    let mut literals = Vec::new();
    let mut rest = source;
    while let Some(next) = rest.chars().next() {
        rest = if rest.starts_with("//") {
            rest.split_once('\n').map_or("", |it| it.1)
        } else if rest.starts_with("/*") {
            rest.split_once("*/").map_or("", |it| it.1)
        } else if let Some((text, after)) = raw_literal(rest) {
            literals.push(text.to_owned());
            after
        } else if next == '"' {
            let end = closing_quote(&rest[1..]);
            literals.push(rest[1..=end].to_owned());
            &rest[end + 2..]
        } else if rest.starts_with("'\"'") || rest.starts_with("'\\\"'") {
            // The one character literal that would look like the beginning of a text.
            rest.trim_start_matches(['\'', '\\']).get(2..).unwrap_or("")
        } else {
            &rest[next.len_utf8()..]
        };
    }
    literals
}

fn raw_literal(source: &str) -> Option<(&str, &str)> {
    let after_r = source.strip_prefix('r')?;
    let text = after_r.trim_start_matches('#');
    let end = format!("\"{}", &after_r[..after_r.len() - text.len()]);
    text.strip_prefix('"')?.split_once(end.as_str())
}

/// Where the quote stands that ends a text whose first one is behind us.
fn closing_quote(text: &str) -> usize {
    let mut escaped = false;
    for (at, it) in text.char_indices() {
        match it {
            '"' if !escaped => return at,
            _ => escaped = it == '\\' && !escaped,
        }
    }
    panic!("a text without an end: {text}")
}
