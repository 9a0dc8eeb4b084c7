//! `profiles` of a declaration, `series` of a profile and `operations` of `[count]`: what takes part in a run.

use crate::bench::Bench;

const PROFILES: &str = "builtin_drivers = []\ndefault_profile = \"test\"\n[profiles.test]\nabout = \"test\"\nrounds = 1\n\
                        [profiles.wide]\nabout = \"more\"\nrounds = 1\n";

/// Two servers, scenarios and drivers each, of which the second says `profiles`.
fn project(config: &str) -> Bench {
    let bench = Bench::new()
        .file("wirebench.toml", &format!("{PROFILES}{config}"))
        .server("usual", "ok", "")
        .server("rare", "ok", "profiles = [\"wide\"]")
        .driver("fake", "ok")
        .driver("odd", "ok")
        .file(
            "scenarios/seldom.toml",
            "about = \"x\"\nprofiles = [\"wide\"]\noperation = \"ask\"\nload = { connections = 1, requests = 1 }\n",
        );
    let file = bench.path("drivers/odd/driver.toml");
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(file, format!("profiles = [\"wide\"]\n{text}")).unwrap();
    bench
}

const UNCOUNTED: &str = "[count]\nenabled = false\n";

fn listed(bench: &Bench, args: &[&str]) -> Vec<String> {
    let ended = bench.run(&[&["list"], args].concat());
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let id = |line: &str| line.split_whitespace().next().unwrap().to_owned();
    ended.stdout.lines().map(id).collect()
}

#[track_caller]
fn refused(bench: &Bench, args: &[&str], words: &[&str]) {
    let ended = bench.run(&[&["list"], args].concat());
    assert_eq!(ended.code, 2, "{}", ended.stderr);
    for word in words {
        assert!(ended.stderr.contains(word), "expected {word:?} in {}", ended.stderr);
    }
}

#[test]
fn what_says_profiles_takes_part_in_those_and_where_it_is_named() {
    let bench = project(UNCOUNTED);
    assert_eq!(listed(&bench, &[]), ["ask@usual@fake"]);
    assert_eq!(listed(&bench, &["--profile", "wide"]).len(), 8);
    assert_eq!(listed(&bench, &["--server", "rare"]), ["ask@rare@fake"]);
    assert_eq!(listed(&bench, &["--server", "*"]), ["ask@usual@fake"]);
    assert_eq!(
        listed(&bench, &["--scenario", "seldom", "--driver", "odd"]),
        ["seldom@usual@odd"]
    );
    refused(
        &bench,
        &["--server", "ra*"],
        &["--server ra*: matches no server of profile test", "rare (wide)"],
    );
}

#[test]
fn a_scenario_that_names_its_drivers_brings_them_in_and_no_others() {
    let meant = |drivers: &str| {
        project(UNCOUNTED).file(
            "scenarios/meant.toml",
            &format!(
                "about = \"x\"\noperation = \"ask\"\ndrivers = [{drivers}]\nload = {{ connections = 1, requests = 1 }}\n"
            ),
        )
    };
    let bench = meant("\"odd\"");
    assert_eq!(listed(&bench, &[]), ["ask@usual@fake", "meant@usual@odd"]);
    assert_eq!(listed(&bench, &["--driver", "fake"]), ["ask@usual@fake"]);
    assert_eq!(listed(&bench, &["--scenario", "meant"]), ["meant@usual@odd"]);
    let words = ["scenario meant: drivers: no driver \"other\"", "fake, odd"];
    refused(&meant("\"other\""), &[], &words);
}

#[test]
fn an_unknown_profile_in_a_declaration_names_file_and_key() {
    let servers = project(UNCOUNTED).server("rare", "ok", "profiles = [\"wild\"]");
    let words = ["servers/rare/server.toml: profiles: no profile \"wild\"", "test, wide"];
    refused(&servers, &[], &words);
    let empty = project(UNCOUNTED).server("rare", "ok", "profiles = []");
    refused(
        &empty,
        &[],
        &["servers/rare/server.toml: profiles: expected at least one"],
    );
    let table = "[scenarios.more]\nabout = \"x\"\nprofiles = [\"wild\"]\noperation = \"ask\"\nload = { starts = 2 }\n";
    let words = ["wirebench.toml: scenarios.more.profiles: no profile \"wild\""];
    refused(&project(&format!("{UNCOUNTED}{table}")), &[], &words);
}

#[test]
fn a_profile_may_say_which_series_and_no_more() {
    let only = |globs: &str| project(&format!("series = [{globs}]\n{UNCOUNTED}"));
    let bench = only("\"ask@*@fake\", \"seldom@rare@*\"");
    let wanted = ["ask@rare@fake", "ask@usual@fake", "seldom@rare@fake", "seldom@rare@odd"];
    assert_eq!(listed(&bench, &["--profile", "wide"]), wanted);
    assert_eq!(listed(&bench, &["--profile", "wide", "--driver", "odd"]), wanted[3..]);
    refused(&only("\"ask@[\""), &[], &["profiles.wide.series: not a glob"]);
    let words = ["wirebench.toml: profiles.wide.series: \"asks@*\" matches no series"];
    refused(&only("\"asks@*\""), &["--profile", "wide"], &words);
}

#[test]
fn only_operations_that_count_says_are_counted() {
    let counting = |keys: &str| project(&format!("[count]\n{keys}"));
    assert!(listed(&counting(""), &[]).contains(&"count-ask@usual@fake".to_owned()));
    assert!(listed(&counting("operations = [\"a*\"]"), &[]).contains(&"count-ask@usual@fake".to_owned()));
    let words = [
        "wirebench.toml: count.operations: \"weather\" matches no operation",
        "there are ask",
    ];
    refused(&counting("operations = [\"weather\"]"), &[], &words);
    refused(
        &counting("operations = []"),
        &[],
        &["count.operations", "at least one glob"],
    );
}
