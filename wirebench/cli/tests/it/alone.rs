//! A project that is one file: `wirebench.toml` declares servers and scenarios, and the drivers come with the program.

use std::fs;

use serde_json::Value;

use crate::bench::{Bench, NO_WARM_UP, fixture, git_in, record_in, series};
use crate::built::python;
use crate::variants::{of, variant};

/// The fixture server and one scenario for it, asked by hey; `more` goes into the server's table.
fn written(mode: &str, more: &str) -> String {
    format!(
        "builtin_drivers = [\"hey\"]\n{NO_WARM_UP}[count]\nenabled = false\n[compare]\ndetect = \"900%\"\nbudget = \"20m\"\n\
         [servers.py]\nabout = \"test\"\nprotocols = [\"http\"]\ncommand = [{:?}, {:?}, \"{mode}\"]\nargs = [\"{{port}}\"]\n\
         ready = {{ http = \"/health\" }}\n{more}\n\
         [servers.py.operations.ask]\nrequest = {{ path = \"/ask\" }}\n\
         expect = {{ status = 200, body = '{{\"answer\":\"forty-two\"}}' }}\n\
         [scenarios.ask]\nabout = \"test\"\noperation = \"ask\"\nload = {{ connections = 1, requests = 200 }}\n",
        python(),
        fixture("server.py")
    )
}

fn alone() -> Bench {
    Bench::empty().file("wirebench.toml", &written("ok", ""))
}

#[track_caller]
fn refused(bench: &Bench, words: &[&str]) {
    let ended = bench.run(&["list"]);
    assert_eq!(ended.code, 2, "{}", ended.stderr);
    for word in words {
        assert!(ended.stderr.contains(word), "expected {word:?} in {}", ended.stderr);
    }
}

#[test]
fn one_file_is_listed_verified_measured_and_shown() {
    let bench = alone().commit("v1");
    let ended = bench.run(&["list"]);
    assert_eq!((ended.code, ended.stdout.lines().count()), (0, 1), "{}", ended.stdout);
    assert!(!bench.path(".wirebench").exists(), "a list writes nothing");
    let ended = bench.run(&["verify"]);
    assert_eq!(ended.code, 0, "{}{}", ended.stdout, ended.stderr);
    let ended = bench.run(&["run", "--rounds", "1"]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let record = bench.record();
    assert_eq!(series(&record, "ask@py@hey")["status"], "ok");
    assert_eq!(fs::read_to_string(bench.path(".wirebench/.gitignore")).unwrap(), "*\n");
    let ended = bench.run(&["history", "append", "--to", "h"]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let ended = bench.run(&["site", "build", "h", "--out", "_site"]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    assert!(bench.path("_site/index.html").is_file());
}

#[test]
fn a_damaged_copy_of_the_drivers_is_mended() {
    let bench = alone();
    bench.run(&["verify"]);
    let copies: Vec<_> = fs::read_dir(bench.path(".wirebench/builtin"))
        .unwrap()
        .flatten()
        .collect();
    let filter = copies[0].path().join("drivers/hey/normalise.jq");
    fs::write(&filter, "error(\"changed\")").unwrap();
    let ended = bench.run(&["run", "--rounds", "1"]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    assert!(fs::read_to_string(filter).unwrap().contains("include \"read\""));
}

#[test]
fn a_driver_of_the_project_goes_before_the_built_in_one_of_its_name() {
    let bench = alone().driver_of_version("hey", "ok", "7.7.7");
    let ended = bench.run(&["verify"]);
    assert_eq!(ended.code, 1, "{}", ended.stdout);
    assert!(ended.stdout.contains("but 7.7.7 is needed"), "{}", ended.stdout);
}

#[test]
fn counts_need_nothing_else_either() {
    let toml = written("ok", "")
        .replace("enabled = false", "requests = [20, 220]")
        .replace(python(), &crate::built::c_server().to_string_lossy())
        .replace(&format!("{:?}, \"ok\"", fixture("server.py")), "\"good\"");
    let bench = Bench::empty().file("wirebench.toml", &toml);
    let ended = bench.run(&["count", "--json"]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let line: Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(line["series"], "count-ask@py@hey");
    assert!(
        line["instructions"]["value"]
            .as_f64()
            .is_some_and(|value| value > 100.0),
        "{line}"
    );
}

#[test]
fn an_error_names_the_file_and_the_whole_key() {
    for (from, to, words) in [
        (
            "ready = {",
            "redy = {",
            "wirebench.toml: servers.py.redy: unknown field",
        ),
        (
            "args = [\"{port}\"]",
            "args = [\"{prot}\"]",
            "wirebench.toml: servers.py.args: unknown placeholder {prot}",
        ),
        (
            "path = \"/ask\"",
            "path = \"ask\"",
            "wirebench.toml: servers.py.operations.ask.request.path: expected",
        ),
        (
            "requests = 200",
            "requests = 0",
            "wirebench.toml: scenarios.ask.load.requests: expected",
        ),
        (
            "[scenarios.ask]",
            "[scenarios.Ask]",
            "wirebench.toml: scenarios.Ask: the name \"Ask\" may hold",
        ),
        (
            "[\"hey\"]",
            "[\"hay\"]",
            "builtin_drivers: no driver \"hay\" comes with wirebench; there are ab, ",
        ),
    ] {
        let text = written("ok", "");
        assert!(text.contains(from), "{from}");
        refused(
            &Bench::empty().file("wirebench.toml", &text.replace(from, to)),
            &[words],
        );
    }
}

#[test]
fn a_name_in_the_file_and_in_a_folder_is_refused_with_both_places() {
    let twice = ["wirebench.toml: servers.py", "servers/py/server.toml", "declared twice"];
    refused(&alone().server("py", "ok", ""), &twice);
    let twice = ["wirebench.toml: scenarios.ask", "scenarios/ask.toml", "declared twice"];
    refused(&alone().scenario("ask", "connections = 1, requests = 5"), &twice);
}

#[test]
fn folders_and_the_file_add_up() {
    let bench = alone()
        .server("second", "ok", "")
        .scenario("more", "connections = 1, requests = 5");
    let listed = bench.run(&["list"]).stdout;
    for id in ["ask@py@hey", "ask@second@hey", "more@py@hey", "more@second@hey"] {
        assert!(listed.contains(id), "{listed}");
    }
}

#[test]
fn a_folder_that_cannot_be_read_is_an_error_and_a_missing_one_is_not() {
    refused(&alone().file("servers", "not a folder"), &["servers: cannot be read"]);
}

#[test]
fn profiles_have_defaults_and_a_lone_one_is_the_default() {
    let text = written("ok", "").replace(NO_WARM_UP, "");
    let bench = Bench::empty().file("wirebench.toml", &text);
    let ended = bench.run(&["list", "--profile", "nothing"]);
    assert!(ended.stderr.contains("there are full, quick"), "{}", ended.stderr);
    // A comparison has its own default profile. Both sides are the same program here, so nothing is measured.
    let bench = bench.commit("v1");
    assert_eq!(bench.run(&["run", "--baseline", "v1"]).code, 0);
    assert_eq!(bench.record()["profile"], "quick");
    let text = format!("{text}[profiles.own]\nabout = \"test\"\nrounds = 2\n");
    let bench = bench.file("wirebench.toml", &text);
    assert_eq!(bench.run(&["list"]).code, 0);
    let text = format!("{text}[profiles.other]\nabout = \"test\"\nrounds = 2\n");
    refused(
        &bench.file("wirebench.toml", &text),
        &["default_profile: expected one of the profiles other, own"],
    );
}

#[test]
fn a_baseline_starts_its_servers_as_its_own_file_says() {
    let bench = alone().commit("v1");
    let bench = bench
        .file("wirebench.toml", &written("ok", "env = { OLD = \"no\" }"))
        .commit("v2");
    let ended = bench.run(&["run", "--baseline", "v1", "--rounds", "1"]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let record = bench.record();
    let found = series(&record, "ask@py@hey");
    assert!(!of(found, "baseline").is_empty());
    assert!(
        found["baseline_digest"].is_string(),
        "its environment is another one: {found}"
    );
}

#[test]
fn a_baseline_whose_file_has_keys_of_another_version_still_starts() {
    let later = format!("of_a_later_version = 1\n{}", written("ok", ""));
    let bench = Bench::empty().file("wirebench.toml", &later).commit("v1");
    let bench = bench.file("wirebench.toml", &written("ok", "")).commit("v2");
    let ended = bench.run(&["run", "--baseline", "v1", "--rounds", "1", "--measure-identical"]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    assert!(ended.stderr.contains("what it asks is unknown"), "{}", ended.stderr);
    assert!(!of(series(&bench.record(), "ask@py@hey"), "baseline").is_empty());
}

#[test]
fn a_revision_from_before_there_was_a_file_is_measured_as_the_project_declares_it() {
    let bench = Bench::empty().file("README.md", "x").commit("v0");
    let bench = bench.file("README.md", "y").commit("v1");
    let bench = bench.file("wirebench.toml", &written("ok", "")).commit("v2");
    let ended = bench.run(&["run", "--baseline", "v1", "--rounds", "1", "--measure-identical"]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    assert!(ended.stderr.contains("has no wirebench.toml yet"), "{}", ended.stderr);
    let record = bench.record();
    let found = series(&record, "ask@py@hey");
    assert!(
        !of(found, "baseline").is_empty() && !of(found, "candidate").is_empty(),
        "{found}"
    );

    // So a project has a trend on the day on which it starts.
    let ended = bench.run(&[
        "backfill",
        "v0..v1",
        "--to",
        "h",
        "--reference",
        "v2",
        "--profile",
        "test",
    ]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let trend = bench.run(&["history", "trend", "h", "--json"]);
    assert!(trend.stdout.contains("\"runs\":1"), "{}", trend.stdout);
}

#[test]
fn a_server_that_such_a_baseline_cannot_build_is_new() {
    let bench = Bench::empty().file("README.md", "x").commit("v1");
    let declared = written("ok", "build = [\"test\", \"-e\", \"source.py\"]");
    let bench = bench
        .file("source.py", "")
        .file("wirebench.toml", &declared)
        .commit("v2");
    let ended = bench.run(&["run", "--baseline", "v1", "--rounds", "1"]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let record = bench.record();
    let found = series(&record, "ask@py@hey");
    assert_eq!(
        (&found["missing_in"], &found["status"]),
        (&"baseline".into(), &"ok".into())
    );
}

#[test]
fn a_project_in_a_subfolder_is_compared_with_the_same_subfolder() {
    let outer = tempfile::tempdir().unwrap();
    let folder = outer.path().join("services/api");
    fs::create_dir_all(&folder).unwrap();
    git_in(outer.path(), &["init", "--quiet"]);
    for mode in ["marked-old", "marked-new"] {
        fs::write(
            folder.join("wirebench.toml"),
            written("ok", &format!("env = {{ MARK = \"{mode}\" }}")),
        )
        .unwrap();
        git_in(outer.path(), &["add", "--all"]);
        git_in(outer.path(), &["commit", "--quiet", "--message", mode]);
    }
    let root = folder.to_string_lossy().into_owned();
    let ended = Bench::empty().run(&["--root", &root, "run", "--baseline", "HEAD~1", "--rounds", "1"]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let record = record_in(&folder.join("results"));
    let found = series(&record, "ask@py@hey");
    assert!(
        ["baseline", "candidate"].iter().all(|side| !of(found, side).is_empty()),
        "{found}"
    );
    assert!(found["baseline_digest"].is_string(), "{found}");
    let commit = git_in(outer.path(), &["rev-parse", "HEAD~1"]);
    assert_eq!(variant(&record, "baseline")["commit"], commit);
}

#[test]
fn a_port_may_come_by_the_environment() {
    let text = written("ok", "env = { PORT = \"{port}\", BRACES = \"{other}\" }")
        .replace("args = [\"{port}\"]\n", "")
        .replace(
            &format!("{:?}, \"ok\"", fixture("server.py")),
            &format!("\"-c\", {:?}", by_environment()),
        );
    let ended = Bench::empty()
        .file("wirebench.toml", &text)
        .run(&["run", "--rounds", "1"]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
}

/// Starts the fixture server on the port in PORT.
fn by_environment() -> String {
    format!(
        "import os; assert os.environ['BRACES'] == '{{other}}'; os.execv({:?}, ['python3', {:?}, 'ok', os.environ['PORT']])",
        python(),
        fixture("server.py")
    )
}

/// Declarations of which the digests were recorded before servers could be declared in `wirebench.toml`.
const APP: &str = "about = \"test\"\nprotocols = [\"http\"]\ncommand = [\"./app\", \"serve\"]\nargs = [\"--listen\", \"{address}\"]\n\
    env = { MODE = \"test\" }\nport = 18080\nready = { http = \"/health\" }\n";
const APP_ASK: &str = "request = { method = \"POST\", path = \"/ask?a=b\", headers = [\"accept: text/plain\"], body = \"x\" }\n\
    expect = { status = 201, body = \"y\" }\n";
const CALLS: &str = "about = \"test\"\nprotocols = [\"grpc\"]\npackage = \"calls-server\"\nargs = [\"{port}\", \"{threads}\"]\n\
    ready = { grpc_health = \"\" }\n";
const CALLS_ASK: &str = "request = { proto = \"a.proto\", proto_root = \".\", call = \"a.B/C\", message = '{\"d\":1}' }\n\
    expect = { message = '{\"e\":2}' }\n";
const SCENARIO: &str = "about = \"test\"\noperation = \"ask\"\nload = { connections = 2, requests = 200 }\n";
const CONFIG: &str = "builtin_drivers = []\ndefault_profile = \"test\"\n[profiles.test]\nabout = \"test\"\nrounds = 1\nwarmup = \"200ms\"\n";
const DRIVER: &str = "about = \"test\"\n[tool]\nprogram = \"python3\"\nversion = \"1.2.3\"\ninstall = \"test\"\n\
    version_command = [\"{program}\"]\nversion_pattern = '(x)'\n[protocols.http]\nargs = [\"{address}\", [\"{requests}\"]]\n\
    [protocols.grpc]\nargs = [\"{address}\", [\"{requests}\"]]\nmultiplexes = true\n[normalise]\nargs = [\"{stdout}\"]\n";

#[test]
fn digests_are_what_they_were_wherever_a_server_is_declared() {
    let base = || Bench::empty().file("drivers/fake/driver.toml", DRIVER);
    let folders = base()
        .file("wirebench.toml", CONFIG)
        .file("servers/app/server.toml", &format!("{APP}[operations.ask]\n{APP_ASK}"))
        .file(
            "servers/calls/server.toml",
            &format!("{CALLS}[operations.ask]\n{CALLS_ASK}"),
        )
        .file("scenarios/ask.toml", SCENARIO);
    let one = format!(
        "{CONFIG}[servers.app]\nbuild = [\"make\"]\n{APP}[servers.app.operations.ask]\n{APP_ASK}\
         [servers.calls]\n{CALLS}[servers.calls.operations.ask]\n{CALLS_ASK}[scenarios.ask]\n{SCENARIO}"
    );
    for bench in [folders, base().file("wirebench.toml", &one)] {
        let ended = bench.run(&["list", "--json"]);
        let digest = |line: &str| {
            let line: Value = serde_json::from_str(line).unwrap();
            format!("{} {}", line["id"].as_str().unwrap(), line["digest"].as_str().unwrap())
        };
        let digests: Vec<String> = ended.stdout.lines().map(digest).collect();
        assert_eq!(
            digests,
            [
                "ask@app@fake 3f23a3211282",
                "ask@calls@fake c8ddc18bba35",
                "count-ask@app@fake 368c2fa71762",
                "count-ask@calls@fake 07a7d5475b90"
            ],
            "{}",
            ended.stderr
        );
    }
}
