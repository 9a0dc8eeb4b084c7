//! Wrong declarations and wrong usage: exit code 2, and a message that names file, key and remedy.

use crate::bench::Bench;

fn good() -> Bench {
    Bench::new().server("py", "ok", "").driver("fake", "ok")
}

#[track_caller]
fn refused(bench: &Bench, args: &[&str], words: &[&str]) {
    let ended = bench.run(args);
    assert_eq!(ended.code, 2, "{}", ended.stderr);
    for word in words {
        assert!(ended.stderr.contains(word), "expected {word:?} in {}", ended.stderr);
    }
}

#[test]
fn an_unknown_key_names_file_key_and_the_known_ones() {
    let bench = good().scenario("ask", "conections = 1, requests = 5");
    refused(
        &bench,
        &["list"],
        &["scenarios/ask.toml", "load.conections", "unknown field", "connections"],
    );
}

#[test]
fn a_duration_without_a_unit_says_what_one_looks_like() {
    let bench = good().scenario("ask", "connections = 1, duration = \"10\"");
    refused(
        &bench,
        &["list"],
        &[
            "scenarios/ask.toml: load.duration: expected a duration such as \"10s\"",
            "found \"10\"",
        ],
    );
}

#[test]
fn a_number_where_a_duration_belongs_is_refused() {
    let bench = good().scenario("ask", "connections = 1, duration = 10");
    refused(
        &bench,
        &["list"],
        &["load.duration", "expected a duration such as \"10s\""],
    );
}

#[test]
fn two_scenarios_of_one_name_are_refused_with_both_files() {
    let text = "about = \"x\"\noperation = \"ask\"\nload = { connections = 1, requests = 1 }\n";
    let bench = good().file("scenarios/more/ask.toml", text);
    refused(
        &bench,
        &["list"],
        &[
            "scenario \"ask\" is declared twice",
            "scenarios/ask.toml",
            "scenarios/more/ask.toml",
        ],
    );
}

#[test]
fn a_request_count_that_workers_cannot_share_is_refused() {
    let bench = good().scenario("ask", "connections = 300, requests = 1000");
    refused(
        &bench,
        &["list"],
        &["load.requests", "multiple of connections × streams"],
    );
}

#[test]
fn more_requests_than_load_generators_keep_are_refused() {
    let bench = good().scenario("ask", "connections = 1, requests = 1_000_001");
    refused(&bench, &["list"], &["load.requests", "1,000,000 at most"]);
}

#[test]
fn a_load_needs_exactly_one_end() {
    for load in [
        "connections = 1",
        "connections = 1, requests = 5, duration = \"1s\"",
        "starts = 5, connections = 2",
    ] {
        refused(
            &good().scenario("ask", load),
            &["list"],
            &["scenarios/ask.toml", "load"],
        );
    }
}

#[test]
fn an_unknown_placeholder_is_named() {
    let bench = good().file(
        "servers/other/server.toml",
        "about = \"x\"\nprotocols = [\"http\"]\ncommand = [\"x\"]\nargs = [\"{prot}\"]\nready = { tcp = true }\n[operations]\n",
    );
    refused(
        &bench,
        &["list"],
        &["servers/other/server.toml: args", "{prot}", "port"],
    );
}

#[test]
fn text_that_is_not_toml_names_the_line() {
    let bench = good().file("scenarios/ask.toml", "about = \"x\"\noperation = = 3\n");
    refused(&bench, &["list"], &["scenarios/ask.toml: line 2"]);
}

#[test]
fn a_glob_that_matches_nothing_lists_what_there_is() {
    refused(
        &good(),
        &["list", "--scenario", "aks"],
        &["--scenario aks", "there are ask"],
    );
    refused(&good(), &["run", "--server", "go*"], &["--server go*", "there are py"]);
}

#[test]
fn an_unknown_profile_lists_those_there_are() {
    refused(
        &good(),
        &["run", "--profile", "fast"],
        &["--profile fast", "there are test"],
    );
}

#[test]
fn a_folder_without_a_project_says_where_to_go() {
    let ended = crate::bench::ended(crate::bench::wirebench(&["list"]).current_dir("/"));
    assert_eq!(ended.code, 2);
    assert!(
        ended.stderr.contains("no wirebench.toml") && ended.stderr.contains("--root"),
        "{}",
        ended.stderr
    );
}

#[test]
fn the_list_shows_every_series_and_speaks_json() {
    let bench = good().scenario("second", "connections = 2, requests = 400");
    let table = bench.run(&["list"]);
    assert_eq!(table.code, 0);
    assert!(
        table.stdout.contains("ask@py@fake") && table.stdout.contains("second@py@fake"),
        "{}",
        table.stdout
    );
    let lines = bench.run(&["list", "--json", "--scenario", "sec*"]).stdout;
    let line: serde_json::Value = serde_json::from_str(&lines).unwrap();
    assert_eq!(line["id"], "second@py@fake");
}

#[test]
fn a_changed_question_changes_the_digest_and_nothing_else_does() {
    let digest = |bench: &Bench| {
        let line: serde_json::Value = serde_json::from_str(&bench.run(&["list", "--json"]).stdout).unwrap();
        line["digest"].as_str().unwrap().to_owned()
    };
    let base = digest(&good());
    assert_eq!(base, digest(&good()));
    assert_ne!(base, digest(&good().scenario("ask", "connections = 2, requests = 200")));
    assert_ne!(base, digest(&good().server("py", "ok", "env = { A = \"1\" }")));
    assert_ne!(base, digest(&good().driver_of_version("fake", "ok", "1.2.4")));
}

#[test]
fn help_has_examples_and_completions_are_made() {
    let bench = good();
    assert!(bench.run(&["--help"]).stdout.contains("wirebench run --profile quick"));
    assert!(bench.run(&["run", "--help"]).stdout.contains("Examples:"));
    for shell in ["bash", "zsh", "fish"] {
        assert!(bench.run(&["completions", shell]).stdout.contains("wirebench"));
    }
}
