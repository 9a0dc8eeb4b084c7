//! `wirebench verify`: what is missing, how to get it, and whether a run can work.

use std::net::TcpListener;

use serde_json::Value;

use crate::bench::{Bench, git_in};
use crate::inits::with_server;

fn checks(bench: &Bench, environment: &[(&str, &str)]) -> (i32, Value) {
    let ended = bench.run_with(&["verify", "--tools", "--json"], environment);
    let report: Value = serde_json::from_str(&ended.stdout).unwrap_or_else(|error| panic!("{error}: {}", ended.stderr));
    assert_eq!(report["ok"], ended.code == 0, "{report:#}");
    (ended.code, report)
}

#[track_caller]
fn check<'a>(report: &'a Value, name: &str) -> &'a Value {
    let all = report["checks"].as_array().unwrap();
    all.iter()
        .find(|check| check["name"] == name)
        .unwrap_or_else(|| panic!("no {name} in {report:#}"))
}

fn good() -> Bench {
    Bench::new().server("py", "ok", "").driver("fake", "ok").commit("v1")
}

#[test]
fn a_project_that_runs_is_told_so_in_words_and_as_json() {
    let bench = good();
    let (code, report) = checks(&bench, &[]);
    assert_eq!(code, 0, "{report:#}");
    for name in ["declarations", "jq", "driver fake", "git"] {
        assert_eq!(check(&report, name)["state"], "ok", "{report:#}");
    }
    assert_eq!(check(&report, "bench.yml")["state"], "warning");
    let table = bench.run(&["verify", "--tools"]);
    assert_eq!(table.code, 0);
    assert!(
        table.stdout.contains("ok     jq: ") && table.stdout.contains("warn   bench.yml: "),
        "{}",
        table.stdout
    );
    assert!(
        !bench.path(".wirebench").exists() && !bench.path("results").exists(),
        "it writes nothing"
    );
}

#[test]
fn missing_programs_come_with_how_to_get_them() {
    let nothing = tempfile::tempdir().unwrap();
    let empty = nothing.path().to_string_lossy().into_owned();
    let text = "builtin_drivers = [\"hey\", \"h2load\"]\n\
        [servers.a]\nabout = \"x\"\nprotocols = [\"http\"]\ncommand = [\"no-such-program\"]\nready = { tcp = true }\n\
        [servers.a.operations.ask]\nrequest = { path = \"/\" }\n\
        [servers.b]\nabout = \"x\"\nprotocols = [\"http\"]\ncommand = [\"./b\"]\nbuild = [\"no-such-builder\"]\nready = { tcp = true }\n\
        [servers.b.operations.ask]\nrequest = { path = \"/\" }\n\
        [scenarios.ask]\nabout = \"x\"\noperation = \"ask\"\nload = { connections = 1, requests = 1 }\n";
    let bench = Bench::empty().file("wirebench.toml", text);
    let missing = [
        ("PATH", empty.as_str()),
        ("WIREBENCH_TOOLS", &empty),
        ("HOME", &empty),
        ("GOPATH", &empty),
        ("GOBIN", &empty),
    ];
    let (code, report) = checks(&bench, &missing);
    assert_eq!(code, 1);
    for (name, how) in [
        ("jq", "jq"),
        ("driver hey", "go install github.com/rakyll/hey@v"),
        ("driver h2load", "nghttp2"),
        ("go", "go"),
        ("server a", "no-such-program"),
        ("server b", "no-such-builder"),
    ] {
        let found = check(&report, name);
        assert_eq!(found["state"], "failed", "{report:#}");
        assert!(found["how"].as_str().is_some_and(|said| said.contains(how)), "{found}");
    }
    for name in ["gnuplot", "git"] {
        assert_eq!(check(&report, name)["state"], "warning", "a run works without {name}");
    }
    assert_eq!(check(&report, "valgrind")["state"], "warning");
}

#[test]
fn a_program_that_is_missing_is_named_once_and_the_other_server_is_asked() {
    let bench = good().file(
        "servers/lost/server.toml",
        "about = \"x\"\nprotocols = [\"http\"]\ncommand = [\"x\"]\nbuild = [\"no-such-builder\"]\nready = { tcp = true }\n\
         [operations.ask]\nrequest = { path = \"/ask\" }\n",
    );
    let ended = bench.run(&["verify"]);
    assert_eq!(ended.code, 1, "{}", ended.stdout);
    assert_eq!(
        ended.stdout.matches("FAILED server lost: ").count(),
        1,
        "{}",
        ended.stdout
    );
    assert!(
        ended.stdout.contains("ok     py · ask · HTTP/1.1: ready after "),
        "{}",
        ended.stdout
    );
}

/// A release brings hey and ghz, and no Go.
#[test]
fn the_version_of_hey_needs_no_go() {
    let text = "builtin_drivers = [\"hey\"]\n\
        [servers.a]\nabout = \"x\"\nprotocols = [\"http\"]\ncommand = [\"python3\"]\nready = { tcp = true }\n\
        [servers.a.operations.ask]\nrequest = { path = \"/\" }\n\
        [scenarios.ask]\nabout = \"x\"\noperation = \"ask\"\nload = { connections = 1, requests = 1 }\n";
    let bench = Bench::empty().file("wirebench.toml", text);
    let without_go = tempfile::tempdir().unwrap();
    let folders = std::env::var_os("PATH").unwrap();
    for program in ["git", "jq", "python3"] {
        let place = std::env::split_paths(&folders)
            .map(|folder| folder.join(program))
            .find(|path| path.exists());
        std::os::unix::fs::symlink(place.unwrap(), without_go.path().join(program)).unwrap();
    }
    let path = without_go.path().to_string_lossy().into_owned();
    let (_, report) = checks(&bench, &[("PATH", &path)]);
    assert_eq!(check(&report, "driver hey")["state"], "ok", "{report:#}");
}

#[test]
fn wrong_declarations_and_none_at_all_are_wrong_usage() {
    let verify = ["verify", "--tools"];
    let ended = Bench::empty().file("wirebench.toml", "[servers.a]\n").run(&verify);
    assert!(
        ended.code == 2 && ended.stderr.contains("wirebench.toml: servers.a"),
        "{}",
        ended.stderr
    );
    let ended = Bench::empty().run(&verify);
    assert!(
        ended.code == 2 && ended.stderr.contains("wirebench init"),
        "{}",
        ended.stderr
    );
}

#[test]
fn what_init_guessed_is_counted() {
    let bench = with_server(Bench::empty());
    bench.run(&["init", "--no-probe"]);
    let (_, report) = checks(&bench, &[]);
    assert!(
        check(&report, "wirebench.toml")["found"]
            .as_str()
            .unwrap()
            .contains("1 line guessed"),
        "{report:#}"
    );
    for name in ["bench.yml", "bench-comment.yml"] {
        assert_eq!(check(&good_with_workflows(), name)["state"], "ok");
    }
}

fn good_with_workflows() -> Value {
    let bench = with_server(good());
    bench.run(&["init", "--no-probe"]);
    checks(&bench, &[]).1
}

#[test]
fn a_port_that_is_taken_stops_a_run() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    let bench = Bench::new()
        .server("py", "ok", &format!("port = {port}"))
        .driver("fake", "ok");
    let name = format!("port {port}");
    let (code, report) = checks(&bench, &[]);
    assert_eq!((code, &check(&report, &name)["state"]), (1, &Value::from("failed")));
    drop(taken);
    let (code, report) = checks(&bench, &[]);
    assert_eq!(
        (code, &check(&report, &name)["state"]),
        (0, &Value::from("ok")),
        "{report:#}"
    );
}

#[test]
fn a_shallow_clone_is_told_what_brings_a_baseline() {
    let full = good().commit("v2");
    let other = tempfile::tempdir().unwrap();
    let url = format!("file://{}", full.path(".").display());
    git_in(other.path(), &["clone", "--quiet", "--depth", "1", &url, "clone"]);
    let root = other.path().join("clone").to_string_lossy().into_owned();
    let ended = full.run(&["--root", &root, "verify", "--tools", "--json"]);
    let report: Value = serde_json::from_str(&ended.stdout).unwrap();
    let git = check(&report, "git");
    assert_eq!(git["state"], "warning");
    assert!(git["how"].as_str().unwrap().contains("git fetch --depth 2"), "{git}");
}

#[test]
fn the_packages_of_what_is_missing_are_listed_for_a_program_to_install() {
    let lacking = |package: &str| {
        good().file("drivers/fake/driver.toml", &{
            let text = std::fs::read_to_string(good().path("drivers/fake/driver.toml")).unwrap();
            text.replace(&format!("{:?}", crate::built::python()), "\"not-there\"")
                .replace("apt-get install fake", &format!("apt-get install {package}"))
        })
    };
    let listed = lacking("apache2-utils").run(&["verify", "--packages"]);
    assert_eq!(listed.code, 0, "{}", listed.stderr);
    assert_eq!(listed.stdout, "apache2-utils\n", "{}", listed.stderr);
    // A driver's own words are a stranger's: nothing of them is installed but what wirebench itself would name.
    for strange in [
        "strange",
        "-oAPT::Update::Pre-Invoke::=sh",
        "./strange.deb",
        "jq strange",
    ] {
        let listed = lacking(strange).run(&["verify", "--packages"]);
        assert_eq!((listed.code, listed.stdout.as_str()), (0, ""), "{strange}");
    }
    assert_eq!(good().run(&["verify", "--packages"]).stdout, "");
}

/// A server with this build, and the files of its project.
fn built_by(build: &str, files: &[(&str, &str)]) -> Bench {
    let text = format!(
        "builtin_drivers = [\"hey\"]\n[servers.a]\nabout = \"x\"\nprotocols = [\"http\"]\n{build}\nready = {{ tcp = true }}\n\
         [servers.a.operations.ask]\nrequest = {{ path = \"/\" }}\n\
         [scenarios.ask]\nabout = \"x\"\noperation = \"ask\"\nload = {{ connections = 1, requests = 1 }}\n"
    );
    let bench = Bench::empty().file("wirebench.toml", &text);
    files.iter().fold(bench, |bench, (path, text)| bench.file(path, text))
}

#[test]
fn protoc_is_asked_for_where_a_build_script_calls_it() {
    let with = |more: &str| {
        let cargo = format!("[package]\nname = \"a\"\n[build-dependencies]\ntonic-prost-build = \"0.14\"\n{more}");
        built_by("package = \"a\"", &[("Cargo.toml", &cargo), ("Cargo.lock", "")])
    };
    let nothing = tempfile::tempdir().unwrap();
    let empty = nothing.path().to_string_lossy().into_owned();
    let none = [("PATH", &*empty), ("GOBIN", &empty), ("PROTOC", "")];
    let (code, report) = checks(&with(""), &none);
    let found = check(&report, "protoc");
    assert_eq!((code, &found["state"]), (1, &Value::from("failed")), "{report:#}");
    assert!(found["how"].as_str().unwrap().contains("protobuf"), "{found}");
    let packages = with("").run_with(&["verify", "--packages"], &none).stdout;
    assert!(packages.lines().any(|line| line.starts_with("protobuf")), "{packages}");
    let program = nothing.path().join("protoc").to_string_lossy().into_owned();
    std::fs::write(&program, "").unwrap();
    let (_, report) = checks(&with(""), &[("PATH", "/nowhere"), ("PROTOC", &program)]);
    assert_eq!(check(&report, "protoc")["state"], "ok", "{report:#}");
    let all = checks(&with("protox = \"0.9\"\n"), &none).1;
    assert!(
        all["checks"]
            .as_array()
            .unwrap()
            .iter()
            .all(|one| one["name"] != "protoc"),
        "{all:#}"
    );
}

#[test]
fn submodules_that_were_not_checked_out_are_named() {
    let modules = "[submodule \"schemas\"]\n\tpath = schemas\n\turl = https://example.org/schemas\n";
    let bench = good().file(".gitmodules", modules);
    let (code, report) = checks(&bench, &[]);
    let found = check(&report, "submodules");
    assert_eq!(
        (code, &found["found"]),
        (1, &Value::from("not checked out: schemas")),
        "{report:#}"
    );
    let (code, report) = checks(&bench.file("schemas/a.proto", ""), &[]);
    assert_eq!(
        (code, &check(&report, "submodules")["state"]),
        (0, &Value::from("ok")),
        "{report:#}"
    );
}

#[test]
fn a_checkout_of_another_user_is_refused_in_gits_own_words() {
    let bench = good();
    // Git's own switch for its tests of this.
    let other = [("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")];
    let report = checks(&bench, &other).1;
    let git = check(&report, "git")["found"].as_str().unwrap();
    assert!(
        git.contains("dubious ownership") && git.contains("safe.directory"),
        "{git}"
    );
    let ended = bench.run_with(&["run", "--baseline", "HEAD"], &other);
    assert_eq!(ended.code, 2, "{}", ended.stderr);
    assert!(ended.stderr.contains("dubious ownership"), "{}", ended.stderr);
}
