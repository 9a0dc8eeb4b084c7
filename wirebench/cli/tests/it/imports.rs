//! Histories of other programs: what cannot be judged in them is counted, and nothing is lost or executed.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::bench::{Ended, ended, wirebench};
use crate::made::assert_fits;

fn dirty() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/dirty.data.js")
}

fn import(file: &Path, folder: &Path) -> Ended {
    let args = ["history", "import", &file.to_string_lossy(), "--to", "h"];
    ended(wirebench(&args).current_dir(folder))
}

fn imported(folder: &Path, name: &str) -> (String, Value) {
    let text = fs::read_to_string(folder.join(format!("h/imported/{name}.json"))).unwrap();
    let value = serde_json::from_str(&text).unwrap();
    (text, value)
}

#[test]
fn what_is_not_judged_is_counted_and_named_once_and_everything_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let done = import(&dirty(), folder.path());
    assert_eq!(done.code, 0, "{}", done.stderr);
    for needed in [
        "Bigger is better (it says): 3 runs, 6 series, 15 values, all kept",
        "lower is better, because unit \"ms\"",
        "direction unknown, no alerts, because unit \"points\" is not known",
        "4 values not judged; first: \"parse\", run 2: \"null\" (no number)",
        "higher is better, because tool customBiggerIsBetter",
        "lower is better, because unit \"ms\", although the tool is customBiggerIsBetter",
    ] {
        assert!(done.stdout.contains(needed), "no {needed:?} in\n{}", done.stdout);
    }
    let (text, value) = imported(folder.path(), "dirty");
    assert_fits("imported.v1.schema.json", &value);
    // Every value as it was written; of a commit its author's name and the first line of its message, as text.
    assert_eq!(value["suites"][0]["runs"][0]["message"], "first");
    assert_eq!(value["suites"][0]["runs"][0]["author"], "Some One");
    assert!(value["repository"].is_null(), "only a repository on GitHub gives links");
    for kept in ["100.5", "\"null\"", "2e1", "\"5100\"", "-7", "100500000", "\"NaN\""] {
        assert!(text.contains(kept), "no {kept} in {text}");
    }
    assert_eq!(value["suites"][0]["series"][5]["unsound"], serde_json::json!([1, 2]));
    assert_eq!(done.stdout.matches("not judged").count(), 1, "{}", done.stdout);
    for personal in ["someone", "script", "example.invalid"] {
        assert!(!text.contains(personal), "{personal} in {text}");
    }
}

#[test]
fn more_than_any_history_holds_is_refused_with_its_bound() {
    let folder = tempfile::tempdir().unwrap();
    let run = |benches: &str| {
        format!(r#"{{"commit": {{"id": "a", "timestamp": "2023-11-01T00:00:00Z"}}, "benches": [{benches}]}}"#)
    };
    let bench = |name: usize| format!(r#"{{"name": "b{name}", "value": 1, "unit": "ns"}}"#);
    let benches = |count: usize| (0..count).map(bench).collect::<Vec<_>>().join(",");
    let same = vec![bench(0); 1000].join(",");
    let empty = run("");
    for (what, runs, bound) in [
        ("one value too many", vec![run(&benches(500_001))], "500000 values"),
        (
            "places of values",
            [vec![run(&benches(1000))], vec![empty.clone(); 501]].concat(),
            "500000 values",
        ),
        (
            "one name again and again",
            [vec![run(&same)], vec![empty.clone(); 501]].concat(),
            "500000 values",
        ),
        ("runs", vec![empty; 20_001], "20000 runs"),
    ] {
        let file = folder.path().join("data.js");
        fs::write(&file, format!(r#"{{"entries": {{"s": [{}]}}}}"#, runs.join(","))).unwrap();
        let ended = import(&file, folder.path());
        assert_eq!(ended.code, 1, "{what}");
        assert!(
            ended.stderr.contains(&format!("holds more than {bound}; leave out")),
            "{what}: {}",
            ended.stderr
        );
        assert!(!folder.path().join("h").exists(), "{what}");
    }
}

#[test]
fn a_file_larger_than_the_bound_is_refused_and_so_is_a_text() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("data.js");
    // A hole: it takes no space on the disk.
    fs::File::create(&file).unwrap().set_len((256 << 20) + 1).unwrap();
    let ended = import(&file, folder.path());
    assert!(
        ended.code == 1 && ended.stderr.contains("is larger than 256 MiB"),
        "{}",
        ended.stderr
    );
    let places = ["the name of a benchmark", "a value", "a unit", "the id of a commit"];
    for (place, what) in places.into_iter().enumerate() {
        let mut texts = ["b", "1", "ns", "a"].map(str::to_owned);
        texts[place] = "7".repeat(1001);
        let [name, value, unit, id] = texts;
        let run = format!(
            r#"{{"commit": {{"id": "{id}"}}, "benches": [{{"name": "{name}", "value": {value}, "unit": "{unit}"}}]}}"#
        );
        fs::write(&file, format!(r#"{{"entries": {{"s": [{run}]}}}}"#)).unwrap();
        let ended = import(&file, folder.path());
        let message = format!("holds {what} of 1001 bytes, which begins with \"7777");
        assert!(
            ended.code == 1 && ended.stderr.contains(&message),
            "{what}: {}",
            ended.stderr
        );
    }
    assert!(!folder.path().join("h").exists());
}

#[test]
fn the_same_file_twice_is_one_import_and_another_one_never_replaces_it() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(import(&dirty(), folder.path()).code, 0);
    let again = import(&dirty(), folder.path());
    assert_eq!(again.code, 0);
    assert!(again.stderr.contains("already there"), "{}", again.stderr);
    let (before, _) = imported(folder.path(), "dirty");
    let other = folder.path().join("dirty.data.js");
    let run = r#"{"commit": {"id": "a"}, "benches": []}"#;
    fs::write(&other, format!(r#"{{"entries": {{"s": [{run}]}}}}"#)).unwrap();
    let refused = import(&other, folder.path());
    assert_eq!(refused.code, 1);
    assert!(refused.stderr.contains("--name"), "{}", refused.stderr);
    assert_eq!(imported(folder.path(), "dirty").0, before);
}

#[test]
fn what_is_cut_off_or_of_another_kind_is_refused_by_byte() {
    let folder = tempfile::tempdir().unwrap();
    let whole = fs::read_to_string(dirty()).unwrap();
    let cases = [
        (whole[..900].to_owned(), "ends at byte 900"),
        (String::new(), "ends at byte 0"),
        ("window.BENCHMARK_DATA = ".into(), "ends at byte 24"),
        ("alert(1)".into(), "byte 0"),
        (format!("{}alert(1)", whole.trim_end()), "byte 2"),
        (whole.replacen("\"id\"", "\"no\"", 1), "missing field `id`"),
        (whole.replacen("100.5", "100.5.5", 1), "byte "),
        ("{\"runs\": []}".into(), "missing field `entries`"),
    ];
    for (text, needed) in cases {
        let file = folder.path().join("x.js");
        fs::write(&file, &text).unwrap();
        let ended = import(&file, folder.path());
        assert_eq!(ended.code, 1, "{needed}");
        assert!(
            ended.stderr.contains(needed) && ended.stderr.contains("x.js"),
            "{needed}: {}",
            ended.stderr
        );
    }
    fs::write(folder.path().join("x.js"), b"{\"entries\": \xff}").unwrap();
    let ended = import(&folder.path().join("x.js"), folder.path());
    assert!(ended.code == 1 && ended.stderr.contains("byte 12"), "{}", ended.stderr);
    assert!(!folder.path().join("h").exists());
}

/// 40 runs of one benchmark that gets 10 % worse at the 31st.
fn stepped(unit: &str, rising: bool) -> String {
    let run = |number: u32| {
        let noise = f64::from(number * 7 % 5) / 4.0;
        let step = if (number >= 30) == rising { 10.0 } else { 0.0 };
        format!(
            r#"{{"commit": {{"id": "{:040x}", "timestamp": "2023-11-{:02}T00:00:00Z"}}, "date": {}, "benches": [{{"name": "b", "value": {}, "unit": "{unit}"}}]}}"#,
            number,
            1 + number / 2,
            1_700_000_000_000u64 + u64::from(number),
            100.0 + noise + step
        )
    };
    let runs: Vec<String> = (0..40).map(run).collect();
    format!(
        "window.BENCHMARK_DATA = {{\"entries\": {{\"smaller is better\": [{}]}}}}",
        runs.join(",")
    )
}

#[test]
fn a_trend_reads_imports_and_takes_the_direction_from_the_unit() {
    for (unit, rising, direction, alerts) in [
        ("ns/op", true, "worse", 1),
        ("ns/op", false, "better", 0),
        ("req/s", true, "better", 0),
        ("req/s", false, "worse", 1),
        ("points", true, "unknown", 0),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("data.js");
        fs::write(&file, stepped(unit, rising)).unwrap();
        assert_eq!(import(&file, folder.path()).code, 0);
        let ended = ended(wirebench(&["history", "trend", "h", "--json"]).current_dir(folder.path()));
        let trend: Value = serde_json::from_str(&ended.stdout).unwrap();
        let point = &trend["traces"][0]["segments"][0]["change_points"][0];
        assert_eq!(
            (&point["direction"], &trend["alerts"]),
            (&direction.into(), &alerts.into()),
            "{unit} {trend}"
        );
        assert_eq!(point["first_after"]["commit"], format!("{:040x}", 30));
    }
}

#[test]
fn an_import_of_an_older_version_is_read_by_the_rules_of_today() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(import(&dirty(), folder.path()).code, 0);
    let trend = || {
        let ended = ended(wirebench(&["history", "trend", "h", "--json"]).current_dir(folder.path()));
        serde_json::from_str::<Value>(&ended.stdout).unwrap()["traces"].clone()
    };
    let today = trend();
    let (_, mut older) = imported(folder.path(), "dirty");
    // It named its faults, and refused zeros.
    older["suites"][0]["flags"] = serde_json::json!([{"fault": "zero", "count": 1, "example": "run 3"}]);
    older["suites"][0]["series"][2]["unsound"] = serde_json::json!([0, 2]);
    fs::write(folder.path().join("h/imported/dirty.json"), older.to_string()).unwrap();
    assert!(today.as_array().is_some_and(|traces| traces.len() > 3), "{today}");
    assert_eq!(trend(), today);
}

/// A data file with one benchmark of one suite: a value a day, as written, each at a commit of its own.
fn benchmark(unit: &str, tool: &str, values: &[String]) -> String {
    let run = |(number, value): (usize, &String)| {
        format!(
            r#"{{"commit": {{"id": "{number:040x}", "timestamp": "2023-{:02}-{:02}T00:00:00Z"}}, "tool": "{tool}", "benches": [{{"name": "b", "value": {value}, "unit": "{unit}"}}]}}"#,
            1 + number / 28,
            1 + number % 28
        )
    };
    let runs: Vec<String> = values.iter().enumerate().map(run).collect();
    format!(
        "window.BENCHMARK_DATA = {{\"entries\": {{\"s\": [{}]}}}}",
        runs.join(",")
    )
}

/// The trend of a data file.
fn trend_of(content: &str) -> Value {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("data.js");
    fs::write(&file, content).unwrap();
    let done = import(&file, folder.path());
    assert_eq!(done.code, 0, "{}", done.stderr);
    let ended = ended(wirebench(&["history", "trend", "h", "--json"]).current_dir(folder.path()));
    let trend = serde_json::from_str(&ended.stdout).unwrap();
    assert_fits("trend.v1.schema.json", &trend);
    trend
}

/// Twenty values around 100.
fn around_hundred() -> Vec<String> {
    (0..20).map(|number| (100 + number * 7 % 5).to_string()).collect()
}

#[test]
fn one_or_two_wild_values_are_left_out_and_three_are_an_alert() {
    for (unit, wild) in [("ns", "118700"), ("req/s", "0"), ("req/s", "0.001")] {
        for (count, alerts) in [(1, 0), (2, 0), (3, 1), (10, 1)] {
            let mut values = around_hundred();
            values.extend(vec![wild.to_owned(); count]);
            let trend = trend_of(&benchmark(unit, "cargo", &values));
            assert_eq!(trend["alerts"], alerts, "{count} × {wild} {unit}: {trend:#}");
            let newest = &trend["traces"][0]["newest"];
            assert_eq!(newest["value"], wild.parse::<f64>().unwrap());
            assert_eq!(newest["left_out"].is_null(), count >= 3, "{newest}");
        }
        let mut values = around_hundred();
        values.extend(vec![wild.to_owned(); 2]);
        values.push("101".into());
        values.extend(around_hundred());
        assert_eq!(trend_of(&benchmark(unit, "cargo", &values))["alerts"], 0, "{wild}");
    }
}

#[test]
fn the_unit_wins_over_the_tool_and_units_of_one_thing_convert() {
    let mut values = around_hundred();
    values.extend((0..20).map(|number| (120 + number * 7 % 5).to_string()));
    let trend = trend_of(&benchmark("ms", "customBiggerIsBetter", &values));
    assert_eq!(
        (&trend["alerts"], &trend["traces"][0]["better"]),
        (&1.into(), &"lower".into())
    );
    // From the 21st run on in µs: the same thing.
    let mut content = benchmark("ms", "cargo", &around_hundred());
    let micro: Vec<String> = around_hundred().iter().map(|value| format!("{value}000")).collect();
    let more = benchmark("us", "cargo", &micro).replace("2023-", "2024-");
    let (_, runs) = more.split_once("\"s\": [").unwrap();
    content.truncate(content.len() - "]}}".len());
    content = format!("{content},{runs}");
    let trend = trend_of(&content);
    let trace = &trend["traces"][0];
    assert_eq!(
        (trace["segments"].as_array().unwrap().len(), &trace["unit"]),
        (1, &"us".into())
    );
    assert_eq!(trace["segments"][0]["change_points"], serde_json::json!([]));
}

#[test]
fn a_series_with_many_refused_values_is_not_judged_and_says_so() {
    let mut values = around_hundred();
    values.extend(vec!["\"null\"".to_owned(); 8]);
    let trend = trend_of(&benchmark("ns", "cargo", &values));
    let trace = &trend["traces"][0];
    assert_eq!(
        trace["not_judged"],
        "not judged: 8 of 28 values are refused, more than 20 %"
    );
    assert_eq!(trace["segments"], serde_json::json!([]));
}

#[test]
fn an_error_has_its_place_in_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let values = around_hundred();
    let file = folder.path().join("data.js");
    let broken = benchmark("ns", "cargo", &values).replacen("\"unit\"", "?", 12);
    fs::write(&file, &broken).unwrap();
    let at = broken.find('?').unwrap();
    let place = |message: &str| -> usize {
        let (_, rest) = message.split_once("byte ").unwrap();
        rest.split(':').next().unwrap().parse().unwrap()
    };
    let refused = import(&file, folder.path());
    assert!(place(&refused.stderr).abs_diff(at) <= 1, "{at}: {}", refused.stderr);
    let last = benchmark("ns", "cargo", &values).replace("\"value\": 98", "\"value\": ?");
    let late = last.rfind("\"unit\"").unwrap();
    let broken = format!("{}?{}", &last[..late], &last[late..]);
    fs::write(&file, &broken).unwrap();
    let refused = import(&file, folder.path());
    assert!(place(&refused.stderr).abs_diff(late) <= 1, "{late}: {}", refused.stderr);
}

#[test]
fn a_file_without_runs_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("data.js");
    for empty in ["{\"entries\": {}}", "{\"entries\": {\"s\": []}}"] {
        fs::write(&file, empty).unwrap();
        let done = import(&file, folder.path());
        assert!(
            done.code == 1 && done.stderr.contains("holds no runs"),
            "{}",
            done.stderr
        );
    }
}
