//! One measurement at a time: a run waits for the machine's lock, or says in its record that it did not.

use std::fs::File;
use std::io::{BufRead, BufReader};

use serde_json::Value;

use crate::bench::{Bench, run_folder};

fn project() -> Bench {
    Bench::new().server("py", "ok", "").driver("fake", "ok")
}

/// The lock of a project of these tests, held as another run would hold it.
fn held(bench: &Bench) -> File {
    let file = File::open(bench.path("wirebench.toml")).unwrap();
    file.lock().unwrap();
    file
}

#[test]
fn a_run_waits_for_the_one_before_it() {
    let bench = project();
    let lock = held(&bench);
    let mut child = bench.start(&["run"]);
    let mut talk = BufReader::new(child.stderr.take().unwrap()).lines();
    let said = talk.next().unwrap().unwrap();
    assert!(
        said.starts_with("waiting: another measurement runs on this machine"),
        "{said}"
    );
    assert!(said.contains("--no-lock"), "{said}");
    let holder = format!("(process {}, started in ", std::process::id());
    assert!(said.contains(&holder), "{said}");
    assert!(!bench.path("results").exists(), "nothing is built or measured before");
    drop(lock);
    talk.for_each(drop);
    assert!(child.wait().unwrap().success());
    assert_eq!(bench.record()["pinning"].get("unlocked"), None);
}

#[test]
fn a_run_beside_another_one_says_so_wherever_it_is_shown() {
    let bench = project();
    let _lock = held(&bench);
    let ended = bench.run(&["run", "--no-lock", "--json"]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let record: Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(record, bench.record(), "one line: the record");
    assert_eq!(record["pinning"]["unlocked"], true);
    assert!(record["repeat"].as_str().unwrap().contains(" --no-lock"));
    let report = std::fs::read_to_string(run_folder(&bench.path("results")).join("report.md")).unwrap();
    assert!(report.contains("without the machine's lock"), "{report}");
}

#[test]
fn a_comparison_in_json_is_a_second_line_with_a_note_of_the_lock() {
    let bench = project().commit("v1");
    let ended = bench.run(&[
        "run",
        "--baseline",
        "v1",
        "--measure-identical",
        "--rounds",
        "2",
        "--no-lock",
        "--json",
    ]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let lines: Vec<Value> = ended
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let schemas: Vec<&str> = lines.iter().map(|line| line["schema"].as_str().unwrap()).collect();
    assert_eq!(schemas, ["wirebench.run/v1", "wirebench.comparison/v2"]);
    let notes = lines[1]["notes"].as_array().unwrap();
    assert!(notes.iter().any(|note| note["kind"] == "unlocked"), "{notes:?}");
}
