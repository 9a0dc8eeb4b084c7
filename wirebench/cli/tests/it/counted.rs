//! Counted series judged through the command line: figures, gates, functions, and why there is no verdict.

use std::time::Duration;

use serde_json::{Value, json};
use wirebench_judge::compare::{Rules, next_stage};
use wirebench_record::run::Run;

use crate::compare::{Records, cpu, noisy, run};

pub(crate) const COUNTED: &str = "count-weather@simulated@hey";
const NAMES: [&str; 7] = [
    "instructions",
    "allocations",
    "allocated_bytes",
    "syscalls",
    "wire_bytes_sent",
    "wire_bytes_received",
    "payload_bytes",
];
const VALUES: [f64; 7] = [16_148.0, 37.02, 2_391.0, 4.0, 163.0, 118.0, 48.0];

/// What was counted of a variant: [`VALUES`] with these changes, and a spread of 0.1 % where nothing is exact.
pub(crate) fn counts(variant: &str, changed: &[(&str, f64)]) -> Value {
    let figures: Vec<Value> = (NAMES.iter().zip(VALUES).enumerate())
        .map(|(place, (name, value))| {
            let value = changed
                .iter()
                .find(|(of, _)| of == name)
                .map_or(value, |(_, value)| *value);
            let spread = if place < 3 { value * 0.001 } else { 0.0 };
            json!({"metric": name, "value": value, "spread": spread, "refused": null, "points": []})
        })
        .collect();
    json!({"variant": variant, "status": "ok", "reason": null, "remarks": [], "figures": figures,
           "syscalls": {"read": 2.0, "write": 2.0}, "functions": [], "stacks": {}})
}

/// A function's own cost.
fn function(name: &str, metric: &str, cost: f64) -> Value {
    json!({"function": name, "metric": metric, "cost": cost})
}

/// A counted series of the simulated server.
pub(crate) fn series(counts: &[Value]) -> Value {
    json!({"id": COUNTED, "scenario": "count-weather", "server": "simulated", "driver": "hey", "protocol": "http",
           "load": {"connections": 1, "streams": 1, "requests": null, "duration_ns": null, "starts": null, "counted": 600,
                    "rate_per_s": null, "warmup_ns": null},
           "digest": "0123456789ab", "command": ["hey"], "status": "ok", "reason": null, "counts": counts, "rounds": []})
}

/// A run whose only series is counted.
fn only(counts: &[Value]) -> Value {
    let mut record = run(0.0, 10, 0);
    record["series"] = json!([series(counts)]);
    record
}

pub(crate) fn changed(candidate: &[(&str, f64)]) -> Value {
    only(&[counts("baseline", &[]), counts("candidate", candidate)])
}

pub(crate) fn metric<'a>(comparison: &'a Value, name: &str) -> &'a Value {
    let all = comparison["series"].as_array().unwrap();
    let counted = all.iter().find(|one| one["id"] == COUNTED).unwrap();
    let metrics = counted["metrics"].as_array().unwrap();
    metrics.iter().find(|one| one["metric"] == name).unwrap()
}

#[test]
fn equal_counts_are_unchanged_and_one_more_of_anything_exact_fails_the_gate() {
    let records = Records::new();
    let equal = records.judged(&changed(&[]));
    assert_eq!(equal["verdict"], "unchanged");
    assert_eq!(metric(&equal, "syscalls")["reason"]["kind"], "exactly_equal");
    assert_eq!(metric(&equal, "instructions")["verdict"], "unchanged");
    assert_eq!(records.gate(), 0);
    for (name, value) in [
        ("syscalls", 5.0),
        ("wire_bytes_sent", 164.0),
        ("allocations", 38.02),
        ("instructions", 16_310.0),
    ] {
        let comparison = records.judged(&changed(&[(name, value)]));
        assert_eq!(comparison["verdict"], "regressed", "{name}");
        assert_eq!(metric(&comparison, name)["verdict"], "regressed");
        assert_eq!(records.gate(), 3, "{name}");
    }
    let informs = records.judged(&changed(&[("payload_bytes", 96.0)]));
    assert_eq!(
        (&metric(&informs, "payload_bytes")["verdict"], &informs["verdict"]),
        (&json!("regressed"), &json!("unchanged"))
    );
    assert_eq!(
        records.judged(&changed(&[("instructions", 15_000.0)]))["verdict"],
        "improved"
    );
}

#[test]
fn an_acceptance_covers_a_count_up_to_its_size_and_a_rise_from_nothing_by_the_largest() {
    let records = Records::new();
    let entry = |name: &str, at_most: f64| json!([{"series": "count-*", "metric": name, "at_most_percent": at_most, "reason": "a header more"}]);
    let mut record = changed(&[("wire_bytes_sent", 170.0)]);
    record["accepted"] = entry("wire_bytes_sent", 5.0);
    let comparison = records.judged(&record);
    assert_eq!(
        (
            &metric(&comparison, "wire_bytes_sent")["accepted"],
            &comparison["verdict"]
        ),
        (&json!("a header more"), &json!("unchanged"))
    );
    record["accepted"] = entry("wire_bytes_sent", 4.0);
    assert_eq!(records.judged(&record)["verdict"], "regressed");

    let mut record = only(&[
        counts("baseline", &[("allocations", 0.0)]),
        counts("candidate", &[("allocations", 1.0)]),
    ]);
    let comparison = records.judged(&record);
    let found = metric(&comparison, "allocations");
    assert_eq!(
        (&found["verdict"], &found["effect_percent"]),
        (&json!("regressed"), &Value::Null)
    );
    record["accepted"] = entry("allocations", 999.0);
    assert_eq!(records.judged(&record)["verdict"], "unchanged");
}

#[test]
fn counts_gate_in_the_place_of_server_cpu_unless_the_project_says_otherwise() {
    let records = Records::new();
    let mut record = run(0.10, 10, 20);
    let alone = records.judged(&record);
    assert_eq!(
        (&alone["verdict"], &alone["method"]["gates"]),
        (&json!("regressed"), &Value::Null)
    );
    let timed = record["series"][0].clone();
    record["series"] = json!([timed, series(&[counts("baseline", &[]), counts("candidate", &[])])]);
    record["series"][0]["server"] = json!("simulated");
    let counted = records.judged(&record);
    assert_eq!(
        (&counted["verdict"], &cpu(&counted)["primary"]),
        (&json!("unchanged"), &json!(false))
    );
    assert_eq!(cpu(&counted)["verdict"], "regressed", "it confirms");
    assert!(counted["method"]["gates"].as_str().unwrap().contains("simulated"));

    let mut other = record.clone();
    other["series"][1]["server"] = json!("another");
    assert_eq!(
        records.judged(&other)["verdict"],
        "regressed",
        "counts of another server change nothing"
    );

    let mut refused = record.clone();
    for side in refused["series"][1]["counts"].as_array_mut().unwrap() {
        side["status"] = json!("skipped");
    }
    assert_eq!(
        records.judged(&refused)["verdict"],
        "regressed",
        "no count, no giving way"
    );

    let margins = "builtin_drivers = []\ndefault_profile = 'q'\n[profiles.q]\nabout = 'q'\nrounds = 1\n[[margins]]\nseries = '*'\nmetric = 'server_cpu'\ngate = true\n";
    for folder in ["scenarios", "servers", "drivers"] {
        std::fs::create_dir(records.folder.path().join(folder)).unwrap();
    }
    std::fs::write(records.folder.path().join("wirebench.toml"), margins).unwrap();
    let explicit = records.judged(&record);
    assert_eq!(
        (&explicit["verdict"], &cpu(&explicit)["primary"]),
        (&json!("regressed"), &json!(true))
    );
}

#[test]
fn the_second_stage_is_planned_by_the_same_gates() {
    let mut record = noisy(0.16, 0.0, 10, 0);
    let rules = Rules::default();
    let stage = |record: &Run| {
        let pairs = vec![Duration::from_secs(1); record.series.len()];
        next_stage(record, &rules, Duration::from_secs(600), &pairs).stage
    };
    let planned = stage(&record).unwrap();
    assert!(planned.why.contains("cannot be told yet"), "{planned:?}");
    let counted = series(&[counts("baseline", &[]), counts("candidate", &[])]);
    record.series.push(serde_json::from_value(counted).unwrap());
    assert_eq!(stage(&record), None, "server CPU informs, and nothing looks worse");
}

#[test]
fn a_refused_figure_is_inconclusive_a_failed_one_invalid_and_what_was_never_tried_has_no_verdict() {
    let records = Records::new();
    let mut record = changed(&[]);
    let refuse = |figure: &mut Value| {
        (figure["value"], figure["spread"]) = (Value::Null, Value::Null);
        figure["refused"] = json!("spread 3.1 % is above 0.5 %");
    };
    refuse(&mut record["series"][0]["counts"][1]["figures"][6]);
    let informative = records.judged(&record);
    assert_eq!(informative["verdict"], "unchanged");
    assert!(
        !informative["series"][0]["metrics"]
            .to_string()
            .contains("payload_bytes"),
        "a figure that informs is left out where a side refused it"
    );
    refuse(&mut record["series"][0]["counts"][1]["figures"][0]);
    let gating = records.judged(&record);
    assert_eq!(
        metric(&gating, "instructions")["reason"],
        json!({"kind": "figure_refused", "side": "candidate", "why": "spread 3.1 % is above 0.5 %"})
    );
    assert_eq!(gating["verdict"], "inconclusive");

    refuse(&mut record["series"][0]["counts"][0]["figures"][0]);
    let both = records.judged(&record);
    assert_eq!(both["verdict"], "unchanged", "refused on both sides is no failure");
    let reason = &both["series"][0]["reason"];
    assert!(
        reason["refused"].as_array().unwrap().contains(&json!("instructions")),
        "{reason}"
    );

    let mut gone = changed(&[]);
    gone["series"][0]["counts"][1]["figures"]
        .as_array_mut()
        .unwrap()
        .remove(0);
    gone["series"][0]["counts"][1]["reason"] = json!("callgrind ended with signal 4");
    let gone = records.judged(&gone);
    assert!(
        metric(&gone, "instructions")["reason"]["why"]
            .as_str()
            .unwrap()
            .contains("signal 4"),
        "{gone:#}"
    );
    assert_eq!(gone["verdict"], "invalid");

    let mut failed = changed(&[]);
    failed["series"][0]["counts"][0] = json!({"variant": "baseline", "status": "failed", "reason": "not ready within 90 s", "remarks": [],
        "figures": [], "syscalls": {}, "functions": [], "stacks": {}});
    let failed = records.judged(&failed);
    assert_eq!(failed["series"][0]["verdict"], "invalid");
    assert_eq!(
        failed["series"][0]["reason"],
        json!({"kind": "not_counted", "side": "baseline", "why": "not ready within 90 s"})
    );

    // What fails on both sides lies in the server or the driver: there is nothing to compare, and nothing is wrong with the change.
    let mut both = changed(&[]);
    for counts in both["series"][0]["counts"].as_array_mut().unwrap() {
        *counts = json!({"variant": counts["variant"], "status": "failed", "reason": "4 connections, 1 was asked for", "remarks": [],
            "figures": [], "syscalls": {}, "functions": [], "stacks": {}});
    }
    let both = records.judged(&both);
    assert_eq!(both["series"][0]["verdict"], Value::Null);
    assert_eq!(
        both["series"][0]["reason"]["text"],
        "nothing was counted on either side: 4 connections, 1 was asked for"
    );
    assert_ne!(both["verdict"], "invalid");

    // Invalid if only the candidate cannot be counted; not judged if only the baseline cannot.
    let uncountable = "not counted: hey opened 400 connections, 1 was asked for";
    let one_sided = |side: usize| {
        let mut record = changed(&[]);
        let counts = &mut record["series"][0]["counts"][side];
        *counts = json!({"variant": counts["variant"], "status": "skipped", "reason": uncountable, "remarks": [],
            "figures": [], "syscalls": {}, "functions": [], "stacks": {}});
        (record["series"][0]["status"], record["series"][0]["reason"]) = (json!("skipped"), json!(uncountable));
        records.judged(&record)
    };
    let lost = one_sided(1);
    assert_eq!(
        lost["series"][0]["reason"],
        json!({"kind": "not_counted", "side": "candidate", "why": uncountable})
    );
    assert_eq!(lost["verdict"], "invalid");
    let gained = one_sided(0);
    assert_eq!(gained["series"][0]["verdict"], Value::Null);
    assert_ne!(gained["verdict"], "invalid");

    let mut skipped = run(0.0, 14, 0);
    let mut counted = series(&[]);
    (counted["status"], counted["reason"]) = (json!("skipped"), json!("valgrind is not installed"));
    skipped["series"].as_array_mut().unwrap().push(counted);
    let skipped = records.judged(&skipped);
    assert_eq!(
        (&skipped["series"][1]["verdict"], &skipped["verdict"]),
        (&Value::Null, &json!("unchanged"))
    );
    assert_eq!(skipped["series"][1]["reason"]["text"], "valgrind is not installed");
    assert_eq!(records.gate(), 0);
}

#[test]
fn of_a_worsening_increases_are_listed_the_largest_first_and_none_within_the_spread() {
    let records = Records::new();
    let mut record = changed(&[("instructions", 16_313.0), ("allocations", 38.02)]);
    let mut base: Vec<Value> = (0..9)
        .map(|i| function(&format!("f{i}"), "instructions", 1_000.0))
        .collect();
    let mut head: Vec<Value> = (0..9)
        .map(|i| function(&format!("f{i}"), "instructions", 1_000.0 + 20.0 * f64::from(i)))
        .collect();
    base.push(function("gone<T>", "instructions", 300.0));
    base.push(function("left_out", "instructions", 299.0));
    // Two copies of one function, which together cost 310 more than before.
    head.extend([
        function("new", "instructions", 200.0),
        function("new", "instructions", 110.0),
    ]);
    base.push(function("alloc", "allocations", 1.0));
    head.push(function("alloc", "allocations", 2.0));
    base.push(function("alloc", "allocated_bytes", 10.0));
    head.push(function("alloc", "allocated_bytes", 90.0));
    record["series"][0]["counts"][0]["functions"] = json!(base);
    record["series"][0]["counts"][1]["functions"] = json!(head);
    let comparison = records.judged(&record);
    let found = comparison["series"][0]["functions"].as_array().unwrap();
    let of = |metric: &str| -> Vec<&str> {
        let mine = found.iter().filter(|one| one["metric"] == metric);
        mine.map(|one| one["function"].as_str().unwrap()).collect()
    };
    assert_eq!(
        of("instructions"),
        ["new", "f8", "f7", "f6", "f5", "f4", "f3", "f2", "f1", "gone<T>"]
    );
    assert_eq!(of("allocations"), ["alloc"]);
    assert_eq!(of("allocated_bytes"), Vec::<&str>::new(), "its metric did not change");
    assert_eq!(
        (&found[0]["baseline"], &found[0]["candidate"]),
        (&json!(0.0), &json!(310.0))
    );
    let share = found[0]["share_percent"].as_f64().unwrap();
    assert!((share - 310.0 / 161.48).abs() < 1e-6, "{share}");
    assert!(found[9]["share_percent"].as_f64().unwrap() < 0.0);

    let quiet = &mut record["series"][0]["counts"][1]["functions"];
    *quiet = json!([
        function("f0", "instructions", 1_016.0),
        function("f1", "instructions", 1_017.0)
    ]);
    record["series"][0]["counts"][0]["functions"] = json!([
        function("f0", "instructions", 1_000.0),
        function("f1", "instructions", 1_000.0)
    ]);
    let comparison = records.judged(&record);
    let found = comparison["series"][0]["functions"].as_array().unwrap();
    assert_eq!(found.len(), 1, "16 is within the spread of 16.3");
}

#[test]
fn counts_of_two_runs_are_shown_and_not_judged() {
    let records = Records::new();
    let mut before = only(&[counts("candidate", &[])]);
    let mut after = only(&[counts("candidate", &[("instructions", 20_000.0)])]);
    for record in [&mut before, &mut after] {
        record["variants"].as_array_mut().unwrap().remove(0);
    }
    let (before, after) = (records.file("before", &before), records.file("after", &after));
    let out = records.folder.path().join("comparison.json");
    let done = records.command(&["compare", "--out", out.to_str().unwrap()], &[&before, &after]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    let comparison: Value = serde_json::from_slice(&std::fs::read(&out).unwrap()).unwrap();
    crate::bench::assert_fits("comparison.v2.schema.json", &comparison);
    let found = metric(&comparison, "instructions");
    assert_eq!(
        (&found["baseline"], &found["candidate"]),
        (&json!(16_148.0), &json!(20_000.0))
    );
    assert_eq!(
        (&found["verdict"], &comparison["verdict"]),
        (&json!("inconclusive"), &json!("inconclusive"))
    );
    assert!(done.stdout.contains("not judged"), "{}", done.stdout);
}
