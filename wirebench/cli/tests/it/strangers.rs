//! Servers that nobody here wrote, in the shape their communities use: `init` looks at them running, and what it writes passes
//! `verify` without an edit.

use std::fs;
use std::net::TcpListener;
use std::path::Path;

use crate::bench::{Bench, Ended, free_port, repository};

/// A copy of a server in a git repository of its own.
pub(crate) fn stranger(name: &str) -> Bench {
    let bench = Bench::empty();
    copy(
        &repository().join("wirebench/cli/tests/fixtures/strangers").join(name),
        &bench.path("."),
    );
    bench.commit("theirs")
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().flatten() {
        let (path, name) = (entry.path(), entry.file_name());
        if path.is_dir() {
            copy(&path, &to.join(name));
        } else {
            fs::copy(&path, to.join(name)).unwrap();
        }
    }
}

fn init(bench: &Bench, more: &[&str]) -> (Ended, String) {
    let ended = bench.run(&[&["init"], more].concat());
    assert_eq!(ended.code, 0, "{}{}", ended.stdout, ended.stderr);
    let toml = fs::read_to_string(bench.path("wirebench.toml")).unwrap();
    (ended, toml)
}

/// Whether `verify` says ok of so many operations.
#[track_caller]
fn verifies(bench: &Bench, operations: usize) {
    let ended = bench.run(&["verify"]);
    assert_eq!(ended.code, 0, "{}{}", ended.stdout, ended.stderr);
    let asked = ended.stdout.lines().filter(|line| line.contains("bytes of payload"));
    assert_eq!(asked.count(), operations, "{}", ended.stdout);
}

#[test]
fn a_go_server_is_built_started_and_declared_from_what_it_answers() {
    let bench = stranger("go-net-http");
    let (ended, toml) = init(&bench, &[]);
    for line in [
        "env       = { PORT = \"{port}\" }              # started with PORT set to port",
        "ready     = { http = \"/healthz\" }            # GET /healthz answered 200 (main.go:",
        "request   = { path = \"/todos/1\" }            # main.go:",
        "\\\"title\\\":\\\"write\\\"",
        "the same 79 bytes in 4 responses, and after a new start",
    ] {
        assert!(toml.contains(line), "{line}\n→ {toml}");
    }
    assert!(!toml.contains("change this"), "{toml}");
    assert!(
        ended.stdout.contains("2 operations: todos, todos-id"),
        "{}",
        ended.stdout
    );
    verifies(&bench, 2);
}

#[test]
fn a_python_server_with_a_port_of_its_own_is_declared_with_it_and_leaves_nothing_running() {
    let bench = stranger("python-stdlib");
    let port = free_port();
    let text = fs::read_to_string(bench.path("server.py")).unwrap();
    let bench = bench.file("server.py", &text.replace("port = 8000", &format!("port = {port}")));
    let (ended, toml) = init(&bench, &[]);
    for line in [
        &*format!("port      = {port:<33}# told PORT, it listened on 0.0.0.0:{port} all the same"),
        "request   = { path = \"/items/1\" }",
        "request   = { path = \"/items\" }",
    ] {
        assert!(toml.contains(line), "{line}\n→ {toml}");
    }
    assert!(ended.stdout.contains("its own choice"), "{}", ended.stdout);
    TcpListener::bind(("0.0.0.0", port)).expect("the server has ended");
    verifies(&bench, 2);
}

#[test]
#[ignore = "nightly"]
fn a_sub_folder_is_built_by_the_module_above_it() {
    let bench = stranger("go-net-http");
    fs::create_dir_all(bench.path("cmd/todo")).unwrap();
    fs::rename(bench.path("main.go"), bench.path("cmd/todo/main.go")).unwrap();
    let folder = bench.path("cmd/todo");
    let ended = bench.run(&["init", folder.to_str().unwrap(), "--print"]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    assert!(
        ended.stdout.contains("[servers.todo]") && ended.stdout.contains("# worked, in"),
        "{}",
        ended.stdout
    );
}

#[test]
#[ignore = "nightly"]
fn a_program_that_cannot_be_looked_at_is_named_with_its_last_words_and_the_others_are_declared() {
    let broken = "package main\n\nimport \"net/http\"\n\nfunc main() { panic(\"no database\"); http.ListenAndServe(\":1\", nil) }\n";
    let bench = stranger("go-net-http").file("cmd/broken/main.go", broken);
    fs::create_dir_all(bench.path("cmd/todo")).unwrap();
    fs::rename(bench.path("main.go"), bench.path("cmd/todo/main.go")).unwrap();
    let (ended, toml) = init(&bench, &[]);
    assert!(
        ended
            .stdout
            .contains("not seen  broken: it exited with status 2 before it listened")
            && ended.stdout.contains("no database"),
        "{}",
        ended.stdout
    );
    assert!(
        toml.contains("\n# [servers.broken]\n") && toml.contains("\n[servers.todo]\n"),
        "{toml}"
    );
    verifies(&bench, 2);
    fs::remove_file(bench.path("wirebench.toml")).unwrap();
    let only = bench.run(&["init", "--only", "todo", "--print"]);
    assert!(only.code == 0 && !only.stdout.contains("broken"), "{}", only.stdout);
    let unknown = bench.run(&["init", "--only", "nope"]);
    assert_eq!(unknown.code, 2);
    assert!(unknown.stderr.contains("there are: broken, todo"), "{}", unknown.stderr);
}

const PAGE: &str = "<html><a href=\"/about.html\">about</a></html>\n";

#[test]
#[ignore = "nightly"]
fn what_a_repository_says_about_its_start_is_what_is_declared() {
    let bench = Bench::empty()
        .file("Procfile", "web: python3 -m http.server --bind 127.0.0.1 $PORT\n")
        .file("requirements.txt", "")
        .file("index.html", PAGE)
        .commit("theirs");
    let (ended, toml) = init(&bench, &[]);
    for line in [
        "command   = [\"sh\", \"-c\", \"python3 -m http.server --bind 127.0.0.1 $PORT\"]",
        "env       = { PORT = \"{port}\" }",
        "request   = { path = \"/\" }",
    ] {
        assert!(toml.contains(line), "{line}\n→ {toml}");
    }
    assert!(ended.stdout.contains("1 operation: home"), "{}", ended.stdout);
    verifies(&bench, 1);
}

#[test]
#[ignore = "nightly"]
fn a_command_knows_the_port_like_the_arguments() {
    let declared = "builtin_drivers = [\"ab\"]\n[servers.files]\nabout = \"files\"\nprotocols = [\"http\"]\n\
                    command = [\"sh\", \"-c\", \"exec python3 -m http.server --bind {host} {port}\"]\nready = { http = \"/\" }\n\
                    [servers.files.operations.home]\nrequest = { path = \"/\" }\n\
                    [scenarios.home]\nabout = \"home\"\noperation = \"home\"\nload = { connections = 1, duration = \"1s\" }\n";
    let bench = Bench::empty()
        .file("index.html", PAGE)
        .file("wirebench.toml", declared)
        .commit("theirs");
    verifies(&bench, 1);
}
