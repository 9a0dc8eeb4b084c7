//! Where a request's cost lies in the project's own sources: from the counts of two revisions, each built in its own folder.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;

use crate::bench::{Bench, ended, repository, run_folder, wirebench};

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
            "[package]\nname = \"tiny\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[workspace]\n[profile.release]\ndebug = \"line-tables-only\"\n",
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
    let shown = bench.run_with(&["summary"], &environment);
    let warning = shown.stdout.lines().next().unwrap_or_default();
    assert!(
        warning.starts_with("::warning file=src/shop.rs,line=4,title=wirebench"),
        "{}",
        shown.stdout
    );
    assert!(fs::read_to_string(output).unwrap().starts_with("verdict=regressed\n"));
}

#[test]
fn the_waste_of_a_real_server_is_pointed_at() {
    let root = repository();
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
    let build = ["build", "--quiet", "--release", "--locked", "--package", "http-server"];
    let built = Command::new("cargo").args(build).current_dir(&root).status().unwrap();
    assert!(built.success());
    let program = format!("http={}", target.join("release/http-server").display());
    let out = tempfile::tempdir().unwrap();
    let args = [
        "count",
        "--server",
        "http",
        "--driver",
        "hey",
        "--baseline",
        &program,
        "--candidate",
        &format!("{program} --waste-instructions 500"),
        "--out",
        &out.path().to_string_lossy(),
    ];
    let ended = ended(wirebench(&args).current_dir(&root));
    assert_eq!(ended.code, 0, "{}{}", ended.stdout, ended.stderr);
    let text = fs::read(run_folder(out.path()).join("comparison.json")).unwrap();
    let comparison: Value = serde_json::from_slice(&text).unwrap();
    let first = &comparison["series"][0]["functions"][0];
    assert_eq!(
        first["function"], "server_runtime::waste::instructions::count_down",
        "{first}"
    );
    let file = first["source"]["file"].as_str().unwrap();
    assert_eq!(file, "servers/runtime/src/waste/instructions.rs");
    let text = fs::read_to_string(root.join(file)).unwrap();
    let begins = 1 + text.lines().position(|line| line.contains("fn count_down(")).unwrap();
    let ends = begins + text.lines().skip(begins).position(|line| line == "}").unwrap();
    let line = usize::try_from(first["source"]["line"].as_u64().unwrap()).unwrap();
    assert!(
        (begins..=ends).contains(&line),
        "line {line}, the function is on {begins} to {ends}"
    );
}
