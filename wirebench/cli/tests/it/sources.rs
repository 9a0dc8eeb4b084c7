//! Where a request's cost lies in the project's own sources: from the counts of two revisions, each built in its own folder.

use std::fs;

use serde_json::Value;

use crate::bench::{Bench, run_folder};

/// A server in Rust without dependencies, which spends most of a request in `price`.
const SERVER: &str = r#"//! Answers everything, each connection in a thread of its own.
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};

mod shop;

fn serve(stream: TcpStream) -> Option<()> {
    let mut requests = BufReader::new(stream.try_clone().ok()?);
    let mut answers = stream;
    loop {
        let mut line = String::new();
        while line != "\r\n" {
            line.clear();
            if requests.read_line(&mut line).ok()? == 0 {
                return None;
            }
        }
        std::hint::black_box(shop::price(std::hint::black_box(300)));
        let body = "{\"answer\":\"forty-two\"}";
        let answer = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{body}", body.len());
        answers.write_all(answer.as_bytes()).ok()?;
    }
}

fn main() {
    let port = std::env::args().nth(1).unwrap();
    let listener = TcpListener::bind(format!("127.0.0.1:{port}")).unwrap();
    for stream in listener.incoming().flatten() {
        std::thread::spawn(move || serve(stream));
    }
}
"#;

/// `price`, whose fourth line is said.
fn shop(line: &str) -> String {
    format!(
        "#[inline(never)]\npub fn price(goods: u64) -> u64 {{\n    (0..goods).fold(0, |sum, good| {{\n        {line}\n    }})\n}}\n"
    )
}

fn project() -> Bench {
    let bench = Bench::new()
        .server("tiny", "ok", "")
        .file(
            "wirebench.toml",
            "default_profile = \"test\"\n[profiles.test]\nabout = \"test\"\nrounds = 1\n[count]\nrequests = [20, 120]\n[compare]\nrounds = 8\n",
        )
        .file(
            "Cargo.toml",
            "[package]\nname = \"tiny\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[workspace]\n[profile.release]\nstrip = true\n",
        )
        .file("Cargo.lock", "version = 4\n\n[[package]]\nname = \"tiny\"\nversion = \"0.1.0\"\n")
        .file("src/main.rs", SERVER)
        .real_driver("hey");
    let declared = fs::read_to_string(bench.path("servers/tiny/server.toml")).unwrap();
    let command = declared.lines().find(|line| line.starts_with("command")).unwrap();
    let declared = declared.replace(command, "package = \"tiny\"");
    bench.file("servers/tiny/server.toml", &declared)
}

#[test]
fn a_regressed_function_is_pointed_at_where_the_change_made_it_dear() {
    let bench = project()
        .file("src/shop.rs", &shop("std::hint::black_box(sum + good)"))
        .commit("v1")
        .file(
            "src/shop.rs",
            &shop("std::hint::black_box(std::hint::black_box(sum) + good)"),
        )
        .commit("v2");
    let ended = bench.run(&["count", "--baseline", "v1", "--candidate", "v2"]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let folder = run_folder(&bench.path("results"));
    let read = |name: &str| -> Value { serde_json::from_slice(&fs::read(folder.join(name)).unwrap()).unwrap() };
    let functions = read("comparison.json")["series"][0]["functions"]
        .as_array()
        .unwrap()
        .clone();
    let first = &functions[0];
    let function = first["function"].as_str().unwrap().to_owned();
    assert!(function.starts_with("tiny::shop::"), "{functions:#?}");
    assert_eq!(first["source"]["file"], "src/shop.rs", "{first}");
    assert_eq!(first["source"]["line"], 4, "{first}");
    // Both sides were built in worktrees, and each names its own file.
    for counts in read("run.json")["series"][0]["counts"].as_array().unwrap() {
        if counts["variant"] == "null" {
            continue;
        }
        let all = counts["functions"].as_array().unwrap();
        let price = all.iter().find(|one| one["function"] == *function).unwrap();
        assert_eq!(price["source"]["file"], "src/shop.rs", "{price}");
        let own = |one: &&Value| one["source"].is_object();
        let files = all
            .iter()
            .filter(own)
            .map(|one| one["source"]["file"].as_str().unwrap());
        assert!(
            files.clone().all(|file| file.starts_with("src/")),
            "{:?}",
            files.collect::<Vec<_>>()
        );
    }
    let said = fs::read_to_string(folder.join("comparison.md")).unwrap();
    assert!(said.contains(", `src/shop.rs:4`\n"), "{said}");
    assert!(ended.stdout.contains(", src/shop.rs:4\n"), "{}", ended.stdout);
    let page = fs::read_to_string(folder.join("report.html")).unwrap();
    assert!(page.contains("<br>src/shop.rs:4</td>"), "the run's page");

    let (summary, output) = (bench.path("summary"), bench.path("output"));
    let environment = [
        ("GITHUB_ACTIONS", "true"),
        ("GITHUB_STEP_SUMMARY", &*summary.to_string_lossy()),
        ("GITHUB_OUTPUT", &*output.to_string_lossy()),
    ];
    let shown = bench.run_with(&["github", "summary"], &environment);
    let warning = shown.stdout.lines().next().unwrap_or_default();
    assert!(
        warning.starts_with("::warning file=src/shop.rs,line=4,title=wirebench"),
        "{}",
        shown.stdout
    );
    assert!(fs::read_to_string(output).unwrap().starts_with("verdict=regressed\n"));
}
