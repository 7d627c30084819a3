//! A bench that makes no sense stops the server at its start, by name.

use std::fs;
use std::process::Command;

use muster_tests::at_both_homes;
use muster_tests::muster::{Home, Muster};

at_both_homes! { a_bench_that_makes_no_sense_is_refused_at_the_start, a_bench_has_one_server }

async fn a_bench_that_makes_no_sense_is_refused_at_the_start(home: Home) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("bench.toml");
    let told = file.display().to_string();
    for (text, name) in [
        ("side_by_side = 0\n[projects.\"acme/shop\"]\nrepository = \"/tmp\"\n", "side_by_side"),
        ("[projects.\"acme/shop\"]\nrepository = \"/nowhere\"\n", "/nowhere is no git repository"),
        ("commands = []\n", "commands"),
    ] {
        fs::write(&file, text).unwrap();
        let ended = home.run(&["serve", "--port", "0", "--bench", &told]).await;
        assert!(ended.code == Some(2) && ended.stderr.contains(name), "{ended:#?}");
    }
    let ended = home.run(&["serve", "--port", "0", "--bench", "/nowhere.toml"]).await;
    assert!(ended.code == Some(2) && ended.stderr.contains("/nowhere.toml"), "{ended:#?}");
}

async fn a_bench_has_one_server(home: Home) {
    let folder = tempfile::tempdir().unwrap();
    let shop = folder.path().join("shop");
    assert!(Command::new("git").args(["init", "--quiet"]).arg(&shop).status().unwrap().success());
    let (file, bench) = (folder.path().join("bench.toml"), folder.path().join("bench"));
    let text =
        format!("folder = \"{}\"\n[projects.\"acme/shop\"]\nrepository = \"{}\"\n", bench.display(), shop.display());
    fs::write(&file, text).unwrap();
    let told = file.display().to_string();
    let server = Muster::start(&home, &["--bench", &told]).await;
    let elsewhere = Home::new(home.kind).await;
    let refused = elsewhere.run(&["serve", "--port", "0", "--bench", &told]).await;
    assert!(refused.code == Some(2) && refused.stderr.contains("another server works"), "{refused:#?}");
    server.kill_nine().await;
    Muster::start(&home, &["--bench", &told]).await.terminate().await;
}
