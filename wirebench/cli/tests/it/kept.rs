//! Counts in a history, a trend and another program's format.

use serde_json::{Value, json};

use crate::bench::repository;
use crate::counted::{COUNTED, counts, series};
use crate::made::{Place, plain, trace};

/// A run of the recorded machine with a counted series beside the timed one.
fn kept(number: u32, instructions: f64) -> Value {
    let mut record = plain(number).record();
    let counted = series(&[counts("candidate", &[("instructions", instructions)])]);
    record["series"].as_array_mut().unwrap().push(counted);
    record
}

#[test]
fn counts_are_kept_in_a_history_and_followed_like_values() {
    let place = Place::new();
    for number in 0..24 {
        let name = place.record("made", &kept(number, if number < 14 { 16_148.0 } else { 17_000.0 }));
        let ended = place.run(&["history", "append", &name, "--to", "h"]);
        assert_eq!(ended.code, 0, "{}", ended.stderr);
    }
    let (_, before) = place.trend(&["--series", "count-*"]);
    let ended = place.run(&["history", "index", "h"]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let (code, trend) = place.trend(&["--series", "count-*"]);
    assert_eq!((code, &trend), (0, &before), "a summary holds what the run files hold");
    let instructions = trace(&trend, "instructions");
    assert_eq!(
        (&instructions["basis"], &instructions["points"]),
        (&json!("value"), &json!(24))
    );
    let steps = instructions["segments"][0]["change_points"].as_array().unwrap();
    assert_eq!(steps.len(), 1, "{steps:#?}");
    let size = steps[0]["change_percent"].as_f64().unwrap();
    assert!((size - (17_000.0 / 16_148.0 - 1.0) * 100.0).abs() < 0.01, "{size}");
    assert_eq!(trace(&trend, "syscalls")["segments"][0]["change_points"], json!([]));
    let shown = place.run(&["history", "trend", "h", "--metric", "wire_bytes_sent"]);
    assert_eq!(shown.code, 0, "{}", shown.stderr);
    assert!(
        shown.stdout.contains("wire bytes sent per request") && shown.stdout.contains("163 B"),
        "{}",
        shown.stdout
    );
}

#[test]
fn counts_are_exported_with_their_units_among_what_is_better_smaller() {
    let place = Place::new();
    place.record("made", &kept(1, 16_148.236));
    let (root, run, out) = (repository(), place.path("made"), place.path("out"));
    let [root, run, out] = [&root, &run, &out].map(|path| path.to_str().unwrap());
    let ended = place.run(&[
        "--root",
        root,
        "export",
        run,
        "--format",
        "github-action-benchmark",
        "--out",
        out,
    ]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let read = |name: &str| -> Vec<Value> {
        serde_json::from_slice(&std::fs::read(place.path(&format!("out/{name}"))).unwrap()).unwrap()
    };
    let smaller = read("smaller-is-better.json");
    let of = |label: &str| {
        smaller
            .iter()
            .find(|one| one["name"] == format!("{COUNTED} {label}"))
            .unwrap()
    };
    let instructions = of("instructions per request");
    assert_eq!(
        (&instructions["value"], &instructions["unit"]),
        (&json!(16_148.24), &json!("instructions"))
    );
    assert_eq!(instructions["range"], "± 16.15");
    assert_eq!(
        (
            &of("wire bytes sent per request")["unit"],
            &of("system calls per request")["value"]
        ),
        (&json!("bytes"), &json!(4.0))
    );
    let bigger = read("bigger-is-better.json");
    assert!(
        bigger
            .iter()
            .all(|one| !one["name"].as_str().unwrap().starts_with(COUNTED))
    );
}
